"""Exact risk of a trained step on prompts unlike those it was trained on. numpy only.

A layer trained at length n predicts (1/m) sum_i y_i x_i^T P x_query on a prompt of m examples, with
P = Gamma^-1 of `dynamics.gamma`. All risks here are E[(prediction - w_task.x_query)^2]: the noise
of the query's label, which no predictor avoids, is left out.
"""

import numpy as np
from jaxtyping import Float

from icgd import validation
from icgd.regression import dynamics


def step_risk(
    preconditioner: Float[np.ndarray, "d d"],
    *,
    m: int,
    covariance: Float[np.ndarray, "d d"],
    noise_var: float,
    task_moment: Float[np.ndarray, "d d"] | None = None,
    query_moment: Float[np.ndarray, "d d"] | None = None,
) -> float:
    """Risk of (1/m) sum_i y_i x_i^T P^T x_query on test prompts of any such law.

    tr(B^T K B W) + (1/m) tr(K P (Sigma W Sigma + (tr(Sigma W) + s2) Sigma) P^T), B = P Sigma - I:
    a bias that no length of the prompt removes, and a variance.

    Args:
        preconditioner: P, fixed by training.   m: examples in the test prompt.
        covariance: Sigma of the context, Gaussian.   noise_var: s2 of the context's labels.
        task_moment: W = E[w w^T], positive semi-definite; the default is I.
        query_moment: K = E[x_query x_query^T] of a query that is independent of the context; the
            default is Sigma.

    >>> step_risk(np.zeros((2, 2)), m=5, covariance=np.eye(2), noise_var=0.0)  # predicting 0
    2.0
    """
    d = len(np.atleast_1d(covariance))
    P = validation.finite_matrix("preconditioner", preconditioner, d)
    sigma = validation.covariance_matrix("covariance", covariance, d)
    W = second_moment("task_moment", np.eye(d) if task_moment is None else task_moment, d)
    K = second_moment("query_moment", sigma if query_moment is None else query_moment, d)
    m = validation.positive_int("m", m)
    noise_var = validation.non_negative("noise_var", noise_var)
    B = P @ sigma - np.eye(d)
    spread = sigma @ W @ sigma + (np.trace(sigma @ W) + noise_var) * sigma
    return float(np.trace(B.T @ K @ B @ W) + np.trace(K @ P @ spread @ P.T) / m)


def length_risk(
    n: int | float | np.ndarray,
    m: int | float | np.ndarray,
    eigenvalues: Float[np.ndarray, " d"],
    *,
    noise_var: float,
    test_noise_var: float | None = None,
) -> Float[np.ndarray, "..."] | float:
    """R(n, m): risk at test length m of the layer trained at length n, the law unchanged.

    sum_i l_i ((1 - l_i / g_i)^2 + l_i (l_i + k) / (m g_i^2)), g_i = ((n + 1) l_i + k) / n and
    k = sum_i l_i + s2 (with the training noise in g_i, the test noise in l_i + k).

    Args:
        n, m: numbers or arrays that broadcast, at least 1; `np.inf` gives the limit.
        eigenvalues: l_i of Sigma, positive.

    >>> length_risk(20, np.array([5, 20, 100, np.inf]), np.ones(5), noise_var=0.0).round(4)
    array([3.8166, 1.1538, 0.4438, 0.2663])
    """
    l = _spectrum(eigenvalues)
    train = validation.non_negative("noise_var", noise_var)
    test = train if test_noise_var is None else test_noise_var
    test = validation.non_negative("test_noise_var", test)
    one_over_n, one_over_m = (1 / _lengths(name, size) for name, size in (("n", n), ("m", m)))
    one_over_n, one_over_m = np.broadcast_arrays(one_over_n, one_over_m)
    share = l / (l + one_over_n[..., None] * (l + l.sum() + train))  # l / g, what is recovered
    variance = share**2 * (l + l.sum() + test) * one_over_m[..., None]
    return (l * (1 - share) ** 2 + variance).sum(-1)


def best_linear_excess(
    a: Float[np.ndarray, " d"],
    label_covariance: Float[np.ndarray, "d d"],
    covariance: Float[np.ndarray, "d d"],
    *,
    n: int,
    m: int,
    noise_var: float = 0.0,
) -> float:
    """Risk above the best linear predictor a.x, for any law of (x, y) with E[x x^T] = Sigma.

    (1/n^2) |Gamma^-1 (Sigma + k I) a|_Sigma^2 + (1/m) tr(Sigma Gamma^-1 Cov(x y) Gamma^-1), with
    |v|_Sigma^2 = v.Sigma v and k = tr Sigma + s2 (Zhang, Frei and Bartlett, Theorem 4.2, s2 = 0).

    Args:
        a: Sigma^-1 E[x y].   label_covariance: Cov(x y), (d, d).   noise_var: in training.
    """
    d = len(np.atleast_1d(covariance))
    sigma = validation.covariance_matrix("covariance", covariance, d)
    spread = second_moment("label_covariance", label_covariance, d)
    a = np.asarray(a, dtype=float)
    if a.shape != (d,) or not np.isfinite(a).all():
        raise ValueError(f"a must be {d} finite numbers, got {a}; solve Sigma a = E[x y].")
    m = validation.positive_int("m", m)
    P = np.linalg.inv(dynamics.gamma(sigma, n=n, noise_var=noise_var))
    missed = P @ (sigma @ a + (np.trace(sigma) + noise_var) * a) / n
    return float(missed @ sigma @ missed + np.trace(sigma @ P @ spread @ P) / m)


def second_moment(name: str, value, d: int) -> np.ndarray:
    """`value` as a float64 array (d, d) if symmetric and positive semi-definite."""
    matrix = validation.finite_matrix(name, value, d)
    size = np.abs(matrix).max()
    if not np.allclose(matrix, matrix.T, rtol=0, atol=1e-12 * size):
        raise ValueError(
            f"{name} must be symmetric, got a largest |S - S^T| of "
            f"{np.abs(matrix - matrix.T).max():.3g}; use (S + S.T) / 2 if that is rounding."
        )
    lowest = np.linalg.eigvalsh(matrix)[0]
    if lowest < -1e-12 * size:
        raise ValueError(
            f"{name} must be positive semi-definite, got an eigenvalue of {lowest:.3g}; "
            "it is an average of squares, check how it was made."
        )
    return (matrix + matrix.T) / 2


def _lengths(name: str, value) -> np.ndarray:
    lengths = np.asarray(value, dtype=float)
    if not (lengths >= 1).all():
        raise ValueError(f"{name} must be at least 1, got {lengths.min()}; count the examples.")
    return lengths


def _spectrum(eigenvalues) -> np.ndarray:
    l = np.asarray(eigenvalues, dtype=float)
    if l.ndim != 1 or not len(l) or not np.isfinite(l).all() or l.min() <= 0:
        raise ValueError(
            f"eigenvalues must be a list of finite positive numbers, got {eigenvalues}; "
            "use np.linalg.eigvalsh(Sigma) of a positive definite Sigma."
        )
    return l
