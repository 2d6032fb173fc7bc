"""Laws of the initial token x_1 (MO, Section 3.1), known by their moments.

The exact loss needs of a law only its mixed moments up to order six. **To add a law**, write a
class with one method,

    moment(exponents, d) = E[x_i1^r1 ... x_in^rn]   for distinct coordinates i1, ..., in of d,

the same for every choice of coordinates (the law is *exchangeable*). `sample(batch, d,
generator=g)` is needed only to draw sequences, `points(d)` only to check the loss by enumeration,
and `nonzero(d)` only for the ratio prediction / truth. For i.i.d. coordinates subclass
`IndependentLaw`, or give the numbers E x, ..., E x^6 to `Moments`.
"""

import math
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from icgd import validation

#: The loss is quadratic in predictions that are cubic in x_1.
HIGHEST = 6


@runtime_checkable
class InitialLaw(Protocol):
    """What the exact loss needs of a law: its mixed moments."""

    def moment(self, exponents: tuple[int, ...], d: int) -> float: ...


class IndependentLaw:
    """i.i.d. coordinates. A subclass gives `raw(r)` = E[x^r] of one coordinate."""

    def raw(self, r: int) -> float:
        raise NotImplementedError

    def moment(self, exponents: tuple[int, ...], d: int) -> float:
        """E[x_1^r1 ... x_n^rn] = E[x^r1] ... E[x^rn]: distinct coordinates are independent."""
        return math.prod(self.raw(r) for r in exponents)

    def atoms(self) -> tuple[np.ndarray, np.ndarray]:
        """Values and probabilities of a finite law with a coordinate's E x, ..., E x^6."""
        raise NotImplementedError(
            f"{type(self).__name__} is given by its moments, not by its values."
        )

    def points(self, d: int) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, " n"]]:
        """Points and probabilities of a finite law of x_1 with the same moments up to order six."""
        values, weights = self.atoms()
        grids = np.meshgrid(*[np.arange(len(values))] * d, indexing="ij")
        index = np.stack([g.ravel() for g in grids], axis=1)
        return values[index], weights[index].prod(axis=1)

    def nonzero(self, d: int) -> float:
        """P(x_j != 0)."""
        values, weights = self.atoms()
        return float(weights[values != 0].sum())

    def sample(self, batch: int, d: int, *, generator: torch.Generator) -> Tensor:
        """(batch, d) independent draws, float64."""
        values, weights = (torch.as_tensor(a) for a in self.atoms())
        index = torch.multinomial(weights, batch * d, replacement=True, generator=generator)
        return values[index].reshape(batch, d)


