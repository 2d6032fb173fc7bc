"""Closed forms for the regression setting. numpy only: nothing here knows the models.

n: examples in the prompt.  d: dimension.  noise_var: variance of the label noise.  All risks and
losses are E[(prediction - y_query)^2] with the noise of y_query included, so `noise_var` is the
floor that no predictor goes below.
"""

import numpy as np
from jaxtyping import Float

from icgd import validation
from icgd.regression.wishart import expected_trace


def step_size(n: int, d: int, noise_var: float) -> float:
    """eta = 1 / (n + d + 1 + noise_var), the step size of OS, Theorem 1, in closed form.

    The paper leaves eta as E[w_hat^T X^T y] / E|X^T y|^2; the numerator is n d, the denominator
    n d (n + d + 1 + noise_var).

    >>> step_size(n=20, d=10, noise_var=1.0)
    0.03125
    """
    n, d, noise_var = _sizes(n, d, noise_var)
    return 1.0 / (n + d + 1 + noise_var)


def one_step_risk(step_size: float, *, n: int, d: int, noise_var: float) -> float:
    """Risk of the prediction step_size * y^T X x_query: a parabola in the step size.

    d + s2 - 2 eta n d + eta^2 n d (n + d + 1 + s2).

    >>> one_step_risk(0.0, n=20, d=10, noise_var=1.0)  # no step: predict 0
    11.0
    """
    n, d, noise_var = _sizes(n, d, noise_var)
    eta = validation.finite_float("step_size", step_size)
    return d + noise_var - 2 * eta * n * d + eta**2 * n * d * (n + d + 1 + noise_var)


def minimum_loss(n: int, d: int, noise_var: float) -> float:
    """L* = d + s2 - n d / (n + d + 1 + s2), the global minimum over all weights of the layer.

    >>> round(minimum_loss(n=2, d=2, noise_var=0.3), 12)
    1.545283018868
    """
    n, d, noise_var = _sizes(n, d, noise_var)
    return d + noise_var - n * d / (n + d + 1 + noise_var)


def rank_one_curvature(n: int, d: int, noise_var: float) -> float:
    """Curvature of the loss at its rank-one stationary points: a local minimum if positive.

    At A = [0 a], w = (w_x, 0), a w_x^T = step_size u u^T, |u| = 1, the layer steps along u only.
    Moving b = w[d] away from 0, with the best A[:, :d] to go with it, changes the loss by
    n f |a|^2 b^2 to second order, with (chapter 3)

    f = 2 d (n + 2) + 4 (m - 1) ((n + 1) m + 1) / (n + 2) - (d - 1) (n + m + 1)^2,  m = d + s2.

    >>> rank_one_curvature(2, 2, 5.0), rank_one_curvature(20, 10, 0.5) < 0
    (48.0, True)
    """
    n, d, noise_var = _sizes(n, d, noise_var)
    m = d + noise_var
    spread = 4 * (m - 1) * ((n + 1) * m + 1) / (n + 2)
    return 2 * d * (n + 2) + spread - (d - 1) * (n + m + 1) ** 2


def ridge_risk(n: int, d: int, noise_var: float) -> float:
    """Risk of ridge regression with strength noise_var, the Bayes predictor.

    s2 + s2 E tr (X^T X + s2 I)^-1: the trace of the posterior covariance, averaged. Without noise
    the posterior is a point once n >= d, and before that the d - n directions never seen remain.

    >>> ridge_risk(n=3, d=5, noise_var=0.0)
    2.0
    """
    n, d, noise_var = _sizes(n, d, noise_var)
    if noise_var == 0:
        return float(max(d - n, 0))
    return noise_var + noise_var * expected_trace(lambda x: 1 / (x + noise_var), n, d)


def least_squares_risk(n: int, d: int, noise_var: float) -> float:
    """Risk of (minimum-norm) least squares; infinite for n in {d - 1, d, d + 1} under noise.

    n >= d + 2:  s2 + s2 d / (n - d - 1).     n <= d - 2:  s2 + (d - n) + s2 n / (d - n - 1).
    """
    n, d, noise_var = _sizes(n, d, noise_var)
    missed = max(d - n, 0)
    if noise_var == 0:
        return float(missed)
    if abs(n - d) <= 1:
        return float("inf")
    return noise_var + missed + noise_var * min(n, d) / (abs(n - d) - 1)


def preconditioner(
    covariance: Float[np.ndarray, "d d"],
    *,
    n: int,
    noise_var: float,
    task_covariance: Float[np.ndarray, "d d"] | None = None,
) -> Float[np.ndarray, "d d"]:
    """P, where P X^T y is the best predictor one layer can implement for skewed covariates.

    P = Omega ((n + 1) Sigma Omega + (tr(Sigma Omega) + s2) I)^-1 for x ~ N(0, Sigma) and
    w ~ N(0, Omega). With Omega = Sigma^-1 (the default, OS, Theorem 2) it is
    Sigma^-1 / (n + d + 1 + s2); with Omega = I, ((n + 1) Sigma + (tr Sigma + s2) I)^-1.
    """
    sigma, omega, n, noise_var = _covariances(covariance, task_covariance, n, noise_var)
    product = sigma @ omega
    shift = (np.trace(product) + noise_var) * np.eye(len(sigma))
    return omega @ np.linalg.inv((n + 1) * product + shift)


def skewed_minimum_loss(
    covariance: Float[np.ndarray, "d d"],
    *,
    n: int,
    noise_var: float,
    task_covariance: Float[np.ndarray, "d d"] | None = None,
) -> float:
    """The loss of that predictor: s2 + tr(Sigma Omega) - n tr(Sigma P Sigma Omega)."""
    sigma, omega, n, noise_var = _covariances(covariance, task_covariance, n, noise_var)
    P = preconditioner(sigma, n=n, noise_var=noise_var, task_covariance=omega)
    return float(noise_var + np.trace(sigma @ omega) - n * np.trace(sigma @ P @ sigma @ omega))


