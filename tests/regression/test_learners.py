"""Learners against numpy's solvers, autograd, limits and rotations."""

import numpy as np
import pytest
import torch

from icgd.regression import learners
from icgd.regression.data import LinearTask, Prompts, normal, sample_prompts

BATCH = 5
SIZES = [(11, 3), (3, 7), (7, 7)]  # more examples than dimensions, fewer, as many


def prompts_of(n, d, noise_var=0.4):
    generator = torch.Generator().manual_seed(0)
    return sample_prompts(LinearTask(d, noise_var), BATCH, n, generator=generator)


@pytest.mark.parametrize(("n", "d"), SIZES)
def test_ridge_is_least_squares_on_the_augmented_system(n, d):
    prompts = prompts_of(n, d)
    found = learners.ridge(0.4).weights(prompts)
    for b in range(BATCH):
        rows = np.vstack([prompts.X[b], 0.4**0.5 * np.eye(d)])
        wanted = np.linalg.lstsq(rows, np.append(prompts.y[b], np.zeros(d)), rcond=None)[0]
        np.testing.assert_allclose(found[b], wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("n", "d"), SIZES)
def test_least_squares_is_numpys(n, d):
    prompts = prompts_of(n, d)
    found = learners.least_squares().weights(prompts)
    for b in range(BATCH):
        wanted = np.linalg.lstsq(prompts.X[b], prompts.y[b], rcond=None)[0]
        np.testing.assert_allclose(found[b], wanted, rtol=1e-7)


@pytest.mark.parametrize(("n", "d"), SIZES[:2])
def test_ridge_tends_to_least_squares_and_to_a_gradient_step(n, d):
    prompts = prompts_of(n, d)
    shortest = learners.least_squares().weights(prompts)
    gaps = [(learners.ridge(s).weights(prompts) - shortest).norm() for s in (1e-3, 1e-5)]
    assert gaps[0] / gaps[1] == pytest.approx(100, rel=0.05)  # first order in the strength
    steep = learners.ridge(1e8).weights(prompts)
    step = learners.gradient_step(1e-8).weights(prompts)
    np.testing.assert_allclose(steep, step, rtol=1e-5)


def test_gradient_step_is_autograds():
    prompts = prompts_of(11, 3)
    w = torch.zeros(BATCH, 3, dtype=torch.float64, requires_grad=True)
    residuals = torch.einsum("bnd,bd->bn", prompts.X, w) - prompts.y
    (residuals**2).sum().div(2).backward()
    np.testing.assert_allclose(learners.gradient_step(0.17).weights(prompts), -0.17 * w.grad, 1e-12)


def test_preconditioner_multiplies_from_the_left():
    prompts = prompts_of(11, 3)
    P = normal(3, 3, generator=torch.Generator().manual_seed(3))  # not symmetric
    found = learners.preconditioned_step(P).weights(prompts)
    for b in range(BATCH):
        wanted = P.numpy() @ (prompts.X[b].numpy().T @ prompts.y[b].numpy())
        np.testing.assert_allclose(found[b], wanted, rtol=1e-12)


@pytest.mark.parametrize(
    "learner",
    [learners.gradient_step(0.1), learners.ridge(0.4), learners.least_squares()],
    ids=lambda learner: learner.name,
)
@pytest.mark.parametrize(("n", "d"), SIZES[:2])
def test_learners_turn_with_the_covariates(learner, n, d):
    prompts = prompts_of(n, d)
    R = torch.linalg.qr(normal(d, d, generator=torch.Generator().manual_seed(5)))[0]
    turned = Prompts(prompts.X @ R.T, prompts.y, prompts.x_query @ R.T, prompts.y_query)
    wanted = learner.weights(prompts) @ R.T
    np.testing.assert_allclose(learner.weights(turned), wanted, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(learner(turned), learner(prompts), rtol=1e-8, atol=1e-10)


def test_prediction_is_the_product_with_the_query():
    prompts = prompts_of(11, 3)
    learner = learners.ridge(0.4)
    for b in range(BATCH):
        wanted = learner.weights(prompts)[b] @ prompts.x_query[b]
        np.testing.assert_allclose(learner(prompts)[b], wanted, rtol=1e-12)
