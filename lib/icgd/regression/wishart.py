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
from numpy.polynomial import legendre

_NODES = 800


def expected_trace(g: Callable[[np.ndarray], np.ndarray], n: int, d: int) -> float:
    """E tr g(X^T X) for X (n, d) of independent standard normals, to about 1e-10.

    Args:
        g: a smooth function on [0, inf), applied to eigenvalues; poles must stay off x > -0.01.

    >>> round(expected_trace(lambda x: x, 7, 3), 9)  # E tr X^T X = n d
    21.0
    """
    if n < d:  # X X^T has the same positive eigenvalues; the other d - n are zero
        return expected_trace(g, d, n) + (d - n) * float(g(np.zeros(1))[0])
    # x = t^2 makes the weight smooth at 0 for every n - d: x^((n-d-1)/2) dx = 2 t^(n-d) dt.
    top = np.sqrt(n) + np.sqrt(d) + 10.0
    z, q = legendre.leggauss(_NODES)
    t, q = (z + 1) * top / 2, q * top / 2
    log_weight = (n - d) * np.log(t) - t**2 / 2
    weight = np.exp(log_weight - log_weight.max())
    # Any basis of polynomials will do; an orthonormal one (by QR) keeps S well conditioned.
    columns = legendre.legvander(2 * (t / top) ** 2 - 1, d - 1)
    basis = np.linalg.qr(columns * np.sqrt(weight * q)[:, None])[0]
    f = basis * np.sqrt(weight / q)[:, None]  # p_i times the weight
    gf = g(t**2)[:, None] * f

    V, degree = _vandermonde(), np.arange(_NODES)[:, None]

    def pairing(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """int int sign(y - x) left_i(x) right_j(y) dx dy = int right_j (2 F_i - F_i(end))."""
        coefficients = (degree + 0.5) * (V.T @ (left * (q * 2 / top)[:, None]))
        total = q @ left
        F = legendre.legval(z, legendre.legint(coefficients, lbnd=-1)).T * top / 2
        return (2 * F - total).T @ (q[:, None] * right)

    S, dS = pairing(f, f), pairing(gf, f) + pairing(f, gf)
    if d % 2:
        S, dS = _border(S, q @ f), _border(dS, q @ gf)
    return float(np.trace(np.linalg.solve(S, dS)) / 2)


@cache
def _vandermonde() -> np.ndarray:
    """P_k at the nodes: from values to Legendre coefficients, so that they can be integrated."""
    return legendre.legvander(legendre.leggauss(_NODES)[0], _NODES - 1)


def _border(matrix: np.ndarray, edge: np.ndarray) -> np.ndarray:
    """The antisymmetric matrix with one more row and column."""
    return np.block([[matrix, edge[:, None]], [-edge[None, :], np.zeros((1, 1))]])
