"""Evidence for the risk of a trained step on prompts of another law (chapter 7).

The measurements take averages over one token of a finite law, `TokenMoments`, which know no
Gaussian formula; the predictions are the closed forms of `shift`.
"""

import numpy as np
import torch

from icgd.claims import Evidence, claim
from icgd.evidence.regression.dynamics import CHAPTER, NOISE, SIGMA, N
from icgd.evidence.regression.preconditioning import root
from icgd.evidence.regression.unified import LinearLaw, skewed_covariates
from icgd.regression import dynamics, learners, shift
from icgd.regression.data import LinearTask, sample_prompts
from icgd.regression.enumeration import Rule, gauss_hermite, rademacher
from icgd.regression.moments import TokenMoments
from icgd.regression.shifted_tasks import OrthogonalQueryTask

EYE = np.eye(2)
OTHER = np.array([[0.6, -0.2], [-0.2, 1.7]])
FIXED = np.outer([1.0, -2.0], [1.0, -2.0])  # E[w w^T] of a weight vector that never changes


def trained(n: int = N) -> np.ndarray:
    """Gamma^-1 after training on x ~ N(0, SIGMA), w ~ N(0, I) at length n."""
    return np.linalg.inv(dynamics.gamma(SIGMA, n=n, noise_var=NOISE))


def measured_risk(
    P: np.ndarray, *, m: int, covariates: Rule, W=EYE, K=None, noise_var=NOISE
) -> np.ndarray:
    """Risk of (1/m) sum_i y_i x_i^T P^T x_query from the moments of one token; P (..., 2, 2)."""
    weights = gauss_hermite(2).image(root(W))
    tokens = LinearLaw("", covariates, weights, noise_var).moments()
    K = tokens.second[:2, :2].numpy() if K is None else K
    cross, second = tokens.predictor_moments(m)  # E[w y^T X], E[X^T y y^T X]
    quadratic = K @ P @ (second / m**2 @ np.swapaxes(P, -1, -2) - 2 / m * cross.T)
    return np.trace(K @ W) + np.trace(quadratic, axis1=-2, axis2=-1)


def gaussian(covariance) -> Rule:
    return gauss_hermite(2).image(root(covariance))


# --- Every shift ---------------------------------------------------------------------------------

#: name: (covariance, task_moment, query_moment, noise_var) of the test prompts.
SHIFTS = {
    "none": (SIGMA, EYE, SIGMA, NOISE),
    "task": (SIGMA, FIXED, SIGMA, NOISE),
    "query": (SIGMA, EYE, OTHER, NOISE),
    "covariate": (OTHER, EYE, OTHER, NOISE),
    "all, and the noise": (OTHER, FIXED, SIGMA + OTHER, 0.7),
}


def _risks(base: Rule) -> Evidence:
    predicted, measured = [], []
    for sigma, W, K, noise_var in SHIFTS.values():
        for m in (1, 3, 40):
            keys = {"m": m, "noise_var": noise_var}
            predicted.append(
                shift.step_risk(trained(), covariance=sigma, task_moment=W, query_moment=K, **keys)
            )
            covariates = base.image(root(sigma))
            measured.append(measured_risk(trained(), covariates=covariates, W=W, K=K, **keys))
    return Evidence(predicted, measured, tolerance=1e-12, relative=True)


@claim(
    "ZFB.shift-risk",
    kind="exact",
    anchor=f"{CHAPTER}#zfb-shift-risk",
    statement="The risk of a trained step under any shift of task, query, covariates, noise and "
    "length is tr(B^T K B W) + (1/m) tr(K P (Sigma W Sigma + (tr(Sigma W) + s2) Sigma) P^T).",
)
def shift_risk():
    return _risks(gauss_hermite(2))


@shift_risk.fails_without("a Gaussian context (signs instead)")
def _signs():
    return _risks(rademacher(2))


# --- Any law of the labels -----------------------------------------------------------------------


