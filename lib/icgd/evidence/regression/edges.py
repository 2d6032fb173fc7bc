"""Where the unified theorem ends (chapter 6): a query whose second moments the context reveals, and
a law whose moments look isotropic although no symmetry silences the terms even in y.
"""

import numpy as np
import torch

from icgd import validation
from icgd.claims import Evidence, claim
from icgd.evidence.regression.hypotheses_linear import attained
from icgd.evidence.regression.minimum import global_minimum
from icgd.evidence.regression.unified import CHAPTER, NOISE, D, two_point
from icgd.regression import learners, models, theory
from icgd.regression.data import Prompts
from icgd.regression.enumeration import Rule, WeightedPrompts, enumerate_prompts, gauss_hermite
from icgd.regression.moments import TokenMoments

# --- The query's second moments given the context ------------------------------------------------

VARIANCES = (0.5, 2.0)


def mixture(*laws: WeightedPrompts) -> WeightedPrompts:
    """Each law with the same probability, drawn once a prompt."""
    names = ("X", "y", "x_query", "y_query", "w")
    columns = [torch.cat([getattr(law.prompts, name) for law in laws]) for name in names]
    return WeightedPrompts(Prompts(*columns), torch.cat([law.weights for law in laws]) / len(laws))


def hidden_variance() -> WeightedPrompts:
    """One example and a query on R^2, x ~ N(0, v I), w ~ N(0, I); v is drawn once a prompt."""
    rule, eye = gauss_hermite(D), torch.eye(D, dtype=torch.float64)
    scaled = [rule.image(v**0.5 * eye) for v in VARIANCES]
    return mixture(*(enumerate_prompts(covariates, 1, NOISE) for covariates in scaled))


def query_moments(law: WeightedPrompts) -> tuple[np.ndarray, np.ndarray]:
    """(E[x_q y_q y^T X], E[x_q x_q^T (x) X^T y y^T X]), of shapes (d, d) and (d, d, d, d)."""
    xy, query = learners.label_sum(law.prompts), law.prompts.x_query
    cross = law.mean(torch.einsum("b,bi,bj->bij", law.prompts.y_query, query, xy))
    fourth = law.mean(torch.einsum("bi,bj,bk,bl->bijkl", query, query, xy, xy))
    return cross.numpy(), fourth.numpy()


def general_optimum(cross: np.ndarray, fourth: np.ndarray) -> np.ndarray:
    """The C with E[x_q x_q^T C X^T y y^T X] = E[x_q y_q y^T X]: d^2 linear equations."""
    d = len(cross)
    system = fourth.transpose(0, 3, 1, 2).reshape(d * d, d * d)
    return np.linalg.solve(system, cross.ravel()).reshape(d, d)


def _query(optimum) -> Evidence:
    end = global_minimum(hidden_variance().reduced_loss(), D)
    return Evidence(optimum, models.odd_part(end.A, end.w), tolerance=1e-6)


@claim(
    "OS.query-covariance",
    kind="trained",
    anchor=f"{CHAPTER}#os-query-covariance",
    statement="If the context tells about x_q x_q^T, C solves E[x_q x_q^T C X^T y y^T X] = "
    "E[x_q y_q y^T X]; here x ~ N(0, v I) with v = 1/2 or 2, drawn once a prompt.",
)
def query_covariance():
    return _query(general_optimum(*query_moments(hidden_variance())))


@query_covariance.fails_without("x_q x_q^T inside the mean (E[x_q x_q^T] outside, as in C*)")
def _averaged():
    law = hidden_variance()
    cross, _ = query_moments(law)
    xy, query = learners.label_sum(law.prompts), law.prompts.x_query
    second = law.mean(torch.einsum("bi,bj->bij", xy, xy)).numpy()
    S = law.mean(torch.einsum("bi,bj->bij", query, query)).numpy()
    return _query(theory.optimal_predictor(np.linalg.solve(S, cross), second))


# --- Moments are not a symmetry ------------------------------------------------------------------


def polygon(corners: int) -> Rule:
    """Uniform on the corners of a regular polygon of radius sqrt 2: E[x x^T] = I, |x|^2 = 2."""
    validation.int_at_least("corners", corners, 3)
    angle = 2 * torch.pi * torch.arange(corners, dtype=torch.float64) / corners
    points = 2**0.5 * torch.stack([angle.cos(), angle.sin()], 1)
    return Rule(points, torch.full((corners,), 1 / corners, dtype=torch.float64))


def with_offset(covariates: Rule, offset: float) -> TokenMoments:
    """f(x) = w.x + offset, w ~ N(0, I)."""
    weights = gauss_hermite(D)
    values = weights.points @ covariates.points.T + offset
    return TokenMoments.enumerate(covariates, values, weights.weights, noise=NOISE)


@claim(
    "OS.three-fold",
    kind="trained",
    anchor=f"{CHAPTER}#os-three-fold",
    statement="f(x) = w.x + 3, x on the corners of a square: one step is optimal, by x -> -x. On a "
    "triangle the moment matrices are the same multiples of I, and no step is optimal.",
)
def three_fold():
    return attained(with_offset(polygon(4), 3.0))


@three_fold.fails_without("x -> -x (a triangle)")
def _triangle():
    return attained(with_offset(polygon(3), 3.0))


# --- A sixth slip --------------------------------------------------------------------------------


def _odd_monomials(noise: Rule) -> Evidence:
    """E[y_1^3 | X], E[y_1^2 y_2 | X] and E[y_1 | X] for two examples of a linear target."""
    X = torch.tensor([[1.0, 0.5], [-0.3, 2.0]], dtype=torch.float64)
    law = gauss_hermite(D) * noise.power(2)
    y = law.points[:, :D] @ X.T + law.points[:, D:]
    monomials = torch.stack([y[:, 0] ** 3, y[:, 0] ** 2 * y[:, 1], y[:, 0]], 1)
    return Evidence(np.zeros(3), law.weights @ monomials, tolerance=1e-12)


@claim(
    "OS.erratum6",
    kind="exact",
    anchor="errata#os-erratum-6",
    statement="Appendix A, proof of Lemma 2: odd monomials of the labels have mean 0 because w and "
    "the noise are symmetric about 0; a mean of 0, the reason given, is not enough.",
)
def erratum6():
    return _odd_monomials(two_point(-1.0, 1.0))


@erratum6.fails_without("symmetry (noise -1/2 or 1 of mean 0)")
def _mean_zero_only():
    return _odd_monomials(two_point(-0.5, 1.0))
