"""One layer of causal linear attention (MO, Section 3.2), readable and fast.

Tokens are columns in the paper; here sequences are (batch, T, 3d), a row a token. Only the blocks

    A = [[W_KQ_22, W_KQ_23], [W_KQ_32, W_KQ_33]]  (2d, 2d),     B = [W_PV_12, W_PV_13]  (d, 2d)

reach the prediction (Eq. 1): y_t = B (E_t E_t^* / rho_t) A e_t, with e_i = (x_i, x_{i-1}).
"""

import torch
from jaxtyping import Complex, Float
from torch import Tensor, nn

from icgd import validation
from icgd.autoregression.blocks import check_blocks, diagonal_blocks
from icgd.autoregression.data import check_sequences, embed
from icgd.autoregression.direct import direct_loss
from icgd.autoregression.normalisation import Rho, context_pairs, rho_values


class CausalLinearAttention(nn.Module):
    """f_t = e_t + W_PV E_t (E_t^* W_KQ e_t) / rho_t, with real W_KQ and W_PV of shape (3d, 3d).

    Built with zero weights; use `diagonal`, `gaussian` or `from_blocks` for other starts.

    Args:
        d: dimension of x_t.
        rho: the normaliser as a function of t; the default is the paper's t - 1.
        device: where the weights live, "cuda" for a graphics card; sequences are brought there.
    """

    def __init__(
        self, d: int, *, rho: Rho = context_pairs, device: str | torch.device | None = None
    ):
        super().__init__()
        self.d = validation.positive_int("the dimension d", d)
        self.rho = rho
        options = {"dtype": torch.float64, "device": device}
        self.W_KQ = nn.Parameter(torch.zeros(3 * d, 3 * d, **options))
        self.W_PV = nn.Parameter(torch.zeros(3 * d, 3 * d, **options))

    @classmethod
    def from_blocks(
        cls,
        A: Float[Tensor, "two_d two_d"],
        B: Float[Tensor, "d two_d"],
        *,
        rho: Rho = context_pairs,
    ) -> "CausalLinearAttention":
        """The layer with effective blocks A and B, on their device; other weights are zero."""
        d = check_blocks(A, B)
        model = cls(d, rho=rho, device=A.device)
        with torch.no_grad():
            model.W_KQ[d:, d:] = A
            model.W_PV[:d, d:] = B
        return model

    @classmethod
    def diagonal(
        cls,
        d: int,
        a: float,
        b: float,
        *,
        rho: Rho = context_pairs,
        device: str | torch.device | None = None,
    ) -> "CausalLinearAttention":
        """The start of MO, Assumption 3.1: W_KQ_32 = a I, W_PV_12 = b I, zeros elsewhere."""
        return cls.from_blocks(*diagonal_blocks(d, a, b, device=device), rho=rho)

    def blocks(self) -> tuple[Float[Tensor, "two_d two_d"], Float[Tensor, "d two_d"]]:
        """(A, B): views of the weights that reach the prediction; gradients pass through."""
        return self.W_KQ[self.d :, self.d :], self.W_PV[: self.d, self.d :]

    def output(
        self, E_t: Complex[Tensor, "three_d t"], rho_t: float
    ) -> Complex[Tensor, " three_d"]:
        """f_t for one prompt whose tokens are the columns of E_t, symbol by symbol."""
        W_KQ, W_PV = self.W_KQ.to(E_t.dtype), self.W_PV.to(E_t.dtype)
        e_t = E_t[:, -1]
        return e_t + W_PV @ E_t @ (E_t.mH @ W_KQ @ e_t / rho_t)

    def predict_by_loop(self, x: Complex[Tensor, "batch T d"]) -> Complex[Tensor, "batch T-1 d"]:
        """`forward` by recomputing every prefix from its 3d-dimensional tokens: O(T^2)."""
        check_sequences(x, 2)
        rho = rho_values(self.rho, x.shape[1])
        tokens = embed(x.to(self.W_KQ.device))
        return torch.stack(
            [
                torch.stack(
                    [self.output(E[:t].mT, rho[t - 2])[: self.d] for t in range(2, x.shape[1] + 1)]
                )
                for E in tokens
            ]
        )

    def forward(self, x: Complex[Tensor, "batch T d"]) -> Complex[Tensor, "batch T-1 d"]:
        """Predictions y_t of x_{t+1} for t = 2, ..., T, each from the first t tokens."""
        return predict(*self.blocks(), x, rho=self.rho)

    def loss(self, x: Complex[Tensor, "batch T d"]) -> Float[Tensor, ""]:
        """The mean over these sequences of sum_{t=2}^{T-1} |y_t - x_{t+1}|^2 / 2 (Eq. 2)."""
        return direct_loss(*self.blocks(), x, rho=self.rho)


def predict(
    A: Float[Tensor, "two_d two_d"],
    B: Float[Tensor, "d two_d"],
    x: Complex[Tensor, "batch T d"],
    *,
    rho: Rho = context_pairs,
) -> Complex[Tensor, "batch T-1 d"]:
    """y_t = H_t A e_t / rho_t for t = 2, ..., T; H_t = sum_{i<=t} (B e_i) e_i^* runs along.

    O(T) in time, and O(T d^2) in memory for each sequence. Source: MO, Eq. (1).
    """
    d = check_blocks(A, B)
    check_sequences(x, 2)
    if x.shape[2] != d:
        raise ValueError(
            f"sequences must have the dimension of the weights, d = {d}, got {x.shape[2]}; "
            "check the order of the axes (batch, T, d)."
        )
    e = embed(x.to(A.device))[..., d:]
    values = e @ B.mT.to(e.dtype)  # B e_i
    queries = e @ A.mT.to(e.dtype)  # A e_t
    H = torch.cumsum(values[..., :, None] * e.conj()[..., None, :], dim=1)
    y = (H[:, 1:] @ queries[:, 1:, :, None])[..., 0]
    return y / torch.as_tensor(rho_values(rho, x.shape[1]), device=A.device)[:, None]
