"""Expectations of a trace over Gaussian matrices, without sampling.

The eigenvalues of X^T X, X an (n, d) matrix of standard normals with n >= d, have the density
const * prod_{i<j} |x_i - x_j| * prod_i x_i^((n - d - 1) / 2) exp(-x_i / 2). De Bruijn (1955): the
integral of such a density times prod_i f(x_i) is, up to the constant, the Pfaffian of

    S_ij = int int sign(y - x) f(x) p_i(x) f(y) p_j(y) weight(x) weight(y) dx dy,

with p_0, ..., p_{d-1} any polynomials of degree 0, ..., d - 1 (for odd d the matrix is bordered by
int f p_i weight). Put f = 1 + t g and differentiate at t = 0: E[sum_i g(x_i)] = tr(S^-1 S') / 2.
"""

from collections.abc import Callable
from functools import cache

import numpy as np
from jaxtyping import Float
from numpy.polynomial import legendre

from icgd import validation

_NODES = 800


def expected_trace(g: Callable[[np.ndarray], np.ndarray], n: int, d: int) -> float:
    """E tr g(X^T X) for X (n, d) of independent standard normals, to about 1e-12 relative.

    Args:
        g: a function on [0, inf), smooth but for a pole below -1e-10, applied to eigenvalues.

    Raises:
        ArithmeticError: the sizes are beyond this quadrature (min(n, d) of a few hundred).

    >>> round(expected_trace(lambda x: 1 / x, 7, 3), 12)  # E tr (X^T X)^-1 = d / (n - d - 1)
    1.0
    """
    x, weights = spectral_rule(n, d)
    return float(weights @ np.asarray(g(x)))


def spectral_rule(
    n: int, d: int, *, reach: float = 10.0
) -> tuple[Float[np.ndarray, " nodes"], Float[np.ndarray, " nodes"]]:
    """(x, weights) with E tr g(X^T X) = sum_i weights_i g(x_i), for `expected_trace`'s g.

    The weights are the mean density of the eigenvalues, times the quadrature's. Singular values of
    X beyond sqrt(n) +- (sqrt(d) + reach) are left out: a chance below 1e-20 for the default, but
    polynomials of degree above 40 are large out there and need a reach of 16.

    Raises:
        ArithmeticError: as for `expected_trace`.

    >>> x, weights = spectral_rule(7, 3)
    >>> round(float(weights.sum()), 12), round(float(weights @ x), 12)  # d eigenvalues, n d
    (3.0, 21.0)
    """
    n, d = validation.positive_int("n", n), validation.positive_int("d", d)
    if n < d:  # X X^T has the same positive eigenvalues; the other d - n are zero
        x, weights = spectral_rule(d, n, reach=reach)
        return np.append(x, 0.0), np.append(weights, float(d - n))
    # x = u^4 makes the weight smooth at 0 for every n - d, and the nodes dense there.
    spread = np.sqrt(d) + validation.positive("reach", reach)
    low = max(0.0, np.sqrt(n) - spread) ** 0.5
    half = ((np.sqrt(n) + spread) ** 0.5 - low) / 2
    z, q, J = _quadrature(_NODES)
    u, q, J = low + half * (z + 1), half * q, half * J
    x = u**4
    typical = max(n - d, 1)  # x^((n-d-1)/2) exp(-x/2) dx = 4 u^(2(n-d)+1) exp(-u^4/2) du
    log_weight = (n - d) / 2 * np.log(x / typical) - (x - typical) / 2 + np.log(u)
    weight = np.exp(log_weight - log_weight.max())
    # Any basis of polynomials will do. Orthonormal for weight^2, it keeps S well conditioned.
    f = _orthonormal(x / x.max(), weight * np.sqrt(q), d) / np.sqrt(q)[:, None]
    # signed(y) = int sign(y - x) f(x) dx at each node y, where int f up to y is J @ f.
    signed = 2 * J @ f - q @ f
    S, edge = signed.T @ (q[:, None] * f), q @ f
    if d % 2:  # for odd d, the antisymmetric matrix with one more row and column
        S = np.block([[S, edge[:, None]], [-edge[None, :], np.zeros((1, 1))]])
    inverse = np.linalg.inv(S)
    # tr(S^-1 S') / 2 is linear in g: collect what multiplies g at each node.
    core, border = inverse[:d, :d], inverse[:d, d:]
    weights = q * (((f @ core) * signed).sum(1) - (f @ border).sum(1))
    if not abs(weights @ x / (n * d) - 1) < 1e-10:
        raise ArithmeticError(
            f"E tr X^T X must come out as n d = {n * d}, got {weights @ x:.12g}: n = {n}, d = {d} "
            "are too large for this quadrature; average over sampled matrices instead."
        )
    return x, weights


def _orthonormal(x: np.ndarray, start: np.ndarray, count: int) -> np.ndarray:
    """Orthonormal columns start * p_k(x), p_k of degree k < count, by Lanczos' recurrence."""
    basis = np.zeros((len(x), count))
    column = start / np.linalg.norm(start)
    for k in range(count):
        basis[:, k] = column
        column = x * column
        for _ in range(2):  # twice is enough, once is not
            column = column - basis @ (basis.T @ column)
        column = column / np.linalg.norm(column)
    return basis


@cache
def _quadrature(nodes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(z, q, J): nodes on [-1, 1], weights, and J with (J @ f(z))_i = int_{-1}^{z_i} f.

    f is expanded in Legendre polynomials, and (2 k + 1) int_{-1}^z P_k = P_{k+1} - P_{k-1}.
    """
    z, q = legendre.leggauss(nodes)
    P = legendre.legvander(z, nodes)
    integrals = np.column_stack([z + 1, P[:, 2:] - P[:, :-2]]) / 2
    return z, q, integrals @ (P[:, :-1].T * q)
