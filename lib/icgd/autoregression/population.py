"""Eq. (2) itself: the exact population loss as a function of the parameters, no sampling.

The prediction is y_t = (1 / rho_t) sum_i B^a x_{i-a} (x_{i-b}^* A^bc x_{t-c}) with block indices
a, b, c in {0, 1} and x_0 = 0, so a term of |y_t|^2 carries six coordinates (k, l, m, k', l', m')
and the powers i-a-1, -(i-b-1), t-c-1 and the same negated. `counting` says for which (i, i') its
phases average to one; the law of x_1 contributes the mixed moment of the coordinates that coincide.
"""

from functools import lru_cache

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from icgd import validation
from icgd.autoregression.blocks import check_blocks
from icgd.autoregression.contraction import SLOTS, Contraction
from icgd.autoregression.counting import (
    Partition,
    block_sizes,
    coarsenings,
    count,
    partitions,
)
from icgd.autoregression.laws import InitialLaw, checked_moment
from icgd.autoregression.normalisation import Rho, context_pairs, rho_values, training_length
from icgd.autoregression.quartic import QuarticLoss

#: Up to this d the stored polynomial is quicker than the contractions (and small: 21 MB at d = 6).
DENSE_UP_TO = 5

#: One number for each choice of blocks, or one number alone (cross term).
Coefficient = np.ndarray | float


class PopulationLoss:
    """L(A, B) = sum_{t=2}^{T-1} E|y_t - x_{t+1}|^2 / 2 (MO, Eq. 2), exact for any A and B.

    Args:
        law: of the initial token; any object with `moment(exponents, d)`, see `laws`.
        d: dimension, at least 1.   T: length of the training sequences, at least 3.
        rho: the normaliser; the default is the paper's t - 1.
        method: "stored" keeps the (2d)^6 coefficients (small d), "contracted" never forms them
            (O(d^3) a call); the default chooses by d.
        device: where the coefficients are kept; the blocks must live there.

    A call `loss(A, B)` takes float64 blocks A (2d, 2d) and B (d, 2d), any values, and can be
    differentiated any number of times.

    >>> from icgd.autoregression.laws import Ones
    >>> A, B = torch.zeros(4, 4, dtype=torch.float64), torch.zeros(2, 4, dtype=torch.float64)
    >>> PopulationLoss(Ones(), d=2, T=5)(A, B).item()  # predicting zero costs (T - 2) d / 2
    3.0
    """

    def __init__(
        self,
        law: InitialLaw,
        *,
        d: int,
        T: int,
        rho: Rho = context_pairs,
        method: str | None = None,
        device: str | torch.device | None = None,
    ):
        self.law, self.rho = law, rho
        self.d = validation.positive_int("the dimension d", d)
        self.T = training_length(T)
        method = method or ("stored" if d <= DENSE_UP_TO else "contracted")
        if method not in ("stored", "contracted"):
            raise ValueError(f"method must be 'stored' or 'contracted', got {method!r}.")
        weights = tuple(rho_values(rho, T - 1).tolist())
        self.constant = 0.5 * (T - 2) * d * checked_moment(law, (2,), d)
        quartic = {
            pi: m * table
            for pi in partitions(SLOTS)
            if (m := checked_moment(law, block_sizes(pi), d))
            and (table := _quartic(pi, weights)).any()
        }
        cross = {
            pi: m * value
            for pi in partitions(4)
            if (m := checked_moment(law, block_sizes(pi), d)) and (value := _cross(pi, weights))
        }
        if method == "stored":
            self._stored = QuarticLoss(
                _spread_quartic(quartic, d), _spread_cross(cross, d), self.constant, device=device
            )
        else:
            self._stored = None
            self._quartic = Contraction(_free_sums(quartic), device=device)
            self._cross = _free_sums(cross)

    def __call__(
        self, A: Float[Tensor, "two_d two_d"], B: Float[Tensor, "d two_d"]
    ) -> Float[Tensor, ""]:
        """The loss at blocks A (2d, 2d) and B (d, 2d)."""
        if self._stored is not None:
            return self._stored(A, B)
        d = check_blocks(A, B)
        if d != self.d:
            raise ValueError(
                f"A and B must have the dimension of this loss, d = {self.d}, got {d}; "
                "build the loss for the d of the weights."
            )
        # Only W_PV_12 and W_KQ_32 have the target's power of a global phase (see `_cross`).
        edges = B[:, :d], A[d:, :d]
        cross = sum(c * torch.einsum(_two_edges(sigma), *edges) for sigma, c in self._cross.items())
        return self._quartic(A, B.mT @ B) / 2 - cross + self.constant


