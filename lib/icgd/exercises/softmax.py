"""Self-checks for the last sections of chapter 8: softmax heads and trained transformers."""

from collections.abc import Callable

import numpy as np
from scipy.special import ndtr
from scipy.stats import chi2

from icgd.exercises.trial import Trial
from icgd.regression import theory

CHAPTER = "08-depth.html"


def check_hard_head(risk: Callable[[int, float], float]) -> None:
    """risk(n, noise_var): the least risk of one infinitely sharp head, d = 1, best c."""
    with Trial("ex-08-hard-head", f"{CHAPTER}#equation-eq-softmax-heads") as trial:
        for noise_var in (0.0, 0.7):
            alone = trial.number(risk, n=1, noise_var=noise_var)
            trial.same(
                alone, 1 + noise_var,
                "with one example the head always reads its label, whatever the query: c = 0",
            )  # fmt: skip
        t, step = np.linspace(0, 12, 24_001, retstep=True)
        for n, noise_var in ((2, 0.0), (2, 0.7), (3, 0.0), (7, 0.3)):
            found = trial.number(risk, n=n, noise_var=noise_var)
            # The largest of n, by its tails: E max = integral of P(max > t) - P(max < -t).
            above, below = 1 - ndtr(t) ** n, ndtr(-t) ** n
            first, second = (np.trapezoid(f, dx=step) for f in (above - below, 2 * t * above))
            second += np.trapezoid(2 * t * below, dx=step)
            label = second + noise_var  # E y_i^2 of the label that is read
            trial.holds(
                found >= 1 + noise_var - 2 / np.pi * first**2 / label - 1e-6,
                "no number c does better: E (c y_i - y)^2 is a parabola in c",
            )
            trial.holds(
                found <= 1 + noise_var - 2 / np.pi * first**2 / label + 1e-6,
                "c is the best one: the parabola in c goes lower than this",
            )
        few, many = (trial.number(risk, n=n, noise_var=0.0) for n in (10, 100))
        trial.holds(few > many > 1 - 2 / np.pi, "more examples help, and 1 - 2/pi is never reached")


def check_distance(distance: Callable[[int, float], float]) -> None:
    """distance(n, noise_var): E (best gradient step - ridge)^2 for d = 1, exactly."""
    share, weights = np.polynomial.legendre.leggauss(400)
    share, weights = (share + 1) / 2, weights / 2
    with Trial("ex-08-distance", f"{CHAPTER}#transformers-distance") as trial:
        for n, noise_var in ((6, 0.25), (11, 1.5), (3, 0.4)):
            found = trial.number(distance, n=n, noise_var=noise_var)
            S = chi2.ppf(share, n)  # sum of squares of the covariates
            gap = theory.step_size(n, 1, noise_var) - 1 / (S + noise_var)
            trial.same(
                found, weights @ (gap**2 * S * (S + noise_var)),
                "on a prompt with sum x_i^2 = S both predict a multiple of x sum x_i y_i, and "
                "E (sum x_i y_i)^2 = S^2 + noise_var S",
                rtol=1e-4,
            )  # fmt: skip
        late = trial.number(distance, n=400, noise_var=0.25)
        trial.holds(0 < late < 0.01, "with many examples one step and ridge agree")
