"""Evidence for OS, Assumption 1 and Lemmas 5 to 8 (chapter 5).

The lemmas speak of u_bar, the best linear predictor given the context. The random quadratic of
`families` makes it explicit, u_bar = X^T (K + s2 I)^-1 y, since it is a Gaussian process of known
kernel. Given X everything is a polynomial of degree at most 4 in y, so finite rules are exact.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from torch import Tensor

from icgd.claims import Evidence, claim
from icgd.evidence.regression.linear import random_reduced
from icgd.regression import enumeration
from icgd.regression.enumeration import Rule
from icgd.regression.moments import TokenMoments

N, D, NOISE, SCALE = 2, 2, 0.3, 0.4
CHAPTER = "05-nonlinear-targets"


# --- The random quadratic on R^2 ------------------------------------------------------------------


@cache
def quadratic_moments(spread: float = 1.0) -> TokenMoments:
    """Of RandomQuadratic(SCALE). `spread` scales w_2; other than 1 it breaks the invariance."""
    covariates, theta = enumeration.gauss_hermite(D, 6), enumeration.gauss_hermite(5)
    values = theta.points @ (_features(spread, covariates.points)).T
    return TokenMoments.enumerate(covariates, values, theta.weights, noise=NOISE)


def _features(spread: float, x: Tensor) -> Tensor:
    """f(x) = theta . features(x) with theta ~ N(0, I_5); for spread = 1, RandomQuadratic(SCALE)."""
    a, b = x[..., 0], x[..., 1]
    columns = [a, spread * b, SCALE * a * a, SCALE * b * b, SCALE * 2**0.5 * a * b]
    return torch.stack(columns, -1)


@dataclass(frozen=True)
class Contexts:
    """Every (X, y) of a finite list with its weight; u = E[beta_f | X, y]. n = d = 2."""

    X: Tensor
    y: Tensor
    u: Tensor
    weights: Tensor

    def mean(self, values: Tensor) -> Tensor:
        return torch.tensordot(self.weights, values, 1)

    @property
    def xy(self) -> Tensor:
        return torch.einsum("bnd,bn->bd", self.X, self.y)


@cache
def contexts(spread: float = 1.0, mean: float = 0.0) -> Contexts:
    """Given X, y = mean + (K + s2 I)^(1/2) z with z ~ N(0, I): three points a direction for z."""
    rule = enumeration.gauss_hermite(D, 6).power(N) * enumeration.gauss_hermite(N, 4)
    X, z = rule.points[:, : N * D].view(-1, N, D), rule.points[:, N * D :]
    features = _features(spread, X)
    covariance = features @ features.mT + NOISE * torch.eye(N, dtype=torch.float64)
    y = mean + torch.einsum("bij,bj->bi", torch.linalg.cholesky(covariance), z)
    scales = torch.tensor([1.0, spread], dtype=torch.float64) ** 2  # E[beta y_i | X] = scales x_i
    u = scales * torch.einsum("bnd,bn->bd", X, torch.linalg.solve(covariance, y))
    return Contexts(X, y, u, rule.weights)


# --- Assumption 1 --------------------------------------------------------------------------------


def _invariance(first_layer: Rule, last_layer: Rule) -> Evidence:
    """Joint moments of f at three points, before and after a rotation; odd ones are zero.

    f(x) = a activation(w.x), activation(s) = s + s^2 / 2, over every (a, w) of two finite laws.
    """
    angle = 0.7
    R = torch.tensor([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    points = torch.tensor([[1.0, 0.2], [-0.4, 0.9], [0.5, -1.3]], dtype=torch.float64)
    law = first_layer * last_layer

    def joint(x: Tensor) -> list[float]:
        s = law.points[:, :D] @ x.T
        f = law.points[:, D:] * (s + s**2 / 2)
        monomials = [f[:, 0] * f[:, 1], f[:, 0] ** 2 * f[:, 1] * f[:, 2], f[:, 2] ** 4]
        odd = [f[:, 0], f[:, 0] * f[:, 1] * f[:, 2], f[:, 0] ** 2 * f[:, 2]]
        return [(law.weights @ m).item() for m in monomials + odd]

    before, after = joint(points), joint(points @ R.T)
    return Evidence(before[:3] + [0.0] * 3, after, tolerance=1e-10)


@claim(
    "OS.Assumption1",
    kind="exact",
    anchor=f"{CHAPTER}#os-assumption-1",
    statement="A network with Gaussian first and last layers satisfies Assumption 1: joint moments "
    "of its values survive a rotation, and the odd ones vanish.",
)
def assumption1():
    return _invariance(enumeration.gauss_hermite(D, 5), enumeration.gauss_hermite(1))


@assumption1.fails_without("a Gaussian first layer (signs +-1 instead)")
def _sign_layer():
    return _invariance(enumeration.rademacher(D), enumeration.gauss_hermite(1))


@assumption1.fails_without("a last layer of mean zero (mean 1 instead)")
def _biased_layer():
    last = enumeration.gauss_hermite(1)
    return _invariance(enumeration.gauss_hermite(D, 5), Rule(last.points + 1, last.weights))


# --- Lemmas 5 and 8: what the loss measures ------------------------------------------------------


def _distances(target: Tensor, law: Contexts, tokens: TokenMoments) -> Evidence:
    """L(A, w) - E|A G w - target|^2 must be one and the same number for every (A, w)."""
    loss, gaps = tokens.loss(N), []
    v = torch.cat([law.X, law.y[..., None]], 2)
    for seed in range(5):
        A, w = random_reduced(D, seed)
        predictor = torch.einsum("ij,bjk,k->bi", A, v.mT @ v, w)
        gaps.append((loss(A, w) - law.mean((predictor - target).square().sum(1))).item())
    return Evidence(np.full(4, gaps[0]), gaps[1:], tolerance=1e-9)


@claim(
    "OS.Lemma5",
    kind="exact",
    anchor=f"{CHAPTER}#os-lemma-5",
    statement="The loss is a constant plus the mean squared distance of A G w from u_bar, the best "
    "linear predictor given the context.",
)
def lemma5():
    return _distances(contexts().u, contexts(), quadratic_moments())


@lemma5.fails_without("u_bar (ridge that takes the target for linear instead)")
def _ridge_lemma5():
    X, eye = contexts().X, torch.eye(D, dtype=torch.float64)
    ridge = torch.linalg.solve(X.mT @ X + NOISE * eye, contexts().xy)
    return _distances(ridge, contexts(), quadratic_moments())


def _ratio(law: Contexts) -> float:
    """The paper's step size, E[u_bar^T X^T y] / E|X^T y|^2."""
    return (law.mean((law.u * law.xy).sum(1)) / law.mean(law.xy.square().sum(1))).item()


