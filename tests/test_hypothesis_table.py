"""The table of hypotheses as HTML."""

from dataclasses import replace

import pytest

import icgd.evidence
from icgd.claims import registry
from icgd.evidence.regression.hypotheses import hypothesis_table
from icgd.hypothesis_table import HypothesisTable, typeset

assert icgd.evidence  # registers the claims


def test_every_row_is_linked_to_its_claim():
    rows = hypothesis_table()
    page = HypothesisTable(rows)._repr_html_()
    assert page.count('scope="row"') == len(rows)
    for row in rows:
        name, label = registry()[row.claim].anchor.split("#")
        assert f'href="{name}.html#{label}"' in page


def test_rows_stand_under_their_theorem():
    page = HypothesisTable(reversed(hypothesis_table()))._repr_html_()
    places = [page.index(f"Theorem {k}</b>") for k in (1, 2, 3)]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("plain", "shown"),
    [
        ("(n - 1 + s2) I)^-1", "(n − 1 + σ²) I)<sup>−1</sup>"),
        ("E[beta beta^T], eta Sigma^+", "E[β β<sup>T</sup>], η Σ<sup>+</sup>"),
        ("Sigma^(-1/2) x_1", "Σ<sup>−1/2</sup> x<sub>1</sub>"),
        ("a < b & c", "a &lt; b &amp; c"),
        ("d >= 2, w.x +-1", "d ≥ 2, w·x ±1"),
    ],
)
def test_formulas_in_plain_letters_are_set(plain, shown):
    assert typeset(plain) == shown


@pytest.mark.bad_input
def test_a_row_without_a_claim_is_refused():
    row = replace(hypothesis_table()[0], claim="OS.nothing")
    with pytest.raises(KeyError, match=r"no claim is called 'OS\.nothing'"):
        HypothesisTable([row])
