"""Linear layers that run Newton's iteration, against the iteration written with inverses."""

import numpy as np
import pytest
import torch

from icgd.regression.data import LinearTask, Prompts, sample_prompts
from icgd.regression.depth_newton import NewtonStack

BATCH, N, D = 5, 11, 3


@pytest.fixture
def prompts():
    return sample_prompts(LinearTask(D, 0.4), BATCH, N, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("iterations", [1, 2, 5])
def test_two_layers_are_a_step(prompts, iterations):
    """M is H^-1 (I - (I - start H)^(2^k)): no loop."""
    found = NewtonStack(D, 0.3, iterations)(prompts)
    for b, (X, y, q) in enumerate(zip(prompts.X, prompts.y, prompts.x_query, strict=True)):
        H = (X.T @ X / N).numpy()
        left = np.linalg.matrix_power(np.eye(D) - 0.3 * H, 2**iterations)
        M = np.linalg.solve(H, np.eye(D) - left)
        wanted = (X.T @ y / N).numpy() @ M @ q.numpy()
        np.testing.assert_allclose(found[b].item(), wanted, rtol=1e-10)


def test_many_steps_are_least_squares(prompts):
    found = NewtonStack(D, 0.3, 12)(prompts)
    w = torch.linalg.lstsq(prompts.X, prompts.y[..., None]).solution[..., 0]
    np.testing.assert_allclose(found, (w * prompts.x_query).sum(1), rtol=1e-10)


def test_workers_hold_the_iterate_and_forget_its_residual(prompts):
    stack = NewtonStack(D, 0.3, 2)
    states = stack.stream(stack.tokens(prompts), stack.mask(N))
    H, eye = prompts.X.mT @ prompts.X / N, torch.eye(D).double()
    M, workers = 0.3 * eye.expand(BATCH, D, D), slice(N, N + D)
    for k in range(2):
        r = states[2 * k + 1][:, workers, 4 * D : 5 * D].mT
        np.testing.assert_allclose(r, eye - H @ M, atol=1e-12)
        M = 2 * M - M @ H @ M
        np.testing.assert_allclose(states[2 * k + 2][:, workers, 3 * D : 4 * D].mT, M, atol=1e-12)
        assert states[2 * k + 2][:, :, 4 * D : 5 * D].abs().max() < 1e-12


def test_prediction_does_not_see_the_answer(prompts):
    hidden = Prompts(prompts.X, prompts.y, prompts.x_query, prompts.y_query + 9.0)
    stack = NewtonStack(D, 0.3, 2)
    assert torch.equal(stack(hidden), stack(prompts))


@pytest.mark.bad_input
def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="iterations must be at least 1, got 0"):
        NewtonStack(D, 0.3, 0)
    with pytest.raises(ValueError, match="start must be finite"):
        NewtonStack(D, float("nan"), 1)
    with pytest.raises(ValueError, match="d must be at least 1, got 0"):
        NewtonStack(0, 0.3, 1)