def skewed_risk(
    predictor: Float[np.ndarray, "d d"],
    covariance: Float[np.ndarray, "d d"],
    *,
    n: int,
    noise_var: float,
    task_covariance: Float[np.ndarray, "d d"] | None = None,
) -> float:
    """Risk of the predictor C X^T y for any matrix C, when x ~ N(0, Sigma) and w ~ N(0, Omega).

    s2 + tr(Sigma Omega) - 2 n tr(Sigma C Sigma Omega) + tr(Sigma C E C^T), where
    E = E[X^T y y^T X] = n ((n + 1) Sigma Omega Sigma + (tr(Sigma Omega) + s2) Sigma).
    """
    sigma, omega, n, noise_var = _covariances(covariance, task_covariance, n, noise_var)
    C = validation.finite_matrix("predictor", predictor, len(sigma))
    product = sigma @ omega
    second = n * ((n + 1) * product @ sigma + (np.trace(product) + noise_var) * sigma)
    linear = 2 * n * np.trace(sigma @ C @ product)
    return float(noise_var + np.trace(product) - linear + np.trace(sigma @ C @ second @ C.T))


def best_scalar_step(
    covariance: Float[np.ndarray, "d d"],
    *,
    n: int,
    noise_var: float,
    task_covariance: Float[np.ndarray, "d d"] | None = None,
) -> float:
    """The step size that minimises `skewed_risk` of step_size * I: gradient descent left plain.

    tr(Sigma^2 Omega) / ((n + 1) tr(Sigma^2 Omega Sigma) + (tr(Sigma Omega) + s2) tr(Sigma^2)).

    >>> best_scalar_step(np.eye(10), n=20, noise_var=1.0)  # nothing is skewed: Theorem 1's step
    0.03125
    """
    sigma, omega, n, noise_var = _covariances(covariance, task_covariance, n, noise_var)
    product, square = sigma @ omega, sigma @ sigma
    fourth = (n + 1) * np.trace(square @ omega @ sigma)
    fourth += (np.trace(product) + noise_var) * np.trace(square)
    return float(np.trace(square @ omega) / fourth)


def nonlinear_step_size(
    beta_sq: float, f_sq_x_sq: float, *, n: int, d: int, noise_var: float
) -> float:
    """eta of OS, Theorem 3, from two moments of the family of target functions.

    eta = E|beta_f|^2 / (E[f(x)^2 |x|^2] + d s2 + (n - 1) E|beta_f|^2), beta_f = E[x f(x) | f].

    Args:
        beta_sq: E|beta_f|^2 over the family.  f_sq_x_sq: E[f(x)^2 |x|^2] over family and x.

    >>> nonlinear_step_size(10.0, 10.0 * 12.0, n=20, d=10, noise_var=1.0)  # f(x) = w.x
    0.03125
    """
    n, d, noise_var = _sizes(n, d, noise_var)
    beta_sq = validation.non_negative("beta_sq", beta_sq)
    f_sq_x_sq = validation.positive("f_sq_x_sq", f_sq_x_sq)
    return beta_sq / (f_sq_x_sq + d * noise_var + (n - 1) * beta_sq)


def optimal_predictor(
    E_u_yX: Float[np.ndarray, "d d"], E_Xy_yX: Float[np.ndarray, "d d"]
) -> Float[np.ndarray, "d d"]:
    """C* of the unified theorem: C* = E[u y^T X] (E[X^T y y^T X])^-1; the layer runs C* X^T y.

    Args:
        E_u_yX: E[u y^T X], u the best linear predictor given the context.
        E_Xy_yX: E[X^T y y^T X], symmetric positive definite.
    """
    d = len(np.atleast_1d(E_Xy_yX))
    second = validation.covariance_matrix("E_Xy_yX", E_Xy_yX, d)
    cross = validation.finite_matrix("E_u_yX", E_u_yX, d)
    return np.linalg.solve(second, cross.T).T


def optimal_loss(
    E_u_yX: Float[np.ndarray, "d d"],
    E_Xy_yX: Float[np.ndarray, "d d"],
    *,
    x_second: Float[np.ndarray, "d d"],
    y_sq: float,
) -> float:
    """L* of the unified theorem: L* = E[y^2] - tr(S C* E[X^T y u^T]), the loss of C* X^T y.

    Args:
        E_u_yX, E_Xy_yX: as for `optimal_predictor`.
        x_second: S = E[x x^T], (d, d), of the query.   y_sq: E[y^2], noise included.
    """
    C = optimal_predictor(E_u_yX, E_Xy_yX)
    S = np.asarray(x_second, dtype=float)
    if S.shape != C.shape:
        raise ValueError(
            f"x_second must have shape {C.shape}, got {S.shape}; average x x^T over the query."
        )
    y_sq = validation.non_negative("y_sq", y_sq)
    return float(y_sq - np.trace(S @ C @ np.asarray(E_u_yX, dtype=float).T))


def _sizes(n: int, d: int, noise_var: float) -> tuple[int, int, float]:
    return (
        validation.positive_int("n", n),
        validation.positive_int("d", d),
        validation.non_negative("noise_var", noise_var),
    )


def _covariances(covariance, task_covariance, n, noise_var):
    sigma, omega = validation.covariance_pair(covariance, task_covariance)
    n, _, noise_var = _sizes(n, len(sigma), noise_var)
    return sigma, omega, n, noise_var
