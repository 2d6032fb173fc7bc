"""Every claim stands, and fails without each hypothesis that it names."""

import pytest

import icgd.evidence  # noqa: F401, registers the claims
from icgd.claims import registry, verify


@pytest.mark.parametrize("id", registry())
def test_claim_stands_and_can_fail(id):
    assert verify(id).failure is None
