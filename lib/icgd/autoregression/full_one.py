"""The flow that MO, Proposition 4.2 leaves open: x_1 = (1, ..., 1) without masking. numpy only.

By symmetry under permutations W_KQ_32 = alpha1 I + beta1 J and W_PV_12 = alpha2 I + beta2 J (J: all
ones), and a common phase of the lambdas keeps every other block at zero. With the power sums
p_n = sum_j lambda_j^n the tokens give x_i^* x_t = p_{t-i} and sum_j x_{i,j} = p_{i-1}, so

    y_t = (1 / rho_t) sum_{n=1}^{t-1} (alpha2 x_{n+1} + beta2 p_n 1)
                                      (alpha1 p_{t-n} + beta1 p_{1-n} p_{t-1}),

and the loss needs means of products of at most six power sums, which are counted here directly from
E prod lambda^n, independently of `population`.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Float
from scipy.integrate import solve_ivp

from icgd import validation
from icgd.autoregression.counting import partitions
from icgd.autoregression.normalisation import Rho, context_pairs, rho_values, training_length


@dataclass(frozen=True)
class FullOneFlow:
    """Coefficients of L(alpha1, beta1, alpha2, beta2) = d (T-2) / 2 - linear + quartic / 2.

    quartic: (2, 3), multiplies u_g v_h with u = (alpha2^2, 2 alpha2 beta2 + d beta2^2) and
        v = (alpha1^2, 2 alpha1 beta1, beta1^2).
    linear: (2, 2), multiplies (alpha2, beta2)_g (alpha1, beta1)_h.
    """

    d: int
    T: int
    quartic: Float[np.ndarray, "2 3"]
    linear: Float[np.ndarray, "2 2"]

    def loss(self, point) -> float:
        """Eq. (2) at point = (alpha1, beta1, alpha2, beta2)."""
        a1, b1, a2, b2 = point
        u, v = (
            np.array([a2**2, 2 * a2 * b2 + self.d * b2**2]),
            np.array([a1**2, 2 * a1 * b1, b1**2]),
        )
        target = self.d * (self.T - 2) / 2
        return float(
            target - np.array([a2, b2]) @ self.linear @ [a1, b1] + u @ self.quartic @ v / 2
        )

    def partials(self, point) -> Float[np.ndarray, " 4"]:
        """Derivatives of `loss` with respect to (alpha1, beta1, alpha2, beta2)."""
        a1, b1, a2, b2 = point
        u, v = (
            np.array([a2**2, 2 * a2 * b2 + self.d * b2**2]),
            np.array([a1**2, 2 * a1 * b1, b1**2]),
        )
        left, right = u @ self.quartic, self.quartic @ v
        return np.array(
            [
                left @ [a1, b1, 0] - np.array([a2, b2]) @ self.linear[:, 0],
                left @ [0, a1, b1] - np.array([a2, b2]) @ self.linear[:, 1],
                right @ [a2, b2] - self.linear[0] @ [a1, b1],
                right @ [0, a2 + self.d * b2] - self.linear[1] @ [a1, b1],
            ]
        )

    def velocity(self, point) -> Float[np.ndarray, " 4"]:
        """(alpha1', beta1', alpha2', beta2') of the gradient flow of the d x d matrices.

        A gradient g I + h J has <., I> = d (g + h) and <., J> = d (g + d h); these are the
        partials.
        """
        partial = self.partials(point).reshape(2, 2) / self.d
        h = (partial[:, 1] - partial[:, 0]) / (self.d - 1)
        return -np.stack([partial[:, 0] - h, h], axis=1).ravel()

    def integrate(self, a0: float, b0: float, times) -> Float[np.ndarray, "times 4"]:
        """(alpha1, beta1, alpha2, beta2) at `times` from the start of Assumption 3.1."""
        times = np.asarray(times, dtype=float)
        start = np.array([a0, 0.0, b0, 0.0])
        found = solve_ivp(
            lambda _, point: self.velocity(point), (times[0], times[-1]), start, "LSODA", times,
            rtol=1e-11, atol=1e-13,
        )  # fmt: skip
        return found.y.T

    def limit(self, a0: float, b0: float) -> Float[np.ndarray, " 4"]:
        """Where the flow ends: integrated to time 10^4 / (T - 2), ample for its slowest rate."""
        return self.integrate(a0, b0, [0.0, 1e4 / (self.T - 2)])[-1]


@lru_cache(maxsize=64)
def full_one_flow(d: int, T: int, rho: Rho = context_pairs) -> FullOneFlow:
    """Count the ten coefficients for x_1 = (1, ..., 1); O(T^3), T up to about 200."""
    d = validation.int_at_least("the dimension d", d, 2)
    T = training_length(T)
    t = np.repeat(np.arange(2, T), np.arange(1, T - 1) ** 2)
    grids = [np.indices((s - 1, s - 1)).reshape(2, -1) + 1 for s in range(2, T)]
    n, k = np.concatenate(grids, axis=1)  # pairs n, n' = 1, ..., t - 1 of the two factors
    weight = 1 / rho_values(rho, T - 1)[t - 2] ** 2
    heads = [n - k], [n, -k]  # <x_{n'+1}, x_{n+1}> and p_n conj(p_n')
    tails = [t - n, k - t], [t - n, k - 1, 1 - t], [1 - n, t - 1, k - 1, 1 - t]
    quartic = np.array([[weight @ power_sum_mean([*h, *v], d) for v in tails] for h in heads])

    t = np.repeat(np.arange(2, T), np.arange(1, T - 1))
    n = np.concatenate([np.arange(1, s) for s in range(2, T)])
    weight = 1 / rho_values(rho, T - 1)[t - 2]
    heads, tails = ([n - t], [-t, n]), ([t - n], [1 - n, t - 1])
    linear = np.array([[weight @ power_sum_mean([*h, *v], d) for v in tails] for h in heads])
    return FullOneFlow(d, T, quartic, linear)


def power_sum_mean(exponents: list[np.ndarray], d: int) -> Float[np.ndarray, " cases"]:
    """E prod_s p_{n_s} over independent uniform phases, p_n = sum_j lambda_j^n, for each case.

    The factors whose lambdas coincide form a block; a block survives if its exponents add up to
    zero, and the blocks can be given distinct coordinates in d (d - 1) ... ways.

    >>> power_sum_mean([np.array([3]), np.array([-3])], d=5)  # E|p_3|^2 = d
    array([5.])
    """
    total = np.zeros(len(exponents[0]))
    for blocks in partitions(len(exponents)):
        if len(blocks) <= d:
            alive = np.logical_and.reduce([sum(exponents[s] for s in b) == 0 for b in blocks])
            total += alive * float(np.prod(np.arange(d, d - len(blocks), -1.0)))
    return total
