"""One layer of linear self-attention, in the paper's weights and in reduced form (OS, Section 2).

Symbols follow the paper: s = d + 1 is the width of a token v = (x, y), M = W_K^T W_Q,
w = W_V^T h, G = sum_i v_i v_i^T over the n examples, and A = (M[:, :d])^T of shape (d, d + 1).
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from icgd import validation
from icgd.regression.data import Prompts, normal


class LinearSelfAttention(nn.Module):
    """The transformer of OS: one head of linear self-attention and a linear read-out h.

    Output at position i (Eq. 2):  v_hat_i = sum_{j < i} (W_V v_j) (v_j^T W_K^T W_Q v_i).
    Prediction:                    h^T v_hat_{n+1}, with the query token v_{n+1} = (x_query, 0).

    W_K, W_Q, W_V: (d + 1, d + 1).  h: (d + 1,).  All float64. They start at zero, which is a saddle
    of the loss: call `initialise` before training.

    device: where the weights live, "cuda" for a graphics card; prompts are brought there.
    """

    def __init__(self, d: int, *, device: str | torch.device | None = None):
        super().__init__()
        self.d = validation.positive_int("d", d)
        s = d + 1
        options = {"dtype": torch.float64, "device": device}
        self.W_K = nn.Parameter(torch.zeros(s, s, **options))
        self.W_Q = nn.Parameter(torch.zeros(s, s, **options))
        self.W_V = nn.Parameter(torch.zeros(s, s, **options))
        self.h = nn.Parameter(torch.zeros(s, **options))

    def initialise(self, scale: float, *, generator: torch.Generator) -> "LinearSelfAttention":
        """Draw every weight from N(0, scale^2), alike on every device; returns the module."""
        validation.positive("scale", scale)
        validation.generator(generator)
        with torch.no_grad():
            for weight in self.parameters():
                weight.copy_(scale * normal(*weight.shape, generator=generator))
        return self

    def attend(self, tokens: Float[Tensor, "batch T s"]) -> Float[Tensor, "batch T s"]:
        """v_hat_1, ..., v_hat_T of Eq. (2); v_hat_1 = 0, since no token precedes it."""
        validation.float64_tensor("tokens", tokens, (-1, -1, self.d + 1))
        keys, queries, values = tokens @ self.W_K.T, tokens @ self.W_Q.T, tokens @ self.W_V.T
        scores = torch.einsum("bjs,bis->bij", keys, queries)
        return torch.tril(scores, diagonal=-1) @ values

    def forward(self, prompts: Prompts) -> Float[Tensor, " batch"]:
        """The prediction of y_query for each prompt."""
        return self.attend(prompts.tokens().to(self.h.device))[:, -1] @ self.h

    def reduced(self) -> tuple[Float[Tensor, "d d+1"], Float[Tensor, " d+1"]]:
        """(A, w): the prediction is (A G w)^T x_query; nothing else about the weights matters."""
        M = self.W_K.T @ self.W_Q
        return M[:, : self.d].T, self.W_V.T @ self.h


def one_step_construction(
    d: int, step_size: float, *, device: str | torch.device | None = None
) -> LinearSelfAttention:
    """The weights of Eq. (25), whose output is step_size * sum_i y_i x_i^T x_query (Eq. 33)."""
    validation.finite_float("step_size", step_size)
    model = LinearSelfAttention(d, device=device)
    with torch.no_grad():
        model.W_K[:d, :d].fill_diagonal_(1.0)
        model.W_Q[:d, :d].fill_diagonal_(1.0)
        model.W_V[d, d] = step_size
        model.h[d] = 1.0
    return model


def gram(prompts: Prompts) -> Float[Tensor, "batch s s"]:
    """G = sum_i v_i v_i^T over the examples, without the query."""
    examples = prompts.tokens()[:, :-1]
    return examples.mT @ examples


def effective_predictor(A: Tensor, w: Tensor, prompts: Prompts) -> Float[Tensor, "batch d"]:
    """A G w: the weight vector of the linear function of x_query that (A, w) implements."""
    check_reduced(A, w, prompts.d)
    return torch.einsum("ij,bjk,k->bi", A, gram(prompts).to(A.device), w)


def reduced_prediction(A: Tensor, w: Tensor, prompts: Prompts) -> Float[Tensor, " batch"]:
    """(A G w)^T x_query, what `LinearSelfAttention` outputs for its `reduced` parameters."""
    x_query = prompts.x_query.to(A.device)
    return torch.einsum("bd,bd->b", effective_predictor(A, w, prompts), x_query)


def odd_part(A: Tensor, w: Tensor) -> Float[Tensor, "d d"]:
    """C, where C X^T y is the part of A G w that changes sign with y.

    C = w[d] A[:, :d] + A[:, d] w[:d]^T. A layer that runs one step of gradient descent has
    C = step_size * I and no even part.
    """
    d = check_reduced(A, w)
    return w[d] * A[:, :d] + torch.outer(A[:, d], w[:d])


def even_part(A: Tensor, w: Tensor) -> tuple[Float[Tensor, "d d d"], Float[Tensor, " d"]]:
    """(Q, q), where sum_i Q[x_i, x_i] + q y_i^2 is the part of A G w that is even in y.

    Q[i, j, k] = (A[i, j] w[k] + A[i, k] w[j]) / 2 for j, k < d, and q = w[d] A[:, d].
    """
    d = check_reduced(A, w)
    product = A[:, :d, None] * w[None, None, :d]
    return (product + product.mT) / 2, w[d] * A[:, d]


def check_reduced(A: Tensor, w: Tensor, d: int = -1) -> int:
    """d, if A is (d, d + 1) and w is (d + 1,), float64; `d` = -1 takes it from A."""
    validation.float64_tensor("A", A, (d, -1))
    d = A.shape[0]
    validation.float64_tensor("A", A, (d, d + 1))
    validation.float64_tensor("w", w, (d + 1,))
    return d
