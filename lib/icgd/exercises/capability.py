"""Self-checks for chapter 12, what one step can learn."""

from collections.abc import Callable

import numpy as np
from scipy.special import roots_genlaguerre, roots_jacobi

from icgd.autoregression import data, learners
from icgd.autoregression.enumeration import all_sequences
from icgd.exercises.trial import Trial

CHAPTER = "12-capability.html"


def check_silence(first: Callable[[int], int]) -> None:
    """first(d): the first context length t at which random signs beat predicting zero, p = 1."""
    with Trial("ex-12-silence", f"{CHAPTER}#equation-eq-cap-signs") as trial:
        for d in (1, 2, 3):
            found = trial.number(first, d=d)
            x, weights = all_sequences(data.Rademacher(1.0), d, 6)
            y = learners.gradient_step(1.0)(x)[:, :-1]
            error = weights @ (y - x[:, 2:]).abs().square().sum(2) / d
            times = np.arange(2, 6)
            trial.same(
                found, float(times[error.numpy() < 1 - 1e-9].min()),
                "before it the relative error is 1 or more, from there on it is less",
            )  # fmt: skip
        steps = np.diff([trial.number(first, d=d) for d in (10, 20, 40)])
        trial.holds(steps[1] == 2 * steps[0] > 0, "it grows in proportion to d")


def check_hard_law(law: Callable[[float], tuple[np.ndarray, np.ndarray]]) -> None:
    """law(gap): values and chances of a symmetric coordinate whose floor exceeds 1 - gap."""
    with Trial("ex-12-worst", f"{CHAPTER}#equation-eq-cap-floor") as trial:
        for gap in (0.5, 0.1, 0.02):
            found = trial.call(law, gap=gap)
            values, chances = (np.asarray(part, dtype=float) for part in found)
            trial.holds(values.shape == chances.shape, "one chance for each value")
            trial.holds(bool((chances >= 0).all()), "no chance is negative")
            trial.same(chances.sum(), 1.0, "the chances add up to one")
            odd = [abs(chances @ values**r) / (chances @ abs(values) ** r) for r in (1, 3, 5)]
            trial.holds(max(odd) < 1e-9, "the law is symmetric about zero")
            slope = chances @ values**4 / (chances @ values**6)
            left = chances @ (values - slope * values**3) ** 2 / (chances @ values**2)
            trial.holds(left > 1 - gap, "the regression of x on its cube leaves more than 1 - gap")


def check_normalised(floor: Callable[[int], float]) -> None:
    """floor(d): what is left for tokens uniform on the sphere of radius sqrt(d), d >= 2."""
    with Trial("ex-12-normalise", f"{CHAPTER}#equation-eq-cap-floor") as trial:
        for d in (2, 3, 5, 11):
            power = (d - 3) / 2  # density (1 - s^2)^power of a coordinate z = sqrt(d) s
            s, weights = roots_jacobi(12, power, power)
            z, weights = d**0.5 * s, weights / weights.sum()
            slope = weights @ z**4 / (weights @ z**6)
            trial.same(
                trial.number(floor, d=d), weights @ (z - slope * z**3) ** 2,
                "it is what the best multiple of the cube leaves of one coordinate",
            )  # fmt: skip


def check_step_sizes(sizes: Callable[[int], np.ndarray]) -> None:
    """sizes(k): the k best step sizes for Gaussian tokens of variance 1, in any order."""
    z, weights = roots_genlaguerre(40, 0.5)  # x^2 = 2 z under E[x^2 .]
    v, weights = 2 * z, weights / weights.sum()
    with Trial("ex-12-steps", f"{CHAPTER}#mo-regression-on-cubes") as trial:
        for k in (1, 2, 4):
            found = trial.array(sizes, (k,), k=k)
            factors = 1 - found[:, None] * v
            q = factors.prod(0)
            slope = [weights @ (q * np.delete(factors, i, 0).prod(0) * v) for i in range(k)]
            trial.holds(
                np.abs(slope).max() < 1e-8, "the error E[x^2 q(x^2)^2] has no slope in any size"
            )
