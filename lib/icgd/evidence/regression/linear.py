"""Evidence for OS, Section 3: isotropic covariates and a linear target (chapters 2 and 3).

The exact checks average over finite lists of weighted prompts (`enumeration`), which know nothing
of the closed forms they are compared with. `law()` is the paper's law at n = d = 2; `law(unequal)`
has the same second moments, but E[|x|^2 x x^T] is not a multiple of I.
"""

from functools import cache

import numpy as np
import torch
from torch import Tensor

from icgd.claims import Evidence, claim
from icgd.regression import enumeration, learners, models, theory
from icgd.regression.data import LinearTask, Prompts, normal, sample_prompts

N, D, NOISE = 2, 2, 0.3
CHAPTER = "03-one-step-is-optimal"


@cache
def law(covariates=enumeration.gauss_hermite, noise_var=NOISE) -> enumeration.WeightedPrompts:
    return enumeration.enumerate_prompts(covariates(D), N, noise_var)


def unequal(d: int) -> enumeration.Rule:
    return enumeration.unequal_fourth_moments()


def random_reduced(d: int, seed: int, scale: float = 1.0) -> tuple[Tensor, Tensor]:
    """(A, w) with independent N(0, scale^2) entries."""
    g = torch.Generator().manual_seed(seed)
    return scale * normal(d, d + 1, generator=g), scale * normal(d + 1, generator=g)


# --- Eq. (33): the construction runs one step of gradient descent --------------------------------


def _eq33(prediction) -> Evidence:
    prompts = sample_prompts(LinearTask(5, 0.5), 11, 7, generator=torch.Generator().manual_seed(0))
    step = learners.gradient_step(0.1)(prompts)
    return Evidence(step, prediction(prompts), tolerance=1e-12, relative=True)


@claim(
    "OS.Eq33",
    kind="algebra",
    anchor="02-linear-self-attention#os-eq-33",
    statement="With the weights of Eq. (25) the layer outputs one step of gradient descent.",
)
def eq33():
    return _eq33(lambda prompts: models.one_step_construction(5, 0.1)(prompts).detach())


@eq33.fails_without("linear attention (softmax weights instead)")
def _softmax():
    def prediction(prompts: Prompts) -> Tensor:
        scores = torch.einsum("bnd,bd->bn", prompts.X, prompts.x_query)
        return 0.1 * (torch.softmax(scores, 1) * prompts.y).sum(1)

    return _eq33(prediction)


# --- Lemmas 1 and 2: what the loss measures ------------------------------------------------------


def _distances(target: Tensor, weighted: enumeration.WeightedPrompts) -> Evidence:
    """L(A, w) - E|A G w - target|^2 must be one and the same number for every (A, w)."""
    gaps = []
    for seed in range(5):
        A, w = random_reduced(D, seed)
        predictor = models.effective_predictor(A, w, weighted.prompts)
        distance = weighted.mean(((predictor - target) ** 2).sum(1))
        loss = weighted.loss(models.reduced_prediction(A, w, weighted.prompts))
        gaps.append((loss - distance).item())
    return Evidence(np.full(4, gaps[0]), gaps[1:], tolerance=1e-10)


@claim(
    "OS.Lemma1",
    kind="exact",
    anchor=f"{CHAPTER}#os-lemma-1",
    statement="The loss is a constant plus the mean squared distance of the effective predictor "
    "A G w from ridge regression with strength s2.",
)
def lemma1():
    return _distances(learners.ridge(NOISE).weights(law().prompts), law())


@lemma1.fails_without("the strength s2 of the ridge (2 s2 instead)")
def _wrong_strength():
    return _distances(learners.ridge(2 * NOISE).weights(law().prompts), law())


@claim(
    "OS.Lemma2",
    kind="exact",
    anchor=f"{CHAPTER}#os-lemma-2",
    statement="The loss is another constant plus the mean squared distance of A G w from "
    "eta X^T y, one step of gradient descent.",
)
def lemma2():
    step = learners.gradient_step(theory.step_size(N, D, NOISE))
    return _distances(step.weights(law().prompts), law())


@lemma2.fails_without("the step size eta (1 % larger instead)")
def _wrong_step():
    step = learners.gradient_step(1.01 * theory.step_size(N, D, NOISE))
    return _distances(step.weights(law().prompts), law())


@lemma2.fails_without("E[|x|^2 x x^T] a multiple of I")
def _unequal_lemma2():
    step = learners.gradient_step(step_size_ratio(law(unequal)))
    return _distances(step.weights(law(unequal).prompts), law(unequal))


# --- Lemmas 3 and 4: the two second moments ------------------------------------------------------


def _moments(weighted: enumeration.WeightedPrompts, noise_var: float = NOISE):
    """(E[X^T y y^T X], E[X^T y w_hat^T]), averaged over the list."""
    xy = learners.label_sum(weighted.prompts)
    w_hat = learners.ridge(noise_var).weights(weighted.prompts)
    return (
        weighted.mean(torch.einsum("bi,bj->bij", xy, xy)),
        weighted.mean(torch.einsum("bi,bj->bij", xy, w_hat)),
    )


def step_size_ratio(weighted: enumeration.WeightedPrompts, noise_var: float = NOISE) -> float:
    """The paper's step size, E[w_hat^T X^T y] / E|X^T y|^2."""
    second, cross = _moments(weighted, noise_var)
    return (cross.trace() / second.trace()).item()


def _scalar(weighted: enumeration.WeightedPrompts) -> Evidence:
    """Both moments equal their mean diagonal entry times I."""
    moments = torch.stack(_moments(weighted))
    means = moments.diagonal(dim1=1, dim2=2).mean(1)
    return Evidence(means[:, None, None] * torch.eye(D), moments, tolerance=1e-11)


@claim(
    "OS.Lemma3",
    kind="exact",
    anchor=f"{CHAPTER}#os-lemma-3",
    statement="E[X^T y y^T X] and E[X^T y w_hat^T] are multiples of the identity.",
)
def lemma3():
    return _scalar(law())


@lemma3.fails_without("E[|x|^2 x x^T] a multiple of I")
def _unequal_lemma3():
    return _scalar(law(unequal))


def _lemma4(weighted: enumeration.WeightedPrompts, factor: float = 1.0) -> Evidence:
    second, cross = _moments(weighted)
    return Evidence(cross, factor * step_size_ratio(weighted) * second, tolerance=1e-11)


@claim(
    "OS.Lemma4",
    kind="exact",
    anchor=f"{CHAPTER}#os-lemma-4",
    statement="With the paper's step size, E[eta X^T y y^T X - X^T y w_hat^T] = 0.",
)
def lemma4():
    return _lemma4(law())


@lemma4.fails_without("the step size eta (1 % larger instead)")
def _wrong_step_lemma4():
    return _lemma4(law(), factor=1.01)


@lemma4.fails_without("E[|x|^2 x x^T] a multiple of I")
def _unequal_lemma4():
    return _lemma4(law(unequal))
