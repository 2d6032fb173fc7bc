"""Every sequence there is: averages by brute force, for checking what counting gives.

A mean over a uniform phase equals the mean over the N-th roots of unity for every power below N,
and the loss is a polynomial of degree at most 3 (T - 2) in each lambda. A law of x_1 is replaced by
a finite one with the same moments up to order six. The number of sequences grows like N^d: small
sizes.
"""

import numpy as np
import torch
from jaxtyping import Complex, Float
from torch import Tensor

from icgd import validation
from icgd.autoregression.data import unroll
from icgd.autoregression.direct import direct_loss
from icgd.autoregression.normalisation import Rho, context_pairs, training_length

#: More sequences than this are refused: they would take minutes and gigabytes.
MOST = 2_000_000


def all_sequences(
    law, d: int, T: int
) -> tuple[Complex[Tensor, "batch T d"], Float[Tensor, " batch"]]:
    """Sequences and probabilities that reproduce every population quantity of Eq. (2) exactly.

    Args:
        law: any object with `points(d)`, for example `Discrete`, `Sparse` or `Gaussian`.
    Raises:
        ValueError: there are too many; use PopulationLoss.
    """
    d, T = validation.positive_int("the dimension d", d), training_length(T)
    points, probabilities = law.points(d)
    N = 3 * (T - 2) + 1
    if len(points) * N**d > MOST:
        raise ValueError(
            f"enumeration must stay below {MOST} sequences, got {len(points)} * {N}^{d}; "
            "use a smaller d or T, or PopulationLoss, which counts."
        )
    roots = np.stack(np.meshgrid(*[np.arange(N)] * d, indexing="ij"), -1).reshape(-1, d)
    angles = torch.as_tensor(2 * np.pi * roots / N)
    lambdas = torch.polar(torch.ones_like(angles), angles)
    x_1 = torch.as_tensor(points).repeat_interleave(len(lambdas), dim=0)
    weights = torch.as_tensor(probabilities).repeat_interleave(len(lambdas)) / len(lambdas)
    return unroll(x_1, lambdas.repeat(len(points), 1), T).x, weights


def enumerated_loss(
    law,
    A: Float[Tensor, "two_d two_d"],
    B: Float[Tensor, "d two_d"],
    *,
    T: int,
    rho: Rho = context_pairs,
) -> Float[Tensor, ""]:
    """Eq. (2) by summing the direct loss over `all_sequences`; differentiable once."""
    x, weights = all_sequences(law, len(B), T)
    return direct_loss(A, B, x, rho=rho, weights=weights)
