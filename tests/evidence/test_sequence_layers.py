"""The stored layers of chapter 15 are what the tool says, and the steps beside them the best."""

import json

import pytest
import torch

from icgd.autoregression.processes import Sphere, sample_process
from icgd.autoregression.steps import gradient_steps
from icgd.evidence.autoregression.neighbours_layers import BEST_STEPS, LAWS, mean_error, trained


@pytest.fixture(scope="module")
def stored(root):
    return json.loads((root / "data" / "sequence_layers.json").read_text("utf-8"))


def training_sequences(process, stored):
    """Remade from their seed."""
    sizes = stored["sequences"], stored["d"], stored["T"]
    start, generator = Sphere(2**0.5, "complex"), torch.Generator().manual_seed(0)
    return sample_process(start, LAWS[process], *sizes, generator=generator).x


def test_stored_losses_belong_to_the_stored_weights(stored):
    for run in stored["runs"]:
        model = trained()[run["process"], run["layers"]]
        error = mean_error(model, training_sequences(run["process"], stored))
        assert error == pytest.approx(min(run["losses"]), rel=1e-4)


@pytest.mark.parametrize("process", LAWS)
def test_no_step_size_nearby_is_better(process, stored):
    x = training_sequences(process, stored)
    for best in BEST_STEPS[process]:
        least = mean_error(gradient_steps(best), x)
        for k in range(len(best)):
            for factor in (0.99, 1.01):
                moved = [p * factor if i == k else p for i, p in enumerate(best)]
                assert mean_error(gradient_steps(moved), x) > least
