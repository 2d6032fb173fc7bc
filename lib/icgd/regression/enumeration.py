"""Prompts with weights: a finite law whose averages are exact, for small sizes.

A Gauss-Hermite rule with k nodes integrates polynomials of degree up to 2k - 1 in a standard normal
variable exactly, and a discrete law is its own rule. The product of such rules over every random
number in a prompt is a finite list of prompts with weights: the average of a polynomial over it
*is* the expectation. The list grows as nodes^(variables): brute force, for tests and evidence.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from icgd import validation
from icgd.regression.data import Prompts
from icgd.regression.models import check_reduced, gram


@dataclass(frozen=True)
class Rule:
    """A finite law on R^d: points (k, d) with weights (k,) that sum to one."""

    points: Tensor
    weights: Tensor

    def __post_init__(self):
        validation.float64_tensor("points", self.points, (-1, -1))
        validation.float64_tensor("weights", self.weights, (len(self.points),))
        total = self.weights.sum().item()
        if not abs(total - 1) <= 1e-12 or (self.weights < 0).any():
            raise ValueError(
                f"weights must be non-negative and sum to 1, got a sum of {total}; "
                "divide them by their sum."
            )

    def power(self, copies: int) -> "Rule":
        """The law of `copies` independent draws, laid side by side: points (k^copies, copies d)."""
        validation.positive_int("copies", copies)
        index = torch.cartesian_prod(*[torch.arange(len(self.weights))] * copies)
        index = index.reshape(-1, copies)
        return Rule(self.points[index].flatten(1), self.weights[index].prod(1))

    def __mul__(self, other: "Rule") -> "Rule":
        """The law of one draw of each, independently, laid side by side."""
        left = self.points.repeat_interleave(len(other.weights), 0)
        right = other.points.repeat(len(self.weights), 1)
        weights = torch.outer(self.weights, other.weights).flatten()
        return Rule(torch.cat([left, right], 1), weights)

    def image(self, matrix: Float[Tensor, "k d"]) -> "Rule":
        """The law of `matrix` x on R^k, x drawn from this law."""
        validation.float64_tensor("matrix", matrix, (-1, self.points.shape[1]))
        return Rule(self.points @ matrix.T, self.weights)


def gauss_hermite(d: int, nodes: int = 3) -> Rule:
    """N(0, I) on R^d, exact for polynomials of degree at most 2 * nodes - 1 in each variable."""
    validation.positive_int("d", d)
    points, weights = np.polynomial.hermite_e.hermegauss(validation.positive_int("nodes", nodes))
    line = Rule(torch.as_tensor(points)[:, None], torch.as_tensor(weights / weights.sum()))
    return line.power(d)


def rademacher(d: int) -> Rule:
    """Uniform on {-1, 1}^d: E[x x^T] = I and E[|x|^2 x x^T] = d I."""
    validation.positive_int("d", d)
    return Rule(torch.tensor([[-1.0], [1.0]]).double(), _HALVES).power(d)


def sphere(d: int) -> Rule:
    """Uniform on the sphere of radius sqrt(d), where E[x x^T] = I; exact up to degree 5.

    2 d points sqrt(d) (+-e_i) of weight 1 / (d (d + 2)), and the 2^d corners (+-1, ..., +-1), which
    share d / (d + 2). In two dimensions they are the regular octagon, exact up to degree 7.
    """
    axes = d**0.5 * torch.cat([torch.eye(d), -torch.eye(d)]).double()
    corners = rademacher(d)
    weights = [
        torch.full((2 * d,), 1 / (d * (d + 2)), dtype=torch.float64),
        d / (d + 2) * corners.weights,
    ]
    weights = torch.cat(weights)
    return Rule(torch.cat([axes, corners.points]), weights / weights.sum())


def unequal_fourth_moments() -> Rule:
    """On R^2: x_1 = +-1, and x_2 in {0, +-sqrt 3}. E[x x^T] = I but E[|x|^2 x x^T] = diag(2, 4)."""
    line = torch.tensor([[-(3**0.5)], [0.0], [3**0.5]], dtype=torch.float64)
    return rademacher(1) * Rule(line, torch.tensor([1 / 6, 2 / 3, 1 / 6], dtype=torch.float64))


@dataclass(frozen=True)
class WeightedPrompts:
    """Prompts that together are a whole law. `weights` (batch,) sum to one."""

    prompts: Prompts
    weights: Float[Tensor, " batch"]

    def __post_init__(self):
        validation.float64_tensor("weights", self.weights, (len(self.prompts.y),))

    def mean(self, values: Float[Tensor, "batch ..."]) -> Tensor:
        """sum_b weights_b values_b, the expectation of `values`."""
        return torch.tensordot(self.weights, values, dims=1)

    def loss(self, predictions: Float[Tensor, " batch"]) -> Float[Tensor, ""]:
        """E[(prediction - y_query)^2]; differentiable if the predictions are."""
        validation.float64_tensor("predictions", predictions, tuple(self.weights.shape))
        return self.mean((predictions - self.prompts.y_query) ** 2)

    def reduced_loss(self) -> Callable[[Tensor, Tensor], Tensor]:
        """The loss of (A, w) under this law, as a function whose cost forgets the list.

        The prediction sum_ijk A_ij w_k G_jk x_i is linear in A (x) w, so the loss is a quadratic
        form in A (x) w. Its coefficients are moments of the law: one pass, here and now.
        """
        features = torch.einsum("bi,bjk->bijk", self.prompts.x_query, gram(self.prompts))
        features = features.flatten(1)
        second = features.T @ (self.weights[:, None] * features)
        cross = features.T @ (self.weights * self.prompts.y_query)
        constant = self.mean(self.prompts.y_query**2)

        def loss(A: Tensor, w: Tensor) -> Tensor:
            check_reduced(A, w, self.prompts.d)
            theta = torch.einsum("ij,k->ijk", A, w).flatten()
            return constant - 2 * cross @ theta + theta @ second @ theta

        return loss


def enumerate_prompts(
    covariates: Rule,
    n: int,
    noise_var: float,
    *,
    coefficients: Rule | None = None,
    noise_nodes: int = 3,
) -> WeightedPrompts:
    """The law of linear prompts y = w.x + noise, as a finite list.

    Args:
        covariates: the law of x, of the examples and of the query.
        n: examples in the prompt.
        noise_var: variance of the Gaussian noise, integrated with `noise_nodes` nodes.
        coefficients: the law of w; the default is N(0, I) with 3 nodes.
    """
    validation.positive_int("n", n)
    validation.non_negative("noise_var", noise_var)
    d = covariates.points.shape[1]
    noise = gauss_hermite(1, noise_nodes)
    noise = Rule(noise_var**0.5 * noise.points, noise.weights)
    law = covariates.power(n + 1) * (coefficients or gauss_hermite(d)) * noise.power(n)
    law = law * Rule(noise_var**0.5 * torch.tensor([[-1.0], [1.0]]).double(), _HALVES)
    inputs, w, eps = law.points.split([(n + 1) * d, d, n + 1], dim=1)
    inputs = inputs.reshape(-1, n + 1, d)
    y = torch.einsum("bid,bd->bi", inputs, w) + eps
    prompts = Prompts(inputs[:, :-1], y[:, :-1], inputs[:, -1], y[:, -1], w)
    return WeightedPrompts(prompts, law.weights)


#: The query's noise enters the loss squared only: two points give its mean and variance exactly.
_HALVES = torch.tensor([0.5, 0.5], dtype=torch.float64)
