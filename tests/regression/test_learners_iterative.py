"""Iterative learners against the layers that run them, exact solvers, and their filters."""

import numpy as np
import pytest
import torch
from scipy.sparse.linalg import cg

from icgd.regression import filters, learners, transformer
from icgd.regression import learners_iterative as iterative
from icgd.regression.data import LinearTask, normal, sample_prompts

BATCH, N, D = 5, 11, 3


@pytest.fixture
def prompts():
    g = torch.Generator().manual_seed(1)
    return sample_prompts(LinearTask(D, 0.4), BATCH, N, generator=g)


def by_filter(prompts, filter):
    """p(H) X^T y / n with p = (1 - F) / h, in the eigenvectors of H."""
    found = []
    for X, y in zip(prompts.X.numpy(), prompts.y.numpy(), strict=True):
        h, V = np.linalg.eigh(X.T @ X / N)
        found.append(V @ ((1 - filter(h)) / h * (V.T @ X.T @ y / N)))
    return np.array(found)


def test_one_step_is_the_learner_of_chapter_1(prompts):
    ours = iterative.gradient_steps([0.3 * N]).weights(prompts)
    np.testing.assert_allclose(ours, learners.gradient_step(0.3).weights(prompts), rtol=1e-12)


def test_learners_have_their_filters(prompts):
    steps, curvatures = [0.4, 0.9, 1.7], [0.3, -0.1, 0.6]
    pairs = [
        (iterative.gradient_steps(steps), lambda h: filters.gradient_filter(steps, h)),
        (
            iterative.gd_plus_plus(steps, curvatures),
            lambda h: filters.gdpp_filter(steps, curvatures, h),
        ),
        (iterative.newton_inverse(0.3, 3), lambda h: filters.newton_filter(0.3, 3, h)),
        (learners.ridge(0.4), lambda h: filters.ridge_filter(N, 0.4, h)),
    ]
    for learner, filter in pairs:
        wanted = by_filter(prompts, filter)
        np.testing.assert_allclose(
            learner.weights(prompts), wanted, rtol=1e-10, err_msg=learner.name
        )


def test_matrices_are_what_the_layers_run(prompts):
    A = 0.3 * normal(4, D, D, generator=torch.Generator().manual_seed(2))
    layers = transformer.gradient_descent(D, A.mT)  # the layer steps with the transpose
    np.testing.assert_allclose(
        iterative.gradient_steps(A)(prompts), layers(prompts).detach(), rtol=1e-11
    )


def test_gd_plus_plus_is_what_the_layers_run(prompts):
    steps, curvatures = [0.4, 0.9, 1.7], [0.3, -0.1, 0.6]
    layers = transformer.gd_plus_plus(D, steps, curvatures)
    ours = iterative.gd_plus_plus(steps, curvatures)(prompts)
    np.testing.assert_allclose(ours, layers(prompts).detach(), rtol=1e-11)


@pytest.mark.parametrize("noise_var", [0.0, 0.7])
@pytest.mark.parametrize("steps", [1, 2, 3, 7])
def test_conjugate_gradients_are_scipys(prompts, steps, noise_var):
    ours = iterative.conjugate_gradients(steps, noise_var).weights(prompts)
    for b in range(BATCH):
        X, y = prompts.X[b].numpy(), prompts.y[b].numpy()
        S = X.T @ X + noise_var * np.eye(D)
        wanted, _ = cg(S, X.T @ y, rtol=1e-13, atol=0.0, maxiter=min(steps, D))
        np.testing.assert_allclose(ours[b], wanted, rtol=1e-9, atol=1e-12)


def test_d_conjugate_gradients_solve_the_problem(prompts):
    np.testing.assert_allclose(
        iterative.conjugate_gradients(D).weights(prompts),
        learners.least_squares().weights(prompts),
        rtol=1e-9,
    )


def test_newton_squares_the_error_with_each_iteration(prompts):
    exact = learners.least_squares().weights(prompts)
    errors = [
        (iterative.newton_inverse(0.3, k).weights(prompts) - exact).norm(dim=1).max().log()
        for k in (6, 7, 8)
    ]
    ratio = (errors[2] - errors[1]) / (errors[1] - errors[0])
    assert ratio == pytest.approx(2.0, rel=0.02)  # the log of the error doubles its pace


@pytest.mark.bad_input
def test_what_does_not_fit_is_refused(prompts):
    with pytest.raises(ValueError, match="steps and curvatures must have one length, got 1 and 2"):
        iterative.gd_plus_plus([0.1], [0.1, 0.2])
    with pytest.raises(ValueError, match="steps must be finite"):
        iterative.gradient_steps([0.1, float("nan")])
    with pytest.raises(ValueError, match="steps must be at least 1, got 0"):
        iterative.conjugate_gradients(0)
    with pytest.raises(ValueError, match="noise_var must not be negative"):
        iterative.conjugate_gradients(2, -0.1)
    with pytest.raises(ValueError, match="iterations must be at least 1, got 0"):
        iterative.newton_inverse(0.1, 0)
    with pytest.raises(ValueError, match=r"steps must have shape \(any, 3, 3\), got \(1, 2, 2\)"):
        iterative.gradient_steps(torch.zeros(1, 2, 2).double()).weights(prompts)
