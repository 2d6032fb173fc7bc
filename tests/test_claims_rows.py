"""Every claim of the chapter on real rows and sweeps stands, and fails where it must."""

import pytest

import icgd.evidence  # noqa: F401  registers the claims
from icgd.claims import check, registry

CLAIMS = [id for id in registry() if id.startswith("RS.")]


def test_the_chapter_is_claimed():
    wanted = {"ridge-gain", "half", "share-boundary", "foreign", "one-table", "shuffled"}
    assert {f"RS.{name}" for name in wanted | {"noisy-rotation"}} == set(CLAIMS)


@pytest.mark.parametrize("id", CLAIMS)
def test_claim_stands(id, capsys):
    check(id)
    assert capsys.readouterr().out.count("  without ") >= 1
