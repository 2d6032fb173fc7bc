"""Self-checks for chapter 14, every figure of the paper."""

from collections.abc import Callable

import numpy as np
import torch

from icgd.autoregression import data, theory
from icgd.autoregression.blocks import place_blocks
from icgd.autoregression.population import PopulationLoss
from icgd.exercises.trial import Trial

CHAPTER = "14-every-figure.html"


def check_slope_noise(variance: Callable[[np.ndarray, np.ndarray], float]) -> None:
    """variance(values, chances): n times the relative variance of kappa_1 / kappa_2, n draws."""
    with Trial("ex-14-sequences", f"{CHAPTER}#equation-eq-figures-noise") as trial:
        for values, chances in (
            ((-1.0, 1.0), (0.5, 0.5)),
            ((-2.0, -0.5, 0.5, 2.0), (0.1, 0.4, 0.4, 0.1)),
            ((0.0, 1.0, 3.0), (0.2, 0.7, 0.1)),
        ):
            values, chances = np.array(values), np.array(chances)

            def slope(weights, values=values):
                return weights @ values**4 / (weights @ values**6)

            shift = 1e-6 * (np.eye(len(values)) - chances)  # a little of one value more
            influence = [np.log(slope(chances + s) / slope(chances - s)) / 2e-6 for s in shift]
            found = trial.number(variance, values=values, chances=chances)
            trial.same(
                found + 1.0, 1.0 + chances @ np.square(influence),
                "it is the variance of what one more draw does to the logarithm of the slope",
                rtol=1e-6,
            )  # fmt: skip


def check_agreement_rate(rate: Callable[..., float]) -> None:
    """rate(a, b, d, S, k): at which unequal entries agree at ab = c_2 / c_1; k = E[u_1^2 u_2^4]."""
    direction = np.array([1.0, -3.0, 2.0])
    with Trial("ex-14-rate", f"{CHAPTER}#equation-eq-figures-coupled") as trial:
        for law, T, split in ((data.Rademacher(1.0), 6, 1.0), (data.Gaussian(0.8), 5, 1.7)):
            p = theory.limit_product(law, d=3, T=T)
            a, b = split * p**0.5, p**0.5 / split
            step = 1e-4 * direction
            entries = [torch.tensor(x * np.exp(y)) for x, y in ((a, step), (b, -step))]
            entries = [entry.requires_grad_() for entry in entries]
            loss = PopulationLoss(law, d=3, T=T)(*place_blocks(*map(torch.diag, entries)))
            on_a, on_b = (g.numpy() for g in torch.autograd.grad(loss, entries))
            along = on_a @ (a * direction) - on_b @ (b * direction)
            found = trial.number(
                rate, a=a, b=b, d=3, S=theory.harmonic_sum(T), k=law.moment((4, 2), 3)
            )
            trial.same(
                found, along / (1e-4 * (a**2 + b**2) * (direction @ direction)),
                "it is the exact gradient along such a direction, over its length there", rtol=1e-3,
            )  # fmt: skip
