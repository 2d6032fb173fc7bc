"""The table of hypotheses as a page shows it: one row each, linked to where it is derived."""

import html
import re
from collections.abc import Iterable
from typing import Protocol

from icgd.claims import registry

_SYMBOLS = {"Sigma": "Σ", "sigma": "σ", "beta": "β", "eta": "η", "s2": "σ²", "+-": "±", ">=": "≥"}
_POWER = re.compile(r"\^(?:\(([^()]*)\)|(-?\d+|\+|T))")
_INDEX = re.compile(r"_(\w)")


class Row(Protocol):
    """What a row says; `icgd.evidence.regression.hypotheses` has them."""

    theorem: int
    hypothesis: str
    needed: bool
    condition: str
    claim: str


class HypothesisTable:
    """Rows by theorem: the hypothesis, whether it is needed, and what suffices or what fails.

    Raises:
        KeyError: a row names a claim that is not registered.
    """

    def __init__(self, rows: Iterable[Row]):
        self.rows = sorted(rows, key=lambda row: row.theorem)
        known = registry()
        self.links = {}
        for row in self.rows:
            if row.claim not in known:
                raise KeyError(f"no claim is called {row.claim!r}; import icgd.evidence first.")
            page, label = known[row.claim].anchor.split("#")
            self.links[row.claim] = f"{page}.html#{label}"

    def _repr_html_(self) -> str:
        heads = ["hypothesis", "needed", "what suffices, or what fails"]
        head = "".join(f'<th scope="col">{name}</th>' for name in heads)
        body, theorem = [], None
        for row in self.rows:
            if row.theorem != theorem:
                theorem = row.theorem
                body.append(
                    f'<tr><th colspan="3" scope="rowgroup"><b>Theorem {theorem}</b></th></tr>'
                )
            body.append(
                f'<tr><th scope="row"><a href="{self.links[row.claim]}">{typeset(row.hypothesis)}'
                f"</a></th><td>{'yes' if row.needed else 'no'}</td>"
                f"<td>{typeset(row.condition)}</td></tr>"
            )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"


def typeset(text: str) -> str:
    """HTML for a formula in plain letters.

    >>> typeset("E[|x|^2 x x^T], Sigma^(-1/2) x_1")
    'E[|x|<sup>2</sup> x x<sup>T</sup>], Σ<sup>−1/2</sup> x<sub>1</sub>'
    """
    for plain, symbol in _SYMBOLS.items():
        text = text.replace(plain, symbol)
    text = html.escape(text.replace(" -", " −").replace("w.x", "w·x"), quote=False)
    text = _POWER.sub(lambda m: f"<sup>{(m[1] or m[2]).replace('-', '−')}</sup>", text)
    return _INDEX.sub(r"<sub>\1</sub>", text)
