"""Evidence for local minima that are not global: layers that step along one direction only.

In chapter 3 all directions are alike; in chapter 4 skewed covariates make one of them the loudest.
"""

from functools import partial

import numpy as np
import torch
from torch import Tensor
from torch.autograd.functional import hessian

from icgd.claims import Evidence, claim
from icgd.evidence.regression.linear import law
from icgd.regression import enumeration, theory
from icgd.regression.population import population_loss
from icgd.training import Loss

NOISE = 0.3


def loud_curvature(signal, *, n: int, noise_var: float) -> float:
    """f, where n f |a|^2 b^2 is the curvature of the loss at the best step along direction 1.

    With whitened covariates the signal phi has covariance diag(signal), l = signal[0],
    m = noise_var + sum(signal), and s = sum of the squares of the others (chapter 4):

    f = 2 (n + 2) (l^2 + s) + 4 (m - l) ((n + 1) m + l) / (n + 2) - (n + 1 + m / l)^2 s.

    The point is a local minimum if f > 0 and l is the largest, and a saddle if f < 0.

    >>> from icgd.regression.theory import rank_one_curvature
    >>> round(loud_curvature(np.ones(3), n=5, noise_var=0.3) - rank_one_curvature(5, 3, 0.3), 9)
    0.0
    """
    first, rest = float(signal[0]), np.asarray(signal[1:], dtype=float)
    m, s = noise_var + first + rest.sum(), (rest**2).sum()
    spread = 4 * (m - first) * ((n + 1) * m + first) / (n + 2)
    return float(2 * (n + 2) * (first**2 + s) + spread - (n + 1 + m / first) ** 2 * s)


def loud_point(variances, *, n: int, noise_var: float) -> tuple[Tensor, Tensor]:
    """(A, w) with A = [0 a], w = (w_x, 0) along coordinate 1, its best step: weights N(0, I)."""
    d, first = len(variances), variances[0]
    step = 1 / ((n + 1) * first + sum(variances) + noise_var)
    A, w = torch.zeros(d, d + 1, dtype=torch.float64), torch.zeros(d + 1, dtype=torch.float64)
    A[0, d] = w[0] = step**0.5
    return A, w


def curvature(loss: Loss, A: Tensor, w: Tensor) -> float:
    """Half the Hessian in b = w[d], minimised over A[:, :d], by a Schur complement."""
    d, along_b = len(A), torch.eye(len(w), dtype=torch.float64)[-1]

    def moved(step: Tensor) -> Tensor:
        return loss(A + torch.nn.functional.pad(step[1:].view(d, d), (0, 1)), w + step[0] * along_b)

    H = hessian(moved, torch.zeros(1 + d * d, dtype=torch.float64)) / 2
    return (H[0, 0] - H[0, 1:] @ torch.linalg.solve(H[1:, 1:], H[1:, 0])).item()


# --- Directions alike ----------------------------------------------------------------------------


def _rank_one(losses) -> Evidence:
    predicted, measured = [], []
    for n, d, s2 in ((2, 2, 0.3), (2, 2, 5.0), (2, 2, 17.0)):
        predicted.append(n * theory.rank_one_curvature(n, d, s2) * theory.step_size(n, d, s2))
        measured.append(curvature(losses(s2), *loud_point(np.ones(d), n=n, noise_var=s2)))
    return Evidence(predicted, measured, tolerance=1e-10, relative=True)


@claim(
    "OS.spurious-minimum",
    kind="exact",
    anchor="03-one-step-is-optimal#os-spurious-minimum",
    statement="Weights that step along a single direction are stationary; they are a local "
    "minimum of the loss, and not a global one, under heavy noise if d is 2 or 3 (or 4, n >= 3).",
)
def spurious_minimum():
    return _rank_one(lambda s2: partial(population_loss, n=2, noise_var=s2))


@spurious_minimum.fails_without("Gaussian covariates (signs +-1 instead)")
def _signs():
    return _rank_one(lambda s2: law(enumeration.rademacher, s2).reduced_loss())


# --- One direction louder ------------------------------------------------------------------------


def _loudest(weights: str) -> Evidence:
    """The curvature over n |a|^2, a in whitened coordinates, at two saddles and a local minimum."""
    predicted, measured = [], []
    for variances, n in (((3.0, 0.3, 0.03), 10), ((3.0, 2.0, 1.0), 10), ((3.0, 0.3, 0.03), 1000)):
        A, w = loud_point(variances, n=n, noise_var=NOISE)
        sigma = np.diag(variances)
        omega = {"I": np.eye(len(variances)), "Sigma^-1": np.linalg.inv(sigma)}[weights]
        keys = {"n": n, "noise_var": NOISE, "covariance": sigma, "task_covariance": omega}
        whitened = variances[0] * A[0, -1].item() ** 2  # |a'|^2, a' = Sigma^(1/2) a
        measured.append(curvature(partial(population_loss, **keys), A, w) / (n * whitened))
        predicted.append(loud_curvature(variances, n=n, noise_var=NOISE))
    # One local minimum and two saddles, so that both signs are seen.
    np.testing.assert_array_equal(np.sign(predicted), [1, -1, -1])
    return Evidence(predicted, measured, tolerance=1e-9, relative=True)


@claim(
    "OS.loud-trap",
    kind="exact",
    anchor="04-preconditioning#os-loud-trap",
    statement="With weights N(0, I), a step along the loudest direction alone is a local minimum "
    "that is not global, if that direction is loud enough for the context length.",
)
def loud_trap():
    return _loudest("I")


@loud_trap.fails_without("weights of covariance I (Sigma^-1 instead)")
def _inverse_weights():
    return _loudest("Sigma^-1")
