"""Self-checks for chapter 7, training, other lengths, other laws."""

from collections.abc import Callable

import numpy as np
import torch
from scipy.integrate import solve_ivp
from scipy.linalg import eigh

from icgd.exercises.trial import Trial
from icgd.regression import dynamics, shift
from icgd.regression.enumeration import gauss_hermite

CHAPTER = "07-dynamics-and-shift.html"


def check_half_time(time: Callable[[float, int, int, float], float]) -> None:
    """time(s, d, n, noise_var): when the flow from (s I / sqrt d, s) is half way; Sigma = I."""
    with Trial("ex-07-time", f"{CHAPTER}#zfb-logistic") as trial:
        for s, d, n, noise_var in ((0.01, 4, 10, 0.0), (0.3, 2, 5, 0.7), (1e-6, 7, 3, 2.0)):
            keys = {"d": d, "n": n, "noise_var": noise_var}
            found = trial.number(time, s=s, **keys)
            product = dynamics.isotropic_product(np.array([found]), s, **keys)
            goal = 1 / dynamics.gamma(np.eye(d), n=n, noise_var=noise_var)[0, 0]
            trial.same(product[0], goal / 2, "at this time b A_x is half of its limit")


def check_worse_than_zero(bound: Callable[[int, int, float], float]) -> None:
    """bound(n, d, noise_var): for m below it the layer is worse than predicting zero; Sigma = I."""
    with Trial("ex-07-silence", f"{CHAPTER}#zfb-lengths") as trial:
        for n, d, noise_var in ((20, 5, 0.0), (7, 3, 0.4), (10**9, 2, 1.5)):
            found = trial.number(bound, n=n, d=d, noise_var=noise_var)
            trial.holds(found >= 1, "one example is too few here, so the bound is above 1")
            risk = shift.length_risk(n, found, np.ones(d), noise_var=noise_var)
            trial.same(risk, d, "at the bound, the risk is that of predicting zero")


def check_repeated_query(risk: Callable[[int, int, float], float]) -> None:
    """risk(n, d, noise_var): of the layer trained at n, on n examples, if the query is x_1."""
    with Trial("ex-07-repeat", f"{CHAPTER}#zfb-shift-risk") as trial:
        for n, d, noise_var in ((2, 2, 0.5), (3, 1, 0.0), (1, 2, 1.3)):
            found = trial.number(risk, n=n, d=d, noise_var=noise_var)
            law = gauss_hermite(n * d, nodes=4) * gauss_hermite(d) * gauss_hermite(n)
            X, w, noise = law.points.split([n * d, d, n], 1)  # of degree six in x_1
            X = X.reshape(-1, n, d)
            y = torch.einsum("bnd,bd->bn", X, w) + noise_var**0.5 * noise
            g = dynamics.gamma(np.eye(d), n=n, noise_var=noise_var)[0, 0]
            u = torch.einsum("bnd,bn->bd", X, y) / (n * g)
            errors = ((u - w) * X[:, 0]).sum(1) ** 2
            trial.same(
                found, (law.weights @ errors).item(),
                "it is the average over a complete list of small prompts",
            )  # fmt: skip


def check_hardest_task(risks: Callable[[np.ndarray, int], tuple[float, float]]) -> None:
    """risks(variances, n): of the best and the worst task, m -> infinity, without noise.

    variances: (d,), the eigenvalues of Sigma; labels have variance one.
    """
    with Trial("ex-07-hardest", f"{CHAPTER}#zfb-shift-risk") as trial:
        for variances, n in (([3.0, 0.1], 20), ([0.5, 2.0, 1.1], 3), ([1.0, 1.0], 7)):
            variances = np.array(variances)
            low, high = trial.arrays(risks, (), (), variances=variances, n=n)
            sigma = np.diag(variances)
            B = np.linalg.solve(dynamics.gamma(sigma, n=n, noise_var=0.0), sigma)
            B -= np.eye(len(variances))
            extremes = eigh(B.T @ sigma @ B, sigma, eigvals_only=True)
            trial.same(low, extremes[0], "no task with labels of variance one has a lower bias")
            trial.same(high, extremes[-1], "and none has a higher one")


def check_random_flow(
    limit: Callable[[np.ndarray, np.ndarray, int, float], tuple[np.ndarray, float]],
) -> None:
    """limit(spectra, weights, n, noise_var): (c, b), where b A_x = diag(c) and b end.

    spectra: (k, d), the eigenvalues that a prompt draws.   weights: (k,) their probabilities.
    """
    with Trial("ex-07-random-flow", f"{CHAPTER}#zfb-random-covariance") as trial:
        for spectra, weights, n, noise_var in (
            ([[1.5, 0.7]], [1.0], 5, 0.2),
            ([[0.4, 1.0], [1.0, 0.5], [2.0, 1.5]], [0.5, 0.3, 0.2], 3, 0.4),
        ):
            spectra, weights = np.array(spectra), np.array(weights)
            d = spectra.shape[1]
            given = {"spectra": spectra, "weights": weights}
            c, b = trial.arrays(limit, (d,), (), **given, n=n, noise_var=noise_var)
            A_end, b_end = _end_of_flow(spectra, weights, n=n, noise_var=noise_var)
            trial.same(np.diag(c), b_end * A_end, "the flow, integrated, ends there", rtol=1e-6)
            trial.same(b, b_end, "the imbalance stays zero along the flow", rtol=1e-6)


def _end_of_flow(spectra, weights, *, n: int, noise_var: float) -> tuple[np.ndarray, float]:
    """(A_x, b) after a time of 200, from the paper's start at the scale 0.7."""
    d, keys = spectra.shape[1], {"n": n, "noise_var": noise_var}

    def velocity(_, flat):
        A_x, b, change = flat[:-1].reshape(d, d), flat[-1], np.zeros(len(flat))
        for weight, l in zip(weights, spectra, strict=True):
            A_dot, b_dot = dynamics.velocity(A_x, b, np.diag(l), **keys)
            change += weight * np.append(A_dot.ravel(), b_dot)
        return change

    theta = np.random.default_rng(6).standard_normal((d, d))
    A_x, b = dynamics.start(theta, 0.7)
    run = solve_ivp(velocity, (0, 200), np.append(A_x, b), "LSODA", rtol=1e-9, atol=1e-11)
    return run.y[:-1, -1].reshape(d, d), run.y[-1, -1]
