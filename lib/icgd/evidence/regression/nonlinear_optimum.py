"""Evidence for OS, Theorem 3, and for its step size in closed form (chapter 5)."""

from functools import cache

import numpy as np
import torch
from scipy.integrate import quad

from icgd.claims import Evidence, claim
from icgd.evidence.regression.minimum import global_minimum, one_step_parts
from icgd.evidence.regression.nonlinear import CHAPTER, NOISE, D
from icgd.evidence.regression.unified import with_mean
from icgd.regression import counterexamples, enumeration, families, theory
from icgd.regression.data import sample_prompts
from icgd.regression.families import Polynomial, TwoLayerNetwork
from icgd.regression.moments import TokenMoments
from icgd.regression.targets import Family, NonlinearTask, moments

CUBIC = Polynomial((0.0, 1.0, 0.0, -0.2))


@cache
def polynomial_moments(family: Polynomial, noise_var: float = NOISE) -> TokenMoments:
    """Of f(x) = p(w.x) with Gaussian x and w, exact: y^4 has degree 4 deg(p) in x and in w."""
    rule = enumeration.gauss_hermite(D, 2 * (len(family.coefficients) - 1) + 2)
    values = family(rule.points @ rule.points.T)
    return TokenMoments.enumerate(rule, values, rule.weights, noise=noise_var)


# --- Theorem 3 -----------------------------------------------------------------------------------


def _learned(tokens: TokenMoments, step_size: float, n: int = 5) -> Evidence:
    end = global_minimum(tokens.loss(n), D)
    return Evidence(one_step_parts(step_size * np.eye(D)), end.parts(), tolerance=1e-6)


@claim(
    "OS.Theorem3",
    kind="trained",
    anchor=f"{CHAPTER}#os-theorem-3",
    statement="For a nonlinear target under Assumption 1 (here w.x - (w.x)^3 / 5) the global "
    "minimum of the exact loss is one step of gradient descent.",
)
def theorem3():
    return _learned(polynomial_moments(CUBIC), CUBIC.moments(D).step_size(5, NOISE))


@theorem3.fails_without("rotation invariance (+-x_1^3 instead): a step along one axis")
def _one_axis():
    family = counterexamples.CoordinateCubic()
    return _learned(one_axis_moments(), family.moments(D).step_size(5, NOISE))


def one_axis_moments() -> TokenMoments:
    """Of f(x) = +-x_1^3."""
    covariates = enumeration.gauss_hermite(D, 8)
    cube = covariates.points[:, 0] ** 3
    halves = torch.full((2,), 0.5, dtype=torch.float64)
    return TokenMoments.enumerate(covariates, torch.stack([cube, -cube]), halves, noise=NOISE)


@theorem3.fails_without("both symmetries (w.x with E[w] = 0.8 e_1): even terms are used")
def _with_mean():
    return _learned(with_mean().moments(), theory.step_size(5, D, NOISE))


#: Families of chapter 5 trained from their own sampler, with the prompts each needs for 1 %.
SAMPLED: dict[str, tuple[Family, int]] = {
    "two-layer ReLU": (TwoLayerNetwork(3), 200_000),
    "two-layer tanh": (TwoLayerNetwork(3, torch.tanh), 100_000),
    "deep tanh": (families.DeepNetwork((4, 3), torch.tanh), 100_000),
    "cosine": (families.CosineRidge(0.7), 150_000),
}


@cache
def learned_step_size(family: Family, prompts: int, *, n: int = 7, seed: int = 0) -> float:
    """tr(C) / d at the global minimum of the loss of sampled prompts, d = 2."""
    g = torch.Generator().manual_seed(seed)
    drawn = sample_prompts(NonlinearTask(family, D, NOISE), prompts, n, generator=g)
    end = global_minimum(TokenMoments.estimate(drawn).loss(n), D, scales=(1e-3,))
    return float(np.trace(end.parts()[: D * D].reshape(D, D)) / D)


def _families(n_in_formula: int) -> Evidence:
    g = torch.Generator().manual_seed(1)
    ratios = []
    for family, prompts in SAMPLED.values():
        predicted = moments(family, D, functions=100_000, generator=g)
        ratios.append(learned_step_size(family, prompts) / predicted.step_size(n_in_formula, NOISE))
    return Evidence(np.ones(len(ratios)), ratios, tolerance=0.01)


