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


@tuned_steps.fails_without("a step for each layer (one for all instead)")
def _constant():
    return _tuned(lambda k: [depth.tuned_constant_step(k, SIZE)] * k)


def _equal(noise_var: float) -> Evidence:
    """Two tuned steps; how many zeros are real; the filter of degree 3 under overwhelming noise."""
    spectrum, loud = Spectrum(20, 5, noise_var), Spectrum(20, 5, 1e9)
    constant = depth.tuned_constant_step(2, spectrum)
    _, slope, bend = filters.best_polynomial(2, spectrum)[1]
    real = 2 if slope**2 >= 4 * bend else 0
    in_t = filters.best_polynomial(3, loud)[1] * (1e9 / 20.0) ** np.arange(4)
    measured = [*free_steps(2, spectrum), real, *in_t]
    return Evidence([constant, constant, 0, 1, -1, 1, -1], measured, tolerance=1e-5)


@claim(
    "depth.complex-zeros",
    kind="exact",
    anchor=f"{CHAPTER}#depth-complex-zeros",
    statement="Under enough noise the best polynomial of degree two has complex zeros, and the "
    "best two real steps are equal (n = 20, d = 5, s2 = 5); the limit is the series of ridge.",
)
def complex_zeros():
    return _equal(5.0)


@complex_zeros.fails_without("enough noise (s2 = 1 instead)")
def _quiet():
    return _equal(1.0)


# --- GD++ ----------------------------------------------------------------------------------------


def _gdpp(change: float) -> Evidence:
    """The risk of the tuned numbers, each multiplied out exactly, beside the quadrature's."""
    exact, measured = [], []
    for layers, starts in ((2, 6), (3, 12)):
        tuned = depth.tuned_gdpp(layers, SIZE, starts=starts)
        exact.append(exact_risk(tuned.steps, [*(change * tuned.curvatures), 0.0]))
        measured.append(tuned.risk)
    exact += [0.0575012, 9.6131e-4]  # what the chapter prints
    return Evidence(exact, [*measured, *measured], tolerance=5e-8)


def exact_risk(steps, curvatures) -> float:
    """E tr F(H)^2 of GD++ at n = 20, d = 5: its polynomial in fractions, against moments."""
    F, h = np.array([Fraction(1)]), np.array([Fraction(0), Fraction(1)])
    for a, c in zip(steps, curvatures, strict=True):
        shrink = np.append(Fraction(1), -Fraction(c) * h[1:])
        F = np.convolve(F, np.append(Fraction(1), -Fraction(a) * h[1:]))
        h = np.convolve(h, np.convolve(shrink, shrink)) if c else h
    squared = np.convolve(F, F)
    moments = mean_moments(len(squared) - 1, 20, 5)
    return float(sum(f * m for f, m in zip(squared, moments, strict=True)))


@claim(
    "depth.gdpp",
    kind="exact",
    anchor=f"{CHAPTER}#depth-gdpp",
    statement="Tuned GD++ reaches the risks 0.0575012 (two layers) and 0.00096131 (three) at "
    "n = 20, d = 5 without noise, where tuned steps reach 0.361240 and 0.133608.",
)
def gdpp():
    return _gdpp(1.0)


@gdpp.fails_without("the change of covariates (c = 0 instead)")
def _plain():
    return _gdpp(0.0)
