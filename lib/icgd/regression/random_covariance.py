"""One layer for prompts that each have a covariance of their own: closed forms. numpy only.

A prompt draws the eigenvalues l of its covariance, then x ~ N(0, diag(l)) and w ~ N(0, I). With
g_i = ((n + 1) l_i + sum_j l_j + s2) / n, the risk E[(prediction - w.x_query)^2] of the layer
(1/n) sum_i y_i x_i^T diag(c) x_query is sum_i E[l_i - 2 c_i l_i^2 + c_i^2 g_i l_i^2].
"""

import numpy as np
from jaxtyping import Float

from icgd import validation


def best_step(
    spectra: Float[np.ndarray, "k d"], weights: Float[np.ndarray, " k"], *, n: int, noise_var: float
) -> Float[np.ndarray, " d"]:
    """c_i = E[l_i^2] / E[g_i l_i^2], the best layer: no other matrix, diagonal or not, does better.

    Args:
        spectra: the rows l that a prompt draws from.   weights: their probabilities.

    >>> best_step(np.ones((1, 2)), np.ones(1), n=4, noise_var=1.0)  # always I: n / (n + d + 1 + s2)
    array([0.5, 0.5])
    """
    l, weights = finite_law(spectra, weights)
    return weights @ l**2 / (weights @ (_g(l, n, noise_var) * l**2))


def unconditional_step(
    spectra: Float[np.ndarray, "k d"], weights: Float[np.ndarray, " k"], *, n: int, noise_var: float
) -> Float[np.ndarray, " d"]:
    """c_i = E[l_i] / E[g_i l_i]: C* of the unified theorem as it is written, which is wrong here.

    It takes E[x_query x_query^T] out of the average although the context tells about it.
    """
    l, weights = finite_law(spectra, weights)
    return weights @ l / (weights @ (_g(l, n, noise_var) * l))


def risk(
    c: Float[np.ndarray, " d"],
    spectra: Float[np.ndarray, "k d"],
    weights: Float[np.ndarray, " k"],
    *,
    n: int,
    noise_var: float,
) -> float:
    """The risk of the step diag(c), the noise of the query's label left out.

    >>> risk(np.zeros(2), np.ones((1, 2)), np.ones(1), n=4, noise_var=1.0)  # predicting 0
    2.0
    """
    l, weights = finite_law(spectra, weights)
    c = np.asarray(c, dtype=float)
    return float((weights @ (l - 2 * c * l**2 + c**2 * _g(l, n, noise_var) * l**2)).sum())


def exponential(d: int, nodes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """(spectra, weights) with independent l_j ~ Exp(1), by Gauss and Laguerre's rule.

    Exact for polynomials of degree up to 2 nodes - 1 in each l_j; nodes^d rows.
    """
    points, weights = np.polynomial.laguerre.laggauss(validation.positive_int("nodes", nodes))
    d = validation.positive_int("d", d)
    spectra = np.stack(np.meshgrid(*[points] * d, indexing="ij"), -1).reshape(-1, d)
    product = np.stack(np.meshgrid(*[weights] * d, indexing="ij"), -1).reshape(-1, d).prod(1)
    return spectra, product / product.sum()


def finite_law(spectra, weights) -> tuple[np.ndarray, np.ndarray]:
    """(spectra, weights) as float64 arrays if they are positive (k, d) and probabilities (k,)."""
    l, weights = np.asarray(spectra, dtype=float), np.asarray(weights, dtype=float)
    if l.ndim != 2 or weights.shape != l.shape[:1] or not np.isfinite(l).all() or l.min() <= 0:
        raise ValueError(
            "spectra must be positive and of shape (k, d), with one weight a row, got shapes "
            f"{l.shape} and {weights.shape}; a row holds the eigenvalues of one covariance."
        )
    if weights.min() < 0 or abs(weights.sum() - 1) > 1e-12:
        raise ValueError(
            f"weights must be non-negative and sum to 1, got a sum of {weights.sum()}; "
            "divide them by their sum."
        )
    return l, weights


def _g(l: np.ndarray, n: int, noise_var: float) -> np.ndarray:
    n, noise_var = validation.positive_int("n", n), validation.non_negative("noise_var", noise_var)
    return ((n + 1) * l + l.sum(1, keepdims=True) + noise_var) / n
