"""Evidence for a local minimum that skewed covariates set: a step along one direction (chapter 4).

It generalises `optimum.spurious_minimum`, where all directions are alike.
"""

import numpy as np
import torch
from torch.autograd.functional import hessian

from icgd.claims import Evidence, claim
from icgd.regression.population import population_loss

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


def loud_point(variances, *, n: int, noise_var: float) -> tuple[torch.Tensor, torch.Tensor]:
    """(A, w) with A = [0 a], w = (w_x, 0) along coordinate 1, its best step: weights N(0, I)."""
    d, first = len(variances), variances[0]
    step = 1 / ((n + 1) * first + sum(variances) + noise_var)
    A, w = torch.zeros(d, d + 1, dtype=torch.float64), torch.zeros(d + 1, dtype=torch.float64)
    A[0, d] = w[0] = step**0.5
    return A, w


def _curvatures(weights: str) -> Evidence:
    """Half the Hessian in b, minimised over A[:, :d] by a Schur complement; over n |a|^2."""
    predicted, measured = [], []
    for variances, n in (((3.0, 0.3, 0.03), 10), ((3.0, 2.0, 1.0), 10), ((3.0, 0.3, 0.03), 1000)):
        d, eye = len(variances), np.eye(len(variances))
        A, w = loud_point(variances, n=n, noise_var=NOISE)
        sigma = np.diag(variances)
        omega = {"I": eye, "Sigma^-1": np.linalg.inv(sigma)}[weights]

        def moved(step: torch.Tensor, A=A, w=w, n=n, d=d, sigma=sigma, omega=omega):
            A_x = torch.cat([step[1:].view(d, d), torch.zeros(d, 1, dtype=torch.float64)], 1)
            moved_w = w + step[0] * torch.eye(d + 1, dtype=torch.float64)[d]
            return population_loss(
                A + A_x, moved_w, n=n, noise_var=NOISE, covariance=sigma, task_covariance=omega
            )

        H = hessian(moved, torch.zeros(1 + d * d, dtype=torch.float64)) / 2
        schur = H[0, 0] - H[0, 1:] @ torch.linalg.solve(H[1:, 1:], H[1:, 0])
        whitened = variances[0] * A[0, d] ** 2  # |a'|^2, a' = Sigma^(1/2) a
        measured.append((schur / (n * whitened)).item())
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
    return _curvatures("I")


@loud_trap.fails_without("weights of covariance I (Sigma^-1 instead)")
def _inverse_weights():
    return _curvatures("Sigma^-1")
