"""Many examples in many dimensions: n = gamma d, noise_var = tau d, d -> infinity. numpy only.

Isotropic Gaussian covariates and weights. Gains are what a learner takes off the risk of predicting
zero, as a share of the signal d: 1 is everything, 0 nothing. Derived in the chapter on real rows.
"""

import numpy as np
from jaxtyping import Float

from icgd import validation


def one_step_gain(gamma, tau):
    """h = gamma / (gamma + 1 + tau), the gain of one tuned gradient step.

    >>> float(one_step_gain(1.0, 0.0))
    0.5
    """
    gamma, tau = _sizes(gamma, tau)
    return gamma / (gamma + 1 + tau)


def ridge_gain(gamma, tau):
    """g, the smaller root of g^2 - (gamma + 1 + tau) g + gamma = 0: the gain of ridge regression.

    >>> float(ridge_gain(0.25, 0.0)), float(ridge_gain(4.0, 0.0))  # no noise: directions seen
    (0.25, 1.0)
    """
    gamma, tau = _sizes(gamma, tau)
    M = gamma + 1 + tau
    return 2 * gamma / (M + np.sqrt(M**2 - 4 * gamma))


def step_share(gamma, tau):
    """One step's gain over ridge regression's: 1 - g / (gamma + 1 + tau), at least 1/2."""
    gamma, tau = _sizes(gamma, tau)
    return 1 - ridge_gain(gamma, tau) / (gamma + 1 + tau)


def share_boundary(gamma, share: float):
    """The tau at which `step_share` is `share`: sqrt(gamma / (share (1 - share))) - gamma - 1.

    Negative where even no noise leaves the share above `share`.

    >>> round(float(step_share(2.0, share_boundary(2.0, 0.8))), 12)
    0.8
    """
    share = validation.positive("share", share)
    if not 0.5 <= share < 1:
        raise ValueError(f"share must be in [1/2, 1), got {share}; one step gains at least half.")
    return np.sqrt(np.asarray(gamma) / (share * (1 - share))) - gamma - 1


def foreign_error(
    covariance: Float[np.ndarray, "d d"], task_covariance: Float[np.ndarray, "d d"]
) -> float:
    """tr(Sigma Omega (I - Sigma)^2) / tr(Sigma Omega): error over signal after n -> infinity.

    Of the layer trained on N(0, I), used on x ~ N(0, Sigma) and w ~ N(0, Omega) at a fixed d.

    >>> foreign_error(np.diag([3.0, 1.0]), np.eye(2))  # worse than predicting zero, which keeps 1
    3.0
    """
    sigma = validation.finite_matrix("covariance", covariance, len(covariance))
    signal = sigma @ validation.finite_matrix("task_covariance", task_covariance, len(sigma))
    off = np.eye(len(sigma)) - sigma
    return float(np.trace(off @ signal @ off) / np.trace(signal))


def _sizes(gamma, tau):
    """(gamma, tau) as float64 numbers or arrays, checked."""
    gamma, tau = np.asarray(gamma, dtype=float)[()], np.asarray(tau, dtype=float)[()]
    if not (np.all(gamma > 0) and np.all(tau >= 0)):
        raise ValueError(
            f"gamma must be positive and tau not negative, got {gamma} and {tau}; "
            "they are n / d and noise_var / d."
        )
    return gamma, tau