def _lemma8(spread: float = 1.0, factor: float = 1.0) -> Evidence:
    law = contexts(spread)
    return _distances(factor * _ratio(law) * law.xy, law, quadratic_moments(spread))


@claim(
    "OS.Lemma8",
    kind="exact",
    anchor=f"{CHAPTER}#os-lemma-8",
    statement="For nonlinear targets too the loss is a constant plus the mean squared distance of "
    "A G w from eta X^T y.",
)
def lemma8():
    return _lemma8()


@lemma8.fails_without("rotation invariance (one weight twice as large)")
def _anisotropic_lemma8():
    return _lemma8(spread=2.0)


@lemma8.fails_without("the step size eta (1 % larger instead)")
def _wrong_step():
    return _lemma8(factor=1.01)


# --- Lemmas 6 and 7 ------------------------------------------------------------------------------


def _parity(law: Contexts) -> Evidence:
    """E[even monomial of y times u_bar | X] and E[odd monomial | X] are 0, at every X listed."""
    per_X = law.weights.view(-1, 4**N)
    y, u = law.y.view(-1, 4**N, N), law.u.view(-1, 4**N, D)
    values = [y[..., 0] ** 2, y[..., 0] * y[..., 1], y[..., 0] ** 2 * y[..., 1] ** 2]
    even = [(per_X[..., None] * value[..., None] * u).sum(1).flatten() for value in values]
    odd = [y[..., 0], y[..., 0] ** 3, y[..., 0] * y[..., 1] ** 2]
    found = torch.cat(even + [(per_X * value).sum(1) for value in odd])
    return Evidence(torch.zeros_like(found), found, tolerance=1e-12)


@claim(
    "OS.Lemma6",
    kind="exact",
    anchor=f"{CHAPTER}#os-lemma-6",
    statement="Given X, odd monomials of the labels have mean zero, and so have even monomials "
    "times u_bar.",
)
def lemma6():
    return _parity(contexts())


@lemma6.fails_without("symmetry under negation (labels of mean 0.5)")
def _shifted_lemma6():
    return _parity(contexts(mean=0.5))


def _lemma7(law: Contexts) -> Evidence:
    """E[X^T y y^T X] = c I, and E[X^T y u_bar^T] = eta c I."""
    moments_ = [law.mean(torch.einsum("bi,bj->bij", law.xy, other)) for other in (law.xy, law.u)]
    scale = moments_[0].trace() / D
    eye = torch.eye(D, dtype=torch.float64)
    wanted = torch.stack([scale * eye, _ratio(law) * scale * eye])
    return Evidence(wanted, torch.stack(moments_), tolerance=1e-10)


@claim(
    "OS.Lemma7",
    kind="exact",
    anchor=f"{CHAPTER}#os-lemma-7",
    statement="E[X^T y y^T X] and E[X^T y u_bar^T] are multiples of the identity, and eta is their "
    "ratio.",
)
def lemma7():
    return _lemma7(contexts())


@lemma7.fails_without("rotation invariance (one weight twice as large)")
def _anisotropic_lemma7():
    return _lemma7(contexts(spread=2.0))
