"""Exact moments, filters and tuned steps against enumeration, sampling and plain minimisation."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from icgd.regression import depth, enumeration, filters, theory
from icgd.regression import learners_iterative as iterative
from icgd.regression.data import LinearTask, sample_prompts
from icgd.regression.filters import Spectrum
from icgd.regression.wishart import spectral_rule
from icgd.regression.wishart_moments import mean_moments, trace_moment

PRIMES = [(7, 3), (3, 5), (5, 1), (13, 11)]


# --- Moments -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "d"), PRIMES)
def test_moments_are_the_integrals_over_eigenvalues(n, d):
    x, weights = spectral_rule(n, d)
    exact = [float(m) for m in mean_moments(12, n, d)]
    assert [float(weights @ (x / n) ** p) for p in range(13)] == pytest.approx(exact, rel=1e-12)


def test_moments_in_one_dimension_are_those_of_chi_squared():
    wanted = 1
    for p in range(1, 9):
        wanted *= 7 + 2 * (p - 1)
        assert trace_moment((p,), 7, 1) == wanted
    assert trace_moment((3, 2), 7, 1) == trace_moment((5,), 7, 1)  # tr W^3 tr W^2 = W^5


def test_products_of_traces_by_enumeration():
    rule = enumeration.gauss_hermite(4, nodes=6)  # X is 2 by 2
    X = rule.points.view(-1, 2, 2)
    W = X.mT @ X
    for powers in [(2, 1), (1, 1, 1), (3, 2), (2, 2, 1)]:
        product = torch.ones(len(W), dtype=torch.float64)
        for p in powers:
            product = product * torch.linalg.matrix_power(W, p).diagonal(dim1=1, dim2=2).sum(1)
        assert (rule.weights @ product).item() == pytest.approx(
            trace_moment(powers, 2, 2), rel=1e-11
        )


def test_moments_are_symmetric_in_rows_and_columns():
    assert trace_moment((3, 2), 11, 5) == trace_moment((3, 2), 5, 11)


# --- Risks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "d", "noise_var"), [(7, 3, 0.4), (3, 5, 0.4), (20, 5, 0.0)])
def test_risks_known_from_chapter_1(n, d, noise_var):
    spectrum = Spectrum(n, d, noise_var)
    one = spectrum.risk(filters.gradient_filter, [0.03 * n])
    wanted = theory.one_step_risk(0.03, n=n, d=d, noise_var=noise_var)
    assert one == pytest.approx(wanted, rel=1e-12)
    if noise_var:
        ridge = spectrum.risk(filters.ridge_filter, n, noise_var)
        assert ridge == pytest.approx(theory.ridge_risk(n, d, noise_var), rel=1e-12)


def test_risks_are_averages_over_prompts():
    n, d, s2 = 11, 3, 0.4
    steps, curvatures = [0.4, 1.9], [0.3, 0.0]
    g = torch.Generator().manual_seed(3)
    prompts = sample_prompts(LinearTask(d, s2), 20_000, n, generator=g)
    pairs = [
        (iterative.gradient_steps(steps), lambda h: filters.gradient_filter(steps, h)),
        (
            iterative.gd_plus_plus(steps, curvatures),
            lambda h: filters.gdpp_filter(steps, curvatures, h),
        ),
    ]
    for learner, filter in pairs:
        squares = (learner.weights(prompts) - prompts.w).square().sum(1) + s2
        standard_error = squares.std() / len(squares) ** 0.5
        error = squares.mean().item() - Spectrum(n, d, s2).risk(filter)
        assert abs(error) < 4 * standard_error


# --- Tuned steps ---------------------------------------------------------------------------------

SIZE = Spectrum(20, 5)
FOUR_STEPS = [1.6857626, 1.05860744, 4.86898405, 17.26621495]
FOUR_CURVATURES = [0.14453615, 0.66586217, 2.47322529, 0.0]


def test_the_table_of_tuned_steps():
    """d = 5, n = 20, no noise; constant, per-layer, all digits."""
    constant = {
        1: (0.76923, 1.153846),
        2: (0.74252, 0.499007),
        3: (0.71559, 0.268342),
        4: (0.68895, 0.163253),
    }
    layered = {
        1: ("15/13", [0.76923]),
        2: ("1795/4969", [1.24957, 0.51537]),
        3: ("12138645/90852389", [1.71422, 0.68913, 0.42241]),
        4: ("97874062080485/1781064756978687", [2.13885, 0.88898, 0.52050, 0.36206]),
    }
    for k, (step, risk) in constant.items():
        found = depth.tuned_constant_step(k, SIZE)
        assert found == pytest.approx(step, abs=6e-6)
        found = SIZE.risk(filters.gradient_filter, [found] * k)
        assert found == pytest.approx(risk, abs=6e-7)
    for k, (risk, steps) in layered.items():
        assert filters.best_polynomial(k, SIZE)[0] == Fraction(risk)
        found = depth.tuned_steps(k, SIZE)
        assert found == pytest.approx(steps, abs=6e-6)
        found = SIZE.risk(filters.gradient_filter, found)
        assert found == pytest.approx(float(Fraction(risk)), rel=1e-12)


@pytest.mark.parametrize(("n", "d", "noise_var"), [(7, 3, 0.4), (3, 5, 0.0), (20, 5, 5.0)])
def test_no_other_real_steps_do_better(n, d, noise_var):
    spectrum = Spectrum(n, d, noise_var)
    best = spectrum.risk(filters.gradient_filter, depth.tuned_steps(3, spectrum))
    for seed in range(3):
        start = np.random.default_rng(seed).uniform(0.1, 1.5, 3)
        found = minimize(lambda a: spectrum.risk(filters.gradient_filter, a), start, method="BFGS")
        assert found.fun >= best - 1e-12 * best
    assert found.fun == pytest.approx(best, rel=1e-6)


def test_noise_makes_zeros_complex_and_steps_equal():
    quiet, loud = Spectrum(20, 5, 1.0), Spectrum(20, 5, 5.0)
    assert np.isrealobj(depth.polynomial_zeros(2, quiet))
    assert np.iscomplexobj(depth.polynomial_zeros(2, loud))
    steps = depth.tuned_steps(2, loud)
    assert steps == pytest.approx([depth.tuned_constant_step(2, loud)] * 2, rel=1e-5)
    reached = loud.risk(filters.gradient_filter, steps)
    assert reached > float(filters.best_polynomial(2, loud)[0]) + 1e-3


def test_the_table_of_gd_plus_plus():
    two = depth.tuned_gdpp(2, SIZE)
    assert two.risk == pytest.approx(0.0575012, abs=6e-8)
    assert two.steps == pytest.approx([0.5168, 3.4747], abs=6e-5)
    assert two.curvatures == pytest.approx([0.4488], abs=6e-5)
    for end in (0.08655, 0.10235):  # worse local minima
        assert np.abs(two.ends - end).min() < 6e-6
    three = depth.tuned_gdpp(3, SIZE)
    assert three.risk == pytest.approx(9.6131e-4, abs=6e-9)
    assert three.steps == pytest.approx([0.3383, 2.0908, 8.5681], abs=6e-5)
    assert three.curvatures == pytest.approx([0.2969, 1.2088], abs=6e-5)


def test_three_layers_of_gd_plus_plus_in_exact_fractions():
    """A point near the best; its risk from 27 moments, not from the quadrature."""
    steps = [Fraction(s) for s in ("0.3383", "2.0908", "8.5681")]
    curvatures = [Fraction(c) for c in ("0.2969", "1.2088", "0")]
    F, h = np.array([Fraction(1)]), np.array([Fraction(0), Fraction(1)])
    for a, c in zip(steps, curvatures, strict=True):
        shrink = np.append(Fraction(1), -c * h[1:])
        F = np.convolve(F, np.append(Fraction(1), -a * h[1:]))
        h = np.convolve(h, np.convolve(shrink, shrink))
    risk = sum(f * m for f, m in zip(np.convolve(F, F), mean_moments(26, 20, 5), strict=True))
    assert float(risk) == pytest.approx(9.6131e-4, abs=1e-8)
    found = SIZE.risk(
        filters.gdpp_filter, [float(a) for a in steps], [float(c) for c in curvatures]
    )
    assert found == pytest.approx(float(risk), rel=1e-9)


def test_four_layers_of_gd_plus_plus_need_a_longer_reach():
    """The square of a filter of degree 40 is large where hardly any eigenvalue is."""
    risks = [
        Spectrum(20, 5, reach=reach).risk(filters.gdpp_filter, FOUR_STEPS, FOUR_CURVATURES)
        for reach in (16.0, 20.0)
    ]
    assert risks == pytest.approx([1.1121e-5] * 2, abs=6e-10)
    assert np.ptp(risks) < 1e-9 * risks[0]
    assert SIZE.risk(filters.gdpp_filter, FOUR_STEPS, FOUR_CURVATURES) < 0.999 * risks[0]


def test_a_fourth_layer_in_front_of_three():
    three = depth.tuned_gdpp(3, SIZE, starts=12)
    four = depth.deeper_gdpp(three, Spectrum(20, 5, reach=16.0))
    assert four.risk == pytest.approx(1.1121e-5, abs=6e-10)
    assert four.steps == pytest.approx(FOUR_STEPS, rel=1e-4)
    assert four.curvatures == pytest.approx(FOUR_CURVATURES[:3], rel=1e-4)


def test_best_polynomials_of_higher_degree():
    for degree, risk in ((4, 0.0549526), (13, 2.860e-4)):
        assert float(filters.best_polynomial(degree, SIZE)[0]) == pytest.approx(risk, rel=3e-4)


def test_chebyshev_steps_have_the_least_largest_filter():
    steps = filters.chebyshev_steps(5, 0.3, 2.1)
    h = np.linspace(0.3, 2.1, 4001)
    largest = np.abs(filters.gradient_filter(steps, h)).max()
    assert largest == pytest.approx(1 / np.cosh(5 * np.arccosh(2.4 / 1.8)), rel=1e-5)


@pytest.mark.bad_input
def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="noise_var must not be negative"):
        Spectrum(20, 5, -0.1)
    with pytest.raises(ValueError, match="degree must be at least 1, got 0"):
        filters.best_polynomial(0, SIZE)
    with pytest.raises(ValueError, match="layers must be at least 1, got 0"):
        depth.tuned_constant_step(0, SIZE)
    with pytest.raises(ValueError, match="first_step must be positive"):
        depth.deeper_gdpp(depth.tuned_gdpp(1, SIZE, starts=1), SIZE, first_step=0.0)
    with pytest.raises(ValueError, match="low must be positive"):
        filters.chebyshev_steps(2, 0.0, 1.0)
    with pytest.raises(ValueError, match="a power must be at least 0, got -1"):
        trace_moment((-1,), 3, 2)
    with pytest.raises(ValueError, match="order must be at least 0"):
        mean_moments(-1, 3, 2)
