"""The best predictors for nonlinear targets: what one gradient step is measured against.

`kernel_ridge` is the best predictor that is linear in the labels, and the best of all where f is a
Gaussian process. `posterior_mean` is the best of all for any family, computed numerically.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from icgd import validation
from icgd.regression.data import Prompts, sample_prompts
from icgd.regression.learners import gradient_step
from icgd.regression.targets import Family, NonlinearTask, evaluate, moments

Kernel = Callable[[Tensor, Tensor], Tensor]
_CHUNK = 2_000_000  # values of functions held in memory at once
_LEAST_EFFECTIVE = 20  # functions the posterior of the middle prompt must rest on


def kernel_ridge(kernel: Kernel, noise_var: float) -> Callable[[Prompts], Float[Tensor, " batch"]]:
    """k(x_query, X) (k(X, X) + noise_var I)^-1 y, with kernel(x, x') = E[f(x) f(x')].

    No predictor that is linear in the labels does better, whatever the family; no predictor at all
    does better if f is a Gaussian process.

    Args:
        kernel: maps (batch, p, d) and (batch, q, d) to (batch, p, q); see the families' `kernel`.
    """
    validation.positive("noise_var", noise_var)

    def predict(prompts: Prompts) -> Tensor:
        K = kernel(prompts.X, prompts.X)
        validation.float64_tensor("the kernel's values", K, (len(prompts.X), prompts.n, prompts.n))
        noisy = K + noise_var * torch.eye(prompts.n, dtype=torch.float64)
        coefficients = torch.linalg.solve(noisy, prompts.y)
        across = kernel(prompts.x_query[:, None], prompts.X)[:, 0]
        return (across * coefficients).sum(1)

    return predict


def posterior_mean(
    family: Family, noise_var: float, *, functions: int, generator: torch.Generator
) -> Callable[[Prompts], Float[Tensor, " batch"]]:
    """E[f(x_query) | context], by weighing `functions` draws of f with their likelihood.

    sum_k f_k(x_query) p(y | f_k) / sum_k p(y | f_k). The error falls like 1 / sqrt(effective
    functions), of which long contexts and small noise leave few: meant for small n and d.

    Raises:
        ValueError: (on use) fewer than 20 functions carry the posterior of the middle prompt.
    """
    validation.positive("noise_var", noise_var)
    validation.positive_int("functions", functions)
    validation.generator(generator)

    def predict(prompts: Prompts) -> Tensor:
        batch, n, d = prompts.X.shape
        points = torch.cat([prompts.X, prompts.x_query[:, None]], 1).reshape(1, batch * (n + 1), d)
        # Weights are kept relative to the largest log-likelihood so far of each prompt.
        top = torch.full((batch,), -torch.inf, dtype=torch.float64)
        weighted, total, squares = (torch.zeros(batch, dtype=torch.float64) for _ in range(3))
        left = functions
        while left:
            count = min(left, max(1, _CHUNK // points.shape[1]))
            left -= count
            values = evaluate(family.draw(count, d, generator), points.expand(count, -1, -1))
            values = values.view(count, batch, n + 1)
            misfit = (prompts.y - values[..., :-1]).square().sum(2)
            log_weight = -misfit / (2 * noise_var)
            new_top = torch.maximum(top, log_weight.max(0).values)
            shrink, weight = torch.exp(top - new_top), torch.exp(log_weight - new_top)
            weighted = shrink * weighted + (weight * values[..., -1]).sum(0)
            total = shrink * total + weight.sum(0)
            squares = shrink**2 * squares + weight.square().sum(0)
            top = new_top
        effective = (total**2 / squares).median().item()
        if effective < _LEAST_EFFECTIVE:
            raise ValueError(
                f"the posterior must rest on at least {_LEAST_EFFECTIVE} functions, got "
                f"{effective:.1f} for the middle prompt; draw more functions, or take fewer "
                "examples or more noise."
            )
        return weighted / total

    return predict


def risks(
    task: NonlinearTask, n: int, *, prompts: int, functions: int, generator: torch.Generator
) -> dict[str, tuple[float, float]]:
    """Risk and its standard error, on one set of sampled prompts: what a single step gives away.

    Of "no step" (predict 0), "one step" (with the family's step size), "kernel ridge" (where the
    family has a closed-form `kernel`) and "best" (`posterior_mean` on `functions` draws). The noise
    of y_query is included, so `noise_var` is the floor.
    """
    drawn = sample_prompts(task, prompts, n, generator=generator)
    size = moments(task.family, task.d, generator=generator).step_size(n, task.noise_var)
    predictors = {
        "no step": lambda p: torch.zeros_like(p.y_query),
        "one step": gradient_step(size),
        "kernel ridge": None,
        "best": posterior_mean(
            task.family, task.noise_var, functions=functions, generator=generator
        ),
    }
    try:
        task.family.kernel(drawn.X[:1], drawn.X[:1])
        predictors["kernel ridge"] = kernel_ridge(task.family.kernel, task.noise_var)
    except (AttributeError, NotImplementedError):
        del predictors["kernel ridge"]
    found = {}
    for name, predict in predictors.items():
        losses = (predict(drawn) - drawn.y_query).square()
        found[name] = (losses.mean().item(), (losses.std() / prompts**0.5).item())
    return found
