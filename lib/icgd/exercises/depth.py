"""Self-checks for chapter 8, depth."""

from collections.abc import Callable

import numpy as np
import torch

from icgd.exercises.trial import Trial
from icgd.regression import depth, filters, transformer
from icgd.regression.data import Prompts, normal
from icgd.regression.filters import Spectrum

CHAPTER = "08-depth.html"


def check_one_layer(step: Callable[[int, int, float], float]) -> None:
    """step(n, d, noise_var): the best a for one layer with A_0 = a I."""
    with Trial("ex-08-units", f"{CHAPTER}#equation-eq-depth-noise") as trial:
        for n, d, noise_var in ((7, 3, 0.4), (3, 5, 0.0), (20, 5, 2.0)):
            spectrum = Spectrum(n, d, noise_var)
            a = trial.number(step, n=n, d=d, noise_var=noise_var)
            around = [spectrum.risk(filters.gradient_filter, [a + e]) for e in (-0.1, 0.1)]
            trial.same(
                around[0], around[1],
                "the exact risk is a parabola in a: it is the same on both sides of the best step",
            )  # fmt: skip


def check_momentum(numbers: Callable[[float, float], tuple[float, float, float]]) -> None:
    """numbers(s, q): (alpha, beta, gamma) whose two steps have the filter 1 - s h + q h^2."""
    rng = np.random.default_rng(8)
    with Trial("ex-08-complex", f"{CHAPTER}#equation-eq-depth-filter") as trial:
        for s, q in ((1.5, 0.5), (1.0, 0.7), (1.2, -0.3)):  # real, complex, of both signs
            alpha, beta, gamma = trial.arrays(numbers, (), (), (), s=s, q=q)
            X, w_star = rng.standard_normal((11, 3)), rng.standard_normal(3)
            H = X.T @ X / 11
            first = alpha * H @ w_star
            second = first - beta * H @ (first - w_star) + gamma * first
            left = (np.eye(3) - s * H + q * H @ H) @ w_star
            trial.same(
                w_star - second, left,
                "after both steps on a prompt without noise, F(H) w_star is missing",
            )  # fmt: skip


def check_flattest(peak: Callable[[float], tuple[float, float]]) -> None:
    """peak(c): (h, height) of the largest value of h (1 - c h)^2 on 0 <= h <= 1/c."""
    with Trial("ex-08-condition", f"{CHAPTER}#equation-eq-depth-gdpp-filter") as trial:
        for c in (0.4488, 1.3):
            h, height = trial.arrays(peak, (), (), c=c)
            line = np.linspace(0, 1 / c, 100_001)
            trial.holds(0 <= h <= 1 / c, "the eigenvalue lies between 0 and 1/c")
            trial.same(height, h * (1 - c * h) ** 2, "the height is the map's value there")
            largest = np.max(line * (1 - c * line) ** 2)
            trial.same(height, largest, "no eigenvalue between 0 and 1/c is sent higher", rtol=1e-8)


def check_tied(numbers: Callable[[int], tuple[float, float]]) -> None:
    """numbers(K): (a, c) of the best GD++ whose K layers are equal, n = 20, d = 5, no noise."""
    spectrum = Spectrum(20, 5, reach=16.0)

    def risk(K: int, a: float, c: float) -> float:
        return spectrum.risk(filters.gdpp_filter, [a] * K, [c] * K)

    with Trial("ex-08-tied", f"{CHAPTER}#oswald-gdpp") as trial:
        for K in (1, 2, 3):
            a, c = trial.array(numbers, (2,), K=K)
            reached = risk(K, a, c)
            free = spectrum.risk(filters.gradient_filter, depth.tuned_steps(K, spectrum))
            trial.holds(
                K == 1 or reached < free, "equal layers of GD++ leave less than K tuned steps"
            )
            for da, dc in ((1e-2, 0), (-1e-2, 0), (0, 1e-2), (0, -1e-2), (1e-2, 1e-2)):
                trial.holds(
                    risk(K, a + da, c + dc) >= reached * (1 - 1e-9),
                    "no numbers nearby have a smaller risk",
                )


def check_degree(degree: Callable[[int], int]) -> None:
    """degree(K): the degree of u in the entries of the context's tokens, at most, for K layers."""
    g = torch.Generator().manual_seed(9)
    X, y, q = normal(1, 5, 2, generator=g), normal(1, 5, generator=g), normal(1, 2, generator=g)

    def size(stack: transformer.LinearTransformer, scale: float) -> float:
        prompts = Prompts(scale * X, scale * y, q, torch.zeros(1).double())
        return stack(prompts).abs().item()

    with Trial("ex-08-degree", f"{CHAPTER}#equation-eq-depth-stack") as trial:
        for K in (1, 2, 3):
            stack = transformer.LinearTransformer(2, K).initialise(0.7, generator=g)
            growth = np.log2(size(stack, 2e4) / size(stack, 1e4))
            trial.same(
                trial.number(degree, K=K), round(growth),
                "multiply the context by a large number t, and a random stack's prediction grows "
                "with this power of t",
            )  # fmt: skip
