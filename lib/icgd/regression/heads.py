"""Several heads of linear self-attention, with keys and queries of r numbers each (OS, Section 2).

Head h has keys K_h v and queries Q_h v, K_h and Q_h of shape (r, d + 1), and values that its
read-out turns into w_h.v. The layer predicts sum_h (A_h G w_h)^T x_query with

    A_h = Q_h[:, :d]^T K_h    of rank at most r.

The odd part is C = sum_h C_h, and C_h = A_h [b_h I; w_x,h^T] has no more rank than A_h (chapter 7).
"""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from icgd import validation
from icgd.regression.moments import TokenMoments


def reduced_heads(K: Float[Tensor, "H r s"], Q: Float[Tensor, "H r d"]) -> Float[Tensor, "H d s"]:
    """A_h = Q_h^T K_h for each head, s = d + 1; a query fills its first d coordinates only."""
    validation.float64_tensor("K", K, (-1, -1, -1))
    heads, r, width = K.shape
    validation.float64_tensor("Q", Q, (heads, r, width - 1))
    return torch.einsum("hri,hrj->hij", Q, K)


def heads_loss(tokens: TokenMoments, n: int) -> Callable[[Tensor, Tensor], Tensor]:
    """(A, w) -> E[(sum_h (A_h G w_h)^T x_query - y_query)^2], exactly, for the law of `tokens`.

    A: (H, d, d + 1), w: (H, d + 1). For one head it is `tokens.loss(n)`: the loss is a quadratic
    function of sum_h A_h (x) w_h, so two heads meet in the same moments as one with itself.
    """
    n, d, s = validation.positive_int("n", n), tokens.d, tokens.d + 1
    S, cross, constant = tokens.second[:d, :d], tokens.pairs[:d, d], tokens.second[d, d]
    quartic = n * tokens.fourth + n * (n - 1) * tokens.pairs.permute(1, 2, 0, 3)

    def loss(A: Tensor, w: Tensor) -> Tensor:
        validation.float64_tensor("A", A, (-1, d, s))
        validation.float64_tensor("w", w, (len(A), s))
        Q = torch.einsum("hai,ab,gbj->hgij", A, S, A)
        square = torch.einsum("hgij,ijkl,hk,gl->", Q, quartic, w, w)
        return constant - 2 * n * torch.einsum("hai,aij,hj->", A, cross, w) + square

    return loss
