"""k layers of linear self-attention with residual connections, and weights that run algorithms.

Ahn et al. (2023): Z_{k+1} = Z_k + (1/n) P_k Z_k M Z_k^T Q_k Z_k with tokens (x_i, y_i), query
(x_query, 0), M = diag(I_n, 0); the prediction is minus the last entry of the last token. Step sizes
here act on the *mean* H = X^T X / n: a step `a` is a step a / n of chapter 1's sum.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from icgd import validation
from icgd.attention import LinearAttentionStack
from icgd.regression.data import Prompts

Steps = Sequence[float] | Float[np.ndarray, " layers"] | Float[Tensor, "layers ..."]
Numbers = Sequence[float] | Float[np.ndarray, " layers"] | Float[Tensor, " layers"]


class LinearTransformer(LinearAttentionStack):
    """A stack of linear attention layers that reads prompts; called on them, it predicts.

    The stack itself is `icgd.attention.LinearAttentionStack`: a sequence model can use the same
    `forward_tokens(Z, mask)` with its own tokens and a causal mask.

    Args:
        d: dimension of a covariate; tokens have width d + 1.
        layers: how many.   device: see `LinearAttentionStack`.
        masked: whether the query's own token is left out of every sum (Ahn's M).
        w0: (d,) the query enters as (x_query, -w0.x_query); the default is w0 = 0.
    """

    def __init__(
        self,
        d: int,
        layers: int = 1,
        *,
        masked: bool = True,
        w0: Float[Tensor, " d"] | None = None,
        device: str | torch.device | None = None,
    ):
        d = validation.positive_int("d", d)
        super().__init__(d + 1, layers, device=device)
        self.d, self.masked = d, masked
        w0 = torch.zeros(d, dtype=torch.float64) if w0 is None else w0
        self.register_buffer("w0", validation.float64_tensor("w0", w0, (d,)).to(device))

    def tokens(self, prompts: Prompts) -> Float[Tensor, "batch T s"]:
        """Z_0, on the device of the weights."""
        Z = prompts.tokens().to(self.P.device)
        if self.w0.any():
            Z[:, -1, -1] = -(Z[:, -1, :-1] @ self.w0)
        return Z

    def mask(self, n: int) -> Float[Tensor, " T"]:
        """1/n for each example and, if `masked`, 0 for the query."""
        weights = torch.full((n + 1,), 1 / n, dtype=torch.float64, device=self.P.device)
        if self.masked:
            weights[-1] = 0.0
        return weights

    def states(self, prompts: Prompts) -> list[Float[Tensor, "batch T s"]]:
        """Z_0, ..., Z_layers: what the tokens are before the first layer and after each."""
        return self.stream(self.tokens(prompts), self.mask(prompts.n))

    def forward(self, prompts: Prompts) -> Float[Tensor, " batch"]:
        """The prediction of y_query for each prompt."""
        return -self.states(prompts)[-1][:, -1, -1]


def from_blocks(
    A: Float[Tensor, "layers d d"],
    B: Float[Tensor, "layers d d"] | None = None,
    *,
    masked: bool = True,
) -> LinearTransformer:
    """P_k = diag(B_k, 1), Q_k = -diag(A_k, 0); gradients do not pass through.

    A layer adds -(1/n) sum_j y_j x_j^T A_k x_i to a label and -B_k H_k A_k x_i to a covariate,
    where x_j, y_j and H_k = (1/n) sum_j x_j x_j^T are the layer's own. Without B covariates stay.
    """
    A = validation.float64_tensor("A", A, (-1, -1, -1))
    layers, d = A.shape[:2]
    validation.float64_tensor("A", A, (layers, d, d))
    B = torch.zeros_like(A) if B is None else validation.float64_tensor("B", B, (layers, d, d))
    model = LinearTransformer(d, layers, masked=masked)
    with torch.no_grad():
        model.Q[:, :d, :d] = -A
        model.P[:, :d, :d] = B
        model.P[:, d, d] = 1.0
    return model


def gradient_descent(d: int, steps: Steps, *, masked: bool = True) -> LinearTransformer:
    """Weights that run w <- w - A_k^T (1/n) sum_i (w.x_i - y_i) x_i from w = 0 (Ahn, Lemma 1).

    The label of every token goes from y_i to the residual y_i - w.x_i; the query's, which starts
    at 0, ends at -w.x_query.

    Args:
        steps: a number a layer (A_k = a_k I), or the matrices A_k, (layers, d, d).
    """
    return from_blocks(as_matrices(d, steps), masked=masked)


def gd_plus_plus(
    d: int, steps: Numbers, curvatures: Numbers, *, masked: bool = True
) -> LinearTransformer:
    """Weights that run GD++: each layer takes a step and also changes the covariates.

    A_k = a_k I and B_k = (c_k / a_k) I: every x becomes (I - c_k H_k) x.

    Args:
        steps: a_k, a number other than 0 for each layer.
        curvatures: c_k, a number for each layer; the last has no effect on the prediction.
    """
    if len(steps) != len(curvatures):
        raise ValueError(
            f"steps and curvatures must have one length, got {len(steps)} and {len(curvatures)}; "
            "pass a number of each kind for every layer."
        )
    if any(step == 0 for step in steps):
        raise ValueError(
            f"steps must not be 0, got {list(steps)}; B_k = c_k / a_k divides by them."
        )
    ratios = [c / a for a, c in zip(steps, curvatures, strict=True)]
    return from_blocks(as_matrices(d, steps), as_matrices(d, ratios), masked=masked)


def as_matrices(d: int, steps: Steps) -> Float[Tensor, "layers d d"]:
    """Numbers as multiples of I; matrices as they are."""
    steps = torch.as_tensor(steps, dtype=torch.float64)
    if steps.ndim == 1:
        steps = steps[:, None, None] * torch.eye(d, dtype=torch.float64)
    return validation.float64_tensor("steps", steps, (-1, d, d))


def von_oswald(
    d: int, step_size: float, layers: int, *, w0: Float[Tensor, " d"] | None = None
) -> LinearTransformer:
    """The weights of von Oswald et al. (2023), Proposition 1, the same in every layer.

    W_K = W_Q = diag(I, 0), W_V = [[0, 0], [w0^T, -1]], projection step_size / n: gradient descent
    from w0 on the mean squared error. The query's label starts at -w0.x_query.
    """
    step_size = validation.finite_float("step_size", step_size)
    model = LinearTransformer(d, layers, w0=w0)
    with torch.no_grad():
        model.Q[:, :d, :d] = torch.eye(d, dtype=torch.float64)
        model.P[:, d, :d] = step_size * model.w0
        model.P[:, d, d] = -step_size
    return model


def sensitivity(predict: Callable[[Prompts], Tensor], prompts: Prompts) -> Float[Tensor, "batch d"]:
    """The gradient of each prediction with respect to its x_query.

    A masked stack is linear in the query, so this is its effective predictor: the weights u of a
    prediction u.x_query. For a `Learner` it is the learner's `weights`.
    """
    x_query = prompts.x_query.clone().requires_grad_(True)
    moved = replace(prompts, x_query=x_query)
    return torch.autograd.grad(predict(moved).sum(), x_query)[0]
