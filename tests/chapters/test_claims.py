"""The papers' results, the claims and the chapters fit together: nothing listed goes unchecked."""

import json
import re
from pathlib import Path

import pytest

import icgd.evidence  # noqa: F401, registers the claims
from icgd.claims import registry
from icgd.ledger import load_results

ROOT = Path(__file__).parents[2]
CLAIMS = registry()


@pytest.mark.parametrize("result", load_results(ROOT / "data"), ids=lambda result: result.id)
def test_every_listed_result_has_a_claim(result):
    assert (result.restates or result.id) in CLAIMS


@pytest.mark.parametrize("id", CLAIMS)
def test_every_claim_is_stated_and_checked_in_its_chapter(id):
    chapter, label = CLAIMS[id].anchor.split("#")
    notebook = json.loads((ROOT / "chapters" / f"{chapter}.ipynb").read_text("utf-8"))
    sources = {"code": "", "markdown": ""}
    for cell in notebook["cells"]:
        sources[cell["cell_type"]] += "".join(cell["source"]) + "\n"
    assert re.search(rf"^:label: {re.escape(label)}$", sources["markdown"], re.M), label
    assert f'"{id}"' in sources["code"], f'{chapter} must run check("{id}")'


def test_every_claim_is_listed():
    assert set(CLAIMS) <= {result.id for result in load_results(ROOT / "data")}


def test_every_claim_that_a_page_names_exists():
    families = "|".join({re.escape(id.split(".")[0]) for id in CLAIMS})
    pages = [path for path in (ROOT / "chapters").iterdir() if path.suffix in (".md", ".ipynb")]
    named = {
        id
        for path in pages
        for id in re.findall(rf"`((?:{families})\.[\w.-]+)`", path.read_text("utf-8"))
    }
    assert len(named) > 20
    assert named <= set(CLAIMS)
