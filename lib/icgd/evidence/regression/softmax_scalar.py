"""Evidence for softmax heads at d = 1, where their risk is an exact integral (chapter 8)."""

import numpy as np
import torch
from scipy.optimize import minimize_scalar

from icgd.claims import Evidence, claim
from icgd.regression import theory
from icgd.regression.softmax import scalar_loss

CHAPTER = "08-depth"
#: Two heads (c, b), (-c, -b) near the best for n = 4, d = 1 and no noise.
C, SHARPNESS, N = 0.59, 1.3, 4
#: (c_1, c_2), (b_1, b_2) near the best for n = 2; and c, b of the best opposite heads there.
UNEQUAL = (0.6305, -0.6310), (6.352, -0.866)
OPPOSITE = 0.566, 2.5625
FAR = (0.9, -0.2), (1.5, 0.5)


def two_sharp_heads(nodes: int) -> float:
    """Their exact loss for n = 4, d = 1 and no noise, by quadrature with so many nodes a line."""
    pair = torch.tensor([1.0, -1.0], dtype=torch.float64)
    return scalar_loss(C * pair, SHARPNESS * pair, N, 0.0, nodes=nodes).item()


@claim(
    "Soft.two-heads",
    kind="exact",
    anchor=f"{CHAPTER}#softmax-two-heads",
    statement="For n = 4, d = 1 and no noise two softmax heads have the risk 0.3268 and beat all "
    "linear attention, whose minimum is 1/3.",
)
def two_heads() -> Evidence:
    """The stated digits and 28 nodes against 32: quadrature has converged to a part in 10^5."""
    fine = two_sharp_heads(32)
    return Evidence([0.32678, two_sharp_heads(28)], [fine, fine], tolerance=1e-5)


@two_heads.fails_without("softmax")
def two_heads_linear() -> Evidence:
    """The minimum of linear attention, d - n d / (n + d + 1) = 1/3."""
    return Evidence(theory.minimum_loss(N, 1, 0.0), two_sharp_heads(28), tolerance=1e-5)


@two_heads.fails_without("enough nodes")
def two_heads_coarse() -> Evidence:
    """20 nodes a line give 0.3274."""
    return Evidence(two_sharp_heads(20), two_sharp_heads(28), tolerance=1e-5)


def two_examples(c, b) -> float:
    """The loss of two heads for n = 2, d = 1 and no noise, in polar coordinates.

    With x_1 - x_2 = sqrt(2) u a head's mean is (u / sqrt 2) tanh(b x_query u / sqrt 2), up to the
    mean of the x_i. Put x_query^2 + u^2 = 2 R; then R has the density exp(-R), and the angle is
    uniform.
    """
    R, weights = np.polynomial.laguerre.laggauss(120)
    angle = 2 * np.pi * np.arange(1600) / 1600
    query, u = (np.sqrt(2 * R)[:, None] * f(angle) for f in (np.cos, np.sin))
    error = -query
    for c_h, b_h in zip(c, b, strict=True):
        error = error + c_h * u / 2**0.5 * np.tanh(b_h * query * u / 2**0.5)
    return weights @ (error**2).mean(1) + sum(c) ** 2 / 2


def best_opposite() -> float:
    """The least loss of opposite heads for n = 2: a parabola in c, then a search over b."""

    def least(b):
        plus, minus = (two_examples((c, -c), (b, -b)) for c in (1, -1))
        return 1 - ((minus - plus) / 4) ** 2 / ((plus + minus) / 2 - 1)

    return minimize_scalar(least, bounds=(0.5, 8.0)).fun


def exact(c, b) -> float:
    """`scalar_loss` of these two heads for n = 2 and no noise."""
    c, b = (torch.tensor(part, dtype=torch.float64) for part in (c, b))
    return scalar_loss(c, b, 2, 0.0, nodes=400).item()


def pair(c, b) -> Evidence:
    """These heads, the best opposite ones, and a pair that is far from any minimum.

    Near a minimum a wrong formula may give the right risk; the third pair would notice.
    """
    opposite = [(size, -size) for size in OPPOSITE]
    predicted = [two_examples(*UNEQUAL), best_opposite(), two_examples(*FAR)]
    measured = [exact(c, b), exact(*opposite), exact(*FAR)]
    return Evidence(predicted, measured, tolerance=1e-6)


@claim(
    "Soft.unequal-heads",
    kind="exact",
    anchor=f"{CHAPTER}#softmax-unequal-heads",
    statement="For n = 2, d = 1 and no noise the best opposite heads have the risk 0.5555, and two "
    "unequal ones 0.5524: the best pair is not opposite.",
)
def unequal_heads() -> Evidence:
    """Two quadratures that share no step."""
    return pair(*UNEQUAL)


@unequal_heads.fails_without("a sharp head beside a soft one")
def unequal_heads_equal() -> Evidence:
    """The opposite pair in its place."""
    return pair((OPPOSITE[0], -OPPOSITE[0]), (OPPOSITE[1], -OPPOSITE[1]))
