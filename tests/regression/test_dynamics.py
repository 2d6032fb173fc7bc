"""Where gradient flow takes the layer that divides by n: closed forms against other derivations."""

import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp

from icgd.regression import dynamics, theory
from icgd.regression.normalised import normalised_loss

SIGMA = np.array([[2.0, 0.6, 0.0], [0.6, 1.0, -0.3], [0.0, -0.3, 0.4]])
KEYS = {"n": 7, "noise_var": 0.3}
RNG = np.random.default_rng(5)


def integrate(A_x, b, time=400.0):
    """The flow by scipy on the closed-form velocity: no torch, no loss."""

    def velocity(_, flat):
        dA, db = dynamics.velocity(flat[:-1].reshape(3, 3), flat[-1], SIGMA, **KEYS)
        return np.append(dA.ravel(), db)

    end = solve_ivp(velocity, (0, time), np.append(A_x.ravel(), b), "LSODA", rtol=1e-9, atol=1e-11)
    return end.y[:-1, -1].reshape(3, 3), end.y[-1, -1]


def test_velocity_is_minus_the_gradient_of_the_loss():
    A, w = torch.zeros(3, 4).double(), torch.zeros(4).double()
    A[:, :3], w[3] = torch.as_tensor(RNG.standard_normal((3, 3))), 0.7
    A.requires_grad_(), w.requires_grad_()
    loss = normalised_loss(A, w, covariance=SIGMA, **KEYS)
    dA, dw = torch.autograd.grad(loss, (A, w))
    A_dot, b_dot = dynamics.velocity(A[:, :3].detach().numpy(), 0.7, SIGMA, **KEYS)
    np.testing.assert_allclose(-dA[:, :3], A_dot, atol=1e-12)
    assert -dw[3].item() == pytest.approx(b_dot, abs=1e-12)
    assert not dA[:, 3].any()
    assert not dw[:3].any()


@pytest.mark.parametrize("scale", [0.03, 1.0, 30.0])
def test_every_scale_of_the_papers_start_arrives(scale):
    theta = np.random.default_rng(1).standard_normal((3, 2))
    A_x, b = dynamics.start(theta, scale)
    assert b**2 == pytest.approx(np.sum(A_x**2))
    wanted = dynamics.limit(SIGMA, **KEYS)
    for found, expected in zip(integrate(A_x, b), wanted, strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-7)


