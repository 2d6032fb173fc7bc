"""Diagonal blocks on commuting rotations (Sander et al., 2024). numpy only.

Tokens are (x_t, x_{t-1}) and every block of A and B is diagonal, so coordinates talk to each other
through the score alone. Losses are those of MO, Eq. (2), with its factor 1/2. *Unitary*: d
independent uniform phases. *Orthogonal*: d / 2 independent phases, each with its conjugate.
"""

import numpy as np
from jaxtyping import Float

from icgd import validation
from icgd.autoregression.normalisation import Rho, context_pairs, context_sizes, rho_values
from icgd.autoregression.theory import kappas


def step_sums(T: int, rho: Rho = context_pairs) -> tuple[float, float, float]:
    """(C, D, E) = sum over t = 2, ..., T - 1 of (N / rho_t, N^2 / rho_t^2, N / rho_t^2), N = t - 1.

    >>> step_sums(6, lambda t: 1.0)
    (10.0, 30.0, 10.0)
    """
    N, r = context_sizes(T), rho_values(rho, T - 1)
    return float((N / r).sum()), float((N**2 / r**2).sum()), float((N / r**2).sum())


def unitary_loss(
    a: Float[np.ndarray, "*batch d"],
    b: Float[np.ndarray, "*batch d"],
    law,
    *,
    T: int,
    rho: Rho = context_pairs,
) -> Float[np.ndarray, "*batch"]:
    """Eq. (2) at W_KQ_32 = diag(a), W_PV_12 = diag(b), zeros elsewhere; any exchangeable law.

    sum_j ((T - 2) m2 / 2 - C k1 a_j b_j + b_j^2 (D k2 a_j^2 + E k3' sum_{l != j} a_l^2) / 2) with
    (C, D, E) from `step_sums` and k3' = k3 / (d - 1) = E u_j^2 u_l^4.
    """
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if a.shape != b.shape or a.ndim == 0:
        raise ValueError(
            f"a and b must be diagonals of one shape (..., d), got {a.shape} and {b.shape}; "
            "pass one entry a coordinate."
        )
    d = a.shape[-1]
    k, (C, D, E) = kappas(law, d), step_sums(T, rho)
    others = (a**2).sum(-1, keepdims=True) - a**2
    power = D * k.k2 * a**2 + E * k.k3 / max(d - 1, 1) * others
    return np.asarray(((T - 2) * k.m2 / 2 - C * k.k1 * a * b + b**2 * power / 2).sum(-1))


def sign_classes(d: int) -> Float[np.ndarray, "classes d"]:
    """The 2^(d-1) sign patterns of a minimiser's diagonal, up to a common sign: first entry +1.

    >>> sign_classes(2).tolist()
    [[1.0, 1.0], [1.0, -1.0]]
    """
    d = validation.positive_int("the dimension d", d)
    grid = np.meshgrid(*[[1.0]] + [[1.0, -1.0]] * (d - 1), indexing="ij")
    return np.stack(grid, axis=-1).reshape(-1, d)


def orthogonal_form(
    d: int, T: int, rho: Rho = context_pairs
) -> tuple[Float[np.ndarray, "2 2"], Float[np.ndarray, " 2"]]:
    """(H, g) of the loss d ((T - 2) / 2 - g^T z + z^T H z / 2), z = (p, q), on conjugate pairs.

    The layer is W_PV_12 = I, W_KQ_32 = p I (a step of gradient descent) and W_KQ_23 = q I, from
    x_1 = (1, ..., 1). Powers of the phases that differ are orthonormal, so with N = t - 1 each time
    contributes, divided by rho_t^2,

        (rho_t - N p - q)^2 + (p + (N + d) q)^2 + (N - 1) (p + q)^2
            + (d - 2) ((N - 1) p^2 + (p + q)^2 + (N - 1) q^2).
    """
    d = validation.int_at_least("the dimension d", d, 2)
    if d % 2:
        raise ValueError(
            f"d must be even, got {d}; phases come in conjugate pairs, two coordinates each."
        )
    N, r = context_sizes(T), rho_values(rho, T - 1)
    one = np.ones_like(N)
    directions = [(N, one, one), (one, N + d, one), (one, one, N - 1 + d - 2)]
    directions += [(one, 0 * one, (d - 2) * (N - 1)), (0 * one, one, (d - 2) * (N - 1))]
    H = np.zeros((2, 2))
    for u, v, weight in directions:
        uv = np.stack([u, v])
        H += (uv * weight / r**2) @ uv.T
    return H, np.array([(N / r).sum(), (1 / r).sum()])


def orthogonal_loss(p: float, q: float, *, d: int, T: int, rho: Rho = context_pairs) -> float:
    """Eq. (2) on conjugate pairs at W_PV_12 = I, W_KQ_32 = p I, W_KQ_23 = q I."""
    H, g = orthogonal_form(d, T, rho)
    z = np.array([p, q])
    return float(d * ((T - 2) / 2 - g @ z + z @ H @ z / 2))


def orthogonal_minimum(
    *, d: int, T: int, rho: Rho = context_pairs
) -> tuple[float, float, float, float]:
    """(p, q, loss there, loss of the best gradient step): the second is larger unless q = 0."""
    H, g = orthogonal_form(d, T, rho)
    p, q = np.linalg.solve(H, g)
    step = g[0] / H[0, 0]
    best, plain = (orthogonal_loss(*z, d=d, T=T, rho=rho) for z in ((p, q), (step, 0.0)))
    return float(p), float(q), best, plain
