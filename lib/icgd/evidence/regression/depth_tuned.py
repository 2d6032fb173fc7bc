"""Evidence for the exact losses of tuned algorithms (chapter 8): fractions against quadratures."""

from fractions import Fraction

import numpy as np
import torch
from scipy.optimize import minimize

from icgd.claims import Evidence, claim
from icgd.regression import depth, enumeration, filters
from icgd.regression.depth_population import DepthLoss
from icgd.regression.filters import Spectrum
from icgd.regression.transformer import as_matrices
from icgd.regression.wishart_moments import mean_moments, trace_moment

CHAPTER = "08-depth"
SIZE = Spectrum(20, 5)
SIGMA = np.array([[1.5, 0.4], [0.4, 0.5]])

# --- Risk of a filter ----------------------------------------------------------------------------


def _filter_risk(preconditioner) -> Evidence:
    """Three preconditioned steps on R^2, in matrices, beside the filter's risk."""
    steps = [0.5, 0.9, 1.3]
    A = as_matrices(2, steps) @ torch.as_tensor(preconditioner)
    measured = DepthLoss(11, 0.3, 3, SIGMA)(A).item()
    spectrum = Spectrum(11, 2, 0.3)
    predicted = spectrum.risk(filters.gradient_filter, steps)
    return Evidence(predicted, measured, tolerance=1e-12, relative=True)


@claim(
    "depth.filter-risk",
    kind="exact",
    anchor=f"{CHAPTER}#depth-filter-risk",
    statement="The risk of a learner with filter F = 1 - h p is s2 + E tr F(H)^2 + "
    "(s2/n) E tr H p(H)^2; steps a_k Sigma^-1, w ~ N(0, Sigma^-1) have it for every Sigma.",
)
def filter_risk():
    return _filter_risk(np.linalg.inv(SIGMA))


@filter_risk.fails_without("the preconditioner Sigma^-1 (I instead)")
def _plain_steps():
    return _filter_risk(np.eye(2))


def _moments(law) -> Evidence:
    """E of products of traces for 2 by 2 matrices X, every entry from the same finite law."""
    rule = law(4)
    X = rule.points.view(-1, 2, 2)
    W, powers = X.mT @ X, [(1,), (2,), (3,), (4,), (2, 1), (2, 2, 1)]
    measured = []
    for listed in powers:
        traces = [torch.linalg.matrix_power(W, p).diagonal(dim1=1, dim2=2).sum(1) for p in listed]
        measured.append((rule.weights @ torch.stack(traces).prod(0)).item())
    exact = [trace_moment(listed, 2, 2) for listed in powers]
    return Evidence(exact, measured, tolerance=1e-12, relative=True)


@claim(
    "depth.moments",
    kind="exact",
    anchor=f"{CHAPTER}#depth-moments",
    statement="The mean traces of powers of X^T X obey a recursion in whole numbers.",
)
def moments():
    return _moments(lambda d: enumeration.gauss_hermite(d, nodes=6))


@moments.fails_without("Gaussian covariates (signs +-1 instead)")
def _signs():
    return _moments(enumeration.rademacher)


# --- Tuned steps ---------------------------------------------------------------------------------


def free_steps(layers: int, spectrum: Spectrum) -> np.ndarray:
    """Step sizes by plain minimisation of the risk, from steps that are nearly equal."""
    start = np.linspace(0.7, 0.8, layers)
    return minimize(
        lambda a: spectrum.risk(filters.gradient_filter, a),
        start,
        method="BFGS",
        options={"gtol": 1e-10},
    ).x


def _tuned(measured_steps) -> Evidence:
    exact, measured = [], []
    for k in (2, 3, 4):
        exact.append(float(filters.best_polynomial(k, SIZE)[0]))
        steps = measured_steps(k)
        measured.append(SIZE.risk(filters.gradient_filter, steps))
    return Evidence(exact, measured, tolerance=1e-9)


@claim(
    "depth.tuned-steps",
    kind="exact",
    anchor=f"{CHAPTER}#depth-tuned-steps",
    statement="The least risk of k gradient steps without noise is 1 / (M^-1)_00 with M_ij = "
    "E tr H^(i+j), i, j <= k.",
)
def tuned_steps():
    return _tuned(lambda k: free_steps(k, SIZE))


@tuned_steps.fails_without("a step size for each layer (the best constant one instead)")
def _constant():
    return _tuned(lambda k: [depth.tuned_constant_step(k, SIZE)] * k)


def _equal(noise_var: float) -> Evidence:
    spectrum = Spectrum(20, 5, noise_var)
    constant = depth.tuned_constant_step(2, spectrum)
    return Evidence([constant] * 2, free_steps(2, spectrum), tolerance=1e-5)


@claim(
    "depth.complex-zeros",
    kind="exact",
    anchor=f"{CHAPTER}#depth-complex-zeros",
    statement="Under enough noise the best polynomial of degree two has complex zeros, and the "
    "best two real steps are equal (n = 20, d = 5, s2 = 5).",
)
def complex_zeros():
    return _equal(5.0)


@complex_zeros.fails_without("enough noise (s2 = 1 instead)")
def _quiet():
    return _equal(1.0)


# --- GD++ ----------------------------------------------------------------------------------------


def _gdpp(curvature: float) -> Evidence:
    """Two layers: from exact moments of the polynomial of degree 4, and tuned numerically."""
    a, b, c = Fraction(51676, 100000), Fraction(347466, 100000), Fraction(curvature)
    # (1 - a h) (1 - b h (1 - c h)^2), expanded
    F = np.convolve([Fraction(1), -a], [Fraction(1), -b, 2 * b * c, -b * c * c])
    F_squared = np.convolve(F, F)
    risk = sum(f * m for f, m in zip(F_squared, mean_moments(8, 20, 5), strict=True))
    return Evidence(float(risk), depth.tuned_gdpp(2, SIZE, starts=6).risk, tolerance=1e-9)


@claim(
    "depth.gdpp",
    kind="exact",
    anchor=f"{CHAPTER}#depth-gdpp",
    statement="Two layers of tuned GD++ reach the risk 0.0575012 at n = 20, d = 5 without noise, "
    "where two tuned steps reach 0.361240.",
)
def gdpp():
    return _gdpp(0.448787)


@gdpp.fails_without("the change of covariates (c = 0 instead)")
def _plain():
    return _gdpp(0.0)
