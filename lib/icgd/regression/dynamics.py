"""Where gradient flow takes the layer of Zhang, Frei and Bartlett: closed forms. numpy only.

The layer divides by the prompt's length n: it predicts (1/n) ((A G w)^T x_query) plus a term of the
query alone, with A = [A_x a], w = (w_x, b); its loss is (1/2) E[(prediction - w_task.x_query)^2]
for x ~ N(0, Sigma), w_task ~ N(0, I). In the names of the paper A_x^T = U, a = r, w_x = p, b = u.
From a = w_x = 0 the flow keeps both at zero, and with Gamma of `gamma` it is

    A_x' = b Sigma^2 - b^2 Sigma A_x Sigma Gamma,
    b'   = tr(Sigma^2 A_x) - b tr(Sigma A_x Sigma Gamma A_x^T),

along which b^2 - |A_x|^2 does not change (chapter 7).
"""

import numpy as np
from jaxtyping import Float

from icgd import validation


def gamma(
    covariance: Float[np.ndarray, "d d"], *, n: int, noise_var: float
) -> Float[np.ndarray, "d d"]:
    """Gamma = ((n + 1) Sigma + (tr Sigma + s2) I) / n, whose inverse is the trained preconditioner.

    With the s2 of the training prompts; the paper has s2 = 0.

    >>> gamma(np.eye(2), n=4, noise_var=1.0)[0, 0]  # (n + d + 1 + s2) / n
    np.float64(2.0)
    """
    sigma, n, noise_var = _checked(covariance, n, noise_var)
    return ((n + 1) * sigma + (np.trace(sigma) + noise_var) * np.eye(len(sigma))) / n


def limit(
    covariance: Float[np.ndarray, "d d"], *, n: int, noise_var: float, imbalance: float = 0.0
) -> tuple[Float[np.ndarray, "d d"], float]:
    """(A_x, b) at the end of the flow: b A_x = Gamma^-1 with b > 0.

    b^2 = (q + sqrt(q^2 + 4 tr Gamma^-2)) / 2 with the imbalance q = b^2 - |A_x|^2 of the start; for
    the paper's start, q = 0, b = (tr Gamma^-2)^(1/4).
    """
    inverse = np.linalg.inv(gamma(covariance, n=n, noise_var=noise_var))
    q = validation.finite_float("imbalance", imbalance)
    size = np.hypot(q, 2 * np.linalg.norm(inverse))
    # The second form is the first without its cancellation for q < 0.
    b_sq = (q + size) / 2 if q >= 0 else 2 * np.linalg.norm(inverse) ** 2 / (size - q)
    b = float(np.sqrt(b_sq))
    return inverse / b, b


def start(theta: Float[np.ndarray, "d k"], scale: float) -> tuple[Float[np.ndarray, "d d"], float]:
    """(A_x, b) of the paper's start: b = scale, A_x = scale Theta Theta^T / |Theta Theta^T|."""
    scale = validation.positive("scale", scale)
    theta = np.asarray(theta, dtype=float)
    product = theta @ theta.T
    if not np.any(product) or not np.isfinite(product).all():
        raise ValueError(
            "theta must be finite and not zero, got a product theta theta^T without a direction; "
            "draw it from a normal law."
        )
    return scale * product / np.linalg.norm(product), scale


def largest_scale(covariance: Float[np.ndarray, "d d"], *, n: int, noise_var: float) -> float:
    """The paper's condition on the start's scale: scale^2 |Gamma|_op sqrt(d) < 2. It is not needed.

    >>> round(largest_scale(np.eye(4), n=5, noise_var=0.0), 12)  # |Gamma|_op = 2
    0.707106781187
    """
    top = np.linalg.norm(gamma(covariance, n=n, noise_var=noise_var), 2)
    return float(np.sqrt(2 / (top * np.sqrt(len(covariance)))))


def velocity(
    A_x: Float[np.ndarray, "d d"],
    b: float,
    covariance: Float[np.ndarray, "d d"],
    *,
    n: int,
    noise_var: float,
) -> tuple[Float[np.ndarray, "d d"], float]:
    """(A_x', b'), the right-hand sides of the flow above, where a = 0 and w_x = 0."""
    sigma, n, noise_var = _checked(covariance, n, noise_var)
    A_x = validation.finite_matrix("A_x", A_x, len(sigma))
    pulled = sigma @ A_x @ sigma @ gamma(sigma, n=n, noise_var=noise_var)
    square = sigma @ sigma
    return b * square - b**2 * pulled, float(np.trace(square @ A_x) - b * np.sum(pulled * A_x))


def isotropic_product(
    times: Float[np.ndarray, " times"], scale: float, *, d: int, n: int, noise_var: float
) -> Float[np.ndarray, " times"]:
    """p(t), with b A_x = p I along the flow for Sigma = I from b = scale, A_x = scale I / sqrt(d).

    The logistic curve p' = 2 sqrt(d) p (1 - g p), g = (n + d + 1 + s2) / n:
    p(t) = 1 / (g + (1 / p(0) - g) exp(-2 sqrt(d) t)), p(0) = scale^2 / sqrt(d).

    >>> isotropic_product(np.array([0.0, 30.0]), 0.1, d=4, n=5, noise_var=0.0).round(9)
    array([0.005, 0.5  ])
    """
    d, n = validation.positive_int("d", d), validation.positive_int("n", n)
    noise_var = validation.non_negative("noise_var", noise_var)
    first = np.sqrt(d) / validation.positive("scale", scale) ** 2
    g = (n + d + 1 + noise_var) / n
    return 1 / (g + (first - g) * np.exp(-2 * np.sqrt(d) * np.asarray(times, dtype=float)))


def minimum_loss(
    covariance: Float[np.ndarray, "d d"], *, n: int, noise_var: float, rank: int | None = None
) -> float:
    """min E[(prediction - w_task.x_query)^2] over layers whose matrix C has rank at most `rank`.

    tr Sigma - sum of the largest `rank` of l^2 / g, l an eigenvalue of Sigma and g of Gamma; the
    default is full rank. H heads with keys of r numbers each have rank min(d, H r). It is twice
    the paper's minimum, and `theory.skewed_minimum_loss` less the noise of the query.

    >>> minimum_loss(np.eye(3), n=5, noise_var=1.0, rank=2)  # d - rank n / (n + d + 1 + s2)
    2.0
    """
    sigma, n, noise_var = _checked(covariance, n, noise_var)
    rank = len(sigma) if rank is None else validation.positive_int("rank", rank)
    values = np.linalg.eigvalsh(sigma)
    gain = n * values**2 / ((n + 1) * values + values.sum() + noise_var)
    return float(values.sum() - np.sort(gain)[::-1][:rank].sum())


def _checked(covariance, n, noise_var) -> tuple[np.ndarray, int, float]:
    sigma = validation.covariance_matrix("covariance", covariance, len(np.atleast_1d(covariance)))
    return (
        sigma,
        validation.positive_int("n", n),
        validation.non_negative("noise_var", noise_var),
    )
