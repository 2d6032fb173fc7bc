"""Self-checks for chapter 16, real rows and maps."""

from collections.abc import Callable

import numpy as np
import torch

from icgd.autoregression import learners
from icgd.exercises.trial import Trial
from icgd.regression import limits, theory
from icgd.regression.enumeration import gauss_hermite

CHAPTER = "16-real-rows-and-sweeps.html"


def check_corner(rates: Callable[[float, float], tuple[float, float, float]]) -> None:
    """rates(gamma, tau): the leading terms of 1 - h / g for small gamma, large gamma, large tau."""
    far = (
        ("short prompts", lambda v: (1e-6, v)),
        ("long prompts", lambda v: (1e6, v)),
        ("loud noise", lambda v: (v, 1e6)),
    )
    with Trial("ex-16-corner", f"{CHAPTER}#rs-half") as trial:
        for value in (0.4, 3.0):
            for which, (name, point) in enumerate(far):
                gamma, tau = point(value)
                found = trial.arrays(rates, (), (), (), gamma=gamma, tau=tau)[which]
                missing = 1 - limits.step_share(gamma, tau)
                trial.same(
                    found, missing, f"for {name} it is what one step misses, nearly", rtol=1e-4
                )


def check_loud_direction(left: Callable[[float, int], float]) -> None:
    """left(a, d): error over signal after long prompts, Sigma = diag(a, 1, ..., 1), Omega = I.

    Of the layer trained on N(0, I).
    """
    with Trial("ex-16-loud", f"{CHAPTER}#rs-foreign") as trial:
        trial.same(trial.number(left, a=1.0, d=3), 0.0, "on its own covariance nothing is left")
        for a, d in ((4.0, 2), (0.3, 3), (2.5, 7)):
            found = trial.number(left, a=a, d=d)
            n, sigma = 10**8, np.diag([a] + [1.0] * (d - 1))
            predictor = theory.step_size(n, d, 0.0) * np.eye(d)
            risk = theory.skewed_risk(
                predictor, sigma, n=n, noise_var=0.0, task_covariance=np.eye(d)
            )
            trial.same(
                found, risk / np.trace(sigma),
                "it is the exact error of long prompts over the signal", rtol=1e-4,
            )  # fmt: skip


def check_shortest(product: Callable[[float], float]) -> None:
    """product(noise_var): the best product on a noisy rotation of three tokens, T = 3."""
    with Trial("ex-16-shortest", f"{CHAPTER}#rs-noisy-rotation") as trial:
        trial.same(trial.number(product, noise_var=0.0), 1.0, "without noise the step is exact")
        rule = gauss_hermite(6)
        for noise_var in (0.2, 1.0, 3.0):
            found = trial.number(product, noise_var=noise_var)
            parts = rule.points.view(-1, 3, 2) * (noise_var / 2) ** 0.5
            turns = torch.polar(torch.ones(3).double(), 1.1 * torch.arange(1, 4).double())
            x = turns + torch.complex(parts[..., 0], parts[..., 1])
            y = learners.gradient_step(1.0)(x[..., None])[:, 0, 0]  # t = 2
            square = rule.weights @ y.abs().square()
            cross = rule.weights @ (x[:, 2].conj() * y).real
            trial.same(
                found * square.item(), cross.item(),
                "the mean squared error, over a complete list of noises, has no slope there",
            )  # fmt: skip
