"""The claims of chapter 15 stand and can fail; its stored weights are what the tool says."""

import json

import pytest
import torch

import icgd.evidence.autoregression  # noqa: F401
from icgd.autoregression.steps import gradient_steps
from icgd.claims import registry, verify
from icgd.evidence.autoregression import neighbours_layers

CLAIMS = [i for i, c in registry().items() if c.anchor.startswith("15-sequence-neighbours#")]


@pytest.mark.parametrize("id", CLAIMS)
def test_claim_stands_and_can_fail(id):
    assert verify(id).failure is None


def test_claims_and_results_match(root):
    path = root / "data" / "results-neighbours-15.json"
    assert {entry["id"] for entry in json.loads(path.read_text("utf-8"))} == set(CLAIMS)


def training_sequences(process, stored):
    return neighbours_layers.sample_process(
        neighbours_layers.Sphere(2**0.5, "complex"),
        neighbours_layers.LAWS[process],
        stored["sequences"],
        stored["d"],
        stored["T"],
        generator=torch.Generator().manual_seed(0),
    ).x


def test_stored_losses_belong_to_the_stored_weights(root):
    """The best loss of each entry, on the training sequences, remade from their seed."""
    stored = json.loads((root / "data" / "sequence_layers.json").read_text("utf-8"))
    models = neighbours_layers.trained()
    for run in stored["runs"]:
        x = training_sequences(run["process"], stored)
        error = neighbours_layers.mean_error(models[run["process"], run["layers"]], x)
        assert error == pytest.approx(min(run["losses"]), rel=1e-4)


@pytest.mark.parametrize("process", neighbours_layers.LAWS)
def test_no_step_size_nearby_is_better(process, root):
    stored = json.loads((root / "data" / "sequence_layers.json").read_text("utf-8"))
    x = training_sequences(process, stored)
    for best in neighbours_layers.BEST_STEPS[process]:
        least = neighbours_layers.mean_error(gradient_steps(best), x)
        for k in range(len(best)):
            for factor in (0.99, 1.01):
                moved = [p * factor if i == k else p for i, p in enumerate(best)]
                assert neighbours_layers.mean_error(gradient_steps(moved), x) > least
