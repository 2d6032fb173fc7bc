"""The best k layers can do: tuned steps, tuned GD++, and what they cost. numpy and scipy only.

All take a `Spectrum` (n, d, noise) and step sizes that act on H = X^T X / n, as in `filters`.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.optimize import least_squares, minimize_scalar

from icgd import validation
from icgd.regression.filters import Spectrum, best_polynomial, gdpp_filter, gradient_filter

_TIGHT = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15}


def tuned_constant_step(layers: int, spectrum: Spectrum) -> float:
    """The step size that is best when every one of `layers` steps must use it."""
    k = validation.positive_int("layers", layers)
    high = 4 / (spectrum.weights @ spectrum.h) * spectrum.d  # past every step that does not diverge
    found = minimize_scalar(
        lambda a: spectrum.risk(gradient_filter, [a] * k),
        bounds=(0, high),
        method="bounded",
        options={"xatol": 1e-12},
    )
    return float(found.x)


def tuned_steps(layers: int, spectrum: Spectrum) -> Float[np.ndarray, " layers"]:
    """The best step size for each of `layers` steps of gradient descent, the largest first.

    Without noise, and under little of it, the best polynomial of `best_polynomial` has real zeros
    and the steps are their inverses. Under more noise some of its zeros are complex; then no real
    steps reach it, and the best real ones are found numerically.

    >>> tuned_steps(2, Spectrum(20, 5)).round(5).tolist()
    [1.24957, 0.51537]
    """
    zeros = polynomial_zeros(layers, spectrum)
    if np.isrealobj(zeros):
        return np.sort(1 / zeros)[::-1]
    equal = np.full(layers, tuned_constant_step(layers, spectrum))
    starts = [equal * np.linspace(1 + spread, 1 - spread, layers) for spread in (0.02, 0.3, 0.6)]
    found = [
        least_squares(lambda a: spectrum.residuals(gradient_filter(a, spectrum.h)), start, **_TIGHT)
        for start in starts
    ]
    return np.sort(min(found, key=lambda end: end.cost).x)[::-1]


def polynomial_zeros(degree: int, spectrum: Spectrum) -> np.ndarray:
    """The zeros of the best filter of this degree: real numbers, or complex where some are."""
    coefficients = best_polynomial(degree, spectrum)[1]
    zeros = np.roots(coefficients[::-1])
    return zeros.real if np.all(np.abs(zeros.imag) < 1e-9 * np.abs(zeros)) else zeros


@dataclass(frozen=True)
class TunedGDpp:
    """Step sizes a_k and curvatures c_k of GD++, its risk, and the risks of all descents.

    steps: (layers,).   curvatures: (layers - 1,): the last c has no effect.   ends: sorted.
    """

    steps: np.ndarray
    curvatures: np.ndarray
    risk: float
    ends: np.ndarray


def tuned_gdpp(layers: int, spectrum: Spectrum, *, starts: int = 30, seed: int = 0) -> TunedGDpp:
    """The best GD++ found from `starts` random starts (Levenberg and Marquardt on the residuals).

    The risk has local minima, so more starts may find a better end; for 4 layers or more go on from
    3 with `deeper_gdpp`.
    """
    k, rng = validation.positive_int("layers", layers), np.random.default_rng(seed)
    # Later layers see smaller eigenvalues, so their steps grow.
    growth = 3.0 ** np.concatenate([np.arange(k), np.arange(k - 1)])
    size = np.concatenate([np.full(k, 0.5), np.full(k - 1, 0.3)])
    draws = rng.normal(size=(validation.positive_int("starts", starts), 2 * k - 1))
    return _descend_gdpp(size * growth * np.exp(0.5 * draws), k, spectrum)


def deeper_gdpp(found: TunedGDpp, spectrum: Spectrum, *, first_step: float = 0.4) -> TunedGDpp:
    """GD++ with one more layer, tuned from `found` behind a first layer that only takes a step.

    With 4 layers the filter has degree 40: the spectrum needs a reach of 16.
    """
    first_step = validation.positive("first_step", first_step)
    start = np.concatenate([[first_step], found.steps, [0.0], found.curvatures])
    return _descend_gdpp(start[None], len(found.steps) + 1, spectrum)


def _descend_gdpp(starts: np.ndarray, k: int, spectrum: Spectrum) -> TunedGDpp:
    """The best end from `starts`, a row (k steps, k - 1 curvatures) each."""

    def residuals(parameters: np.ndarray) -> np.ndarray:
        curvatures = np.append(parameters[k:], 0.0)
        return spectrum.residuals(gdpp_filter(parameters[:k], curvatures, spectrum.h))

    with np.errstate(over="ignore", invalid="ignore"):
        found = [least_squares(residuals, start, method="lm", **_TIGHT) for start in starts]
    found.sort(key=lambda end: end.cost)
    best, risks = found[0].x, spectrum.noise_var + 2 * np.array([end.cost for end in found])
    return TunedGDpp(best[:k], best[k:], float(risks[0]), risks)
