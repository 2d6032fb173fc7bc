"""Limits of many dimensions against the law of Marchenko and Pastur, by quadrature."""

import numpy as np
import pytest
from scipy.integrate import quad

from icgd.regression import limits, theory

POINTS = [(0.3, 0.2), (0.7, 1.5), (1.0, 0.05), (2.3, 0.4), (5.0, 3.0)]


def marchenko_pastur_gain(gamma, tau):
    """1 - tau int 1 / (x + tau) d mu(x), mu the limit of the eigenvalues of S / d."""
    low, high = (1 - gamma**0.5) ** 2, (1 + gamma**0.5) ** 2

    def density(angle):  # x runs over an arch, so that the square root is smooth
        x = (low + high) / 2 + (high - low) / 2 * np.sin(angle)
        arch = ((high - low) / 2 * np.cos(angle)) ** 2
        return arch / (2 * np.pi * x) / (x + tau)

    mean = quad(density, -np.pi / 2, np.pi / 2, epsabs=1e-12)[0]
    return 1 - tau * (mean + max(0.0, 1 - gamma) / tau)


@pytest.mark.parametrize(("gamma", "tau"), POINTS)
def test_ridge_gain_is_that_of_marchenko_and_pastur(gamma, tau):
    assert limits.ridge_gain(gamma, tau) == pytest.approx(marchenko_pastur_gain(gamma, tau))


@pytest.mark.parametrize(("gamma", "tau"), [(0.5, 0.3), (1.5, 0.5)])
def test_finite_sizes_approach_the_limit_like_one_over_d(gamma, tau):
    sizes = np.array([10, 20, 40, 80])
    for f, limit in (
        (theory.ridge_risk, limits.ridge_gain),
        (theory.minimum_loss, limits.one_step_gain),
    ):
        gains = [1 + tau - f(round(gamma * d), int(d), tau * d) / d for d in sizes]
        slope = np.polyfit(np.log(sizes), np.log(np.abs(gains - limit(gamma, tau))), 1)[0]
        assert slope == pytest.approx(-1, abs=0.07)


def test_share_is_the_ratio_of_the_gains():
    gamma, tau = np.meshgrid(np.geomspace(0.01, 100, 41), np.append(0, np.geomspace(0.01, 100, 41)))
    ratio = limits.one_step_gain(gamma, tau) / limits.ridge_gain(gamma, tau)
    np.testing.assert_allclose(limits.step_share(gamma, tau), ratio, rtol=1e-12)
    assert ratio.min() == pytest.approx(0.5, abs=1e-12)
    least = np.unravel_index(ratio.argmin(), ratio.shape)
    assert (gamma[least], tau[least]) == (pytest.approx(1), 0)


@pytest.mark.parametrize("share", [0.55, 0.75, 0.95])
def test_boundary_parts_lower_from_higher_shares(share):
    gamma = np.array([0.7, 1.0, 1.9])
    tau = limits.share_boundary(gamma, share)
    here = tau > 1e-3
    assert here.any()
    assert (limits.step_share(gamma[here], 0.99 * tau[here]) < share).all()
    assert (limits.step_share(gamma[here], 1.01 * tau[here]) > share).all()


def test_foreign_error_is_the_mean_over_tasks_of_what_a_unit_step_leaves():
    rng = np.random.default_rng(2)
    root, sigma = rng.normal(size=(3, 3)), np.diag([2.5, 1.0, 0.1])
    w = root @ rng.normal(size=(3, 100_003))  # w - sigma w is left of w, measured in sigma
    left, signal = (np.einsum("ib,ij,jb->b", v, sigma, v) for v in (w - sigma @ w, w))
    found = limits.foreign_error(sigma, root @ root.T)
    assert found == pytest.approx(left.mean() / signal.mean(), rel=0.02)
    assert limits.foreign_error(np.eye(5), np.eye(5)) == 0


@pytest.mark.bad_input
def test_sizes_that_are_none():
    with pytest.raises(ValueError, match="gamma must be positive and tau not negative"):
        limits.ridge_gain(0.0, 1.0)
    with pytest.raises(ValueError, match="gamma must be positive and tau not negative"):
        limits.one_step_gain(1.0, -0.1)
    with pytest.raises(ValueError, match=r"share must be in \[1/2, 1\), got 0.4"):
        limits.share_boundary(1.0, 0.4)
