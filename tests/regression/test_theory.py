"""Closed forms against special cases, numerical minimisation, quadrature and sampling."""

import numpy as np
import pytest
import torch
from scipy import integrate, optimize, stats

from icgd.regression import learners, theory
from icgd.regression.data import LinearTask, sample_prompts
from icgd.regression.enumeration import enumerate_prompts, gauss_hermite
from icgd.regression.population import population_loss

NOISES = [0.0, 0.3, 1.7]


def sampled_losses(learner, n, d, noise_var, batch=100_003):
    generator = torch.Generator().manual_seed(4)
    prompts = sample_prompts(LinearTask(d, noise_var), batch, n, generator=generator)
    return ((learner(prompts) - prompts.y_query) ** 2).numpy()


def assert_risk(risk, losses):
    assert abs(losses.mean() - risk) < 4 * losses.std() / len(losses) ** 0.5


# --- The step size and the minimum ---------------------------------------------------------------


def test_one_example_in_one_dimension_by_hand():
    # y = w x: E[(eta x^2 w x' - w x')^2] = 3 eta^2 - 2 eta + 1, least at 1/3, where it is 2/3.
    assert theory.step_size(1, 1, 0.0) == pytest.approx(1 / 3, rel=1e-15)
    assert theory.minimum_loss(1, 1, 0.0) == pytest.approx(2 / 3, rel=1e-15)
    assert theory.one_step_risk(0.5, n=1, d=1, noise_var=0.0) == pytest.approx(0.75, rel=1e-15)


@pytest.mark.parametrize("noise_var", NOISES)
def test_step_size_and_minimum_of_the_enumerated_parabola(noise_var):
    law = enumerate_prompts(gauss_hermite(2), 2, noise_var)
    at = np.array([0.0, 0.1, 0.3])
    values = [law.loss(learners.gradient_step(eta)(law.prompts)).item() for eta in at]
    c, b, a = np.polynomial.polynomial.polyfit(at, values, 2)
    assert theory.step_size(2, 2, noise_var) == pytest.approx(-b / (2 * a), rel=1e-10)
    assert theory.minimum_loss(2, 2, noise_var) == pytest.approx(c - b * b / (4 * a), rel=1e-10)
    for eta, value in zip(at, values, strict=True):
        risk = theory.one_step_risk(eta, n=2, d=2, noise_var=noise_var)
        assert risk == pytest.approx(value, rel=1e-11)


def test_step_size_is_the_ratio_of_sampled_moments():
    n, d, noise_var = 7, 3, 0.4
    prompts = sample_prompts(
        LinearTask(d, noise_var), 200_003, n, generator=torch.Generator().manual_seed(5)
    )
    xy = learners.label_sum(prompts)
    above = (learners.ridge(noise_var).weights(prompts) * xy).sum(1).numpy()
    below = (xy**2).sum(1).numpy()
    ratio = above.mean() / below.mean()
    # The error of a ratio of means, to first order.
    standard_error = (above - ratio * below).std() / below.mean() / len(above) ** 0.5
    assert standard_error < 0.005 * ratio
    assert abs(theory.step_size(n, d, noise_var) - ratio) < 4 * standard_error


@pytest.mark.parametrize(("n", "d", "noise_var"), [(5, 3, 0.3), (2, 5, 0.0), (13, 4, 2.0)])
def test_minimum_loss_is_what_numerical_minimisation_finds(n, d, noise_var):
    def loss(theta):
        theta = torch.tensor(theta, requires_grad=True)
        A, w = theta[: -d - 1].view(d, d + 1), theta[-d - 1 :]
        value = population_loss(A, w, n=n, noise_var=noise_var)
        value.backward()
        return value.item(), theta.grad.numpy()

    # A start may end in a spurious minimum (for d = 2 half of them do): take the best of four.
    starts = 0.03 * np.random.default_rng(0).normal(size=(4, (d + 1) ** 2))
    runs = [optimize.minimize(loss, start, jac=True, method="BFGS", tol=1e-9) for start in starts]
    found = min(runs, key=lambda run: run.fun)
    assert found.fun == pytest.approx(theory.minimum_loss(n, d, noise_var), rel=1e-10)
    A, w = found.x[: -d - 1].reshape(d, d + 1), found.x[-d - 1 :]
    eta = theory.step_size(n, d, noise_var)
    np.testing.assert_allclose(A[:, :d] * w[d], eta * np.eye(d), atol=1e-6)


@pytest.mark.parametrize("eta", [-0.1, 0.05, 0.2])
def test_one_step_risk_is_sampled(eta):
    losses = sampled_losses(learners.gradient_step(eta), 5, 3, 0.4)
    assert_risk(theory.one_step_risk(eta, n=5, d=3, noise_var=0.4), losses)


