"""Families of target functions that satisfy OS, Assumption 1.

The law of f is unchanged when its argument is rotated and when its sign is flipped: two-layer and
deep networks, cosine ridges, random quadratics, polynomials with odd powers only. (`Polynomial`
takes even powers as well; the sign symmetry is then lost.) Families that break the assumption are
in `icgd.regression.counterexamples`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import factorial, pi, prod, sqrt

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from icgd import validation
from icgd.regression.data import normal
from icgd.regression.targets import Function, Moments


@dataclass(frozen=True)
class TwoLayerNetwork:
    """f(x) = m^(-1/2) sum_k a_k activation(w_k.x), m = width; a_k ~ N(0, 1), w_k ~ N(0, I).

    Neither moment depends on the width. For the ReLU, E|beta_f|^2 = d / 4 and E[f^2 |x|^2] =
    d (d + 2) / 2; for any other activation they come from quadrature (`ridge_moments`).
    """

    width: int
    activation: Callable[[Tensor], Tensor] = torch.relu

    def __post_init__(self):
        validation.positive_int("width", self.width)

    def draw(self, count: int, d: int, generator: torch.Generator) -> Function:
        w = normal(count, self.width, d, generator=generator)
        a = normal(count, self.width, 1, generator=generator) / sqrt(self.width)
        return lambda x: (self.activation(x @ w.mT) @ a)[..., 0]

    def moments(self, d: int) -> Moments:
        if self.activation is torch.relu:
            return Moments(d, d / 4, d * (d + 2) / 2)
        return ridge_moments(self.activation, d)

    def kernel(self, left: Tensor, right: Tensor) -> Float[Tensor, "... p q"]:
        """E[f(x) f(x')] for the ReLU: |x| |x'| (sin t + (pi - t) cos t) / (2 pi), t their angle."""
        if self.activation is not torch.relu:
            raise NotImplementedError(
                "the kernel is known in closed form for the ReLU only, got another activation; "
                "use references.posterior_mean instead."
            )
        norms = left.norm(dim=-1)[..., :, None] * right.norm(dim=-1)[..., None, :]
        t = torch.acos((left @ right.mT / norms).clamp(-1, 1))
        return norms * (torch.sin(t) + (pi - t) * torch.cos(t)) / (2 * pi)


@dataclass(frozen=True)
class DeepNetwork:
    """A network of any depth and width: first and last layers N(0, 1), as OS, Section 5, has it.

    h_1 = activation(W_1 x), h_l = activation(W_l h_{l-1} / sqrt(m_{l-1})), f = a.h_L / sqrt(m_L),
    every entry of W_l and of a independent N(0, 1); widths = (m_1, ..., m_L).
    """

    widths: tuple[int, ...]
    activation: Callable[[Tensor], Tensor] = torch.relu

    def __post_init__(self):
        validation.positive_int("the number of hidden layers", len(self.widths))
        for width in self.widths:
            validation.positive_int("a width", width)

    def draw(self, count: int, d: int, generator: torch.Generator) -> Function:
        sizes = (d, *self.widths, 1)
        layers = [
            normal(count, m, k, generator=generator) / (1 if first else sqrt(m))
            for m, k, first in zip(sizes, sizes[1:], [True] + [False] * len(sizes), strict=False)
        ]

        def function(x: Tensor) -> Tensor:
            for layer in layers[:-1]:
                x = self.activation(x @ layer)
            return (x @ layers[-1])[..., 0]

        return function


@dataclass(frozen=True)
class Polynomial:
    """f(x) = sum_k coefficients[k] (w.x)^k, w ~ N(0, I); symmetric in sign if k is odd."""

    coefficients: tuple[float, ...]

    def __post_init__(self):
        for c in self.coefficients:
            validation.finite_float("a coefficient", c)
        if not any(self.coefficients):
            raise ValueError("coefficients must not all be zero: f would vanish; pass (0, 1).")

    def __call__(self, s: Tensor) -> Tensor:
        """The polynomial of one variable."""
        return sum(c * s**k for k, c in enumerate(self.coefficients) if c)

    def draw(self, count: int, d: int, generator: torch.Generator) -> Function:
        w = normal(count, d, generator=generator)
        return lambda x: self(torch.einsum("kpd,kd->kp", x, w))

    def moments(self, d: int) -> Moments:
        """Closed forms: beta_f = w sum_k c_k E[z^(k+1)] |w|^(k-1), and E|w|^2p = d (d+2) ... ."""
        beta_sq = f_sq_x_sq = 0.0
        for k, c in enumerate(self.coefficients):
            for j, b in enumerate(self.coefficients):
                if (k + j) % 2 or not c * b:
                    continue
                norm = c * b * prod(d + 2 * i for i in range((k + j) // 2))  # E|w|^(k + j)
                beta_sq += norm * _gaussian(k + 1) * _gaussian(j + 1)
                f_sq_x_sq += norm * (_gaussian(k + j + 2) + (d - 1) * _gaussian(k + j))
        return Moments(d, beta_sq, f_sq_x_sq)

    def kernel(self, left: Tensor, right: Tensor) -> Float[Tensor, "... p q"]:
        """E[f(x) f(x')] by Isserlis: i of the pairings join x to x', the others stay within."""
        dot = left @ right.mT
        own, other = ((v * v).sum(-1) / 2 for v in (left, right))
        total = torch.zeros_like(dot)
        for k, c in enumerate(self.coefficients):
            for j, b in enumerate(self.coefficients):
                for i in range(k % 2, min(k, j) + 1, 2):
                    if (k + j) % 2 or not c * b:
                        continue
                    p, q = (k - i) // 2, (j - i) // 2
                    count = factorial(k) * factorial(j) / prod(map(factorial, (i, p, q)))
                    total += (
                        c * b * count * dot**i * own[..., :, None] ** p * other[..., None, :] ** q
                    )
        return total


@dataclass(frozen=True)
class CosineRidge:
    """f(x) = sqrt(2) cos(w.x + phase), w ~ N(0, scale^2 I), phase uniform on [0, 2 pi).

    A phase moved by pi flips the sign. E[f f'] = exp(-scale^2 |x - x'|^2 / 2), the Gaussian kernel.
    """

    scale: float

    def __post_init__(self):
        validation.positive("scale", self.scale)

    def draw(self, count: int, d: int, generator: torch.Generator) -> Function:
        w = self.scale * normal(count, d, generator=generator)
        phase = 2 * pi * torch.rand(count, 1, generator=generator, dtype=torch.float64)
        return lambda x: sqrt(2) * torch.cos(torch.einsum("kpd,kd->kp", x, w) + phase)

    def moments(self, d: int) -> Moments:
        """beta_f = -sqrt(2) w sin(phase) exp(-|w|^2 / 2), so E|beta_f|^2 = E[|w|^2 exp(-|w|^2)]."""
        v = self.scale**2
        return Moments(d, d * v * (1 + 2 * v) ** (-d / 2 - 1), float(d))

    def kernel(self, left: Tensor, right: Tensor) -> Float[Tensor, "... p q"]:
        """E[f(x) f(x')]."""
        return torch.exp(-(self.scale**2) / 2 * torch.cdist(left, right) ** 2)


@dataclass(frozen=True)
class RandomQuadratic:
    """f(x) = w.x + scale x^T B x, all entries of w and B independent N(0, 1): a Gaussian process.

    E[f(x) f(x')] = x.x' + scale^2 (x.x')^2, so the best predictor of all is known: ridge regression
    with this kernel. The quadratic part has odd third moments only: beta_f = w.
    """

    scale: float

    def __post_init__(self):
        validation.finite_float("scale", self.scale)

    def draw(self, count: int, d: int, generator: torch.Generator) -> Function:
        w = normal(count, d, generator=generator)
        B = normal(
            count, d, d, generator=generator
        )  # x^T B x has E[(x^T B x)(x'^T B x')] = (x.x')^2

        def function(x: Tensor) -> Tensor:
            linear = torch.einsum("kpd,kd->kp", x, w)
            return linear + self.scale * torch.einsum("kpd,kde,kpe->kp", x, B, x)

        return function

    def moments(self, d: int) -> Moments:
        return Moments(d, float(d), d * (d + 2) * (1 + self.scale**2 * (d + 4)))

    def kernel(self, left: Tensor, right: Tensor) -> Float[Tensor, "... p q"]:
        """E[f(x) f(x')]."""
        dot = left @ right.mT
        return dot + self.scale**2 * dot**2


def ridge_moments(g: Callable[[Tensor], Tensor], d: int) -> Moments:
    """The two moments of a g(w.x), a of variance 1 and w ~ N(0, I), by quadrature over |w| and z.

    Given |w| = r, w.x = r z with z ~ N(0, 1), so beta_f has length |E[z g(r z)]|, and
    E[f^2 |x|^2 | r] = E[g(r z)^2 (z^2 + d - 1)]. Gauss-Legendre on either side of 0, so that a kink
    of g at 0 does no harm.

    >>> m = ridge_moments(torch.relu, 3)
    >>> round(m.beta_sq, 10), round(m.f_sq_x_sq, 10)  # d / 4 and d (d + 2) / 2
    (0.75, 7.5)
    """
    t, weight = np.polynomial.legendre.leggauss(400)
    z, wz = torch.as_tensor(6 * (t + 1)), torch.as_tensor(6 * weight)
    z, wz = torch.cat([-z, z]), torch.cat([wz, wz]) * torch.exp(-(torch.cat([z, z]) ** 2) / 2)
    top = sqrt(d) + 12
    r, wr = torch.as_tensor(top * (t + 1) / 2), torch.as_tensor(weight)
    log_density = (d - 1) * torch.log(r) - r**2 / 2
    wr = wr * torch.exp(log_density - log_density.max())
    wz, wr = wz / wz.sum(), wr / wr.sum()
    values = g(r[:, None] * z)
    if values.shape != (len(r), len(z)) or not torch.isfinite(values).all():
        raise ValueError(
            "an activation must map finite numbers to finite numbers one by one, got "
            f"shape {tuple(values.shape)} for {(len(r), len(z))}, or NaN; check its formula."
        )
    beta = values @ (wz * z)
    square = values**2 @ (wz * (z**2 + d - 1))
    return Moments(d, (wr @ beta**2).item(), (wr @ square).item())


def _gaussian(k: int) -> int:
    """E[z^k] for z ~ N(0, 1): (k - 1)!! for even k, 0 for odd k."""
    return 0 if k % 2 else prod(range(1, k, 2))
