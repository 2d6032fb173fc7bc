"""Expected traces of functions of X^T X against moments, classical formulas and quadrature."""

import numpy as np
import pytest
from scipy import integrate, special, stats

from icgd.regression import wishart
from icgd.regression.wishart import expected_trace

SIZES = [(1, 1), (2, 1), (1, 2), (7, 3), (3, 7), (5, 5), (11, 4), (4, 11), (10, 10), (20, 10)]


@pytest.mark.parametrize(("n", "d"), [(41, 40), (53, 43), (10**6, 7), (10**9, 5)])
def test_second_moment_of_large_matrices(n, d):
    second = n * d * (n + d + 1)
    assert expected_trace(lambda x: x**2, n, d) == pytest.approx(second, rel=1e-11)


@pytest.mark.parametrize(("n", "d"), SIZES)
def test_moments_of_the_wishart_law(n, d):
    assert expected_trace(lambda x: x**0, n, d) == pytest.approx(d, rel=1e-11)
    assert expected_trace(lambda x: x, n, d) == pytest.approx(n * d, rel=1e-11)
    second = n * d * (n + d + 1)
    assert expected_trace(lambda x: x**2, n, d) == pytest.approx(second, rel=1e-11)
    third = n * d * (n**2 + d**2 + 3 * n * d + 3 * n + 3 * d + 4)
    assert expected_trace(lambda x: x**3, n, d) == pytest.approx(third, rel=1e-11)


@pytest.mark.parametrize(("n", "d"), [(7, 3), (11, 4), (29, 10), (13, 11)])
def test_inverse_and_log_determinant(n, d):
    assert expected_trace(lambda x: 1 / x, n, d) == pytest.approx(d / (n - d - 1), rel=1e-9)
    # det X^T X is a product of independent chi-squares with n, n - 1, ..., n - d + 1 degrees.
    log_det = sum(special.digamma((n - i) / 2) + np.log(2) for i in range(d))
    assert expected_trace(np.log, n, d) == pytest.approx(log_det, rel=1e-9)


@pytest.mark.parametrize("n", [1, 2, 3, 8])
@pytest.mark.parametrize("shift", [1e-6, 0.3, 5.0])
def test_one_dimension_is_a_chi_square_integral(n, shift):
    # x = t^2 takes the singularity of the density at zero away.
    integral, _ = integrate.quad(
        lambda t: 2 * t * stats.chi2.pdf(t * t, n) / (t * t + shift),
        0, 14, points=[shift**0.5, 5 * shift**0.5], epsabs=0, epsrel=1e-11, limit=300,
    )  # fmt: skip
    assert expected_trace(lambda x: 1 / (x + shift), n, 1) == pytest.approx(integral, rel=1e-9)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_two_dimensions_are_an_integral_over_two_eigenvalues(n):
    def density(s, t):  # up to a constant, of the singular values s > t of X
        return (s * s - t * t) * (s * t) ** (n - 2) * np.exp(-(s * s + t * t) / 2)

    def integral(f):
        options = {"epsabs": 0, "epsrel": 1e-9}
        return integrate.dblquad(f, 0, 11, lambda t: t, 11, **options)[0]

    wanted = integral(lambda s, t: density(s, t) * (1 / (s * s + 0.3) + 1 / (t * t + 0.3)))
    wanted /= integral(density)
    assert expected_trace(lambda x: 1 / (x + 0.3), n, 2) == pytest.approx(wanted, rel=1e-8)


@pytest.mark.parametrize(("n", "d"), [(10, 10), (13, 17)])
def test_sampled_matrices_agree(n, d):
    X = np.random.default_rng(0).normal(size=(4001, n, d))
    traces = (1 / (np.linalg.eigvalsh(X.transpose(0, 2, 1) @ X) + 0.5)).sum(1)
    standard_error = traces.std() / len(traces) ** 0.5
    error = expected_trace(lambda x: 1 / (x + 0.5), n, d) - traces.mean()
    assert abs(error) < 4 * standard_error


def test_too_few_nodes_are_noticed(monkeypatch):
    monkeypatch.setattr(wishart, "_NODES", 24)
    with pytest.raises(ArithmeticError, match=r"must come out as n d = 357.*average over sampled"):
        expected_trace(lambda x: x, 21, 17)
