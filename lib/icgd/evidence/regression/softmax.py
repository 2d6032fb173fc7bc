"""Evidence for softmax heads beside linear attention (chapter 8)."""

import torch

from icgd.claims import Evidence, claim
from icgd.regression import theory
from icgd.regression.data import LinearTask, normal, sample_prompts
from icgd.regression.enumeration import Rule, gauss_hermite, rademacher
from icgd.regression.softmax import SoftmaxAttention, scalar_loss

CHAPTER = "08-depth"
#: Two heads (c, b), (-c, -b) near the best for n = 4, d = 1 and no noise.
C, SHARPNESS, N = 0.59, 1.3, 4


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


def antisymmetric(centre: bool) -> Evidence:
    """Two heads (c, B), (-c, -B) with small B against a gradient step, centred or not."""
    g = torch.Generator().manual_seed(0)
    prompts = sample_prompts(LinearTask(3, 0.5), 7, 5, generator=g)
    M, small = normal(3, 3, generator=g), 1e-4
    model = SoftmaxAttention(3, heads=2)
    with torch.no_grad():
        model.c.copy_(torch.tensor([1.0, -1.0]) / small)
        model.B.copy_(torch.stack([M, -M]) * small)
    X = prompts.X - prompts.X.mean(1, keepdim=True) if centre else prompts.X
    step = torch.einsum("bne,bn->be", X, prompts.y) * 2 / prompts.n
    predicted = torch.einsum("bd,de,be->b", prompts.x_query, M, step)
    return Evidence(predicted, model(prompts).detach(), tolerance=1e-5, relative=True)


@claim(
    "Soft.centred",
    kind="algebra",
    anchor=f"{CHAPTER}#softmax-centred",
    statement="Two opposite softmax heads with small B take one step on centred covariates.",
)
def centred() -> Evidence:
    """Sizes 5 and 3, B of size 1e-4: the error is of its square."""
    return antisymmetric(centre=True)


@centred.fails_without("centring")
def centred_not() -> Evidence:
    """The step that linear attention takes."""
    return antisymmetric(centre=False)


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


def sampled_loss(predicted: float) -> Evidence:
    """The loss of two sharp heads on 1,600,000 prompts, n = 4, d = 1, no noise.

    Linear attention, whose loss is known, is run on the same prompts: much of the chance cancels.
    """
    g = torch.Generator().manual_seed(0)
    prompts = sample_prompts(LinearTask(1, 0.0), 1_600_000, N, generator=g)
    model = SoftmaxAttention(1, heads=2)
    with torch.no_grad():
        model.c.copy_(torch.tensor([C, -C]))
        model.B.copy_(torch.tensor([SHARPNESS, -SHARPNESS]).view(2, 1, 1))
        errors = (model(prompts) - prompts.y_query).square()
    step = theory.step_size(N, 1, 0.0) * (prompts.y[..., None] * prompts.X).sum(1)
    errors -= ((step * prompts.x_query).sum(1) - prompts.y_query).square()
    measured = errors.mean() + theory.minimum_loss(N, 1, 0.0)
    return Evidence(predicted, measured, standard_error=float(errors.std() / len(errors) ** 0.5))


@claim(
    "Soft.two-heads",
    kind="sampled",
    anchor=f"{CHAPTER}#softmax-two-heads",
    statement="For n = 4, d = 1 and no noise two softmax heads beat all linear attention.",
)
def two_heads() -> Evidence:
    """Quadrature against prompts."""
    b = torch.tensor([SHARPNESS, -SHARPNESS], dtype=torch.float64)
    return sampled_loss(scalar_loss(torch.tensor([C, -C]).double(), b, N, 0.0, nodes=20).item())


@two_heads.fails_without("softmax")
def two_heads_linear() -> Evidence:
    """The minimum of linear attention, d - n d / (n + d + 1) = 1/3."""
    return sampled_loss(theory.minimum_loss(N, 1, 0.0))
