"""Self-checks for chapter 4, preconditioning."""

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize_scalar

from icgd.exercises.trial import Trial
from icgd.regression import theory

CHAPTER = "04-preconditioning.html"


def check_change_of_coordinates(turned: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> None:
    """turned(C, T): the best C for prompts rewritten by x -> T x, if C was best before; (d, d)."""
    rng = np.random.default_rng(7)
    with Trial("ex-04-equivariance", f"{CHAPTER}#equation-eq-skew-reduced") as trial:
        for d in (2, 5):
            C, T = rng.standard_normal((2, d, d))
            new = trial.array(turned, (d, d), C=C, T=T)
            X, y = rng.standard_normal((7, d)), rng.standard_normal(7)
            query = rng.standard_normal(d)
            trial.same(
                (new @ (X @ T.T).T @ y) @ (T @ query), (C @ X.T @ y) @ query,
                "on rewritten examples and a rewritten query it predicts what C did before",
            )  # fmt: skip


def check_kept_share(share: Callable[[np.ndarray], float]) -> None:
    """share(variances): the share of the possible gain that the best plain step keeps.

    variances: (d,), the eigenvalues of Sigma; w_star ~ N(0, Sigma^-1).
    """
    with Trial("ex-04-effective", f"{CHAPTER}#os-best-scalar-step") as trial:
        trial.same(trial.number(share, variances=np.full(7, 2.5)), 1.0, "equal variances lose none")
        for variances in (np.array([3.0, 0.2, 1.1]), np.array([1.0, 1.0, 1.0, 1.0, 20.0])):
            found = trial.number(share, variances=variances)
            trial.same(trial.number(share, variances=10 * variances), found, "units do not matter")
            d, Sigma = len(variances), np.diag(variances)

            def risk(s, Sigma=Sigma, d=d):
                return theory.skewed_risk(s * np.eye(d), Sigma, n=7, noise_var=0.4)

            plain = minimize_scalar(risk, bracket=(0.0, 0.1 / variances.max()), tol=1e-12).fun
            possible = theory.skewed_minimum_loss(Sigma, n=7, noise_var=0.4)
            trial.same(
                found, (d + 0.4 - plain) / (d + 0.4 - possible),
                "it is the gain of the best plain step over guessing zero, as a share of the gain "
                "of the best layer", rtol=1e-6,
            )  # fmt: skip


def check_louder_test(risk: Callable[[float, int, int, float], float]) -> None:
    """risk(c, n, d, noise_var): of a layer trained on covariance Sigma and tested on c Sigma.

    The labels keep their law: at test time w_star ~ N(0, Sigma^-1 / c).
    """
    rng = np.random.default_rng(8)
    with Trial("ex-04-louder", f"{CHAPTER}#os-whitening") as trial:
        for c, n, d, noise_var in ((1.0, 5, 2, 0.3), (1.7, 11, 3, 0.0), (0.4, 3, 5, 2.0)):
            root = rng.standard_normal((d, d)) + 2 * np.eye(d)
            Sigma = root @ root.T
            P = theory.preconditioner(Sigma, n=n, noise_var=noise_var)
            trial.same(
                trial.number(risk, c=c, n=n, d=d, noise_var=noise_var),
                theory.skewed_risk(P, c * Sigma, n=n, noise_var=noise_var),
                "it is the risk of the old preconditioner on the new covariates, whatever Sigma is",
            )


def check_random_scale(
    step: Callable[[np.ndarray, np.ndarray, int, int, float], float],
) -> None:
    """step(scales, chances, n, d, noise_var): the best c in C = c I, one scale drawn per prompt."""
    with Trial("ex-04-random-scale", f"{CHAPTER}#equation-eq-skew-reduced") as trial:
        for scales, chances, n, d, noise_var in (
            ((1.0,), (1.0,), 7, 3, 0.5),
            ((0.5, 2.0), (0.25, 0.75), 3, 2, 0.3),
            ((0.1, 1.0, 7.0), (0.5, 0.3, 0.2), 11, 5, 0.0),
        ):
            scales, chances = np.array(scales), np.array(chances)
            given = {"scales": scales, "chances": chances}
            found = trial.number(step, **given, n=n, d=d, noise_var=noise_var)

            def loss(c, scales=scales, chances=chances, n=n, d=d, noise_var=noise_var):
                C, keys = c * np.eye(d), {"n": n, "noise_var": noise_var}
                return chances @ [theory.skewed_risk(C, s * np.eye(d), **keys) for s in scales]

            slope = (loss(found + 1e-3) - loss(found - 1e-3)) / 2e-3  # exact for a parabola
            curvature = (loss(found + 1) - 2 * loss(found) + loss(found - 1)) / 2
            trial.holds(
                abs(slope) < 1e-8 * curvature * max(abs(found), 1e-3),
                "the loss, averaged over the scales, has no slope in c",
            )
