"""Linear self-attention layers on top of each other, for tokens of any kind.

It knows no paper: `regression.transformer.LinearTransformer` feeds it prompts of labelled examples,
and a sequence's tokens go through the same `forward_tokens` with a causal mask.
"""

import torch
from jaxtyping import Float, Inexact
from torch import Tensor, nn

from icgd import validation


class LinearAttentionStack(nn.Module):
    """z_i <- z_i + sum_j mask[i, j] (P_k z_j) (z_j^* Q_k z_i), for the layers k = 0, 1, ...

    The first z_i on the right is the residual connection. With tokens as the columns of Z and one
    mask m for all receivers a layer reads Z + P Z diag(m) Z^* Q Z; for real tokens * is transpose.

    P, Q: (layers, width, width), float64, zero when built: `initialise` them or fill them in.

    Args:
        width: entries of a token.   layers: how many layers.
        device: where the weights live, "cuda" for a graphics card; tokens must live there too.
    """

    def __init__(self, width: int, layers: int = 1, *, device: str | torch.device | None = None):
        super().__init__()
        self.width = validation.positive_int("width", width)
        self.layers = validation.positive_int("layers", layers)
        for name in ("P", "Q"):
            zeros = torch.zeros(layers, width, width, dtype=torch.float64, device=device)
            setattr(self, name, nn.Parameter(zeros))

    def initialise(self, scale: float, *, generator: torch.Generator) -> "LinearAttentionStack":
        """Draw every weight from N(0, scale^2), the same numbers on any device; returns self."""
        validation.positive("scale", scale)
        validation.generator(generator)
        with torch.no_grad():
            for weight in (self.P, self.Q):
                draw = torch.randn(weight.shape, generator=generator, dtype=torch.float64)
                weight.copy_(scale * draw)
        return self

    def layer(
        self, k: int, Z: Inexact[Tensor, "batch T width"], mask: Float[Tensor, "..."]
    ) -> Inexact[Tensor, "batch T width"]:
        """The tokens after layer k, from those before it."""
        P, Q = self.P[k].to(Z.dtype), self.Q[k].to(Z.dtype)
        scores = (Z @ Q.mT) @ Z.mH  # entry (i, j) is z_j^* Q z_i
        return Z + (mask * scores) @ (Z @ P.mT)

    def stream(
        self, Z: Inexact[Tensor, "batch T width"], mask: Float[Tensor, "..."]
    ) -> list[Inexact[Tensor, "batch T width"]]:
        """[Z_0, ..., Z_layers]: the tokens before the first layer and after each.

        Args:
            Z: tokens, a row a token; float64 or complex128.
            mask: float64, anything that broadcasts to (T, T): mask[i, j] is what token i gives to
                the message of token j, the normalisation included. A row vector with 1 / n for
                examples and 0 for the query is regression's mask; torch.tril(ones) / rho[:, None]
                is a causal one.
        """
        self._check(Z, mask)
        states = [Z]
        for k in range(self.layers):
            states.append(self.layer(k, states[-1], mask))
        return states

    def forward_tokens(
        self, Z: Inexact[Tensor, "batch T width"], mask: Float[Tensor, "..."]
    ) -> Inexact[Tensor, "batch T width"]:
        """The tokens after the last layer; arguments as for `stream`."""
        return self.stream(Z, mask)[-1]

    forward = forward_tokens

    def _check(self, Z: Tensor, mask: Tensor) -> None:
        if isinstance(Z, Tensor) and Z.dtype == torch.complex128:
            validation.float64_tensor("the real part of tokens", Z.real, (-1, -1, self.width))
        else:
            validation.float64_tensor("tokens", Z, (-1, -1, self.width))
        validation.float64_tensor("mask", mask)
        T = Z.shape[1]
        sizes = tuple(mask.shape)
        if mask.ndim > 2 or any(size not in (1, T) for size in sizes):
            raise ValueError(
                f"mask must broadcast to ({T}, {T}), a weight a pair of tokens, got shape {sizes}; "
                "pass a row of weights (T,) or a matrix (T, T)."
            )
