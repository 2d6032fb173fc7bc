"""Evaluate the exact quartic form without its (2d)^6 coefficients: O(d^3), any exchangeable law.

For each partition sigma of the slots (k, l, m, k', l', m') the coefficient depends only on the
blocks (alpha, beta, gamma, alpha', beta', gamma') of the matrices, not on the coordinates. What is
left is sum K_kk' A_lm A_l'm' over coordinates that are equal within the blocks of sigma and
otherwise free: three edges on at most six points, so at worst the trace of a product of three
matrices.
"""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from icgd.autoregression.counting import Partition

#: Slots in order: k of B e_i, l of e_i^*, m of e_t, then k', l', m' of the conjugate factor.
SLOTS = 6


class Contraction:
    """sum over sigma of coefficient * contraction, as a function of A and K = B^T B.

    Args:
        coefficients: for each partition an array (2,) * 6 over alpha, beta, gamma, alpha', ...
        device: where they are kept; A and K must live there.
    """

    def __init__(
        self,
        coefficients: dict[Partition, np.ndarray],
        *,
        device: str | torch.device | None = None,
    ):
        merged: dict[tuple[str, str], np.ndarray] = {}
        for sigma, table in coefficients.items():
            # (alpha alpha') x (beta gamma) x (beta' gamma')
            matrix = table.transpose(0, 3, 1, 2, 4, 5).reshape(4, 4, 4)
            (k_term, plain), (_, swapped) = _terms(sigma, (1, 2, 4, 5)), _terms(sigma, (4, 5, 1, 2))
            if swapped < plain:  # A (x) A is symmetric: the two orders are one contraction
                plain, matrix = swapped, matrix.transpose(0, 2, 1)
            key = k_term, plain
            merged[key] = merged.get(key, 0) + matrix
        self._groups: dict[str, tuple[list[str], Tensor]] = {}
        for k_term in sorted({key[0] for key in merged}):
            pairs = sorted(p for kt, p in merged if kt == k_term)
            matrices = [merged[k_term, p].reshape(4, 16) for p in pairs]
            joined = torch.as_tensor(np.concatenate(matrices, axis=1), device=device)
            self._groups[k_term] = pairs, joined

    def __call__(
        self, A: Float[Tensor, "two_d two_d"], K: Float[Tensor, "two_d two_d"]
    ) -> Float[Tensor, ""]:
        """sum K_kk' A_lm A_l'm' M_klmk'l'm'."""
        d = len(A) // 2
        A = A.reshape(2, d, 2, d).transpose(1, 2)  # beta, gamma, l, m
        K = K.reshape(2, d, 2, d).transpose(1, 2)  # alpha, alpha', k, k'
        total = A.new_zeros(())
        for k_term, (pairs, matrix) in self._groups.items():
            features = torch.cat([torch.einsum(p, A, A).reshape(16, -1) for p in pairs])
            total = total + (torch.einsum(k_term, K).reshape(4, -1) * (matrix @ features)).sum()
        return total


def _terms(sigma: Partition, order: tuple[int, int, int, int]) -> tuple[str, str]:
    """Einsum of K and of (A, A) for partition sigma; points shared with K are called x and y."""
    block = {slot: index for index, b in enumerate(sigma) for slot in b}
    names = {block[0]: "x"}
    names.setdefault(block[3], "y")
    for slot in order:
        names.setdefault(block[slot], "stuv"[len(names) - len({block[0], block[3]})])
    k, k_ = names[block[0]], names[block[3]]
    l, m, l_, m_ = (names[block[slot]] for slot in order)
    shared = "".join(sorted({k, k_} & {l, m, l_, m_}))
    return f"ad{k}{k_}->ad{shared}", f"bc{l}{m},ef{l_}{m_}->bcef{shared}"
