"""Which hypotheses of OS, Theorem 1, are needed (chapter 6): one claim a row of the table.

Every check asks one question: does one (preconditioned) step attain the global minimum of the exact
loss over all (A, w)? For a hypothesis that is not needed, the laws checked violate it but keep the
weaker condition, and the counterpart drops that too. For one that is needed, the counterpart drops
it alone. The error shown is the loss by which the best step misses the minimum.
"""

from dataclasses import dataclass

import numpy as np
import torch

from icgd.claims import Evidence, claim
from icgd.evidence.regression.minimum import global_minimum
from icgd.evidence.regression.unified import (
    CHAPTER,
    NOISE,
    D,
    LinearLaw,
    shifted,
    symmetric,
    two_point,
    with_mean,
)
from icgd.regression import enumeration
from icgd.regression.enumeration import Rule, gauss_hermite, rademacher, unequal_fourth_moments
from icgd.regression.moments import TokenMoments

N = 3


@dataclass(frozen=True)
class Hypothesis:
    """A row of the hypothesis table.

    condition: what suffices instead where the hypothesis is not needed; else the counterexample.
    """

    theorem: int
    hypothesis: str
    needed: bool
    condition: str
    claim: str


#: All rows so far, in the order they were stated; see `hypotheses.hypothesis_table`.
TABLE: list[Hypothesis] = []


def row(theorem: int, hypothesis: str, *, needed: bool, condition: str, claim: str) -> None:
    TABLE.append(Hypothesis(theorem, hypothesis, needed, condition, claim))


def hypothesis(name: str, theorem: int, hypothesis: str, *, needed: bool, condition: str):
    """Decorator: a row of the table and its claim, `OS.hypothesis-<name>`."""
    id = f"OS.hypothesis-{name}"
    row(theorem, hypothesis, needed=needed, condition=condition, claim=id)
    verdict = "is needed" if needed else "is not needed"
    statement = f"Theorem {theorem}: {hypothesis} {verdict}; {condition}."
    return claim(id, kind="trained", anchor=f"{CHAPTER}#os-hypothesis-{name}", statement=statement)


def attained(*cases: TokenMoments, preconditioner=None) -> Evidence:
    """The loss of the best step, C = eta P, against the global minimum over all (A, w)."""
    steps, minima = [], []
    for tokens in cases:
        d = tokens.d
        P = np.eye(d) if preconditioner is None else preconditioner
        cross, second = tokens.predictor_moments(N)
        S = tokens.second[:d, :d].numpy()
        eta = np.trace(S @ P @ cross.T) / np.trace(S @ P @ second @ P.T)
        A = torch.zeros(d, d + 1, dtype=torch.float64)
        A[:, :d] = torch.as_tensor(eta * P)
        w = torch.zeros(d + 1, dtype=torch.float64)
        w[d] = 1.0
        loss = tokens.loss(N)
        steps.append(loss(A, w).item())
        minima.append(global_minimum(loss, d).loss)
    return Evidence(steps, minima, tolerance=1e-10)


def linear(covariates: Rule, weights: Rule | None = None, noise: Rule | float = NOISE):
    return LinearLaw("", covariates, weights or gauss_hermite(D), noise).moments()


def _diagonal(*entries: float) -> torch.Tensor:
    return torch.diag(torch.tensor(entries, dtype=torch.float64))


def half_circle() -> Rule:
    """Four points of the circle with x_2 > 0: its even moments, but a mean that is not 0."""
    angles = torch.tensor([1.0, 3.0, 5.0, 7.0], dtype=torch.float64) * torch.pi / 8
    points = 2**0.5 * torch.stack([angles.cos(), angles.sin()], 1)
    return Rule(points, torch.full((4,), 0.25, dtype=torch.float64))


# --- Theorem 1 -----------------------------------------------------------------------------------


@hypothesis(
    "gaussian-covariates",
    1,
    "Gaussian covariates",
    needed=False,
    condition="E[|x|^2 x x^T] a multiple of I suffices: signs, the circle",
)
def gaussian_covariates():
    return attained(linear(rademacher(D)), linear(enumeration.sphere(D)))


@gaussian_covariates.fails_without("E[|x|^2 x x^T] a multiple of I (it is diag(2, 4))")
def _unequal():
    return attained(linear(unequal_fourth_moments()))


@hypothesis(
    "centred-covariates",
    1,
    "covariates of mean zero",
    needed=False,
    condition="E[x x^T] = I and E[|x|^2 x x^T] a multiple of I suffice: half a circle",
)
def centred_covariates():
    return attained(linear(half_circle()))


@centred_covariates.fails_without("E[|x|^2 x x^T] a multiple of I (x_1 ~ N(0.8, 0.36))")
def _shifted_gaussian():
    return attained(linear(shifted(gauss_hermite(D).image(_diagonal(0.6, 1.0)), (0.8, 0.0))))


@hypothesis(
    "isotropic-covariates",
    1,
    "E[x x^T] = I",
    needed=True,
    condition="with variances 1 and 4 the optimum is ((n + 1) Sigma + (tr Sigma + s2) I)^-1 X^T y",
)
def isotropic_covariates():
    return attained(linear(gauss_hermite(D)))


@isotropic_covariates.fails_without("E[x x^T] = I (variances 1 and 4)")
def _variances():
    return attained(linear(gauss_hermite(D).image(_diagonal(1.0, 2.0))))


@hypothesis(
    "gaussian-weights",
    1,
    "Gaussian weights",
    needed=False,
    condition="a law symmetric about 0 with E[w w^T] a multiple of I suffices: four points",
)
def gaussian_weights():
    return attained(linear(gauss_hermite(D), symmetric((1.0, 2.0), (2.0, -1.0))))


@gaussian_weights.fails_without("E[w w^T] a multiple of I (variances 1 and 4)")
def _weight_variances():
    return attained(linear(gauss_hermite(D), gauss_hermite(D).image(_diagonal(1.0, 2.0))))


@hypothesis(
    "symmetric-weights",
    1,
    "w and -w equally likely",
    needed=True,
    condition="with E[w] = 0.8 e_1 and E[w w^T] = I the optimum uses terms even in y",
)
def symmetric_weights():
    return attained(linear(gauss_hermite(D)))


@symmetric_weights.fails_without("w and -w equally likely (E[w] = 0.8 e_1)")
def _mean_weights():
    return attained(with_mean().moments())


@hypothesis(
    "gaussian-noise",
    1,
    "Gaussian noise",
    needed=False,
    condition="mean zero suffices if x is centred too: noise -1/2 or 1, skewed",
)
def gaussian_noise():
    return attained(linear(gauss_hermite(D), noise=two_point(-0.5, 1.0)))


@gaussian_noise.fails_without("centred x or symmetric noise (half a circle, skewed noise)")
def _skewed_noise():
    return attained(linear(half_circle(), noise=two_point(-0.5, 1.0)))


@hypothesis(
    "noise",
    1,
    "noise of positive variance",
    needed=False,
    condition="s2 = 0 gives eta = 1 / (n + d + 1)",
)
def noise():
    return attained(linear(gauss_hermite(D), noise=0.0))


@noise.fails_without("E[|x|^2 x x^T] a multiple of I (it is diag(2, 4))")
def _unequal_noiseless():
    return attained(linear(unequal_fourth_moments(), noise=0.0))
