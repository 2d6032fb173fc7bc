"""Targets y = f(x) + noise with f drawn afresh for every prompt (OS, Section 5).

A *family* is a law of functions on R^d, for every d. It needs one method:

    draw(count, d, generator) -> function,   function(points (count, p, d)) -> values (count, p),

the k-th of `count` independent functions at the k-th set of points. Families with closed forms also
have `moments(d)`, the two numbers that decide the step size of OS, Theorem 3, and `kernel`, the
covariance E[f(x) f(x')]. Ready-made families are in `icgd.regression.families`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor

from icgd import validation
from icgd.regression import theory
from icgd.regression.data import Prompts, label, normal

Function = Callable[[Float[Tensor, "count points d"]], Float[Tensor, "count points"]]


@runtime_checkable
class Family(Protocol):
    """A law of target functions."""

    def draw(self, count: int, d: int, generator: torch.Generator) -> Function: ...


@dataclass(frozen=True)
class CustomFamily:
    """Any user's family, from a sampler with the signature of `Family.draw`.

    >>> def sine(count, d, generator):  # sin(w.x): unchanged by rotations and by a change of sign
    ...     w = normal(count, d, generator=generator)
    ...     return lambda x: torch.sin(torch.einsum("kpd,kd->kp", x, w))
    >>> family = CustomFamily(sine)
    """

    sampler: Callable[[int, int, torch.Generator], Function]

    def draw(self, count: int, d: int, generator: torch.Generator) -> Function:
        return self.sampler(count, d, generator)


@dataclass(frozen=True)
class NonlinearTask:
    """x ~ N(0, I), f from `family`, y = f(x) + noise of variance `noise_var` (OS, Section 5)."""

    family: Family
    d: int
    noise_var: float

    def __post_init__(self):
        validation.positive_int("d", self.d)
        validation.non_negative("noise_var", self.noise_var)

    def sample(self, batch: int, n: int, generator: torch.Generator) -> Prompts:
        inputs = normal(batch, n + 1, self.d, generator=generator)
        values = evaluate(self.family.draw(batch, self.d, generator), inputs)
        return label(inputs, values, self.noise_var, None, generator)


def evaluate(function: Function, points: Float[Tensor, "count p d"]) -> Float[Tensor, "count p"]:
    """function(points), refused unless it is float64, of the right shape and finite."""
    values = function(points)
    validation.float64_tensor("the values of the target functions", values, tuple(points.shape[:2]))
    if not torch.isfinite(values).all():
        bad = int((~torch.isfinite(values)).sum())
        raise ValueError(
            f"target functions must be finite, got {bad} NaN or infinite values among "
            f"{values.numel()}; keep the function away from its poles."
        )
    return values


@dataclass(frozen=True)
class Moments:
    """E|beta_f|^2 and E[f(x)^2 |x|^2] of a family on R^d, with their standard errors.

    beta_f = E[x f(x) | f] for x ~ N(0, I); by Stein's identity it is also E[grad f(x)].
    standard_errors: of the two, 0 where they come from a closed form or from quadrature.
    """

    d: int
    beta_sq: float
    f_sq_x_sq: float
    standard_errors: tuple[float, float] = (0.0, 0.0)

    def step_size(self, n: int, noise_var: float) -> float:
        """eta of OS, Theorem 3 (`theory.nonlinear_step_size`)."""
        return theory.nonlinear_step_size(
            self.beta_sq, self.f_sq_x_sq, n=n, d=self.d, noise_var=noise_var
        )

    def step_size_error(self, n: int, noise_var: float) -> float:
        """A bound on the standard error of `step_size`, however the two errors are correlated.

        d eta / d beta_sq = eta (1 - (n - 1) eta) / beta_sq, d eta / d f_sq_x_sq = -eta^2 / beta_sq.
        """
        if self.beta_sq == 0:
            return 0.0
        eta = self.step_size(n, noise_var)
        by_beta, by_size = eta * (1 - (n - 1) * eta) / self.beta_sq, eta**2 / self.beta_sq
        return abs(by_beta) * self.standard_errors[0] + by_size * self.standard_errors[1]


def estimate_moments(
    family: Family,
    d: int,
    *,
    functions: int = 100_000,
    points: int = 8,
    generator: torch.Generator,
) -> Moments:
    """The two moments of any family from its own sampler, with their standard errors.

    E|beta_f|^2 is the mean of f(x) f(x') x.x' over pairs of different points of one function, so it
    is unbiased.

    Raises:
        ValueError: one function in `functions` carries over a tenth of the mean square. Either
            E[f(x)^2 |x|^2] is infinite, or so heavy-tailed that an average says nothing about it.
            (A sample can suggest this, not prove it: a borderline law may pass.)
    """
    validation.int_at_least("functions", functions, 2)
    validation.int_at_least("points", points, 2)
    inputs = normal(functions, points, d, generator=validation.generator(generator))
    values = evaluate(family.draw(functions, d, generator), inputs)
    xf = inputs * values[..., None]
    alone = xf.square().sum((1, 2))
    beta_sq = (xf.sum(1).square().sum(1) - alone) / (points * (points - 1))
    size = alone / points
    share = (size.max() / size.sum()).item()
    if functions >= 1000 and share > 0.1:
        raise ValueError(
            f"target functions must have a finite second moment E[f(x)^2 |x|^2], got one function "
            f"in {functions} that carries {share:.0%} of it; bound the function where it is large."
        )
    errors = tuple((moment.std() / functions**0.5).item() for moment in (beta_sq, size))
    # |beta_f|^2 is never negative, though an estimate of nearly nothing may be.
    return Moments(d, max(beta_sq.mean().item(), 0.0), size.mean().item(), errors)


def moments(family: Family, d: int, *, generator: torch.Generator, **sizes: int) -> Moments:
    """The family's own `moments(d)` where it has them, otherwise `estimate_moments`."""
    if hasattr(family, "moments"):
        return family.moments(validation.positive_int("d", d))
    return estimate_moments(family, d, generator=generator, **sizes)


def check_sampler(family: Family, d: int, *, count: int = 5, seed: int = 0) -> None:
    """Raise if the family's sampler ignores its generator. For the tests of any new family.

    Raises:
        ValueError: equal generators gave different functions (some other source of randomness is
            in use), different generators gave equal ones (a seed is fixed inside), the global
            generator of torch moved, or the functions change from call to call.
    """
    inputs = normal(count, 3, d, generator=torch.Generator().manual_seed(seed))

    def drawn(with_seed: int) -> Tensor:
        function = family.draw(count, d, torch.Generator().manual_seed(with_seed))
        values = evaluate(function, inputs)
        if not torch.equal(values, evaluate(function, inputs)):
            raise ValueError(
                "a function drawn must give the same values at the same points, got different ones "
                "in two calls; draw its random numbers once, before it is returned."
            )
        return values

    state = torch.get_rng_state()
    first, again, other = drawn(seed), drawn(seed), drawn(seed + 1)
    if not torch.equal(first, again):
        raise ValueError(
            "draw must take all its randomness from its generator, got different functions from "
            "two generators with one seed; pass generator=generator to every sampling call."
        )
    if torch.equal(first, other):
        raise ValueError(
            "draw must use its generator, got the same functions from two generators with "
            "different seeds; do not make a generator or set a seed inside draw."
        )
    if not torch.equal(state, torch.get_rng_state()):
        raise ValueError(
            "draw must leave torch's global generator alone, got a changed state; "
            "pass generator=generator to every sampling call."
        )
