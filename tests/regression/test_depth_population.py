"""The exact loss of matrix-valued layers against sampled prompts, filters and chapter 4."""

import numpy as np
import pytest
import torch

from icgd.regression import depth_population, filters, theory, transformer
from icgd.regression.data import Prompts, SkewedTask, normal, sample_prompts
from icgd.regression.depth_population import DepthLoss, wishart_rule
from icgd.regression.filters import Spectrum
from icgd.regression.wishart_moments import trace_moment

SIGMA = np.array([[1.5, 0.4], [0.4, 0.5]])
OMEGA = np.array([[1.0, -0.2], [-0.2, 0.7]])


def generator(seed):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize(("n", "d", "degree"), [(7, 1, 8), (5, 2, 6), (5, 3, 4)])
def test_the_rule_has_the_exact_moments(n, d, degree):
    W, weights = wishart_rule(n, d, degree)
    for p in range(1, degree + 1):
        powers = torch.linalg.matrix_power(W, p).diagonal(dim1=1, dim2=2).sum(1)
        assert (weights @ powers).item() == pytest.approx(trace_moment((p,), n, d), rel=1e-12)
    # one degree more than promised is not exact
    W, weights = wishart_rule(n, d, 2)
    fourth = torch.linalg.matrix_power(W, 4).diagonal(dim1=1, dim2=2).sum(1)
    assert abs((weights @ fourth).item() / trace_moment((4,), n, d) - 1) > 1e-3


def test_off_diagonal_means_are_exact():
    W, weights = wishart_rule(7, 2, 4)
    assert (weights @ (W[:, 0, 0] * W[:, 1, 1])).item() == pytest.approx(49.0, rel=1e-12)
    assert (weights @ W[:, 0, 1] ** 2).item() == pytest.approx(7.0, rel=1e-12)
    assert (weights @ (W[:, 0, 0] * W[:, 0, 1] ** 2)).item() == pytest.approx(63.0, rel=1e-12)


@pytest.mark.parametrize("dense", [False, True])
def test_the_loss_is_an_average_over_prompts(dense):
    """Not only at special weights: non-symmetric matrices, skewed laws, noise."""
    n, s2 = 7, 0.3
    A = 0.5 * torch.eye(2).double() + 0.1 * normal(2, 2, 2, generator=generator(1))
    B = 0.3 * torch.eye(2).double() + 0.1 * normal(2, 2, 2, generator=generator(2))
    B = B if dense else None
    loss = DepthLoss(n, s2, 2, SIGMA, OMEGA, dense=dense)
    task = SkewedTask(SIGMA, s2, OMEGA)
    prompts = sample_prompts(task, 100_000, n, generator=generator(3))
    with torch.no_grad():
        squares = (transformer.from_blocks(A, B)(prompts) - prompts.y_query) ** 2
    standard_error = squares.std() / len(squares) ** 0.5
    assert standard_error < 0.03 * squares.mean()
    assert abs(squares.mean() - loss(A, B)) < 4 * standard_error


def test_without_noise_the_loss_is_what_the_layers_leave_of_each_weight_vector():
    """Prompts whose X^T X are the rule's points; w runs through the unit vectors."""
    n, A = 7, 0.5 * torch.eye(2).double() + 0.2 * normal(2, 2, 2, generator=generator(1))
    B = 0.3 * torch.eye(2).double() + 0.2 * normal(2, 2, 2, generator=generator(2))
    W, weights = wishart_rule(n, 2, 8)
    X = torch.zeros(len(W), n, 2).double()
    X[:, :2] = torch.linalg.cholesky(W).mT
    total, model = 0.0, transformer.from_blocks(A, B)
    for w in torch.eye(2).double():
        w = w.expand(len(W), 2)
        prompts = Prompts(X, (X @ w[..., None])[..., 0], w, w[:, 0], w)
        u = transformer.sensitivity(model, prompts)
        total += (weights @ (u - w).square().sum(1)).item()
    loss = DepthLoss(n, 0.0, 2, np.eye(2), dense=True)
    assert loss(A, B).item() == pytest.approx(total, rel=1e-10)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_multiples_of_the_identity_have_filters(d):
    steps, curvatures = [0.5, 0.9], [0.4, 0.0]
    spectrum = Spectrum(11, d, 0.3)
    A = transformer.as_matrices(d, steps)
    sparse = DepthLoss(11, 0.3, 2, np.eye(d))(A).item()
    wanted = spectrum.risk(filters.gradient_filter, steps)
    assert sparse == pytest.approx(wanted, rel=1e-12)
    if d < 3:
        ratios = [c / a for c, a in zip(curvatures, steps, strict=True)]
        dense = DepthLoss(11, 0.3, 2, np.eye(d), dense=True)
        wanted = spectrum.risk(filters.gdpp_filter, steps, curvatures)
        assert dense(A, transformer.as_matrices(d, ratios)).item() == pytest.approx(
            wanted, rel=1e-12
        )


def test_one_layer_is_the_preconditioned_step_of_chapter_4():
    C = np.array([[0.03, 0.01], [-0.02, 0.05]])
    loss = DepthLoss(7, 0.3, 1, SIGMA, OMEGA)(7 * torch.as_tensor(C.T)[None]).item()
    wanted = theory.skewed_risk(C, SIGMA, n=7, noise_var=0.3, task_covariance=OMEGA)
    assert loss == pytest.approx(wanted, rel=1e-12)


@pytest.mark.bad_input
def test_what_does_not_fit_is_refused():
    loss = DepthLoss(7, 0.3, 2, SIGMA)
    A = torch.zeros(2, 2, 2).double()
    with pytest.raises(ValueError, match=r"A must have shape \(2, 2, 2\), got \(1, 2, 2\)"):
        loss(A[:1])
    with pytest.raises(ValueError, match="pass dense=True"):
        loss(A, A)
    with pytest.raises(ValueError, match="n must be at least 3, got 2"):
        depth_population.wishart_rule(2, 3, 4)
    with pytest.raises(ValueError, match="layers must be at least 1, got 0"):
        DepthLoss(7, 0.3, 0, SIGMA)
