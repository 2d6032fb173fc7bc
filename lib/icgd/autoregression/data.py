"""Sequences that obey x_{t+1} = W x_t, and the tokens made of them (MO, Sections 3.1 and 3.2)."""

from dataclasses import dataclass

import torch
from jaxtyping import Complex, Float
from torch import Tensor

from icgd import validation
from icgd.autoregression.laws import (
    Discrete,
    Gaussian,
    IndependentLaw,
    InitialLaw,
    Moments,
    Ones,
    Rademacher,
    Sparse,
)

__all__ = [
    "Discrete",
    "Gaussian",
    "IndependentLaw",
    "InitialLaw",
    "Moments",
    "Ones",
    "Rademacher",
    "Sequences",
    "Sparse",
    "embed",
    "recover_eigenvalues",
    "sample_sequences",
    "unroll",
]


@dataclass(frozen=True)
class Sequences:
    """A batch of sequences with the rotation that made each of them.

    x: (batch, T, d) complex128, x[:, t - 1] is the paper's x_t.
    eigenvalues: (batch, d) complex128 of modulus 1, the diagonal of W.
    """

    x: Tensor
    eigenvalues: Tensor

    @property
    def W(self) -> Complex[Tensor, "batch d d"]:
        """The hidden matrices, x_{t+1} = W x_t."""
        return torch.diag_embed(self.eigenvalues)


def unroll(
    x_1: Float[Tensor, "batch d"], eigenvalues: Complex[Tensor, "batch d"], T: int
) -> Sequences:
    """x_t = W^(t-1) x_1 for t = 1, ..., T, with W = diag(eigenvalues)."""
    T = validation.positive_int("the sequence length T", T)
    powers = torch.arange(T)[:, None]
    return Sequences(eigenvalues[:, None, :] ** powers * x_1[:, None, :], eigenvalues)


def sample_sequences(
    law: InitialLaw, batch: int, d: int, T: int, *, generator: torch.Generator
) -> Sequences:
    """Draw sequences: x_1 from `law`, then W = diag(exp(i phi_1), ..., exp(i phi_d)), phi uniform.

    Args:
        law: any object with `sample(batch, d, generator=...)`, for example `Gaussian(1.0)`.
        batch, d, T: number of sequences, dimension, length; each at least 1.
        generator: the only source of randomness; initial tokens are drawn first, then the phases.
    Source: MO, Section 3.1.
    """
    batch = validation.positive_int("batch", batch)
    d = validation.positive_int("the dimension d", d)
    generator = validation.generator(generator)
    if not hasattr(law, "sample"):
        raise TypeError(
            f"a law must have a method sample to draw sequences, got {law!r}; "
            "use PopulationLoss, which needs only moments, or a law of icgd.autoregression.data."
        )
    x_1 = law.sample(batch, d, generator=generator)
    angles = 2 * torch.pi * torch.rand(batch, d, dtype=torch.float64, generator=generator)
    return unroll(x_1, torch.polar(torch.ones_like(angles), angles), T)


def embed(x: Complex[Tensor, "batch T d"]) -> Complex[Tensor, "batch T 3*d"]:
    """Tokens e_i = (0, x_i, x_{i-1}) with x_0 = 0, a row a token (MO, Section 3.2)."""
    shifted = torch.cat([torch.zeros_like(x[:, :1]), x[:, :-1]], dim=1)
    return torch.cat([torch.zeros_like(x), x, shifted], dim=2)


def check_sequences(x: Tensor, least: int) -> None:
    """Raise unless x is a complex128 tensor (batch, T, d) with T >= `least`, free of NaN."""
    if not isinstance(x, Tensor) or x.dtype != torch.complex128 or x.ndim != 3:
        what = f"{x.dtype} {tuple(x.shape)}" if isinstance(x, Tensor) else type(x).__name__
        raise TypeError(
            f"sequences must be a complex128 tensor (batch, T, d), got {what}; "
            "pass sample_sequences(...).x."
        )
    validation.positive_int("the number of sequences", x.shape[0])
    validation.int_at_least("the sequence length T", x.shape[1], least)
    validation.positive_int("the dimension d", x.shape[2])
    if not torch.isfinite(torch.view_as_real(x)).all():
        raise ValueError("sequences must be finite, got NaN or infinity; check how they were made.")


def recover_eigenvalues(
    x: Complex[Tensor, "batch T d"], tolerance: float = 1e-8
) -> Complex[Tensor, "batch d"]:
    """The diagonal of W, read off sequences that obey x_{t+1} = W x_t; 1 where x_1 is zero.

    Raises:
        ValueError: some x_{t+1} differs from W x_t by more than `tolerance` times the largest
            entry.
    """
    check_sequences(x, 2)
    ratio = torch.where(x[:, 0] == 0, torch.ones_like(x[:, 0]), x[:, 1] / x[:, 0])
    scale = x.abs().max()
    stretch = ((ratio.abs() - 1).abs() * x[:, 0].abs()).max()
    drift = (x[:, 1:] - ratio[:, None] * x[:, :-1]).abs().max()
    worst = float(torch.maximum(stretch, drift))
    if not worst <= tolerance * float(scale):
        raise ValueError(
            "sequences must obey x_{t+1} = W x_t with W diagonal and unitary, got a deviation of "
            f"{worst:.3g} against entries up to {float(scale):.3g}; use sample_sequences or "
            "unroll, or direct.direct_loss, which takes any sequences."
        )
    return ratio
