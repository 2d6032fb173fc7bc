"""Evidence for the unified theorem: C* and L* for laws that share nothing but the sign symmetry.

`laws()` lists linear laws on R^2 as finite rules, exact for the polynomials that occur: Gaussian,
uniform on {-1, 1}^2, uniform on a circle, unequal fourth moments, and one that is skewed, uncentred
and has non-Gaussian weights. The loss comes from `TokenMoments`; the predictions are compared on
every prompt of an independent enumeration.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
import torch

from icgd.claims import Evidence, claim
from icgd.evidence.regression.minimum import Minimum, global_minimum
from icgd.regression import enumeration, learners, models, theory
from icgd.regression.enumeration import Rule
from icgd.regression.moments import TokenMoments

N, D, NOISE = 2, 2, 0.3
CHAPTER = "06-one-theorem"


@dataclass(frozen=True, eq=False)
class LinearLaw:
    """y = w.x + noise: the laws of x and of w as rules, and the noise (a variance or a rule)."""

    name: str
    covariates: Rule
    weights: Rule
    noise: Rule | float = NOISE

    def moments(self) -> TokenMoments:
        values = self.weights.points @ self.covariates.points.T
        return TokenMoments.enumerate(
            self.covariates, values, self.weights.weights, noise=self.noise
        )

    def optimum(self, n: int) -> np.ndarray:
        """C* of the unified theorem."""
        return theory.optimal_predictor(*self.moments().predictor_moments(n))

    def least_loss(self, n: int) -> float:
        """L* of the unified theorem."""
        m = self.moments()
        S, y_sq = m.second[: m.d, : m.d].numpy(), m.second[-1, -1].item()
        return theory.optimal_loss(*m.predictor_moments(n), x_second=S, y_sq=y_sq)

    def minimise(self, n: int) -> Minimum:
        """The global minimum of the exact loss over all (A, w)."""
        return global_minimum(self.moments().loss(n), self.moments().d)


def two_point(low: float, high: float) -> Rule:
    """On R^1: mean zero, variance -low * high, and skewed unless low = -high."""
    points = torch.tensor([[low], [high]], dtype=torch.float64)
    return Rule(points, torch.tensor([high, -low], dtype=torch.float64) / (high - low))


def symmetric(*rows: tuple[float, ...]) -> Rule:
    """Uniform on the rows and their negatives."""
    half = torch.tensor(rows, dtype=torch.float64)
    points = torch.cat([half, -half])
    return Rule(points, torch.full((len(points),), 1 / len(points), dtype=torch.float64))


def shifted(rule: Rule, by: tuple[float, ...]) -> Rule:
    """The law of x + by."""
    return Rule(rule.points + torch.tensor(by, dtype=torch.float64), rule.weights)


def skewed_covariates() -> Rule:
    """Neither centred nor symmetric, with correlated coordinates."""
    mix = torch.tensor([[1.0, 0.5], [0.0, 0.7]], dtype=torch.float64)
    return shifted((two_point(-1.0, 2.0) * two_point(-0.5, 1.5)).image(mix), (0.3, -0.2))


@cache
def laws() -> tuple[LinearLaw, ...]:
    gaussian = enumeration.gauss_hermite(D)
    return (
        LinearLaw("Gaussian", gaussian, gaussian),
        LinearLaw("signs", enumeration.rademacher(D), gaussian),
        LinearLaw("circle", enumeration.sphere(D), gaussian),
        LinearLaw("unequal fourth moments", enumeration.unequal_fourth_moments(), gaussian),
        LinearLaw("skewed, uncentred", skewed_covariates(), symmetric((1.0, 2.0), (2.0, -0.5))),
    )


# --- The theorem ---------------------------------------------------------------------------------


@cache
def _minimum(law: LinearLaw) -> Minimum:
    return law.minimise(N)


def _fitted(law: LinearLaw) -> np.ndarray:
    """The C that fits the learned predictor A G w best by C X^T y on all prompts; then the misfit.

    The misfit is the root mean square of A G w - C X^T y. Entries of (A, w) would say less: on a
    discrete law different parameters may be one and the same predictor.
    """
    listed = enumeration.enumerate_prompts(law.covariates, N, NOISE, coefficients=law.weights)
    learned = models.effective_predictor(_minimum(law).A, _minimum(law).w, listed.prompts)
    xy = learners.label_sum(listed.prompts)
    root = listed.weights.sqrt()[:, None]
    C = torch.linalg.lstsq(root * xy, root * learned).solution.T
    misfit = (root * (learned - xy @ C.T)).norm()
    return np.append(C.numpy(), misfit.item())


def _unified(chosen: tuple[LinearLaw, ...]) -> Evidence:
    predicted = [np.append(law.optimum(N), 0.0) for law in chosen]
    return Evidence(predicted, [_fitted(law) for law in chosen], tolerance=1e-6)


@claim(
    "OS.unified",
    kind="trained",
    anchor=f"{CHAPTER}#os-unified",
    statement="Under (f, noise) -> (-f, -noise) the global minimum is C* X^T y, with C* = "
    "E[u y^T X] (E[X^T y y^T X])^-1: so for five laws, from Gaussian to skewed and uncentred.",
)
def unified():
    return _unified(laws())


@unified.fails_without("the sign symmetry (weights of mean 0.8 e_1)")
def _weights_with_mean():
    return _unified((with_mean(),))


@cache
def with_mean() -> LinearLaw:
    """E[w] = 0.8 e_1 and E[w w^T] = I, so only the sign symmetry is missing from Theorem 1."""
    scale = torch.diag(torch.tensor([0.6, 1.0], dtype=torch.float64))
    weights = shifted(enumeration.gauss_hermite(D).image(scale), (0.8, 0.0))
    return LinearLaw("weights with a mean", enumeration.gauss_hermite(D), weights)


def _least(chosen: tuple[LinearLaw, ...]) -> Evidence:
    predicted = [law.least_loss(N) for law in chosen]
    return Evidence(predicted, [_minimum(law).loss for law in chosen], tolerance=1e-12)


@claim(
    "OS.unified-minimum",
    kind="trained",
    anchor=f"{CHAPTER}#os-unified-minimum",
    statement="The minimum over all (A, w) is L* = E[y^2] - tr(S C* E[X^T y u^T]), S = E[x x^T].",
)
def unified_minimum():
    return _least(laws())


@unified_minimum.fails_without("the sign symmetry (weights of mean 0.8 e_1)")
def _minimum_with_mean():
    return _least((with_mean(),))


# --- Fourth moments ------------------------------------------------------------------------------


def _fourth(weights: Rule) -> Evidence:
    """n (C*)^-1 against E[|x|^2 x x^T] + (n - 1 + s2) I, for covariates with E[x x^T] = I."""
    predicted, measured = [], []
    for covariates in (
        enumeration.gauss_hermite(D),
        enumeration.rademacher(D),
        enumeration.sphere(D),
        enumeration.unequal_fourth_moments(),
    ):
        x, eye = covariates.points, torch.eye(D, dtype=torch.float64)
        fourth = (x.T * (covariates.weights * x.square().sum(1))) @ x
        predicted.append(fourth + (5 - 1 + NOISE) * eye)
        law = LinearLaw("", covariates, weights)
        measured.append(np.linalg.inv(law.optimum(5)))
    return Evidence(torch.stack(predicted), np.stack(measured), tolerance=1e-12)


@claim(
    "OS.fourth-moments",
    kind="exact",
    anchor=f"{CHAPTER}#os-fourth-moments",
    statement="With isotropic weights and E[x x^T] = I, C* = (E[|x|^2 x x^T] + (n - 1 + s2) I)^-1: "
    "a multiple of I if and only if E[|x|^2 x x^T] is.",
)
def fourth_moments():
    return _fourth(enumeration.gauss_hermite(D))


@fourth_moments.fails_without("isotropic weights (variances 1 and 4)")
def _anisotropic():
    scale = torch.diag(torch.tensor([1.0, 2.0], dtype=torch.float64))
    return _fourth(enumeration.gauss_hermite(D).image(scale))
