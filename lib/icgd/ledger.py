"""The ledger: every numbered result of the papers beside the claim that checks it.

`data/results-*.json` lists the results, done or not. `Ledger` runs the evidence of every registered
claim and shows one row a result: derivation, prediction, measurement, error, tolerance.
"""

import html
import json
from dataclasses import dataclass
from pathlib import Path

from icgd.claims import KINDS, ClaimError, Verdict, number, registry, tolerance, verify


@dataclass(frozen=True)
class Result:
    """One numbered result: `id` such as "OS.Theorem1", the paper, its kind, and what it says."""

    id: str
    paper: str
    kind: str
    statement: str
    restates: str | None = None


def load_results(folder: str | Path) -> list[Result]:
    """All results listed in `folder`/results-*.json: of OS, then of MO, then of the others by name.

    Raises:
        FileNotFoundError: the folder holds no such file.
        ValueError: two entries share an id.
    """
    place = {"results-os.json": 0, "results-mo.json": 1}
    files = sorted(
        Path(folder).glob("results-*.json"), key=lambda f: (place.get(f.name, 2), f.name)
    )
    if not files:
        raise FileNotFoundError(
            f"{Path(folder).resolve()} must hold results-*.json, found none; "
            "run from the chapters folder and pass '../data'."
        )
    results = [Result(**entry) for f in files for entry in json.loads(f.read_text("utf-8"))]
    ids = [result.id for result in results]
    if repeated := {id for id in ids if ids.count(id) > 1}:
        raise ValueError(f"ids of results must be unique, got {sorted(repeated)} twice.")
    return results


class Ledger:
    """Verdicts for all results. Building it runs every claim.

    Raises:
        ClaimError: a claim does not stand, or checks a result that is not listed; all are named.
    """

    def __init__(self, results: list[Result]):
        self.results = results
        self.verdicts = {id: verify(id) for id in registry()}
        listed = {result.id for result in results}
        failures = [v.failure for v in self.verdicts.values() if v.failure]
        failures += [f"{id} is claimed but not listed" for id in self.verdicts if id not in listed]
        if failures:
            raise ClaimError("; ".join(failures))

    def coverage(self) -> str:
        """How many results of each paper are checked, a line a paper."""
        lines = []
        for paper in dict.fromkeys(result.paper for result in self.results):
            mine = [result for result in self.results if result.paper == paper]
            done = sum(self._claim_of(result) in self.verdicts for result in mine)
            lines.append(f"{paper}: {done} of {len(mine)} results checked")
        return "\n".join(lines)

    def _claim_of(self, result: Result) -> str:
        """A restatement in an appendix is checked with what it restates."""
        return result.restates or result.id

    def _repr_html_(self) -> str:
        heads = ["result", "predicted, measured", "error, allowed"]
        rows = [self._row(result) for result in self.results]
        head = "".join(f'<th scope="col">{name}</th>' for name in heads)
        return (
            f'<table class="ledger"><thead><tr>{head}</tr></thead>'
            f"<tbody>{''.join(rows)}</tbody></table>"
        )

    def _row(self, result: Result) -> str:
        verdict = self.verdicts.get(self._claim_of(result))
        name, says = html.escape(result.id), html.escape(result.statement)
        if verdict is None:
            return (
                f'<tr><th scope="row"><b>{name}</b><p>{says}</p></th>'
                '<td colspan="2"><em>not yet done</em></td></tr>'
            )
        page, label = verdict.claim.anchor.split("#")
        evidence, kind = verdict.evidence, verdict.claim.kind
        return (
            f'<tr><th scope="row"><a href="{page}.html#{label}"><b>{name}</b></a> '
            f'<span title="{KINDS[kind]}">{kind}</span><p>{says}</p>{self._dropped(verdict)}</th>'
            f"<td>{number(evidence.predicted)}<br>{number(evidence.measured)}</td>"
            f"<td>{evidence.error:.0e}<br>{tolerance(evidence)}</td></tr>"
        )

    @staticmethod
    def _dropped(verdict: Verdict) -> str:
        items = "".join(
            f"<li>without {html.escape(name)}: fails, error {evidence.error:.2g}</li>"
            for name, evidence in verdict.counterparts.items()
        )
        return f"<ul>{items}</ul>"
