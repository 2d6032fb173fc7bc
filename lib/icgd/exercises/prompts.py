"""Self-checks for chapter 1, prompts and learners."""

from collections.abc import Callable
from functools import partial

import numpy as np

from icgd.exercises.trial import Trial
from icgd.regression import theory

CHAPTER = "01-prompts-and-learners.html"


def check_break_even(step: Callable[[int, int, float], float]) -> None:
    """step(n, d, noise_var): the largest step size that is no worse than guessing zero."""
    with Trial("ex-01-break-even", f"{CHAPTER}#equation-eq-one-step-risk") as trial:
        for n, d, noise_var in ((7, 3, 0.4), (2, 11, 0.0), (19, 5, 3.0)):
            size = trial.number(step, n=n, d=d, noise_var=noise_var)
            risk = partial(theory.one_step_risk, n=n, d=d, noise_var=noise_var)
            trial.holds(size > 0, "some positive step is no worse than guessing zero")
            trial.same(
                risk(size), risk(0.0), "the risk at the largest such size is that of guessing zero"
            )


def check_high_noise(gap: Callable[[np.ndarray, np.ndarray, float], np.ndarray]) -> None:
    """gap(X, y, noise_var): X^T y - noise_var w_hat, (d,), in a form that shows it vanish.

    X: (n, d), y: (n,), w_hat: ridge regression of strength noise_var. Written as a difference it
    loses all digits at large noise; written as a matrix times w_hat it shows its size.
    """
    rng = np.random.default_rng(1)
    with Trial("ex-01-high-noise", f"{CHAPTER}#equation-eq-ridge") as trial:
        for n, d in ((7, 3), (2, 5)):
            X, y = rng.standard_normal((n, d)), rng.standard_normal(n)
            for noise_var in (0.3, 5.0):
                found = trial.array(gap, (d,), X=X, y=y, noise_var=noise_var)
                whole = np.vstack([X, noise_var**0.5 * np.eye(d)])  # ridge as least squares
                w_hat = np.linalg.lstsq(whole, np.append(y, np.zeros(d)), rcond=None)[0]
                trial.same(
                    found, X.T @ y - noise_var * w_hat, "it is X^T y minus noise_var times w_hat"
                )
            large = trial.array(gap, (d,), X=X, y=y, noise_var=1e13)
            larger = trial.array(gap, (d,), X=X, y=y, noise_var=2e13)
            trial.holds(
                np.allclose(large, 2 * larger, rtol=1e-6, atol=0.0) and np.abs(large).max() > 0,
                "doubling a large noise halves the gap, digit by digit (do not subtract two "
                "nearly equal vectors)",
            )


def check_noiseless_risk(risk: Callable[[int, int], float]) -> None:
    """risk(n, d): the risk of shortest least squares without noise, for every n >= 1."""
    rng = np.random.default_rng(2)
    with Trial("ex-01-double-descent", f"{CHAPTER}#equation-eq-least-squares") as trial:
        for n, d in ((3, 7), (6, 7), (7, 7), (8, 7), (13, 7), (1, 2)):
            seen = np.linalg.matrix_rank(rng.standard_normal((n, d)))
            trial.same(
                trial.number(risk, n=n, d=d),
                float(d - seen),
                "the risk is the mean squared length of the part of w that no example shows",
            )
