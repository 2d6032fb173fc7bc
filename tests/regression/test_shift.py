"""Exact risks on other lengths and laws, against samples, rational numbers and quadrature."""

from fractions import Fraction

import numpy as np
import pytest
import torch

from icgd.regression import dynamics, learners, shift, theory
from icgd.regression.data import normal, sample_prompts
from icgd.regression.shifted_tasks import ShiftedTask

SIGMA = np.array([[1.5, 0.4, 0.0], [0.4, 0.9, 0.2], [0.0, 0.2, 0.6]])
OTHER = np.diag([0.5, 2.0, 1.0])
TASK = np.outer([1.0, 0.0, -2.0], [1.0, 0.0, -2.0])  # one fixed weight vector, up to its sign


@pytest.mark.parametrize(
    ("covariance", "W", "K", "noise_var"),
    [
        (SIGMA, None, None, 0.3),
        (SIGMA, TASK, None, 0.0),
        (SIGMA, None, np.diag([1.0, 0.0, 3.0]), 0.3),
        (OTHER, None, None, 0.7),
        (OTHER, TASK, SIGMA, 0.7),
    ],
    ids=["none", "task", "query", "covariate", "all"],
)
def test_risk_is_the_average_over_sampled_prompts(covariance, W, K, noise_var):
    n, m, batch = 11, 5, 40_000
    P = np.linalg.inv(dynamics.gamma(SIGMA, n=n, noise_var=0.3))
    task = ShiftedTask(covariance, noise_var, W, K)
    prompts = sample_prompts(task, batch, m, generator=torch.Generator().manual_seed(7))
    prediction = learners.preconditioned_step(torch.as_tensor(P / m))(prompts)
    errors = (prediction - (prompts.w * prompts.x_query).sum(1)) ** 2
    exact = shift.step_risk(
        P, m=m, covariance=covariance, noise_var=noise_var, task_moment=W, query_moment=K
    )
    assert errors.mean().item() == pytest.approx(exact, abs=4 * errors.std().item() / batch**0.5)


def test_a_preconditioner_that_is_not_symmetric():
    P = np.random.default_rng(2).standard_normal((3, 3))
    m, batch = 5, 40_000
    task = ShiftedTask(OTHER, 0.3, SIGMA, SIGMA)
    prompts = sample_prompts(task, batch, m, generator=torch.Generator().manual_seed(8))
    prediction = learners.preconditioned_step(torch.as_tensor(P / m))(prompts)
    errors = (prediction - (prompts.w * prompts.x_query).sum(1)) ** 2
    keys = {"task_moment": SIGMA, "query_moment": SIGMA}
    exact = shift.step_risk(P, m=m, covariance=OTHER, noise_var=0.3, **keys)
    assert errors.mean().item() == pytest.approx(exact, abs=4 * errors.std().item() / batch**0.5)


def test_values_of_an_independent_computation():
    """From Gauss quadrature over whole prompts (d = 2, m = 2, 3)."""
    l = np.array([1.5, 0.4])
    assert shift.length_risk(5, 3, l, noise_var=0.0) == pytest.approx(0.9628139618, abs=1e-10)
    found = shift.length_risk(4, 2, l, noise_var=0.3, test_noise_var=0.7)
    assert found == pytest.approx(1.3735789466, abs=1e-10)


def test_isotropic_risk_in_rational_numbers():
    """d ((1 - f)^2 + f^2 (d + 1 + s2) / m), f = n / (n + d + 1 + s2), from E S = m I and
    E S^2 = m (m + d + 1) I."""
    d, s2 = 5, Fraction(1, 2)
    for n, m in ((1, 7), (7, 1), (13, 3)):
        f = Fraction(n) / (n + d + 1 + s2)
        second = f**2 * (Fraction(m * (m + d + 1), m**2) + s2 / m)
        wanted = d * (1 - 2 * f + second)
        found = shift.length_risk(n, m, np.ones(d), noise_var=float(s2))
        assert found == pytest.approx(float(wanted), rel=1e-14)


def test_same_length_is_the_minimum_and_the_chapters_one_step_risk():
    values, n, s2 = np.array([2.0, 0.7, 0.3]), 11, 0.4
    same = shift.length_risk(n, n, values, noise_var=s2)
    least = dynamics.minimum_loss(np.diag(values), n=n, noise_var=s2)
    assert same == pytest.approx(least, rel=1e-13)
    P = theory.preconditioner(np.diag(values), n=n, noise_var=s2, task_covariance=np.eye(3))
    step = shift.step_risk(n * P, m=n, covariance=np.diag(values), noise_var=s2)
    assert step == pytest.approx(same, rel=1e-13)


def test_long_training_beats_silence_from_d_plus_one_examples_on():
    ratio = shift.length_risk(np.inf, np.arange(1, 12), np.ones(7), noise_var=0.0) / 7
    assert (ratio[:7] > 1).all()
    assert ratio[7] == pytest.approx(1)
    assert (ratio[8:] < 1).all()


