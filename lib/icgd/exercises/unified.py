"""Self-checks for chapter 6, one theorem behind all three."""

from collections.abc import Callable

import numpy as np
import torch

from icgd.exercises.trial import Trial
from icgd.regression import theory
from icgd.regression.enumeration import Rule, gauss_hermite
from icgd.regression.families import TwoLayerNetwork
from icgd.regression.moments import TokenMoments

CHAPTER = "06-one-theorem.html"


def check_heavy_tails(answer: Callable[[float, int, int, float], tuple[float, float]]) -> None:
    """answer(kurtosis, n, d, noise_var): (step, minimum) for independent coordinates of x.

    Mean 0, variance 1, fourth moment `kurtosis`; y = w . x + noise with w ~ N(0, I).
    """
    with Trial("ex-06-kurtosis", f"{CHAPTER}#os-fourth-moments") as trial:
        for kurtosis, n, d, noise_var in ((3.0, 5, 2, 0.3), (1.0, 7, 3, 0.0), (6.5, 2, 2, 1.7)):
            law = _three_points(kurtosis).power(d)
            w = gauss_hermite(d)
            tokens = TokenMoments.enumerate(
                law, w.points @ law.points.T, w.weights, noise=noise_var
            )
            cross, second = tokens.predictor_moments(n)
            C = theory.optimal_predictor(cross, second)
            given = {"kurtosis": kurtosis, "n": n, "d": d, "noise_var": noise_var}
            step, least = trial.arrays(answer, (), (), **given)
            trial.same(step * np.eye(d), C, "step I is the regression of u on X^T y for such a law")
            keys = {"x_second": np.eye(d), "y_sq": d + noise_var}
            trial.same(least, theory.optimal_loss(cross, second, **keys), "the minimum is its loss")


def check_not_plain(points: np.ndarray, chances: np.ndarray) -> None:
    """A law on R^2, points (k, 2) and chances (k,), whose layer does not learn a plain step.

    E[x x^T] = I and E x_1^4 = E x_2^4 are asked for.
    """
    with Trial("ex-06-rotated", f"{CHAPTER}#os-fourth-moments") as trial:
        points, chances = np.asarray(points, dtype=float), np.asarray(chances, dtype=float)
        trial.holds(points.shape == (len(chances), 2), "one chance for each point of the plane")
        trial.same(chances.sum(), 1.0, "the chances add up to one")
        trial.holds(bool((chances >= 0).all()), "no chance is negative")
        trial.same(points.T * chances @ points, np.eye(2), "E[x x^T] is the identity")
        fourth = chances @ points**4
        trial.same(fourth[0], fourth[1], "the two coordinates have one fourth moment")
        F = (points.T * (chances * (points**2).sum(1))) @ points
        trial.holds(
            bool(np.abs(F - np.trace(F) / 2 * np.eye(2)).max() > 1e-6),
            "the matrix that decides is not a multiple of I",
        )


def check_orthogonal_design(
    answer: Callable[[int, int, float], tuple[float, float]],
) -> None:
    """answer(n, d, noise_var): (step, minimum) for prompts with X^T X = n I, n >= d."""
    rng = np.random.default_rng(11)
    with Trial("ex-06-orthogonal", f"{CHAPTER}#equation-eq-one-optimum") as trial:
        for n, d, noise_var in ((5, 3, 0.4), (7, 7, 2.0), (11, 2, 0.0)):
            X = n**0.5 * np.linalg.qr(rng.standard_normal((n, d)))[0]
            labels = X @ X.T + noise_var * np.eye(n)  # E[y y^T]
            gain = X.T @ np.linalg.pinv(labels) @ X  # Cov(w, y) Cov(y)^-1 Cov(y, w)
            step, least = trial.arrays(answer, (), (), n=n, d=d, noise_var=noise_var)
            trial.same(
                step * X.T, X.T @ np.linalg.pinv(labels), "step X^T y is the regression of w on y",
                rtol=1e-8,
            )  # fmt: skip
            trial.same(
                least, d + noise_var - np.trace(gain),
                "the minimum is noise plus what the labels leave unknown of w", rtol=1e-8,
            )  # fmt: skip


def check_same_step(pair: Callable[[int, float], tuple[float, float]]) -> None:
    """pair(d, noise_var): (tau, noise) such that y = tau w . x + noise teaches the ReLU step.

    tau: a scale, noise: the *variance* of the linear family's noise. noise_var: of the networks'.
    """
    with Trial("ex-06-same", f"{CHAPTER}#one-theorem-independent") as trial:
        for d, noise_var in ((3, 0.0), (5, 0.7)):
            tau, noise = trial.arrays(pair, (), (), d=d, noise_var=noise_var)
            trial.holds(bool(tau > 0 and noise >= 0), "a scale and a variance are not negative")
            network = TwoLayerNetwork(4).moments(d)
            for n in (1, 6, 23):
                taught = theory.nonlinear_step_size(
                    d * tau**2, d * (d + 2) * tau**2, n=n, d=d, noise_var=float(noise)
                )
                trial.same(
                    taught, network.step_size(n, noise_var),
                    f"both families teach the same step from {n} examples", rtol=1e-8,
                )  # fmt: skip


def _three_points(kurtosis: float) -> Rule:
    """-sqrt k, 0, sqrt k with mean 0, variance 1 and fourth moment k."""
    edge = 0.5 / kurtosis
    points = torch.tensor([[-(kurtosis**0.5)], [0.0], [kurtosis**0.5]], dtype=torch.float64)
    return Rule(points, torch.tensor([edge, 1 - 2 * edge, edge], dtype=torch.float64))
