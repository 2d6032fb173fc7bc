"""Evidence for phase diagrams: one step beside ridge regression, and on other covariances.

The limits n = gamma d, noise_var = tau d are held against exact risks at finite sizes. Their errors
fall like 1 / d, so 2 f(2 d) - f(d) is within about 1 / d^2 of the limit.
"""

from collections.abc import Callable

import numpy as np

from icgd.claims import Evidence, claim
from icgd.regression import limits, theory

CHAPTER = "16-real-rows-and-sweeps"
POINTS = ((0.5, 0.1), (1.0, 0.25), (1.5, 0.5), (2.5, 1.0))  # gamma, tau
D = 80


def ridge_gain(n: int, d: int, noise_var: float) -> float:
    """What ridge regression takes off the risk of predicting zero, as a share of the signal d."""
    return 1 + (noise_var - theory.ridge_risk(n, d, noise_var)) / d


def step_gain(n: int, d: int, noise_var: float) -> float:
    """The same for one gradient step of the best size."""
    return 1 + (noise_var - theory.minimum_loss(n, d, noise_var)) / d


def share(n: int, d: int, noise_var: float) -> float:
    """The step's gain over ridge regression's."""
    return step_gain(n, d, noise_var) / ridge_gain(n, d, noise_var)


def _extrapolated(f: Callable[[int, int, float], float], gamma, tau, grows: bool) -> float:
    at = [f(round(gamma * d), d, tau * d if grows else tau) for d in (D, 2 * D)]
    return 2 * at[1] - at[0]


def _gains(grows: bool) -> Evidence:
    predicted = [limits.ridge_gain(*point) for point in POINTS]
    measured = [_extrapolated(ridge_gain, *point, grows) for point in POINTS]
    return Evidence(predicted, measured, tolerance=2e-4)


@claim(
    "RS.ridge-gain",
    kind="exact",
    anchor=f"{CHAPTER}#rs-ridge-gain",
    statement="With n = gamma d and noise tau d, ridge regression gains the smaller root of "
    "g^2 - (gamma + 1 + tau) g + gamma = 0, as a share of the signal, as d grows.",
)
def gains():
    return _gains(grows=True)


@gains.fails_without("noise that grows with d")
def _fixed_noise():
    return _gains(grows=False)


def _least_share(step: Callable[[int, int, float], float]) -> Evidence:
    """The least share over n and noise for three dimensions: at n = d and without noise."""
    predicted, measured = [], []
    for d in (3, 5, 11):
        grid = [(n, noise) for n in range(1, 4 * d) for noise in (0.0, 0.03, 0.3, 3.0)]
        shares = [step(n, d, noise) / ridge_gain(n, d, noise) for n, noise in grid]
        predicted.append(d / (2 * d + 1))
        measured.append(min(shares))
    return Evidence(predicted, measured, tolerance=1e-12)


@claim(
    "RS.half",
    kind="exact",
    anchor=f"{CHAPTER}#rs-half",
    statement="One tuned step gains at least half of what ridge regression gains as d grows; at "
    "finite d the least share on the grid is d / (2 d + 1), at n = d without noise.",
)
def half():
    return _least_share(step_gain)


@half.fails_without("the tuned step size (1 / n instead)")
def _untuned():
    def gain(n: int, d: int, noise_var: float) -> float:
        risk = theory.one_step_risk(1 / n, n=n, d=d, noise_var=noise_var)
        return 1 + (noise_var - risk) / d

    return _least_share(gain)


def _boundary(grows: bool) -> Evidence:
    predicted, measured = [], []
    for gamma, wanted in ((0.5, 0.75), (1.5, 0.75), (1.0, 0.8), (2.5, 0.8)):
        tau = limits.share_boundary(gamma, wanted)
        predicted += [wanted, limits.step_share(gamma, tau)]
        measured += 2 * [_extrapolated(share, gamma, tau, grows)]
    return Evidence(predicted, measured, tolerance=5e-4)


@claim(
    "RS.share-boundary",
    kind="exact",
    anchor=f"{CHAPTER}#rs-share-boundary",
    statement="The share is c where tau = sqrt(gamma / (c (1 - c))) - gamma - 1.",
)
def boundary():
    return _boundary(grows=True)


@boundary.fails_without("noise that grows with d")
def _fixed_noise_boundary():
    return _boundary(grows=False)


# --- Another covariance than the one trained on --------------------------------------------------


def spread_covariance(condition: float, d: int) -> np.ndarray:
    """Diagonal, eigenvalues in geometric progression from 1 to `condition`, scaled to trace d."""
    values = np.geomspace(1, condition, d)
    return np.diag(d * values / values.sum())


def foreign_loss(n: int, condition: float, d: int, noise_var: float) -> float:
    """Risk of the layer trained on N(0, I), used on another covariance; 1 is predicting zero.

    Weights N(0, I) and E|x|^2 = d, so that the signal is d on both covariances; without the noise.
    """
    sigma = spread_covariance(condition, d)
    return _foreign(theory.step_size(n, d, noise_var), n, sigma, np.eye(d), noise_var)


def _foreign(step: float, n: int, sigma: np.ndarray, omega: np.ndarray, noise_var: float) -> float:
    predictor = step * np.eye(len(sigma))
    keys = {"n": n, "noise_var": noise_var, "task_covariance": omega}
    return (theory.skewed_risk(predictor, sigma, **keys) - noise_var) / np.trace(sigma @ omega)


def _long_prompts(tuned: bool) -> Evidence:
    """The loss after 10^7 examples beside its limit; the weights' covariance has other axes."""
    n, d, noise_var = 10**7, 5, 0.3
    turned = np.cos(np.arange(d * d)).reshape(d, d)
    omega = np.eye(d) + turned @ turned.T
    predicted, measured = [], []
    for condition in (3.0, 30.0, 3000.0):
        sigma = spread_covariance(condition, d)
        step = theory.step_size(n, d, noise_var)
        if tuned:
            step = theory.best_scalar_step(sigma, n=n, noise_var=noise_var, task_covariance=omega)
        predicted.append(limits.foreign_error(sigma, omega))
        measured.append(_foreign(step, n, sigma, omega, noise_var))
    return Evidence(predicted, measured, tolerance=1e-4)


@claim(
    "RS.foreign",
    kind="exact",
    anchor=f"{CHAPTER}#rs-foreign",
    statement="A layer trained on N(0, I) and used on covariance Sigma keeps, with ever longer "
    "prompts, the share tr(Sigma Omega (I - Sigma)^2) / tr(Sigma Omega) of the signal as error.",
)
def foreign():
    return _long_prompts(tuned=False)


@foreign.fails_without("the step that was trained (the best for Sigma instead)")
def _retuned():
    return _long_prompts(tuned=True)