@dataclass(frozen=True)
class Gaussian(IndependentLaw):
    """x_1 ~ N(0, scale^2 I). scale: the *standard deviation* sigma of a coordinate."""

    scale: float

    def __post_init__(self):
        validation.positive("scale", self.scale)

    def raw(self, r: int) -> float:
        """(r - 1)!! scale^r for even r, 0 for odd r."""
        return 0.0 if r % 2 else math.prod(range(1, r, 2)) * self.scale**r

    def atoms(self) -> tuple[np.ndarray, np.ndarray]:
        """Four-point Gauss-Hermite quadrature: exact for polynomials of degree up to seven."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(4)
        return self.scale * nodes, weights / weights.sum()

    def nonzero(self, d: int) -> float:
        return 1.0

    def sample(self, batch: int, d: int, *, generator: torch.Generator) -> Tensor:
        return self.scale * torch.randn(batch, d, dtype=torch.float64, generator=generator)


@dataclass(frozen=True)
class Rademacher(IndependentLaw):
    """Independent signs: x_1 uniform on {-scale, scale}^d."""

    scale: float

    def __post_init__(self):
        validation.positive("scale", self.scale)

    def raw(self, r: int) -> float:
        return 0.0 if r % 2 else self.scale**r

    def atoms(self) -> tuple[np.ndarray, np.ndarray]:
        return np.array([-self.scale, self.scale]), np.array([0.5, 0.5])


@dataclass(frozen=True)
class Ones(IndependentLaw):
    """x_1 = (1, ..., 1), the start of MO, Section 4.3: not random at all."""

    def raw(self, r: int) -> float:
        return 1.0

    def atoms(self) -> tuple[np.ndarray, np.ndarray]:
        return np.ones(1), np.ones(1)


@dataclass(frozen=True)
class Discrete(IndependentLaw):
    """i.i.d. coordinates with finitely many values; skewed laws are welcome."""

    values: tuple[float, ...]
    probabilities: tuple[float, ...]

    def __post_init__(self):
        for name in ("values", "probabilities"):
            numbers = tuple(
                validation.finite_float(f"each of {name}", v) for v in getattr(self, name)
            )
            object.__setattr__(self, name, numbers)
        if len(self.values) != len(self.probabilities) or not self.values:
            raise ValueError(
                "values and probabilities must be equally many and at least one, got "
                f"{len(self.values)} and {len(self.probabilities)}; pair them up."
            )
        total = math.fsum(self.probabilities)
        if min(self.probabilities) < 0 or abs(total - 1) > 1e-12:
            raise ValueError(
                f"probabilities must be non-negative and sum to one, got {self.probabilities} with "
                f"sum {total:.15g}; divide them by their sum."
            )

    def raw(self, r: int) -> float:
        return math.fsum(p * v**r for v, p in zip(self.values, self.probabilities, strict=True))

    def atoms(self) -> tuple[np.ndarray, np.ndarray]:
        return np.array(self.values), np.array(self.probabilities)


@dataclass(frozen=True)
class Moments(IndependentLaw):
    """i.i.d. coordinates known by (E x, ..., E x^6) alone: enough for every exact quantity."""

    values: tuple[float, ...]

    def __post_init__(self):
        numbers = tuple(validation.finite_float("each moment", v) for v in self.values)
        if len(numbers) != HIGHEST:
            raise ValueError(
                f"six moments must be given, E x to E x^6, got {len(numbers)}; the loss is "
                "quadratic in predictions that are cubic in x_1."
            )
        object.__setattr__(self, "values", numbers)
        # E[(c0 + c1 x + c2 x^2 + c3 x^3)^2] >= 0 for every c is what makes moments possible.
        powers = (1.0, *numbers)
        hankel = np.array([[powers[i + j] for j in range(4)] for i in range(4)])
        least, most = np.linalg.eigvalsh(hankel)[[0, -1]]
        if least < -1e-12 * most:
            raise ValueError(
                "moments must be those of a law: the matrix of E x^(i+j), i, j = 0..3, must have "
                f"no negative eigenvalue, got {least:.3g} from {numbers}; check E x^4 >= (E x^2)^2 "
                "and so on."
            )

    def raw(self, r: int) -> float:
        return (1.0, *self.values)[r]


@dataclass(frozen=True)
class Sparse:
    """x_1 uniform on the 2d vectors with one entry +-scale and zeros elsewhere (Example 4.1)."""

    scale: float

    def __post_init__(self):
        validation.positive("scale", self.scale)

    def moment(self, exponents: tuple[int, ...], d: int) -> float:
        """scale^r / d for one coordinate and even r; two coordinates are never both non-zero."""
        if len(exponents) == 0:
            return 1.0
        return (
            self.scale ** exponents[0] / d if len(exponents) == 1 and exponents[0] % 2 == 0 else 0.0
        )

    def points(self, d: int) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, " n"]]:
        """All 2d values, each with probability 1 / 2d."""
        eye = self.scale * np.eye(d)
        return np.concatenate([eye, -eye]), np.full(2 * d, 1 / (2 * d))

    def nonzero(self, d: int) -> float:
        """P(x_j != 0) = 1 / d."""
        return 1.0 / d

    def sample(self, batch: int, d: int, *, generator: torch.Generator) -> Tensor:
        index = torch.randint(2 * d, (batch,), generator=generator)
        return torch.as_tensor(self.points(d)[0])[index]


def checked_moment(law: InitialLaw, exponents: tuple[int, ...], d: int) -> float:
    """`law.moment(exponents, d)`, refused when it is not finite or beyond what moments allow.

    By Hoelder, |E[x_1^r1 ... x_n^rn]| <= E[x^6]^(r / 6), r the sum of the exponents, for even x^6.
    """
    if not hasattr(law, "moment"):
        raise TypeError(
            f"a law must have a method moment(exponents, d), got {law!r}; "
            "use a law of icgd.autoregression.data or see icgd.autoregression.laws."
        )
    value = float(law.moment(exponents, d))
    bound = float(law.moment((HIGHEST,), d)) ** (sum(exponents) / HIGHEST)
    if not (math.isfinite(value) and math.isfinite(bound)):
        raise ValueError(
            f"the law must have finite moments up to order {HIGHEST}, got E x^{exponents} = "
            f"{value} for {law!r}; a law with heavier tails has no population loss."
        )
    if abs(value) > bound * (1 + 1e-9):
        raise ValueError(
            f"moments must be those of a law: |E x^{exponents}| is at most {bound:.6g} = "
            f"E[x^6]^({sum(exponents)}/6), got {value:.6g} for {law!r}; check `moment`."
        )
    return value