def _any_law(P_covariance=None) -> Evidence:
    """x skewed and not centred, y = x_1^3 - x_2 + x_1 x_2 / 2 + noise."""
    x = skewed_covariates()
    x_1, x_2 = x.points.T
    one = torch.ones(1, dtype=torch.float64)
    values = (x_1**3 - x_2 + x_1 * x_2 / 2)[None]
    tokens = TokenMoments.enumerate(x, values, one, noise=0.7)
    S, beta = tokens.second[:2, :2].numpy(), tokens.second[:2, 2].numpy()
    a = np.linalg.solve(S, beta)
    spread = tokens.fourth[:2, :2, 2, 2].numpy() - np.outer(beta, beta)
    P_covariance = S if P_covariance is None else P_covariance
    P = np.linalg.inv(dynamics.gamma(P_covariance, n=N, noise_var=NOISE))
    predicted, measured = [], []
    for m in (1, 4, 30):
        predicted.append(shift.best_linear_excess(a, spread, S, n=N, m=m, noise_var=NOISE))
        A = torch.nn.functional.pad(torch.as_tensor(P / m), (0, 1))
        w = torch.tensor([0.0, 0.0, 1.0], dtype=torch.float64)
        measured.append(tokens.loss(m)(A, w).item() - (tokens.second[2, 2].item() - a @ S @ a))
    return Evidence(predicted, measured, tolerance=1e-11, relative=True)


@claim(
    "ZFB.any-law",
    kind="exact",
    anchor=f"{CHAPTER}#zfb-any-law",
    statement="For any law of (x, y) with the trained E[x x^T] the layer's risk exceeds that of "
    "the best linear predictor by a bias of order 1/n^2 and a variance of order 1/m.",
)
def any_law():
    return _any_law()


@any_law.fails_without("the trained E[x x^T] (SIGMA in training)")
def _other_moments():
    return _any_law(SIGMA)


# --- Harmless, and not ---------------------------------------------------------------------------


def _rates(*names: str) -> Evidence:
    """The slope of log risk over log n at n = m, between 10^6 and 10^7."""
    slopes = []
    for name in names:
        sigma, W, K, noise_var = SHIFTS[name]
        keys = {"covariates": gaussian(sigma), "W": W, "K": K, "noise_var": noise_var}
        risks = [measured_risk(trained(n), m=n, **keys) for n in (10**6, 10**7)]
        slopes.append(np.log10(risks[1] / risks[0]))
    return Evidence([-1.0] * len(slopes), slopes, tolerance=1e-3)


@claim(
    "ZFB.harmless",
    kind="exact",
    anchor=f"{CHAPTER}#zfb-harmless",
    statement="Task shift and query shift are harmless: the risk still falls like 1/n at n = m.",
)
def harmless():
    return _rates("none", "task", "query")


@harmless.fails_without("the covariance of training (covariate shift)")
def _covariate():
    return _rates("covariate")


def _covariate_limit(n: int) -> Evidence:
    predicted, measured = [], []
    for sigma in (0.5 * SIGMA, 1.5 * SIGMA, 2.5 * SIGMA, OTHER):
        B = np.linalg.solve(SIGMA, sigma) - EYE
        predicted.append(np.trace(B.T @ sigma @ B))
        measured.append(measured_risk(trained(n), m=n, covariates=gaussian(sigma)))
    return Evidence(predicted, measured, tolerance=1e-6, relative=True)


@claim(
    "ZFB.covariate-shift",
    kind="exact",
    anchor=f"{CHAPTER}#zfb-covariate-shift",
    statement="Under covariate shift the risk tends to tr(B^T Sigma' B), B = Sigma^-1 Sigma' - I, "
    "as n = m grows; for Sigma' = c Sigma to (c - 1)^2 tr Sigma'.",
)
def covariate_shift():
    return _covariate_limit(10**8)


@covariate_shift.fails_without("long prompts (n = m = 5)")
def _short():
    return _covariate_limit(5)


def _orthogonal(task) -> Evidence:
    prompts = sample_prompts(task, 11, 3, generator=torch.Generator().manual_seed(0))
    g = dynamics.gamma(np.eye(7), n=20, noise_var=NOISE)[0, 0]
    predictions = learners.gradient_step(1 / (3 * g))(prompts)
    return Evidence(np.zeros(11), predictions, tolerance=1e-12)


@claim(
    "ZFB.orthogonal-query",
    kind="algebra",
    anchor=f"{CHAPTER}#zfb-orthogonal-query",
    statement="A query orthogonal to the covariates of its context gets the prediction 0.",
)
def orthogonal_query():
    return _orthogonal(OrthogonalQueryTask(7, NOISE))


@orthogonal_query.fails_without("a query that depends on the context (independent)")
def _independent():
    return _orthogonal(LinearTask(7, NOISE))
