"""The ledger's rows, links and counts, on a registry of its own."""

import json

import pytest
from bs4 import BeautifulSoup

from icgd import claims
from icgd.claims import ClaimError, Evidence, claim
from icgd.ledger import Ledger, Result, load_results

RESULTS = [
    Result("T.one", "T", "theorem", "One & only."),
    Result("T.again", "T", "theorem", "The same, in the appendix.", restates="T.one"),
    Result("T.later", "T", "lemma", "Not yet <done>."),
    Result("U.two", "U", "lemma", "Two."),
]


def stand(id, anchor):
    item = claim(id, kind="exact", anchor=anchor, statement="A test.")(
        lambda: Evidence(2.5, 2.5, tolerance=1e-9)
    )
    item.fails_without("a < b")(lambda: Evidence(2.5, 3.0, tolerance=1e-9))
    return item


@pytest.fixture(autouse=True)
def own_registry(monkeypatch):
    monkeypatch.setattr(claims, "_REGISTRY", {})


@pytest.fixture
def rows():
    stand("T.one", "03-page#t-one")
    soup = BeautifulSoup(Ledger(RESULTS)._repr_html_(), "html.parser")
    return {row.th.b.get_text(): row for row in soup.tbody.find_all("tr")}


def test_every_result_has_a_row(rows):
    assert list(rows) == ["T.one", "T.again", "T.later", "U.two"]


def test_checked_results_link_to_their_derivation(rows):
    for name in ("T.one", "T.again"):
        assert rows[name].th.a["href"] == "03-page.html#t-one"
        assert rows[name].th.span.get_text() == "exact"
        # escaped, so it reads as written
        assert rows[name].li.get_text() == "without a < b: fails, error 0.5"
        cells = [list(cell.stripped_strings) for cell in rows[name].find_all("td")]
        assert cells == [["2.5", "2.5"], ["0e+00", "1e-09"]]
    assert rows["T.one"].p.get_text() == "One & only."


def test_results_without_a_claim_say_so(rows):
    for name in ("T.later", "U.two"):
        assert rows[name].find("a") is None
        assert rows[name].em.get_text() == "not yet done"
    assert rows["T.later"].p.get_text() == "Not yet <done>."


def test_every_row_is_as_wide_as_the_head(rows):
    for row in rows.values():
        assert 1 + sum(int(cell.get("colspan", 1)) for cell in row.find_all("td")) == 3


def test_coverage_counts_restatements_with_what_they_restate():
    stand("T.one", "03-page#t-one")
    expected = "T: 2 of 3 results checked\nU: 0 of 1 results checked"
    assert Ledger(RESULTS).coverage() == expected
    stand("U.two", "04-page#u-two")
    assert Ledger(RESULTS).coverage().endswith("U: 1 of 1 results checked")


def test_claims_that_fail_or_are_not_listed_are_all_named():
    stand("T.one", "03-page#t-one")
    stand("T.unheard", "03-page#x")
    claim("U.two", kind="exact", anchor="04-page#u-two", statement="Off.")(
        lambda: Evidence(1.0, 2.0, tolerance=1e-9)
    )
    with pytest.raises(ClaimError, match=r"U.two fails: error 1 .*; T.unheard is claimed but not"):
        Ledger(RESULTS)


def write(folder, name, *entries):
    (folder / name).write_text(json.dumps(entries), "utf-8")


ENTRY = {"id": "T.one", "paper": "T", "kind": "theorem", "statement": "Ŵ = η I."}


def test_results_are_read_from_all_files(tmp_path):
    write(tmp_path, "results-t.json", ENTRY)
    write(tmp_path, "results-u.json", {**ENTRY, "id": "U.two", "paper": "U", "restates": "T.one"})
    write(tmp_path, "other.json", {"id": "no result"})
    results = {result.id: result for result in load_results(tmp_path)}
    assert set(results) == {"T.one", "U.two"}
    assert results["T.one"].statement == "Ŵ = η I."
    assert results["U.two"].restates == "T.one"


def test_the_repositorys_results_can_be_read(root):
    results = load_results(root / "data")
    ids = {result.id for result in results}
    assert {"OS.Theorem1", "OS.Lemma4"} <= ids
    assert all(result.restates in ids for result in results if result.restates)


@pytest.mark.bad_input
def test_results_that_cannot_be_read(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"must hold results-\*.json, found none; run from"):
        load_results(tmp_path)
    write(tmp_path, "results-t.json", ENTRY, ENTRY)
    with pytest.raises(ValueError, match=r"ids of results must be unique, got \['T.one'\] twice"):
        load_results(tmp_path)