def test_minimum_loss_approaches_the_noise_with_slope_minus_one():
    n = np.array([10**4, 10**5, 10**6])
    excess = np.array([theory.minimum_loss(int(k), 3, 0.5) - 0.5 for k in n])
    slopes = np.diff(np.log(excess)) / np.diff(np.log(n))
    np.testing.assert_allclose(slopes, -1, atol=1e-3)
    assert n[-1] * excess[-1] == pytest.approx(3 * 4.5, rel=1e-4)


# --- Ridge regression, the Bayes predictor -------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 8])
@pytest.mark.parametrize("noise_var", [0.01, 0.5, 3.0])
def test_ridge_risk_in_one_dimension(n, noise_var):
    # The posterior variance of w is noise_var / (|x|^2 + noise_var), with |x|^2 a chi-square.
    variance, _ = integrate.quad(
        lambda t: 2 * t * stats.chi2.pdf(t * t, n) * noise_var / (t * t + noise_var),
        0, 14, points=[noise_var**0.5], epsabs=0, epsrel=1e-11, limit=300,
    )  # fmt: skip
    found = theory.ridge_risk(n, 1, noise_var)
    assert found == pytest.approx(noise_var + variance, rel=1e-10)


@pytest.mark.parametrize("n", [2, 5])
def test_ridge_risk_in_two_dimensions(n):
    s2 = 0.5
    grid, weights = np.polynomial.legendre.leggauss(300)
    # Singular values s > t: the density has a kink at s = t, so write t = s r with 0 < r < 1.
    s, r = 6 * (grid + 1)[:, None], (grid + 1)[None, :] / 2
    t = s * r
    density = (s**2 - t**2) * (s * t) ** (n - 2) * np.exp(-(s**2 + t**2) / 2)
    density = density * s * np.outer(weights, weights)
    trace = 1 / (s**2 + s2) + 1 / (t**2 + s2)
    wanted = s2 + s2 * (density * trace).sum() / density.sum()
    assert theory.ridge_risk(n, 2, s2) == pytest.approx(wanted, rel=1e-10)


@pytest.mark.parametrize(("n", "d"), [(7, 3), (3, 7), (10, 10), (20, 10)])
def test_ridge_risk_is_sampled(n, d):
    losses = sampled_losses(learners.ridge(0.5), n, d, 0.5, batch=30_011)
    assert_risk(theory.ridge_risk(n, d, 0.5), losses)


def test_ridge_risk_of_large_contexts():
    for n, rel in [(10**3, 1e-2), (10**5, 1e-4), (10**7, 1e-5)]:
        excess = (theory.ridge_risk(n, 3, 0.5) - 0.5) * n / (3 * 0.5)
        assert excess == pytest.approx(1, rel=rel)


@pytest.mark.parametrize(("n", "d"), [(3, 5), (7, 5)])
def test_ridge_risk_is_continuous_where_the_noise_vanishes(n, d):
    gaps = [theory.ridge_risk(n, d, s2) - theory.ridge_risk(n, d, 0.0) for s2 in (1e-4, 1e-5)]
    assert theory.ridge_risk(n, d, 0.0) == max(d - n, 0)
    assert 0 < gaps[1] < 0.2 * gaps[0]


@pytest.mark.parametrize("n", [1, 4, 5, 6, 9, 40])
@pytest.mark.parametrize("noise_var", [0.0, 0.2, 2.0])
def test_risks_are_in_order(n, noise_var):
    ridge = theory.ridge_risk(n, 5, noise_var)
    assert noise_var <= ridge <= 5 + noise_var
    assert ridge <= theory.minimum_loss(n, 5, noise_var)
    assert ridge <= theory.least_squares_risk(n, 5, noise_var)


# --- Least squares -------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "d"), [(11, 3), (3, 11)])
def test_least_squares_risk_is_sampled(n, d):
    losses = sampled_losses(learners.least_squares(), n, d, 0.5, batch=30_011)
    assert_risk(theory.least_squares_risk(n, d, 0.5), losses)


@pytest.mark.parametrize("n", [3, 4, 9])
def test_least_squares_risk_in_one_dimension(n):
    # The variance of the estimate is noise_var E[1 / chi-square_n].
    expected = stats.chi2(n).expect(lambda x: 1 / x, lb=0)
    assert theory.least_squares_risk(n, 1, 0.5) == pytest.approx(0.5 + 0.5 * expected, rel=1e-6)


def test_least_squares_risk_is_infinite_near_interpolation_only_with_noise():
    for n in (4, 5, 6):
        assert theory.least_squares_risk(n, 5, 0.1) == np.inf
        assert theory.least_squares_risk(n, 5, 0.0) == max(5 - n, 0)
    assert np.isfinite([theory.least_squares_risk(n, 5, 0.1) for n in (3, 7)]).all()
