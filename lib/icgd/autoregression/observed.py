"""A rotation seen through noise: one gradient step on x_t = lambda^t + e_t. numpy only.

d = 1, |lambda| = 1, and the e_t are independent circular complex noise, E|e_t|^2 = noise_var,
Gaussian. The layer predicts y_t = (p / N) sum_{i<t} x_{i+1} conj(x_i) x_t with N = t - 1 pairs, and
the target x_{t+1} carries noise as well. Derived in the chapter on real rows.
"""

import numpy as np

from icgd import validation


def second_moment(pairs, noise_var: float):
    """D_N = E|y_t|^2 at p = 1 with N pairs of tokens in the context.

    With r = 1 + s2 and q = E|x|^4 = 1 + 4 s2 + 2 s2^2,

    N^2 D_N = (N - 1) r^3 + q r + (N - 1) (N - 2) r + 2 (N - 1) (1 + 2 s2).

    >>> float(second_moment(7, 0.0))
    1.0
    """
    s2 = validation.non_negative("noise_var", noise_var)
    N, r, q = np.asarray(pairs)[()], 1 + s2, 1 + 4 * s2 + 2 * s2**2
    total = (N - 1) * r**3 + q * r + (N - 1) * (N - 2) * r + 2 * (N - 1) * (1 + 2 * s2)
    return total / N**2


def risk(product: float, t: int, noise_var: float) -> float:
    """E|y_t - x_{t+1}|^2 = r - 2 p + p^2 D_{t-1}, r = 1 + noise_var."""
    t = validation.int_at_least("the time t", t, 2)
    return 1 + noise_var - 2 * product + product**2 * second_moment(t - 1, noise_var)


def best_product(noise_var: float, T: int) -> float:
    """p* = (T - 2) / sum_{N=1}^{T-2} D_N, the minimiser of sum_{t=2}^{T-1} risk(p, t).

    >>> best_product(0.0, 9), round(best_product(0.25, 10**6), 4)  # at last 1 / (1 + noise_var)
    (1.0, 0.8)
    """
    T = validation.int_at_least("the training length T", T, 3)
    return float((T - 2) / second_moment(np.arange(1, T - 1), noise_var).sum())
