"""Evidence for softmax heads beside linear attention (chapter 8)."""

import torch
from torch import Tensor

from icgd.claims import Evidence, claim
from icgd.regression import theory
from icgd.regression.data import LinearTask, normal, sample_prompts
from icgd.regression.enumeration import Rule, gauss_hermite, rademacher
from icgd.regression.softmax import heads_prediction

CHAPTER = "08-depth"


def tilted(rule: Rule) -> Evidence:
    """The average label under weights exp(x_query^T B x), against c w^T L B^T x_query."""
    g = torch.Generator().manual_seed(0)
    B, root, w, query = (
        normal(2, 2, generator=g),
        normal(2, 2, generator=g),
        *normal(2, 2, generator=g),
    )
    x = rule.points @ root.mT
    weight = rule.weights * torch.exp(0.3 * x @ B.mT @ query)
    predicted = w @ (root @ root.mT) @ (0.3 * B).mT @ query
    return Evidence(predicted, weight @ (x @ w) / weight.sum(), tolerance=1e-9)


@claim(
    "Soft.tilting",
    kind="exact",
    anchor=f"{CHAPTER}#softmax-tilting",
    statement="One softmax head on infinitely many Gaussian examples is linear in the query.",
)
def tilting() -> Evidence:
    """Gauss and Hermite's rule with 30 nodes a coordinate stands for the infinite prompt."""
    return tilted(gauss_hermite(2, 30))


@tilting.fails_without("Gaussian covariates")
def tilting_signs() -> Evidence:
    """Random signs have the same covariance."""
    return tilted(rademacher(2))


def step_of_two(prompts, M, centre: bool) -> Tensor:
    """The step (2/n) x_query^T M sum_i (x_i - mean) y_i, or without the mean."""
    X = prompts.X - prompts.X.mean(1, keepdim=True) if centre else prompts.X
    total = torch.einsum("bne,bn->be", X, prompts.y)
    return torch.einsum("bd,de,be->b", prompts.x_query, M, total) * 2 / prompts.n


def five_examples():
    """Seven prompts with n = 5, d = 3, and an arbitrary M."""
    g = torch.Generator().manual_seed(0)
    prompts = sample_prompts(LinearTask(3, 0.5), 7, 5, generator=g)
    return prompts, normal(3, 3, generator=g)


def derivatives(prompts, M, second=-1.0) -> list[Tensor]:
    """The first three derivatives at s = 0 of what the heads (1, s M), (-1, second s M) predict."""
    c = torch.tensor([1.0, -1.0], dtype=torch.float64)

    def predict(s):
        return heads_prediction(c, s * torch.stack([M, second * M]), prompts)

    at, found = torch.zeros((), dtype=torch.float64), []
    for _ in range(3):
        predict = torch.func.jacfwd(predict)
        found.append(predict(at))
    return found


def derivative(centre: bool) -> Evidence:
    """The first derivative, which is the limit, against the step."""
    prompts, M = five_examples()
    measured = derivatives(prompts, M)[0]
    return Evidence(step_of_two(prompts, M, centre), measured, tolerance=1e-12, relative=True)


@claim(
    "Soft.centred",
    kind="algebra",
    anchor=f"{CHAPTER}#softmax-centred",
    statement="The limit of two opposite softmax heads with small B, a derivative at zero, is one "
    "step on centred covariates.",
)
def centred() -> Evidence:
    """The prediction vanishes at s = 0, so divided by s it tends to its derivative there."""
    return derivative(centre=True)


@centred.fails_without("centring")
def centred_not() -> Evidence:
    """The step that linear attention takes."""
    return derivative(centre=False)


def order(second: float) -> Evidence:
    """The second and third derivative against 0 and the third moments of the scores."""
    prompts, M = five_examples()
    t = torch.einsum("bd,de,bne->bn", prompts.x_query, M, prompts.X)
    t = t - t.mean(1, keepdim=True)
    square, cube = (t.pow(k).mean(1, keepdim=True) for k in (2, 3))
    third = 2 * ((t**3 - 3 * square * t - cube) * prompts.y).mean(1)
    measured = torch.stack(derivatives(prompts, M, second)[1:])
    predicted = torch.stack([torch.zeros_like(third), third])
    return Evidence(predicted, measured, tolerance=1e-11, relative=True)


@claim(
    "Soft.centred-order",
    kind="algebra",
    anchor=f"{CHAPTER}#softmax-centred",
    statement="Two opposite softmax heads differ from the centred step at second order in B, by a "
    "third moment of the scores: their second derivative at zero vanishes, the third is known.",
)
def centred_order() -> Evidence:
    """The terms of even order cancel between the heads."""
    return order(-1.0)


@centred_order.fails_without("opposite heads")
def centred_order_one() -> Evidence:
    """A second head with B = 0 only subtracts the mean, and the second derivative stays."""
    return order(0.0)


def centred_minimum(n: int, counted: int) -> Evidence:
    """The best centred step from exact moments against the best step with `counted` examples."""
    d, noise_var, rule = 2, 0.3, gauss_hermite(2 * n)
    X = rule.points.view(-1, n, d)
    X = X - X.mean(1, keepdim=True)
    S = X.mT @ X
    first = rule.weights @ S.diagonal(dim1=1, dim2=2).sum(1)
    second = rule.weights @ S.square().sum((1, 2))
    measured = d + noise_var - first**2 / (second + noise_var * first)
    return Evidence(theory.minimum_loss(counted, d, noise_var), measured, tolerance=1e-11)


@claim(
    "Soft.centred-minimum",
    kind="exact",
    anchor=f"{CHAPTER}#softmax-centred-minimum",
    statement="The best centred step loses as much as linear attention with one example fewer.",
)
def centred_loses_one() -> Evidence:
    """n = 3, d = 2: 729 prompts carry all moments up to the fourth."""
    return centred_minimum(3, counted=2)


@centred_loses_one.fails_without("the example that centring costs")
def centred_loses_none() -> Evidence:
    """The minimum of linear attention."""
    return centred_minimum(3, counted=3)
