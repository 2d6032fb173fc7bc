"""The loss of Eq. (2) as a polynomial of the parameters, with its coefficients stored.

The prediction is linear in B (x) A: y_j = sum B_jk A_lm phi_klm with phi = (E_t E_t^* / rho_t) (x)
e_t (Lemma 5.1). With K = B^T B the loss is therefore

    1/2 sum K_kk' A_lm A_l'm' M_klmk'l'm'  -  sum B_jk A_lm N_jklm  +  constant,
    M = E sum_t Re phi_klm conj(phi_k'l'm'),   N = E sum_t Re conj(x_{t+1,j}) phi_klm.

Whether the means E come from data or from counting, evaluation costs the same and never grows with
the number of sequences or with T. M has (2d)^6 entries: d up to about 6.
"""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from icgd.autoregression.blocks import check_blocks


class QuarticLoss:
    """loss(A, B) from stored moments; differentiable any number of times.

    Args:
        M: (2d, 2d, 2d, 2d, 2d, 2d) second moments, indices k, l, m, k', l', m'.
        N: (d, 2d, 2d, 2d) cross moments with the target, indices j, k, l, m.
        constant: sum_t E|x_{t+1}|^2 / 2, the loss of predicting zero.
        device: where the moments are kept; the parameters must live there.
    """

    def __init__(
        self,
        M: np.ndarray,
        N: np.ndarray,
        constant: float,
        *,
        device: str | torch.device | None = None,
    ):
        self.d, n = N.shape[:2]
        self.constant = float(constant)
        self._N = torch.as_tensor(N.reshape(self.d * n, n * n), device=device)
        # K is symmetric and A (x) A is too: keep each unordered pair once, with its multiplicity.
        k, l = np.triu_indices(n)
        p, q = np.triu_indices(n * n)
        pairs = M.reshape(n, n * n, n, n * n)
        rows = np.empty((len(k), len(p)))
        for row, (a, b) in enumerate(zip(k, l, strict=True)):
            block = pairs[a, :, b, :]
            rows[row] = (block[p, q] + block[q, p]) * (np.where(p == q, 0.5, 1.0) * (1 + (a != b)))
        used = rows.any(axis=0)  # the phases leave many pairs without any term
        self._M = torch.as_tensor(rows[:, used], device=device)
        self._kk = torch.as_tensor(k * n + l, device=device)
        self._pq = tuple(torch.as_tensor(index[used], device=device) for index in (p, q))

    def __call__(
        self, A: Float[Tensor, "two_d two_d"], B: Float[Tensor, "d two_d"]
    ) -> Float[Tensor, ""]:
        """The loss at blocks A (2d, 2d) and B (d, 2d), float64."""
        d = check_blocks(A, B)
        if d != self.d:
            raise ValueError(
                f"A and B must have the dimension of this loss, d = {self.d}, got {d}; "
                "build the loss for the d of the weights."
            )
        a = A.reshape(-1)
        K = (B.mT @ B).reshape(-1)
        pairs = a.index_select(0, self._pq[0]) * a.index_select(0, self._pq[1])
        quartic = K.index_select(0, self._kk) @ (self._M @ pairs)
        return quartic / 2 - B.reshape(-1) @ (self._N @ a) + self.constant
