"""Prompts of labelled examples with one query, and the tasks they are drawn from (OS, Section 2).

A task is a law of (covariates, labels). Its `sample` method draws prompts; `sample_prompts` checks
the arguments and calls it. Every prompt carries its own hidden weight vector.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from icgd import validation


@dataclass(frozen=True)
class Prompts:
    """A batch of prompts (x_1, y_1, ..., x_n, y_n, x_query) with the answer y_query.

    X: (batch, n, d) covariates, a row an example.   y: (batch, n) labels.
    x_query: (batch, d).   y_query: (batch,), noise included, as in the paper's Eq. (22).
    w: (batch, d) the hidden weight vector, or None where the target is not linear.
    """

    X: Tensor
    y: Tensor
    x_query: Tensor
    y_query: Tensor
    w: Tensor | None = None

    def __post_init__(self):
        validation.float64_tensor("X", self.X, (-1, -1, -1))
        batch, n, d = self.X.shape
        validation.positive_int("the number of examples n", n)
        validation.float64_tensor("y", self.y, (batch, n))
        validation.float64_tensor("x_query", self.x_query, (batch, d))
        validation.float64_tensor("y_query", self.y_query, (batch,))
        if self.w is not None:
            validation.float64_tensor("w", self.w, (batch, d))

    @property
    def n(self) -> int:
        return self.X.shape[1]

    @property
    def d(self) -> int:
        return self.X.shape[2]

    def to(self, device: str | torch.device) -> "Prompts":
        """The same prompts on another device."""
        w = None if self.w is None else self.w.to(device)
        parts = (self.X, self.y, self.x_query, self.y_query)
        return Prompts(*(part.to(device) for part in parts), w)

    def tokens(self) -> Float[Tensor, "batch tokens width"]:
        """v_i = (x_i, y_i) for the n examples, then (x_query, 0); their width is d + 1."""
        examples = torch.cat([self.X, self.y[..., None]], dim=2)
        query = torch.nn.functional.pad(self.x_query, (0, 1))
        return torch.cat([examples, query[:, None]], dim=1)


@runtime_checkable
class Task(Protocol):
    """What `sample_prompts` needs of a task."""

    d: int
    noise_var: float

    def sample(self, batch: int, n: int, generator: torch.Generator) -> Prompts: ...


def sample_prompts(task: Task, batch: int, n: int, *, generator: torch.Generator) -> Prompts:
    """Draw `batch` independent prompts with `n` examples each.

    Args:
        generator: the only source of randomness; the same state gives the same prompts.
    """
    validation.positive_int("batch", batch)
    validation.positive_int("n", n)
    return task.sample(batch, n, validation.generator(generator))


@dataclass(frozen=True)
class LinearTask:
    """x ~ N(0, I), w ~ N(0, I), y = w.x + noise with *variance* `noise_var` (OS, Section 2)."""

    d: int
    noise_var: float

    def __post_init__(self):
        validation.positive_int("d", self.d)
        validation.non_negative("noise_var", self.noise_var)

    def sample(self, batch: int, n: int, generator: torch.Generator) -> Prompts:
        inputs = normal(batch, n + 1, self.d, generator=generator)
        w = normal(batch, self.d, generator=generator)
        return label(inputs, torch.einsum("bid,bd->bi", inputs, w), self.noise_var, w, generator)


@dataclass(frozen=True)
class SkewedTask:
    """x ~ N(0, Sigma), w ~ N(0, Omega), y = w.x + noise of variance `noise_var` (OS, Section 4).

    covariance: Sigma, (d, d), symmetric positive definite.
    task_covariance: Omega, (d, d); the default is Sigma^-1, the setting of OS, Theorem 2.
    """

    covariance: np.ndarray
    noise_var: float
    task_covariance: np.ndarray | None = None

    def __post_init__(self):
        validation.non_negative("noise_var", self.noise_var)
        sigma, omega = validation.covariance_pair(self.covariance, self.task_covariance)
        object.__setattr__(self, "covariance", sigma)
        object.__setattr__(self, "task_covariance", omega)

    @property
    def d(self) -> int:
        return len(self.covariance)

    def sample(self, batch: int, n: int, generator: torch.Generator) -> Prompts:
        inputs = normal(batch, n + 1, self.d, generator=generator) @ _root(self.covariance)
        w = normal(batch, self.d, generator=generator) @ _root(self.task_covariance)
        return label(inputs, torch.einsum("bid,bd->bi", inputs, w), self.noise_var, w, generator)


def normal(*shape: int, generator: torch.Generator) -> Tensor:
    """Independent standard normal float64 numbers."""
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def label(
    inputs: Float[Tensor, "batch points d"],
    targets: Float[Tensor, "batch points"],
    noise_var: float,
    w: Tensor | None,
    generator: torch.Generator,
) -> Prompts:
    """Prompts from noiseless targets: add the noise, and let the last point be the query."""
    y = targets + noise_var**0.5 * normal(*targets.shape, generator=generator)
    return Prompts(inputs[:, :-1], y[:, :-1], inputs[:, -1], y[:, -1], w)


def _root(matrix: np.ndarray) -> Tensor:
    """The symmetric square root, so that rows z ~ N(0, I) become z @ root ~ N(0, matrix)."""
    values, vectors = np.linalg.eigh(matrix)
    return torch.as_tensor((vectors * np.sqrt(values)) @ vectors.T)