@lru_cache(maxsize=4096)
def _quartic(partition: Partition, rho: tuple[float, ...]) -> Float[np.ndarray, "2 2 2 2 2 2"]:
    """sum_t (pairs i, i' that survive the phases) / rho_t^2, for each choice of the six blocks."""
    t = np.arange(2, len(rho) + 2)
    table = np.zeros((2,) * SLOTS)
    for a, b, c, a_, b_, c_ in np.ndindex(table.shape):
        if b - a - c != b_ - a_ - c_:
            continue  # a common phase of all lambdas survives, so the mean is zero
        exponents = (
            (1, 0, 0, -a - 1),  # k: x_{i-a} = lambda^(i-a-1) u
            (-1, 0, 0, b + 1),  # l: the conjugate of x_{i-b}
            (0, 0, 1, -c - 1),  # m: x_{t-c}
            (0, -1, 0, a_ + 1),  # k', l', m': the conjugate factor, with i' in the place of i
            (0, 1, 0, -b_ - 1),
            (0, 0, -1, c_ + 1),
        )
        first = 1 + max(a, b), 1 + max(a_, b_)  # x_0 = 0
        pairs = count(exponents, partition, first, t)
        table[a, b, c, a_, b_, c_] = (pairs / np.square(rho)).sum()
    return table


@lru_cache(maxsize=4096)
def _cross(partition: Partition, rho: tuple[float, ...]) -> float:
    """sum_t (indices i that survive) / rho_t in E[x_{t+1,j}^* y_{t,j}], slots j, k, l, m.

    A common phase leaves only a = 0, b = 1, c = 0, that is W_PV_12 and W_KQ_32.
    """
    t = np.arange(2, len(rho) + 2)
    exponents = (
        (0, 0, -1, 0),  # j: the conjugate of x_{t+1}
        (1, 0, 0, -1),  # k: x_i
        (-1, 0, 0, 2),  # l: the conjugate of x_{i-1}
        (0, 0, 1, -1),  # m: x_t
        (0, 1, -1, 0),  # no slot: pins the second summation index to t
    )
    return float((count(exponents, (*partition, (4,)), (2, 1), t) / np.array(rho)).sum())


def _free_sums(distinct: dict[Partition, Coefficient]) -> dict[Partition, Coefficient]:
    """Coefficients of sums over free coordinates from those of sums over distinct coordinates."""
    free: dict[Partition, Coefficient] = {}
    for pi, table in distinct.items():
        for sigma, moebius in coarsenings(pi):
            free[sigma] = free.get(sigma, 0) + moebius * table
    return {sigma: table for sigma, table in free.items() if np.any(table)}


def _two_edges(sigma: Partition) -> str:
    """Einsum of sum B_jk A_lm with the coordinates of each block of sigma equal."""
    name = {slot: "wxyz"[index] for index, block in enumerate(sigma) for slot in block}
    return f"{name[0]}{name[1]},{name[2]}{name[3]}->"


def _coincidences(d: int, slots: int) -> np.ndarray:
    """For every tuple of coordinates a code of which coincide: the first equal slot of each."""
    index = np.indices((d,) * slots)
    first = [
        sum((index[:s] != index[s]).cumprod(0), np.zeros(index.shape[1:], int))
        for s in range(slots)
    ]
    return sum(f * slots**s for s, f in enumerate(first))


def _code(partition: Partition, slots: int) -> int:
    return sum(block[0] * slots**s for block in partition for s in block)


def _spread_quartic(tables: dict[Partition, np.ndarray], d: int) -> np.ndarray:
    """M (2d,) * 6 from one table for each partition."""
    lookup = np.zeros((SLOTS**SLOTS, *(2,) * SLOTS))
    for pi, table in tables.items():
        lookup[_code(pi, SLOTS)] = table
    M = lookup[_coincidences(d, SLOTS)]  # k, l, m, k', l', m', then the blocks of each
    order = [axis for s in range(SLOTS) for axis in (SLOTS + s, s)]
    return M.transpose(order).reshape((2 * d,) * SLOTS)


def _spread_cross(values: dict[Partition, float], d: int) -> np.ndarray:
    """N (d, 2d, 2d, 2d): non-zero only in W_PV_12 (k < d) and W_KQ_32 (l >= d, m < d)."""
    lookup = np.zeros(4**4)
    for pi, value in values.items():
        lookup[_code(pi, 4)] = value
    N = np.zeros((d, 2 * d, 2 * d, 2 * d))
    N[:, :d, d:, :d] = lookup[_coincidences(d, 4)]
    return N