@pytest.mark.parametrize("n", [1, 2, 5, 20, 1000])
def test_when_silence_is_better(n):
    """The bound of the exercise: m < n c / (n + 2 c), c = d + 1 + s2."""
    d, s2 = 5, 0.5
    c, m = d + 1 + s2, np.arange(1, 30)
    worse = shift.length_risk(n, m, np.ones(d), noise_var=s2) > d
    np.testing.assert_array_equal(worse, m < n * c / (n + 2 * c))


def test_risk_falls_up_to_equal_lengths_and_rises_afterwards():
    n, values = np.arange(1, 400), np.array([3.0, 0.5, 0.1])
    for m in (2, 17, 101):
        steps = np.diff(shift.length_risk(n, m, values, noise_var=0.3))
        assert (steps[: m - 1] < 0).all()
        assert (steps[m - 1 :] > 0).all()


def test_floor_falls_like_one_over_n_squared_and_risk_like_one_over_m():
    n = np.array([1e4, 1e5])
    floor = shift.length_risk(n, np.inf, np.array([2.0, 0.3]), noise_var=0.3)
    assert np.log10(floor[1] / floor[0]) == pytest.approx(-2, abs=1e-3)
    risk = shift.length_risk(np.inf, np.array([10, 100]), np.array([2.0, 0.3]), noise_var=0.3)
    assert risk[0] / risk[1] == pytest.approx(10)


def test_excess_for_linear_labels_is_the_risk_of_that_task():
    """y = w.x + noise: Cov(x y) by Wick's rule, and nothing nonlinear to miss."""
    w, s2, n, m = np.array([0.5, -1.0, 2.0]), 0.6, 11, 7
    spread = SIGMA @ np.outer(w, w) @ SIGMA + (w @ SIGMA @ w + s2) * SIGMA
    excess = shift.best_linear_excess(w, spread, SIGMA, n=n, m=m, noise_var=0.3)
    P = np.linalg.inv(dynamics.gamma(SIGMA, n=n, noise_var=0.3))
    keys = {"covariance": SIGMA, "noise_var": s2, "task_moment": np.outer(w, w)}
    assert excess == pytest.approx(shift.step_risk(P, m=m, **keys), rel=1e-12)


def test_excess_for_a_square_by_sampling():
    """y = x_1^2 + x_2 on x ~ N(0, SIGMA): E[x y] = SIGMA e_2; far from linear."""
    n, m, batch = 11, 7, 200_000
    g = torch.Generator().manual_seed(1)
    root = torch.linalg.cholesky(torch.as_tensor(SIGMA))
    x = normal(batch, m, 3, generator=g) @ root.T
    y = x[..., 0] ** 2 + x[..., 1]
    u = torch.einsum("bmd,bm->bd", x, y) @ torch.as_tensor(
        np.linalg.inv(dynamics.gamma(SIGMA, n=n, noise_var=0.0)) / m
    )
    off = u - torch.tensor([0.0, 1.0, 0.0])
    excesses = torch.einsum("bi,ij,bj->b", off, torch.as_tensor(SIGMA), off)
    # E[x x' y^2] with y = x_1^2 + x_2: the moments of degree six and four.
    s = SIGMA
    sixth = 3 * s[0, 0] ** 2 * s + 12 * s[0, 0] * np.outer(s[0], s[0])
    fourth = s[1, 1] * s + 2 * np.outer(s[1], s[1])
    spread = sixth + fourth - np.outer(s[1], s[1])
    exact = shift.best_linear_excess(np.eye(3)[1], spread, SIGMA, n=n, m=m)
    tolerance = 4 * excesses.std().item() / batch**0.5
    assert excesses.mean().item() == pytest.approx(exact, abs=tolerance)


EYE = np.eye(3)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: shift.step_risk(np.eye(2), m=5, covariance=EYE, noise_var=0.0), "preconditioner"),
        (lambda: shift.step_risk(EYE, m=0, covariance=EYE, noise_var=0.0), "m must be at least 1"),
        (
            lambda: shift.step_risk(EYE, m=5, covariance=EYE, noise_var=0.0, task_moment=-EYE),
            "task_moment must be positive semi-definite",
        ),
        (
            lambda: shift.step_risk(
                EYE, m=5, covariance=EYE, noise_var=0.0, query_moment=np.triu(np.ones((3, 3)))
            ),
            "query_moment must be symmetric",
        ),
        (lambda: shift.length_risk(0, 5, np.ones(3), noise_var=0.0), "n must be at least 1"),
        (lambda: shift.length_risk(5, np.nan, np.ones(3), noise_var=0.0), "m must be at least 1"),
        (lambda: shift.length_risk(5, 5, np.zeros(3), noise_var=0.0), "finite positive numbers"),
        (lambda: shift.length_risk(5, 5, np.ones(3), noise_var=-1.0), "must not be negative"),
        (lambda: shift.best_linear_excess(np.ones(2), EYE, EYE, n=5, m=5), "a must be 3 finite"),
    ],
)
def test_bad_input(call, match):
    with pytest.raises(ValueError, match=match):
        call()
