"""The loss of Eq. (2) straight from sequences, in one sweep through time: the cumulative form.

With G_t = sum_{i<=t} e_i e_i^*, z_t = G_t A e_t / rho_t, y_t = B z_t and r_t = y_t - x_{t+1},

    loss = sum_t |r_t|^2 / 2,
    dloss/dB = Re sum_t r_t z_t^*,
    dloss/dA = Re sum_t (G_t B^T r_t / rho_t) e_t^*.

G_t is Hermitian and is carried along, so time is O(T) and memory does not grow with T.
"""

import torch
from jaxtyping import Complex, Float
from torch import Tensor

from icgd.autoregression.blocks import check_blocks
from icgd.autoregression.data import check_sequences
from icgd.autoregression.normalisation import Rho, context_pairs, rho_values

#: Sequences swept at once: their G_t fill 1.6 MB at d = 5 and stay in a processor's cache.
CHUNK = 1000


def direct_loss(
    A: Float[Tensor, "two_d two_d"],
    B: Float[Tensor, "d two_d"],
    x: Complex[Tensor, "batch T d"],
    *,
    rho: Rho = context_pairs,
    weights: Float[Tensor, " batch"] | None = None,
) -> Float[Tensor, ""]:
    """sum_s weights_s sum_{t=2}^{T-1} |y_t - x_{t+1}|^2 / 2, differentiable once.

    The sequences need not obey x_{t+1} = W x_t. They are brought to the device of A and B.

    Args:
        weights: of the sequences; the default is 1 / batch each, their mean.
    Source: MO, Eqs. (1) and (2).
    """
    d = check_blocks(A, B)
    check_sequences(x, 3)
    if x.shape[2] != d:
        raise ValueError(
            f"sequences must have the dimension of the weights, d = {d}, got {x.shape[2]}; "
            "check the order of the axes (batch, T, d)."
        )
    if weights is None:
        weights = torch.full((len(x),), 1 / len(x), dtype=torch.float64, device=A.device)
    x, weights = x.to(A.device), weights.to(A.device)
    return _Sweep.apply(A, B, x, rho_values(rho, x.shape[1] - 1), weights)


class _Sweep(torch.autograd.Function):
    """Loss and both gradients in one sweep: going back costs nothing and stores nothing long."""

    @staticmethod
    def forward(ctx, A, B, x, rho, weights):
        ctx.set_materialize_grads(False)
        A, B = A.to(x.dtype), B.to(x.dtype)
        total, dA, dB = 0.0, torch.zeros_like(A), torch.zeros_like(B)
        for part, weight in zip(x.split(CHUNK), weights.split(CHUNK), strict=True):
            loss, grad_A, grad_B = _sweep(A, B, part.transpose(0, 1).contiguous(), rho, weight)
            total, dA, dB = total + loss, dA + grad_A, dB + grad_B
        ctx.save_for_backward(dA.real, dB.real)
        return total

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, upstream):
        if upstream is None:
            return None, None, None, None, None
        dA, dB = ctx.saved_tensors
        return upstream * dA, upstream * dB, None, None, None


def _sweep(A: Tensor, B: Tensor, x: Tensor, rho, weights: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Weighted loss and complex gradients of one chunk, x (T, batch, d): time runs along axis 0."""
    T, batch, d = x.shape
    G = x.new_zeros(batch, 2 * d, 2 * d)
    G[:, :d, :d] = x[0][:, :, None] * x[0].conj()[:, None, :]
    loss, dA, dB = weights.new_zeros(()), torch.zeros_like(A), torch.zeros_like(B)
    for t in range(2, T):
        e = torch.cat([x[t - 1], x[t - 2]], dim=1)
        G.addcmul_(e[:, :, None], e.conj()[:, None, :])
        z = (G @ (e @ A.mT)[:, :, None])[:, :, 0] / rho[t - 2]
        r = z @ B.mT - x[t]
        weighted = r * weights[:, None]
        loss += (weighted.real * r.real + weighted.imag * r.imag).sum() / 2
        dB += weighted.mT @ z.conj()
        back = (G @ (weighted @ B)[:, :, None])[:, :, 0] / rho[t - 2]
        dA += back.mT @ e.conj()
    return loss, dA, dB