def test_only_the_diagonal_in_the_axes_of_sigma_must_not_be_negative():
    """Large entries off the diagonal, not symmetric, and rho < 0."""
    axes = np.linalg.eigh(SIGMA)[1]
    alpha = np.array([[0.0, -2.0, 1.0], [1.5, 0.1, 0.7], [-1.0, 0.2, 0.0]])
    A_x, b = axes @ alpha @ axes.T, 0.05
    rho = b**2 - np.sum(A_x**2)
    wanted = dynamics.limit(SIGMA, imbalance=rho, **KEYS)
    for found, expected in zip(integrate(A_x, b, 6_000.0), wanted, strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_with_b_larger_nothing_is_asked_of_A_x():
    A_x, b = -0.9 * np.eye(3) / 3**0.5, 1.0
    wanted = dynamics.limit(SIGMA, imbalance=1 - 0.81, **KEYS)
    for found, expected in zip(integrate(A_x, b), wanted, strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("scale", [0.1, 100.0])
def test_covariances_that_do_not_commute(scale):
    """Solution of the exercise: the flow arrives although <E Lambda^2, A_x> can turn negative."""
    covariances = np.array([[4.0, 1.5], [1.5, 1.0]]), np.diag([0.2, 2.0])

    def velocity(_, flat):
        moves = [dynamics.velocity(flat[:4].reshape(2, 2), flat[4], S, **KEYS) for S in covariances]
        return np.mean([np.append(dA, db) for dA, db in moves], axis=0)

    A_x, b = dynamics.start(np.ones((2, 1)), scale)
    run = solve_ivp(velocity, (0, 100), np.append(A_x, b), "LSODA", rtol=1e-9, atol=1e-11).y
    second = np.mean([S @ S for S in covariances], axis=0)
    system = sum(np.kron(S, S @ dynamics.gamma(S, **KEYS)) for S in covariances) / 2
    best = np.linalg.solve(system, second.ravel())  # E[Lambda C Lambda Gamma] = E[Lambda^2]
    np.testing.assert_allclose(run[4, -1] * run[:4, -1], best, atol=1e-7)
    assert ((second.ravel() @ run[:4]).min() < 0) == (scale > 1)


@pytest.mark.parametrize("imbalance", [-1e6, -3.0, 0.0, 0.2, 1e6])
def test_limit_has_the_product_and_the_imbalance(imbalance):
    A_x, b = dynamics.limit(SIGMA, imbalance=imbalance, **KEYS)
    inverse = np.linalg.inv(dynamics.gamma(SIGMA, **KEYS))
    np.testing.assert_allclose(b * A_x, inverse, rtol=1e-12)
    assert b**2 - np.sum(A_x**2) == pytest.approx(imbalance, rel=1e-12, abs=1e-12)


def test_gamma_is_the_inverse_of_the_preconditioner_per_example():
    P = theory.preconditioner(SIGMA, task_covariance=np.eye(3), **KEYS)
    np.testing.assert_allclose(np.linalg.inv(dynamics.gamma(SIGMA, **KEYS)), 7 * P, rtol=1e-12)


def test_logistic_curve_by_its_equation_and_its_rate():
    d, n, s2, h = 5, 11, 0.4, 1e-5
    g = (n + d + 1 + s2) / n
    keys = {"d": d, "n": n, "noise_var": s2}
    for time in (0.3, 1.1, 2.0):
        low, p, high = dynamics.isotropic_product(np.array([time - h, time, time + h]), 0.2, **keys)
        assert (high - low) / (2 * h) == pytest.approx(2 * d**0.5 * p * (1 - g * p), rel=1e-6)
    early = dynamics.isotropic_product(np.array([3.0, 4.0]), 0.2, **keys)
    missing = np.log(1 - g * early)
    assert missing[0] - missing[1] == pytest.approx(2 * d**0.5, rel=1e-2)


def test_rank_limited_minimum_is_the_best_low_rank_fit():
    """By a singular value decomposition that does not know that the matrices commute."""
    Q = np.linalg.qr(RNG.standard_normal((5, 5)))[0]
    sigma = (Q * [3.0, 1.1, 0.9, 0.5, 0.2]) @ Q.T
    sigma = (sigma + sigma.T) / 2
    keys = {"n": 11, "noise_var": 0.7}
    P = theory.preconditioner(sigma, task_covariance=np.eye(5), **keys)
    kappa = np.trace(sigma) + 0.7
    E = 11 * (12 * sigma @ sigma + kappa * sigma)
    full = theory.skewed_minimum_loss(sigma, task_covariance=np.eye(5), **keys) - 0.7
    left, right = np.linalg.cholesky(sigma), np.linalg.cholesky(E)
    lost = np.linalg.svd(left.T @ P @ right)[1] ** 2
    for rank in range(1, 6):
        found = dynamics.minimum_loss(sigma, rank=rank, **keys)
        assert found == pytest.approx(full + lost[rank:].sum(), rel=1e-10)
    assert dynamics.minimum_loss(sigma, rank=9, **keys) == pytest.approx(full, rel=1e-12)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: dynamics.gamma(np.diag([1.0, -1.0]), **KEYS), "must be positive definite"),
        (lambda: dynamics.gamma(SIGMA, n=0, noise_var=0.0), "n must be at least 1, got 0"),
        (lambda: dynamics.gamma(SIGMA, n=5, noise_var=-0.1), "noise_var must not be negative"),
        (lambda: dynamics.start(np.zeros((3, 2)), 1.0), "theta must be finite and not zero"),
        (lambda: dynamics.start(np.eye(3), 0.0), "scale must be positive"),
        (lambda: dynamics.velocity(np.eye(2), 1.0, SIGMA, **KEYS), r"A_x must have shape \(3, 3\)"),
        (lambda: dynamics.minimum_loss(SIGMA, rank=0, **KEYS), "rank must be at least 1"),
        (lambda: dynamics.limit(SIGMA, imbalance=np.nan, **KEYS), "imbalance must be finite"),
    ],
)
def test_bad_input(call, match):
    with pytest.raises(ValueError, match=match):
        call()
