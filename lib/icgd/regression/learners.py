"""Learning algorithms that a model's prediction is compared with.

Each is a `Learner`: from a prompt it computes a weight vector, and it predicts with that. Called on
prompts, it returns predictions (batch,), just as the models do.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from icgd import validation
from icgd.regression.data import Prompts


@dataclass(frozen=True)
class Learner:
    """weights(prompts) -> (batch, d); the prediction is its product with x_query."""

    name: str
    weights: Callable[[Prompts], Float[Tensor, "batch d"]]

    def __call__(self, prompts: Prompts) -> Float[Tensor, " batch"]:
        return torch.einsum("bd,bd->b", self.weights(prompts), prompts.x_query)


def gradient_step(step_size: float) -> Learner:
    """One step on (1/2) sum_i (w.x_i - y_i)^2 from w = 0:  step_size * X^T y  (OS, Eqs. 34, 35)."""
    validation.finite_float("step_size", step_size)
    return Learner("one gradient step", lambda prompts: step_size * label_sum(prompts))


def preconditioned_step(preconditioner: Float[Tensor, "d d"]) -> Learner:
    """One preconditioned step from w = 0:  P X^T y  (OS, Theorem 2: P = step_size * Sigma^-1)."""
    validation.float64_tensor("preconditioner", preconditioner, (-1, -1))

    def weights(prompts: Prompts) -> Tensor:
        validation.float64_tensor("preconditioner", preconditioner, (prompts.d, prompts.d))
        return label_sum(prompts) @ preconditioner.T

    return Learner("one preconditioned step", weights)


def ridge(noise_var: float) -> Learner:
    """Ridge regression: (X^T X + noise_var I)^-1 X^T y.

    It is the posterior mean, hence the best predictor, when w ~ N(0, I) and the noise has variance
    `noise_var` (OS, Theorem 1).
    """
    validation.positive("noise_var", noise_var)

    def weights(prompts: Prompts) -> Tensor:
        S = prompts.X.mT @ prompts.X
        eye = torch.eye(prompts.d, dtype=torch.float64, device=S.device)
        return torch.linalg.solve(S + noise_var * eye, label_sum(prompts))

    return Learner("ridge", weights)


def least_squares() -> Learner:
    """The minimiser of sum_i (w.x_i - y_i)^2; of all minimisers the shortest, when n < d."""
    return Learner(
        "least squares",
        lambda prompts: torch.einsum("bdn,bn->bd", torch.linalg.pinv(prompts.X), prompts.y),
    )


def label_sum(prompts: Prompts) -> Float[Tensor, "batch d"]:
    """X^T y = sum_i y_i x_i, minus the gradient of the least-squares loss at w = 0."""
    return torch.einsum("bnd,bn->bd", prompts.X, prompts.y)
