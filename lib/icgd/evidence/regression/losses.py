"""Evidence for the two exact averages the chapters rely on: ridge's risk and the loss itself."""

import torch

from icgd.claims import Evidence, claim
from icgd.evidence.regression.linear import CHAPTER, NOISE, N, law, random_reduced
from icgd.regression import enumeration, learners, models, theory
from icgd.regression.data import LinearTask, sample_prompts
from icgd.regression.population import population_loss


def _ridge_risk(strength: float) -> Evidence:
    """The average of |w_hat - w|^2 + s2 over prompts, beside the integral.

    The query is averaged by hand: E[(w_hat.x - y)^2 | context] = |w_hat - w|^2 + s2.
    """
    n, d, s2 = 11, 5, 0.5
    generator = torch.Generator().manual_seed(0)
    prompts = sample_prompts(LinearTask(d, s2), 20_000, n, generator=generator)
    errors = ((learners.ridge(strength).weights(prompts) - prompts.w) ** 2).sum(1) + s2
    standard_error = errors.std().item() / len(errors) ** 0.5
    predicted = theory.ridge_risk(n, d, s2)
    return Evidence(predicted, errors.mean().item(), standard_error=standard_error)


@claim(
    "OS.ridge-risk",
    kind="sampled",
    anchor="01-prompts-and-learners#os-ridge-risk",
    statement="Ridge regression with strength s2 is the Bayes predictor; its risk is "
    "s2 + s2 E tr (X^T X + s2 I)^-1, an integral over Wishart eigenvalues.",
)
def ridge_risk():
    return _ridge_risk(0.5)


@ridge_risk.fails_without("the strength s2 of the ridge (2 s2 instead)")
def _too_strong():
    return _ridge_risk(1.0)


def _population(covariates) -> Evidence:
    predicted, measured = [], []
    for seed in range(5):
        A, w = random_reduced(2, seed)
        predicted.append(population_loss(A, w, n=N, noise_var=NOISE).item())
        weighted = law(covariates)
        predictions = models.reduced_prediction(A, w, weighted.prompts)
        measured.append(weighted.loss(predictions).item())
    return Evidence(predicted, measured, tolerance=1e-12, relative=True)


@claim(
    "OS.population-loss",
    kind="exact",
    anchor=f"{CHAPTER}#os-population-loss",
    statement="The pre-training loss at every (A, w) is a polynomial known in closed form; its "
    "cost does not depend on n.",
)
def exact_loss():
    return _population(enumeration.gauss_hermite)


@exact_loss.fails_without("Gaussian covariates (signs +-1 instead)")
def _signs():
    return _population(enumeration.rademacher)
