"""Linear attention layers on top of each other that predict a sequence's next token.

Tokens are (0, x_t, x_{t-1}, x_t): a slot for the answer, a value and a key that later tokens read,
and the token's own question, which layers may change. The layers themselves are those of
`icgd.attention.LinearAttentionStack`, with a causal mask that holds the normaliser.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Complex, Float
from torch import Tensor

from icgd import validation
from icgd.attention import LinearAttentionStack
from icgd.autoregression.data import check_sequences
from icgd.autoregression.normalisation import Rho, context_pairs, rho_values

#: Slots of a token, each d wide: the answer, x_t, x_{t-1}, and what the token still asks for.
ANSWER, VALUE, KEY, QUESTION = range(4)


class SequenceTransformer(LinearAttentionStack):
    """`layers` causal linear attention layers; the prediction of x_{t+1} is token t's answer slot.

    Built with zero weights: `initialise` them, or use `gradient_descent`.

    Args:
        d: dimension of x_t; tokens have width 4 d.
        layers: how many.   rho: the normaliser, for t >= 2; the only pair at t = 1 is (x_1, 0).
        device: see `LinearAttentionStack`.
    """

    def __init__(self, d: int, layers: int = 1, *, rho: Rho = context_pairs, device=None):
        d = validation.positive_int("the dimension d", d)
        super().__init__(4 * d, layers, device=device)
        self.d, self.rho = d, rho

    def tokens(self, x: Complex[Tensor, "batch T d"]) -> Complex[Tensor, "batch T 4*d"]:
        """(0, x_t, x_{t-1}, x_t) with x_0 = 0, a row a token."""
        check_sequences(x, 2)
        if x.shape[2] != self.d:
            raise ValueError(
                f"sequences must have the dimension of the weights, d = {self.d}, got "
                f"{x.shape[2]}; check the order of the axes (batch, T, d)."
            )
        before = torch.cat([torch.zeros_like(x[:, :1]), x[:, :-1]], dim=1)
        return torch.cat([torch.zeros_like(x), x, before, x], dim=2)

    def forward(self, x: Complex[Tensor, "batch T d"]) -> Complex[Tensor, "batch T-1 d"]:
        """Predictions y_t of x_{t+1} for t = 2, ..., T, each from the first t tokens."""
        mask = causal_mask(self.rho, x.shape[1]).to(x.device)
        Z = self.forward_tokens(self.tokens(x), mask)
        return Z[:, 1:, : self.d]


def causal_mask(rho: Rho, T: int) -> Float[Tensor, "T T"]:
    """mask[t - 1, i - 1] = 1 / rho_t for i <= t, else 0; rho_1 = 1."""
    weights = torch.ones(T, dtype=torch.float64)
    weights[1:] = 1 / torch.as_tensor(rho_values(rho, T))
    return torch.tril(torch.ones(T, T, dtype=torch.float64)) * weights[:, None]


def gradient_descent(
    d: int, products: Sequence[float], *, rho: Rho = context_pairs
) -> SequenceTransformer:
    """Weights with which k layers run k gradient steps on L_OLS,t from W = 0, at every t at once.

    Layer l, with step p_l / rho_t, adds p_l x_i (x_{i-1}^* r_t) / rho_t to the answer and takes
    p_l x_{i-1} (x_{i-1}^* r_t) / rho_t off the question r_t, summed over i <= t.

    Args:
        products: the p_l, one a layer.
    """
    products = [validation.finite_float("each product", p) for p in products]
    model = SequenceTransformer(d, len(products), rho=rho)
    eye = torch.eye(d, dtype=torch.float64)

    def block(row: int, column: int) -> tuple[slice, slice]:
        return slice(row * d, (row + 1) * d), slice(column * d, (column + 1) * d)

    with torch.no_grad():
        for k, p in enumerate(products):
            model.Q[k][block(KEY, QUESTION)] = eye
            model.P[k][block(ANSWER, VALUE)] = p * eye
            model.P[k][block(QUESTION, KEY)] = -p * eye
    return model


def on_raw_tokens(model: SequenceTransformer, T: int) -> LinearAttentionStack:
    """`model` with a copying layer in front: it reads (0, x_t, 0, x_t, position t), t = 1, ..., T.

    Positions are unit vectors of R^T. The new layer's score is rho_t if i = t - 1 and 0 otherwise,
    so after the mask's 1 / rho_t exactly x_{t-1} arrives in the key slot.
    """
    T = validation.int_at_least("the sequence length T", T, 2)
    d, width = model.d, model.width
    stack = LinearAttentionStack(width + T, model.layers + 1)
    scores = torch.zeros(T, T, dtype=torch.float64)
    scores[:-1, 1:] = torch.diag(torch.as_tensor(rho_values(model.rho, T)))
    with torch.no_grad():
        stack.Q[0, width:, width:] = scores
        stack.P[0, KEY * d : (KEY + 1) * d, VALUE * d : (VALUE + 1) * d] = torch.eye(d)
        stack.Q[1:, :width, :width] = model.Q
        stack.P[1:, :width, :width] = model.P
    return stack


def raw_tokens(
    model: SequenceTransformer, x: Complex[Tensor, "batch T d"]
) -> Complex[Tensor, "batch T 4*d+T"]:
    """(0, x_t, 0, x_t, position t): what `on_raw_tokens` reads; no token knows its predecessor."""
    Z = model.tokens(x).clone()
    Z[..., KEY * model.d : (KEY + 1) * model.d] = 0
    positions = torch.eye(x.shape[1], dtype=Z.dtype).expand(len(x), -1, -1)
    return torch.cat([Z, positions], dim=2)
