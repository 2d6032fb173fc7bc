"""Families of target functions that break OS, Assumption 1, each in its own way.

`Ridge` keeps the rotations but not the sign (unless g is odd), `CoordinateCubic` the sign but not
the rotations, `LinearWithMean` neither. `families.Polynomial` with an even power is like `Ridge`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import torch
from torch import Tensor

from icgd import validation
from icgd.regression.data import normal
from icgd.regression.families import ridge_moments
from icgd.regression.targets import Function, Moments


@dataclass(frozen=True)
class Ridge:
    """f(x) = g(w.x), w ~ N(0, I), for any g: it breaks the sign symmetry unless g is odd.

    With an even g, such as torch.abs, beta_f = 0: no linear rule helps, and the best step is none.
    """

    g: Callable[[Tensor], Tensor]

    def draw(self, count: int, d: int, generator: torch.Generator) -> Function:
        w = normal(count, d, generator=generator)
        return lambda x: self.g(torch.einsum("kpd,kd->kp", x, w))

    def moments(self, d: int) -> Moments:
        return ridge_moments(self.g, d)


@dataclass(frozen=True)
class CoordinateCubic:
    """f(x) = +-x_j^3, the sign random: symmetric in sign, not unchanged by rotations.

    j = 1 always, or uniform on 1, ..., d with `any_coordinate`; then the law is still not unchanged
    by rotations, but its two moment matrices are.
    """

    any_coordinate: bool = False

    def draw(self, count: int, d: int, generator: torch.Generator) -> Function:
        sign = torch.randint(0, 2, (count, 1), generator=generator).double() * 2 - 1
        j = torch.randint(0, d, (count, 1, 1), generator=generator)
        j = j if self.any_coordinate else torch.zeros_like(j)
        return lambda x: sign * torch.gather(x, 2, j.expand(-1, x.shape[1], 1))[..., 0] ** 3

    def moments(self, d: int) -> Moments:
        """beta_f = +-3 e_j, and E[x_j^6 |x|^2] = 105 + 15 (d - 1)."""
        return Moments(d, 9.0, 105.0 + 15 * (d - 1))


@dataclass(frozen=True)
class LinearWithMean:
    """f(x) = w.x with E[w] = mean e_1 and E[w w^T] = I: second moments alone look like Theorem 1's.

    w_1 ~ N(mean, 1 - mean^2), the other entries N(0, 1). Neither part of Assumption 1 holds.
    """

    mean: float

    def __post_init__(self):
        if not 0 < validation.finite_float("mean", self.mean) <= 1:
            raise ValueError(
                f"mean must be in (0, 1], got {self.mean}: it is part of E[w_1^2] = 1; "
                "pass a number in that range."
            )

    def draw(self, count: int, d: int, generator: torch.Generator) -> Function:
        w = normal(count, d, generator=generator)
        w[:, 0] = self.mean + sqrt(1 - self.mean**2) * w[:, 0]
        return lambda x: torch.einsum("kpd,kd->kp", x, w)

    def moments(self, d: int) -> Moments:
        return Moments(d, float(d), float(d * (d + 2)))
