"""Processes beyond MO's diagonal W: x_{t+1} = W x_t + e_t with a law for W, and noise if wanted.

A law of W has one method, `sample(batch, d, generator=g)`, which returns unitary matrices (batch,
d, d), complex128. A law of x_1 is one of `data`, or one of the two rotation-invariant ones here.
"""

import math
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Complex, Float, Shaped
from scipy.stats import ortho_group, unitary_group
from torch import Tensor

from icgd import validation


@dataclass(frozen=True)
class Process:
    """A batch of sequences x (batch, T, d) with the W (batch, d, d) of each, complex128."""

    x: Tensor
    W: Tensor


@runtime_checkable
class RotationLaw(Protocol):
    """A law of W."""

    def sample(self, batch: int, d: int, *, generator: torch.Generator) -> Tensor: ...


@dataclass(frozen=True)
class Phases:
    """W = diag(e^{i phi_1}, ..., e^{i phi_d}), independent uniform angles: MO, Section 3.1."""

    def sample(self, batch: int, d: int, *, generator: torch.Generator) -> Tensor:
        angles = 2 * torch.pi * torch.rand(batch, d, dtype=torch.float64, generator=generator)
        return torch.diag_embed(torch.polar(torch.ones_like(angles), angles))


@dataclass(frozen=True)
class ConjugatePairs:
    """diag(e^{i phi_1}, e^{-i phi_1}, ...), d even: commuting rotations of planes, diagonalised.

    The orthogonal setting of Sander et al. (2024).
    """

    def sample(self, batch: int, d: int, *, generator: torch.Generator) -> Tensor:
        if d % 2:
            raise ValueError(f"d must be even, got {d}; phases come in conjugate pairs.")
        half = Phases().sample(batch, d // 2, generator=generator).diagonal(dim1=1, dim2=2)
        return torch.diag_embed(torch.stack([half, half.conj()], dim=2).reshape(batch, d))


@dataclass(frozen=True)
class Haar:
    """W uniform over all unitary or all orthogonal matrices: no basis is preferred.

    field: "complex" (unitary) or "real" (orthogonal, determinant 1 or -1).
    """

    field: str = "complex"

    def __post_init__(self):
        _check_field(self.field)

    def sample(self, batch: int, d: int, *, generator: torch.Generator) -> Tensor:
        group = unitary_group if self.field == "complex" else ortho_group
        seed = torch.randint(2**31, (), generator=generator).item()
        W = group.rvs(d, size=batch, random_state=np.random.default_rng(seed))
        return torch.as_tensor(W.reshape(batch, d, d)).to(torch.complex128)


@dataclass(frozen=True)
class Rotated:
    """W = Q D Q^*: D from another law, Q uniform and new for every sequence, or one fixed basis."""

    law: RotationLaw
    basis: Haar | Complex[Tensor, "d d"]

    def sample(self, batch: int, d: int, *, generator: torch.Generator) -> Tensor:
        D = self.law.sample(batch, d, generator=generator)
        if isinstance(self.basis, Haar):
            Q = self.basis.sample(batch, d, generator=generator)
        else:
            Q = self.basis.to(torch.complex128)
            if not torch.allclose(Q @ Q.mH, torch.eye(d, dtype=Q.dtype), rtol=0, atol=1e-9):
                raise ValueError(
                    "a basis must be a unitary matrix (d, d), got Q Q^* different from I; "
                    "use torch.linalg.qr."
                )
        return Q @ D @ Q.mH


@dataclass(frozen=True)
class CircularGaussian:
    """x_1 = (z_1, ..., z_d), independent circular complex Gaussians with E|z_j|^2 = scale^2."""

    scale: float = 1.0

    def __post_init__(self):
        validation.positive("scale", self.scale)

    def moment(self, exponents: tuple[int, ...], d: int) -> float:
        """prod E|z_j|^r_j for even r_j, E|z|^(2k) = k! scale^(2k); 0 if an exponent is odd."""
        if any(r % 2 for r in exponents):
            return 0.0
        return math.prod(math.factorial(r // 2) * self.scale**r for r in exponents)

    def sample(self, batch: int, d: int, *, generator: torch.Generator) -> Tensor:
        return self.scale * torch.randn(batch, d, dtype=torch.complex128, generator=generator)


@dataclass(frozen=True)
class Sphere:
    """x_1 uniform on the real or complex sphere of this radius: a Haar matrix times any vector."""

    radius: float
    field: str = "real"

    def __post_init__(self):
        validation.positive("radius", self.radius)
        _check_field(self.field)

    def moment(self, exponents: tuple[int, ...], d: int) -> float:
        """E prod |x_j|^r_j for even r_j; 0 if an exponent is odd.

        With half = r / 2, real: radius^r prod (r_j - 1)!! / (d (d + 2) ... (d + r - 2));
        complex: radius^r prod (r_j / 2)! / (d (d + 1) ... (d + half - 1)).

        >>> [round(Sphere(1.0, field).moment((4,), 2), 6) for field in ("real", "complex")]
        [0.375, 0.333333]
        """
        if any(r % 2 for r in exponents):
            return 0.0
        half = sum(exponents) // 2
        real = self.field == "real"
        top = math.prod(
            math.prod(range(1, r, 2)) if real else math.factorial(r // 2) for r in exponents
        )
        bottom = math.prod(d + (2 if real else 1) * k for k in range(half))
        return self.radius ** (2 * half) * top / bottom

    def sample(self, batch: int, d: int, *, generator: torch.Generator) -> Tensor:
        dtype = torch.float64 if self.field == "real" else torch.complex128
        z = torch.randn(batch, d, dtype=dtype, generator=generator)
        return self.radius * z / z.norm(dim=1, keepdim=True)


def evolve(
    x_1: Shaped[Tensor, "batch d"],
    W: Complex[Tensor, "batch d d"],
    noise: Complex[Tensor, "batch moves d"],
) -> Complex[Tensor, "batch moves+1 d"]:
    """x_{t+1} = W x_t + noise_t from x_1 (real or complex)."""
    x = [x_1.to(W.dtype)]
    for e in noise.unbind(1):
        x.append((W @ x[-1][..., None])[..., 0] + e)
    return torch.stack(x, dim=1)


def sample_process(
    start,
    rotation: RotationLaw,
    batch: int,
    d: int,
    T: int,
    *,
    noise_std: float = 0.0,
    field: str = "complex",
    generator: torch.Generator,
) -> Process:
    """Draw W, then x_1, then the noise, and run x_{t+1} = W x_t + e_t.

    Args:
        start: law of x_1, any object with `sample(batch, d, generator=g)`.
        rotation: law of W.
        noise_std: E|e_tj|^2 = noise_std^2.   field: "complex" noise is circular, "real" is real.
    """
    batch = validation.positive_int("batch", batch)
    d, T = validation.positive_int("the dimension d", d), validation.positive_int("T", T)
    noise_std = validation.non_negative("noise_std", noise_std)
    _check_field(field)
    generator = validation.generator(generator)
    W = rotation.sample(batch, d, generator=generator)
    x_1 = start.sample(batch, d, generator=generator)
    dtype = torch.float64 if field == "real" else torch.complex128
    noise = noise_std * torch.randn(batch, T - 1, d, dtype=dtype, generator=generator)
    return Process(evolve(x_1, W, noise.to(W.dtype)), W)


def relative_errors(
    y: Complex[Tensor, "batch times d"], x: Complex[Tensor, "batch tokens d"]
) -> Float[Tensor, " times"]:
    """mean |y_t - x_{t+1}|^2 / mean |x_{t+1}|^2 for t = 2, ..., T, over the batch."""
    target = x[:, 2:]
    if y.shape != target.shape:
        raise ValueError(
            f"predictions must be those for t = 2, ..., T, shape {tuple(target.shape)}, got "
            f"{tuple(y.shape)}; pass learner(x[:, :-1]) and x."
        )
    return (y - target).abs().square().sum(2).mean(0) / target.abs().square().sum(2).mean(0)


def _check_field(field: str) -> None:
    if field not in ("real", "complex"):
        raise ValueError(f"field must be 'real' or 'complex', got {field!r}.")