@claim(
    "OS.one-algorithm",
    kind="trained",
    anchor=f"{CHAPTER}#os-one-algorithm",
    statement="ReLU, tanh, deep and cosine targets: each family's learned step size, from sampled "
    "prompts, over the one its two moments predict.",
)
def one_algorithm():
    return _families(7)


@one_algorithm.fails_without("the context length (one example more in the formula)")
def _longer():
    return _families(8)


# --- The step size in closed form ----------------------------------------------------------------


def _closed_form(tokens) -> Evidence:
    """The ratio E[u_bar^T X^T y] / E|X^T y|^2 of exact moments, against two numbers a family."""
    predicted, measured = [], []
    for family in (CUBIC, Polynomial((0.0, 0.5, 0.0, 0.0, 0.0, 0.02)), Polynomial((0.0, 1.0))):
        for n, noise_var in ((1, 0.3), (5, 0.3), (11, 1.7)):
            cross, second = tokens(family, noise_var).predictor_moments(n)
            predicted.append(family.moments(D).step_size(n, noise_var))
            measured.append(np.trace(cross) / np.trace(second))
    return Evidence(predicted, measured, tolerance=1e-12)


@claim(
    "OS.nonlinear-step-size",
    kind="exact",
    anchor=f"{CHAPTER}#os-nonlinear-step-size",
    statement="With beta_f = E[x f(x)], the paper's ratio is eta = E|beta_f|^2 / (E[f(x)^2 |x|^2] "
    "+ d s2 + (n - 1) E|beta_f|^2).",
)
def nonlinear_step_size():
    return _closed_form(polynomial_moments)


@nonlinear_step_size.fails_without("Gaussian covariates in both moments (signs +-1 instead)")
def _signs():
    def tokens(family: Polynomial, noise_var: float) -> TokenMoments:
        x, w = enumeration.rademacher(D), enumeration.gauss_hermite(D, 12)
        values = family(w.points @ x.points.T)
        return TokenMoments.enumerate(x, values, w.weights, noise=noise_var)

    return _closed_form(tokens)


def _relu(activation) -> Evidence:
    """From the arc-cosine kernel k and from quadrature over |w|, against the closed form.

    E|beta_f|^2 = E[x.x' k(x, x')] = d^2 E[cos t (sin t + (pi - t) cos t)] / (2 pi), t the angle
    between two random directions, whose density is proportional to sin(t)^(d - 2).
    """
    predicted, measured = [], []
    for d in (2, 3, 7):
        n, noise_var = 11, 0.3
        predicted += [1 / (2 * (d + 2) + 4 * noise_var + n - 1)] * 2
        total = quad(lambda t, d=d: np.sin(t) ** (d - 2), 0, np.pi)[0]
        mean = quad(lambda t, d=d: np.sin(t) ** (d - 2) * np.cos(t) * _arc_cosine(t), 0, np.pi)[0]
        by_kernel = (d * d * mean / total, d * (d + 2) / 2)
        by_quadrature = families.ridge_moments(activation, d)
        for beta_sq, f_sq in (by_kernel, (by_quadrature.beta_sq, by_quadrature.f_sq_x_sq)):
            eta = theory.nonlinear_step_size(beta_sq, f_sq, n=n, d=d, noise_var=noise_var)
            measured.append(eta)
    return Evidence(predicted, measured, tolerance=1e-11)


def _arc_cosine(t: float) -> float:
    return (np.sin(t) + (np.pi - t) * np.cos(t)) / (2 * np.pi)


@claim(
    "OS.relu-step-size",
    kind="exact",
    anchor=f"{CHAPTER}#os-relu-step-size",
    statement="Two-layer ReLU networks of any width: eta = 1 / (2 (d + 2) + 4 s2 + n - 1).",
)
def relu_step_size():
    return _relu(torch.relu)


@relu_step_size.fails_without("the ReLU (tanh instead)")
def _tanh():
    return _relu(torch.tanh)
