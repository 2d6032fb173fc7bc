"""Softmax attention on prompts of examples: heads that average labels.

Shapes as in `models`; float64. A head compares the query with the covariates and averages the
labels, so H heads predict  sum_h c_h sum_i softmax_i(x_query^T B_h x_i) y_i.
"""

import torch
from jaxtyping import Float
from scipy.linalg import helmert
from torch import Tensor, nn

from icgd import validation
from icgd.regression.data import Prompts, normal
from icgd.regression.enumeration import Rule


def label_weights(
    c: Float[Tensor, " heads"],
    B: Float[Tensor, "heads d d"],
    X: Float[Tensor, "batch n d"],
    x_query: Float[Tensor, "batch d"],
) -> Float[Tensor, "batch n"]:
    """q_i = sum_h c_h softmax_i(x_query^T B_h x_i); the prediction is sum_i q_i y_i."""
    scores = torch.einsum("bd,hde,bne->bhn", x_query, B, X)
    return torch.einsum("h,bhn->bn", c, scores.softmax(-1))


def heads_prediction(
    c: Float[Tensor, " heads"], B: Float[Tensor, "heads d d"], prompts: Prompts
) -> Float[Tensor, " batch"]:
    """sum_i q_i y_i, what `SoftmaxAttention` outputs for these weights."""
    X, y, x_query = (part.to(c.device) for part in (prompts.X, prompts.y, prompts.x_query))
    return torch.einsum("bn,bn->b", label_weights(c, B, X, x_query), y)


class SoftmaxAttention(nn.Module):
    """H softmax heads that read labels: sum_h c_h sum_i softmax_i(x_query^T B_h x_i) y_i.

    c: (heads,).  B: (heads, d, d).  Both start at zero; call `initialise` before training.

    Args:
        device: where the weights live; prompts are brought there.
    """

    def __init__(self, d: int, heads: int = 1, *, device: str | torch.device | None = None):
        super().__init__()
        self.d = validation.positive_int("d", d)
        heads = validation.positive_int("heads", heads)
        options = {"dtype": torch.float64, "device": device}
        self.c = nn.Parameter(torch.zeros(heads, **options))
        self.B = nn.Parameter(torch.zeros(heads, d, d, **options))

    def initialise(self, scale: float, *, generator: torch.Generator) -> "SoftmaxAttention":
        """Draw every weight from N(0, scale^2); returns the module."""
        validation.positive("scale", scale)
        validation.generator(generator)
        with torch.no_grad():
            for weight in self.parameters():
                weight.copy_(scale * normal(*weight.shape, generator=generator))
        return self

    def forward(self, prompts: Prompts) -> Float[Tensor, " batch"]:
        """The prediction of y_query for each prompt."""
        return heads_prediction(self.c, self.B, prompts)


def scalar_loss(
    c: Float[Tensor, " heads"],
    b: Float[Tensor, " heads"],
    n: int,
    noise_var: float,
    *,
    nodes: int = 40,
) -> Float[Tensor, ""]:
    """The exact loss of such heads for d = 1, by quadrature in n dimensions.

    Softmax does not notice the mean of the x_i, so x_i = mean + z_i, and the mean, w and the noise
    are averaged by hand. With q_i the weights of the labels, sum_i q_i = sum_h c_h, the loss is

    E[(sum_i q_i z_i - x_query)^2 + s2 sum_i q_i^2] + (sum_h c_h)^2 / n + s2.

    Args:
        nodes: of the trapezoidal rule in each of the n dimensions (z and x_query), on [-6, 6].
            The larger |b|, the sharper the softmax and the more nodes are needed.
    """
    n = validation.positive_int("n", n)
    noise_var = validation.non_negative("noise_var", noise_var)
    rule = trapezoid(nodes).power(n)
    z, query = rule.points[:, :-1] @ torch.as_tensor(helmert(n)), rule.points[:, -1:]
    q = label_weights(c, b[:, None, None], z[..., None], query)
    error = (q * z).sum(-1) - query[:, 0]
    average = rule.weights @ (error.square() + noise_var * q.square().sum(-1))
    return average + c.sum().square() / n + noise_var


def trapezoid(nodes: int) -> Rule:
    """N(0, 1) by equal steps on [-6, 6]: for analytic functions the error falls exponentially."""
    line = torch.linspace(-6, 6, validation.positive_int("nodes", nodes), dtype=torch.float64)
    weights = torch.exp(-line.square() / 2)
    return Rule(line[:, None], weights / weights.sum())
