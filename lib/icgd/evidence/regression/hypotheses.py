"""Which hypotheses of OS, Theorems 2 and 3, are needed, and the table of all rows (chapter 6)."""

import numpy as np
import torch

from icgd.claims import Evidence
from icgd.evidence.regression.hypotheses_linear import (
    TABLE,
    Hypothesis,
    attained,
    hypothesis,
    linear,
    row,
)
from icgd.evidence.regression.nonlinear_optimum import one_axis_moments
from icgd.evidence.regression.preconditioning import SMALL, root
from icgd.evidence.regression.unified import NOISE, D, shifted, with_mean
from icgd.regression.enumeration import Rule, gauss_hermite, rademacher, unequal_fourth_moments
from icgd.regression.families import Polynomial
from icgd.regression.moments import TokenMoments


def hypothesis_table() -> list[Hypothesis]:
    """All rows, by theorem; each names the claim that checks it."""
    return sorted(TABLE, key=lambda row: row.theorem)


# --- Theorem 2 -----------------------------------------------------------------------------------

row(
    2,
    "Sigma positive definite",
    needed=False,
    condition="rank r will do: eta Sigma^+ X^T y, with r in place of d in eta",
    claim="OS.singular-covariance",
)
row(
    2,
    "weights of covariance Sigma^-1",
    needed=True,
    condition="with weights N(0, I) the optimum is ((n + 1) Sigma + (tr Sigma + s2) I)^-1 X^T y",
    claim="OS.Theorem2",
)


def _skewed(whitened: Rule) -> Evidence:
    inverse = np.linalg.inv(SMALL)
    tokens = linear(whitened.image(root(SMALL)), gauss_hermite(D).image(root(inverse)))
    return attained(tokens, preconditioner=inverse)


@hypothesis(
    "gaussian-skewed",
    2,
    "Gaussian covariates",
    needed=False,
    condition="u = Sigma^(-1/2) x with E[|u|^2 u u^T] a multiple of I suffices: signs",
)
def gaussian_skewed():
    return _skewed(rademacher(D))


@gaussian_skewed.fails_without("E[|u|^2 u u^T] a multiple of I (it is diag(2, 4))")
def _unequal_skewed():
    return _skewed(unequal_fourth_moments())


# --- Theorem 3 -----------------------------------------------------------------------------------

#: f(x) = w.x + (w.x)^2 / 2: every rotation leaves its law alone, a change of sign does not.
LOPSIDED = Polynomial((0.0, 1.0, 0.5))


def _polynomial(family: Polynomial, covariates: Rule) -> TokenMoments:
    weights = gauss_hermite(D, 2 * len(family.coefficients))
    values = family(weights.points @ covariates.points.T)
    return TokenMoments.enumerate(covariates, values, weights.weights, noise=NOISE)


def _cubes() -> TokenMoments:
    """Of f(x) = +-x_j^3, sign and j uniform."""
    x = gauss_hermite(D, 8)
    cubes = x.points.T**3
    weights = torch.full((2 * D,), 1 / (2 * D), dtype=torch.float64)
    return TokenMoments.enumerate(x, torch.cat([cubes, -cubes]), weights, noise=NOISE)


@hypothesis(
    "rotations",
    3,
    "a law of f that rotations leave alone",
    needed=False,
    condition="E[beta beta^T] and E[f^2 x x^T] multiples of I suffice: +-x_j^3, j random",
)
def rotations():
    return attained(_cubes())


@rotations.fails_without("E[beta beta^T] a multiple of I (+-x_1^3)")
def _one_axis():
    return attained(one_axis_moments())


@hypothesis(
    "negation",
    3,
    "a law of f symmetric under negation, d >= 2",
    needed=False,
    condition="rotation invariance alone suffices: w.x + (w.x)^2 / 2",
)
def negation():
    return attained(_polynomial(LOPSIDED, gauss_hermite(D, 6)))


@negation.fails_without("rotation invariance in full (w.x with E[w] = 0.8 e_1, E[w w^T] = I)")
def _second_moments_only():
    return attained(with_mean().moments())


def _one_dimension(mean: float) -> Evidence:
    """f(x) = w x with E[w] = mean and E[w^2] = 1: in one dimension there is nothing to rotate."""
    scale = torch.full((1, 1), (1 - mean**2) ** 0.5, dtype=torch.float64)
    return attained(linear(gauss_hermite(1), shifted(gauss_hermite(1).image(scale), (mean,))))


@hypothesis(
    "negation-one-dimension",
    3,
    "a law of f symmetric under negation, d = 1",
    needed=True,
    condition="with f(x) = w x and E[w] = 0.8 the optimum uses terms even in y",
)
def negation_one_dimension():
    return _one_dimension(0.0)


@negation_one_dimension.fails_without("symmetry under negation (E[w] = 0.8)")
def _mean_one_dimension():
    return _one_dimension(0.8)


@hypothesis(
    "gaussian-nonlinear",
    3,
    "Gaussian covariates",
    needed=False,
    condition="laws of x and f left alone by permutations and signs of coordinates suffice: signs",
)
def gaussian_nonlinear():
    return attained(_polynomial(LOPSIDED, rademacher(D)))


@gaussian_nonlinear.fails_without("a law of x left alone by permutations (E[|x|^2 x x^T] unequal)")
def _unequal_nonlinear():
    return attained(_polynomial(LOPSIDED, unequal_fourth_moments()))
