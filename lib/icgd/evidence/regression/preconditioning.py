"""Evidence for OS, Section 4 and Appendix B: covariates of any covariance (chapter 4).

`law(...)` is the paper's law on R^2 as a finite rule: x = Sigma^(1/2) u with u ~ N(0, I), and
w ~ N(0, Omega). The trained checks minimise `population_loss`, in three dimensions.
"""

from functools import partial

import numpy as np
import torch
from torch import Tensor

from icgd.claims import Evidence, claim
from icgd.evidence.regression.minimum import global_minimum, one_step_parts
from icgd.evidence.regression.unified import LinearLaw
from icgd.regression import enumeration, theory
from icgd.regression.population import population_loss

NOISE = 0.3
CHAPTER = "04-preconditioning"
SIGMA = np.array([[2.0, 0.6, 0.0], [0.6, 1.0, -0.3], [0.0, -0.3, 0.4]])
SMALL = np.array([[2.0, 0.6], [0.6, 0.5]])


def root(matrix) -> Tensor:
    """The symmetric square root of a positive semi-definite matrix."""
    values, vectors = np.linalg.eigh(np.asarray(matrix, dtype=float))
    return torch.as_tensor((vectors * np.sqrt(values.clip(0))) @ vectors.T)


def law(covariance, task_covariance) -> LinearLaw:
    """x ~ N(0, covariance), w ~ N(0, task_covariance), by three points a direction."""
    rule = enumeration.gauss_hermite(len(covariance))
    return LinearLaw(
        "skewed", rule.image(root(covariance)), rule.image(root(task_covariance)), NOISE
    )


# --- Theorem 2 -----------------------------------------------------------------------------------


def _learned(n: int, task_covariance, predicted) -> Evidence:
    """The predictor at the global minimum of the exact loss, against predicted X^T y."""
    loss = partial(
        population_loss, n=n, noise_var=NOISE, covariance=SIGMA, task_covariance=task_covariance
    )
    found = global_minimum(loss, len(SIGMA), scales=(1e-3, 0.1)).parts()
    return Evidence(one_step_parts(predicted), found, tolerance=1e-6)


def _theorem2(task_covariance=None) -> Evidence:
    eta = theory.step_size(7, 3, NOISE)
    return _learned(7, task_covariance, eta * np.linalg.inv(SIGMA))


@claim(
    "OS.Theorem2",
    kind="trained",
    anchor=f"{CHAPTER}#os-theorem-2",
    statement="For x ~ N(0, Sigma) and w ~ N(0, Sigma^-1) the global minimum is one step of "
    "gradient descent preconditioned by Sigma^-1.",
)
def theorem2():
    return _theorem2()


@theorem2.fails_without("weights of covariance Sigma^-1 (I instead)")
def _identity_theorem2():
    return _theorem2(np.eye(3))


def ratio(covariance, task_covariance, noise_var: float) -> float:
    """The paper's E[y^T X (X^T X + s2 Sigma)^-1 X^T y] / E[y^T X Sigma^-1 X^T y], n = d = 2.

    Averaged over every prompt of a finite list: given X both are quadratic in (w, noise), and the
    average over those is a polynomial in X, so the rules are exact.
    """
    small = enumeration.gauss_hermite(len(covariance))
    prompts = enumeration.enumerate_prompts(
        small.image(root(covariance)),
        2,
        noise_var,
        coefficients=small.image(root(task_covariance)),
    )
    X, y = prompts.prompts.X, prompts.prompts.y
    sigma, xy = torch.as_tensor(covariance), torch.einsum("bnd,bn->bd", X, y)
    solved = torch.linalg.solve(X.mT @ X + noise_var * sigma, xy)
    top = prompts.mean((xy * solved).sum(1))
    bottom = prompts.mean((xy * torch.linalg.solve(sigma, xy.T).T).sum(1))
    return (top / bottom).item()


def _step_size(task_covariance) -> Evidence:
    noise = [0.1, NOISE, 1.7]
    measured = [ratio(SMALL, task_covariance, s2) for s2 in noise]
    return Evidence([theory.step_size(2, 2, s2) for s2 in noise], measured, tolerance=1e-12)


@claim(
    "OS.step-size-skewed",
    kind="exact",
    anchor=f"{CHAPTER}#os-step-size-skewed",
    statement="The step size of Theorem 2 is Theorem 1's for every Sigma, eta = 1 / (n + d + 1 + "
    "s2).",
)
def step_size_skewed():
    return _step_size(np.linalg.inv(SMALL))


