import json

import pytest

import icgd.evidence.autoregression  # noqa: F401
from icgd.claims import registry, verify

CLAIMS = sorted(id for id in registry() if id.startswith("MO."))
CHAPTERS = {
    "09-autoregressive-processes",
    "10-gradient-flow",
    "11-mesa-optimizer",
    "12-capability",
    "13-beyond-the-diagonal",
    "14-every-figure",
}


@pytest.mark.parametrize("id", CLAIMS)
def test_claim_stands_and_can_fail(id):
    assert verify(id).failure is None


def test_every_numbered_result_has_a_claim(root):
    results = json.loads((root / "data" / "results-mo.json").read_text("utf-8"))
    own = {entry["id"] for entry in results if "restates" not in entry}
    assert own == set(CLAIMS)
    assert {entry["restates"] for entry in results if "restates" in entry} <= own


def test_every_claim_points_into_the_chapters():
    for id in CLAIMS:
        chapter, label = registry()[id].anchor.split("#")
        assert chapter in CHAPTERS
        assert label.startswith("mo-")
        assert label == label.lower()
