"""Evidence for prompts that each have a covariance of their own (chapter 7)."""

from functools import cache

import numpy as np
import torch

from icgd.claims import Evidence, claim
from icgd.evidence.regression.dynamics import CHAPTER, NOISE, N
from icgd.evidence.regression.minimum import Minimum, global_minimum, one_step_parts
from icgd.regression import random_covariance
from icgd.regression.population import population_loss

#: Three covariances on R^2, neither of them a multiple of another.
SPECTRA = np.array([[0.4, 1.0], [1.0, 0.5], [2.0, 1.5]])
WEIGHTS = np.array([0.5, 0.3, 0.2])


def mixture_loss(A, w, *, spectra, weights, n: int, noise_var: float):
    """The exact loss over prompts whose covariance is a row of `spectra`, drawn once a prompt."""
    keys = {"n": n, "noise_var": noise_var, "task_covariance": np.eye(len(A))}
    rows = zip(weights, spectra, strict=True)
    return sum(weight * population_loss(A, w, covariance=np.diag(l), **keys) for weight, l in rows)


@cache
def learned() -> Minimum:
    def loss(A, w):
        return mixture_loss(A, w, spectra=SPECTRA, weights=WEIGHTS, n=N, noise_var=NOISE)

    return global_minimum(loss, 2, scales=(1e-2, 0.1))


def _optimum(step) -> Evidence:
    """All coefficients of the learned predictor, and the loss above the noise."""
    c = step(SPECTRA, WEIGHTS, n=N, noise_var=NOISE)
    risk = random_covariance.risk(c, SPECTRA, WEIGHTS, n=N, noise_var=NOISE)
    predicted = np.append(one_step_parts(np.diag(c) / N), risk)
    return Evidence(predicted, np.append(learned().parts(), learned().loss - NOISE), tolerance=1e-7)


@claim(
    "ZFB.random-covariance",
    kind="trained",
    anchor=f"{CHAPTER}#zfb-random-covariance",
    statement="When each prompt draws its covariance diag(l), the best layer is the step "
    "c_i = E[l_i^2] / E[g_i l_i^2] in each direction.",
)
def optimum():
    return _optimum(random_covariance.best_step)


@optimum.fails_without("E[x_q x_q^T | context] inside the average (E[x_q x_q^T] outside, as in C*)")
def _outside():
    return _optimum(random_covariance.unconditional_step)


def _share(spectra, weights) -> Evidence:
    """The share of tr Sigma that remains at n = 10^6, with the step that is best there."""
    n, d = 10**6, spectra.shape[1]
    keys = {"spectra": spectra, "weights": weights, "n": n, "noise_var": NOISE}
    A = torch.zeros(d, d + 1, dtype=torch.float64)
    A[:, :d] = torch.as_tensor(np.diag(random_covariance.best_step(**keys)) / n)
    w = torch.zeros(d + 1, dtype=torch.float64)
    w[d] = 1.0
    measured = (mixture_loss(A, w, **keys).item() - NOISE) / (weights @ spectra.sum(1))
    return Evidence(1 / 3, measured, tolerance=1e-5)


@claim(
    "ZFB.random-covariance-limit",
    kind="exact",
    anchor=f"{CHAPTER}#zfb-random-covariance-limit",
    statement="With eigenvalues from Exp(1) a third of the loss of predicting 0 remains, however "
    "long the prompts: 1 - (E l^2)^2 / (E l E l^3).",
)
def limit():
    return _share(*random_covariance.exponential(2))


@limit.fails_without("a covariance for each prompt (always I)")
def _one_covariance():
    return _share(np.ones((1, 2)), np.ones(1))