@step_size_skewed.fails_without("weights of covariance Sigma^-1 (I instead)")
def _identity_step_size():
    return _step_size(np.eye(2))


# --- The neighbouring law: weights N(0, I) -------------------------------------------------------


def _identity(task_covariance) -> Evidence:
    """Predicted by the formula, term by term; learned from the exact loss."""
    n, d = 7, len(SIGMA)
    predicted = np.linalg.inv((n + 1) * SIGMA + (np.trace(SIGMA) + NOISE) * np.eye(d))
    return _learned(n, task_covariance, predicted)


@claim(
    "OS.identity-weights",
    kind="trained",
    anchor=f"{CHAPTER}#os-identity-weights",
    statement="For x ~ N(0, Sigma) and w ~ N(0, I) the preconditioner learned is "
    "((n + 1) Sigma + (tr Sigma + s2) I)^-1.",
)
def identity_weights():
    return _identity(np.eye(3))


@identity_weights.fails_without("weights of covariance I (Sigma^-1 instead)")
def _inverse_weights():
    return _identity(np.linalg.inv(SIGMA))


# --- A singular covariance -----------------------------------------------------------------------


def _singular(d_in_step: int) -> Evidence:
    """x lies in the plane spanned by two columns B of R^3, w = B^+T w' + anything off the plane.

    On the plane the predictor is determined; off it the parameters are free, so it is compared as
    B^T C B, which is what any covariate can feel.
    """
    B = torch.tensor([[1.0, 0.2], [0.5, -1.0], [0.0, 0.7]], dtype=torch.float64)
    rule = enumeration.gauss_hermite(2)
    singular = LinearLaw("plane", rule.image(B), rule.image(torch.linalg.pinv(B).T), NOISE)
    end = singular.minimise(5)
    C = torch.as_tensor(end.parts()[:9].reshape(3, 3))
    eta = theory.step_size(5, d_in_step, NOISE)
    pseudo = torch.linalg.pinv(B @ B.T, hermitian=True, rtol=1e-12)
    return Evidence(eta * B.T @ pseudo @ B, B.T @ C @ B, tolerance=1e-6)


@claim(
    "OS.singular-covariance",
    kind="trained",
    anchor=f"{CHAPTER}#os-singular-covariance",
    statement="For Sigma of rank r < d the step is eta Sigma^+ X^T y with eta = 1 / (n + r + 1 + "
    "s2): the rank takes the place of d, and what A does off the range of Sigma is free.",
)
def singular_covariance():
    return _singular(2)


@singular_covariance.fails_without("the rank in place of d")
def _full_dimension():
    return _singular(3)


# --- What plain gradient descent loses -----------------------------------------------------------


def _scalar(task_covariance) -> Evidence:
    """The best step of plain descent: from the moments of the finite law, and in closed form."""
    cross, second = law(SMALL, task_covariance).moments().predictor_moments(5)
    measured = np.trace(SMALL @ cross) / np.trace(SMALL @ second)
    predicted = np.trace(SMALL) / ((5 + 2 + 1 + NOISE) * np.trace(SMALL @ SMALL))
    return Evidence(predicted, measured, tolerance=1e-12)


@claim(
    "OS.best-scalar-step",
    kind="exact",
    anchor=f"{CHAPTER}#os-best-scalar-step",
    statement="Without a preconditioner the best step on skewed covariates is "
    "tr Sigma / ((n + d + 1 + s2) tr Sigma^2).",
)
def best_scalar_step():
    return _scalar(np.linalg.inv(SMALL))


@best_scalar_step.fails_without("weights of covariance Sigma^-1 (I instead)")
def _identity_scalar():
    return _scalar(np.eye(2))


def plain_descent_excess(condition_numbers, *, d: int, n: int, noise_var: float) -> np.ndarray:
    """Excess risk over the noise, relative to predicting 0: rows plain, preconditioned.

    For eigenvalues of Sigma spread evenly on a logarithmic scale, w ~ N(0, Sigma^-1); shape
    (2, len(condition_numbers)). The numbers of the figure in chapter 4.
    """
    rows = []
    for condition in np.atleast_1d(condition_numbers):
        sigma = np.diag(np.geomspace(1.0, condition, d))
        keys = {"n": n, "noise_var": noise_var}
        step = theory.best_scalar_step(sigma, **keys)
        plain = theory.skewed_risk(step * np.eye(d), sigma, **keys)
        rows.append(
            [(plain - noise_var) / d, (theory.minimum_loss(n, d, noise_var) - noise_var) / d]
        )
    return np.array(rows).T
