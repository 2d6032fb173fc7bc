"""Prompts whose law is not the one of training: tasks as in `data`, for `sample_prompts`."""

from dataclasses import dataclass

import numpy as np
import torch

from icgd import validation
from icgd.regression.data import Prompts, label, normal
from icgd.regression.random_covariance import finite_law
from icgd.regression.shift import second_moment


@dataclass(frozen=True)
class ShiftedTask:
    """Context x ~ N(0, Sigma), w ~ N(0, W), and an independent query N(0, K): any may be shifted.

    covariance: Sigma, (d, d), symmetric positive definite.   noise_var: variance of the noise.
    task_moment: W, positive semi-definite; the default is I.
    query_moment: K, positive semi-definite; the default is Sigma.
    """

    covariance: np.ndarray
    noise_var: float
    task_moment: np.ndarray | None = None
    query_moment: np.ndarray | None = None

    def __post_init__(self):
        validation.non_negative("noise_var", self.noise_var)
        d = len(np.atleast_1d(self.covariance))
        sigma = validation.covariance_matrix("covariance", self.covariance, d)
        W, K = self.task_moment, self.query_moment
        W = second_moment("task_moment", np.eye(d) if W is None else W, d)
        K = second_moment("query_moment", sigma if K is None else K, d)
        object.__setattr__(self, "covariance", sigma)
        object.__setattr__(self, "task_moment", W)
        object.__setattr__(self, "query_moment", K)

    @property
    def d(self) -> int:
        return len(self.covariance)

    def sample(self, batch: int, n: int, generator: torch.Generator) -> Prompts:
        context = normal(batch, n, self.d, generator=generator) @ _root(self.covariance)
        query = normal(batch, 1, self.d, generator=generator) @ _root(self.query_moment)
        w = normal(batch, self.d, generator=generator) @ _root(self.task_moment)
        return _labelled(context, query, w, self.noise_var, generator)


@dataclass(frozen=True)
class RandomCovarianceTask:
    """x ~ N(0, diag(l)) with l drawn once a prompt, w ~ N(0, I), y = w.x + noise.

    spectra: (k, d) positive, the rows l can be.   weights: (k,) their probabilities.
    """

    spectra: np.ndarray
    weights: np.ndarray
    noise_var: float

    def __post_init__(self):
        spectra, weights = finite_law(self.spectra, self.weights)
        validation.non_negative("noise_var", self.noise_var)
        object.__setattr__(self, "spectra", spectra)
        object.__setattr__(self, "weights", weights)

    @property
    def d(self) -> int:
        return self.spectra.shape[1]

    def sample(self, batch: int, n: int, generator: torch.Generator) -> Prompts:
        weights = torch.as_tensor(self.weights)
        row = torch.multinomial(weights, batch, replacement=True, generator=generator)
        scale = torch.as_tensor(self.spectra).sqrt()[row][:, None]
        inputs = normal(batch, n + 1, self.d, generator=generator) * scale
        w = normal(batch, self.d, generator=generator)
        return _labelled(inputs[:, :-1], inputs[:, -1:], w, self.noise_var, generator)


@dataclass(frozen=True)
class OrthogonalQueryTask:
    """Context and weights N(0, I); the query is orthogonal to the n < d covariates of its context.

    It is sqrt(d / (d - n)) times the projection of a normal vector, so that E[x_q x_q^T] = I as in
    training: nothing is changed but the dependence between query and context.
    """

    d: int
    noise_var: float

    def __post_init__(self):
        validation.int_at_least("d", self.d, 2)
        validation.non_negative("noise_var", self.noise_var)

    def sample(self, batch: int, n: int, generator: torch.Generator) -> Prompts:
        if n >= self.d:
            raise ValueError(
                f"an orthogonal query needs n < d, got n = {n} and d = {self.d}; "
                "shorten the prompt or raise d."
            )
        context = normal(batch, n, self.d, generator=generator)
        query = normal(batch, 1, self.d, generator=generator)
        basis = torch.linalg.qr(context.mT).Q
        query = (query - query @ basis @ basis.mT) * (self.d / (self.d - n)) ** 0.5
        w = normal(batch, self.d, generator=generator)
        return _labelled(context, query, w, self.noise_var, generator)


def _labelled(context, query, w, noise_var: float, generator: torch.Generator) -> Prompts:
    inputs = torch.cat([context, query], 1)
    return label(inputs, torch.einsum("bid,bd->bi", inputs, w), noise_var, w, generator)


def _root(matrix: np.ndarray) -> torch.Tensor:
    """The symmetric square root of a positive semi-definite matrix."""
    values, vectors = np.linalg.eigh(matrix)
    return torch.as_tensor((vectors * np.sqrt(values.clip(0))) @ vectors.T)
