"""Learners that take several steps: gradient descent, GD++, conjugate gradients, Newton.

Step sizes act on the mean H = X^T X / n, so that they do not depend on the length of the prompt: a
step `a` is the step a / n of `learners.gradient_step`. All start from w = 0.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from icgd import validation
from icgd.regression.data import Prompts
from icgd.regression.learners import Learner, label_sum
from icgd.regression.transformer import Numbers, Steps, as_matrices


def gradient_steps(steps: Steps) -> Learner:
    """w <- w - A_k (H w - X^T y / n), one step for each number a_k (A_k = a_k I) or matrix A_k."""
    steps = torch.as_tensor(steps, dtype=torch.float64)
    validation.finite_tensor("steps", steps)

    def weights(prompts: Prompts) -> Tensor:
        H, b = normal_equations(prompts)
        w = torch.zeros_like(b)
        for A in as_matrices(prompts.d, steps):
            w = w - (apply(H, w) - b) @ A.mT
        return w

    return Learner(f"{len(steps)} gradient steps", weights)


def gd_plus_plus(steps: Numbers, curvatures: Numbers) -> Learner:
    """GD++ (von Oswald et al., 2023): a step of size a_k, then new data x <- (I - c_k H_k) x.

    H_k is the mean of x x^T over the data of that moment; the query changes with the examples.
    """
    if len(steps) != len(curvatures):
        raise ValueError(
            f"steps and curvatures must have one length, got {len(steps)} and {len(curvatures)}; "
            "pass a number of each kind for every layer."
        )

    def weights(prompts: Prompts) -> Tensor:
        X, residual = prompts.X, prompts.y
        T = torch.eye(prompts.d, dtype=torch.float64)  # what the query has been multiplied by
        total = torch.zeros_like(prompts.x_query)
        for a, c in zip(steps, curvatures, strict=True):
            step = a * torch.einsum("bnd,bn->bd", X, residual) / prompts.n
            total = total + apply(T.mT.expand(len(X), -1, -1), step)
            residual = residual - apply(X, step)
            H = X.mT @ X / prompts.n
            X, T = X - c * X @ H, T - c * H @ T
        return total

    return Learner(f"{len(steps)} steps of GD++", weights)


def conjugate_gradients(steps: int, noise_var: float = 0.0) -> Learner:
    """`steps` conjugate gradient steps on (X^T X + noise_var I) w = X^T y (Hestenes, Stiefel 1952).

    After d steps it is ridge regression, or least squares without noise: the best polynomial of its
    degree, chosen anew for every prompt. A prompt that is solved stays solved.
    """
    steps = validation.positive_int("steps", steps)
    noise_var = validation.non_negative("noise_var", noise_var)

    def weights(prompts: Prompts) -> Tensor:
        H, residual = normal_equations(prompts)
        H = H + noise_var / prompts.n * torch.eye(prompts.d, dtype=torch.float64)
        w, direction = torch.zeros_like(residual), residual
        for _ in range(steps):
            image, size = apply(H, direction), residual.square().sum(1)
            bend = (direction * image).sum(1)
            step = torch.where(bend > 0, size / bend, 0.0)[:, None]
            w, residual = w + step * direction, residual - step * image
            turn = torch.where(size > 0, residual.square().sum(1) / size, 0.0)
            direction = residual + turn[:, None] * direction
        return w

    return Learner(f"{steps} conjugate gradient steps", weights)


def newton_inverse(start: float, iterations: int) -> Learner:
    """w = M X^T y / n, M from `iterations` steps M <- M (2 I - H M) towards H^-1, M = start I."""
    start = validation.finite_float("start", start)
    validation.positive_int("iterations", iterations)

    def weights(prompts: Prompts) -> Tensor:
        H, b = normal_equations(prompts)
        M = start * torch.eye(prompts.d, dtype=torch.float64).expand_as(H)
        for _ in range(iterations):
            M = 2 * M - M @ H @ M
        return apply(M, b)

    return Learner(f"{iterations} Newton steps", weights)


def normal_equations(
    prompts: Prompts,
) -> tuple[Float[Tensor, "batch d d"], Float[Tensor, "batch d"]]:
    """(H, X^T y / n): least squares solves H w = X^T y / n."""
    return prompts.X.mT @ prompts.X / prompts.n, label_sum(prompts) / prompts.n


def apply(matrices: Float[Tensor, "batch i j"], vectors: Float[Tensor, "batch j"]) -> Tensor:
    """A matrix times a vector, for each prompt."""
    return torch.einsum("bij,bj->bi", matrices, vectors)
