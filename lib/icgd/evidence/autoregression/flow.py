"""Evidence for the lemmas behind MO, Theorem 4.1, by exact gradients (chapter 10)."""

import numpy as np
import torch

from icgd.autoregression import data, theory
from icgd.autoregression.blocks import diagonal_blocks, place_blocks
from icgd.claims import Evidence, claim
from icgd.evidence.autoregression.tools import SKEWED, at_diagonal, flat, population

CHAPTER = "10-gradient-flow"
D, T, START = 3, 7, (0.3, 0.7)


# --- Lemma 5.2: the whole gradient is two numbers ------------------------------------------------


def _lemma52(law) -> Evidence:
    speed = theory.velocity(*START, *theory.rates(law, d=D, T=T))
    predicted = flat(*diagonal_blocks(D, *speed))
    return Evidence(
        predicted, -flat(*at_diagonal(law, D, T, *START)), tolerance=1e-12, relative=True
    )


@claim(
    "MO.Lemma5.2",
    kind="exact",
    anchor=f"{CHAPTER}#mo-lemma-5-2",
    statement="On the diagonal the 6 d^2 gradients are two: b (c2 - c1 a b) and a (c2 - c1 a b).",
)
def lemma52():
    return _lemma52(data.Gaussian(0.8))


@lemma52.fails_without("E[x_j^3 x_l^3] = 0 (skewed coordinates)")
def _skewed():
    return _lemma52(SKEWED)


@lemma52.fails_without("Assumption 4.1 (x_1 = ones)")
def _ones():
    return _lemma52(data.Ones())


# --- Lemma 5.3: the surrogate --------------------------------------------------------------------


def _surrogate(law, spread: float) -> Evidence:
    """loss(point) - loss(other) beside d (surrogate(point) - surrogate(other))."""
    loss, rates = population(law, D, T), theory.rates(law, d=D, T=T)
    tilt = torch.diag(torch.tensor([1.0 + spread, 1.0 - spread, 1.0], dtype=torch.float64))
    points = [(0.3, 0.7), (-0.4, 0.2), (1.1, 0.5)]
    exact = [loss(*place_blocks(a * tilt, b * tilt)).item() for a, b in points]
    surrogate = [D * theory.surrogate(a, b, *rates) for a, b in points]
    return Evidence(np.diff(surrogate), np.diff(exact), tolerance=1e-12, relative=True)


@claim(
    "MO.Lemma5.3",
    kind="exact",
    anchor=f"{CHAPTER}#mo-lemma-5-3",
    statement=(
        "On the diagonal the loss is d times the surrogate (c2 - c1 a b)^2 / 2 c1, plus a constant."
    ),
)
def lemma53():
    return _surrogate(data.Gaussian(0.8), 0.0)


@lemma53.fails_without("multiples of the identity")
def _tilted():
    return _surrogate(data.Gaussian(0.8), 0.3)


# --- Lemma 5.4: the PL inequality, an equality ---------------------------------------------------


def _pl(loss) -> Evidence:
    c1, c2 = theory.rates(data.Gaussian(0.8), d=D, T=T)
    points = torch.randn(7, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    points.requires_grad_(True)
    values = loss(points[:, 0], points[:, 1], c1, c2)
    (gradient,) = torch.autograd.grad(values.sum(), points)
    right = 2 * c1 * points.square().sum(1) * values
    return Evidence(right.detach(), gradient.square().sum(1), tolerance=1e-12, relative=True)


@claim(
    "MO.Lemma5.4",
    kind="algebra",
    anchor=f"{CHAPTER}#mo-lemma-5-4",
    statement="The surrogate obeys the PL inequality with equality: |grad|^2 = 2 c1 (a^2 + b^2) l.",
)
def lemma54():
    return _pl(lambda a, b, c1, c2: (c2 - c1 * a * b) ** 2 / (2 * c1))


@lemma54.fails_without("a square of c2 - c1 a b (a fourth power instead)")
def _fourth_power():
    return _pl(lambda a, b, c1, c2: (c2 - c1 * a * b) ** 4 / (2 * c1))


# --- Erratum 3: the determinant ------------------------------------------------------------------


def _determinant(power: int) -> Evidence:
    c1, c2 = theory.rates(data.Gaussian(0.8), d=D, T=T)
    point = torch.tensor(START, dtype=torch.float64)
    hessian = torch.autograd.functional.hessian(
        lambda p: (c2 - c1 * p[0] * p[1]) ** 2 / (2 * c1), point
    )
    p = START[0] * START[1]
    predicted = c1**power * p**2 - (2 * c1 * p - c2) ** 2
    return Evidence(predicted, torch.linalg.det(hessian), tolerance=1e-12, relative=True)


@claim(
    "MO.erratum3",
    kind="algebra",
    anchor=f"{CHAPTER}#mo-erratum-3",
    statement=(
        "The Hessian's determinant is c1^2 a^2 b^2 - (2 c1 a b - c2)^2, negative outside a band."
    ),
)
def erratum3():
    return _determinant(2)


@erratum3.fails_without("the square of c1 (as printed)")
def _printed():
    return _determinant(1)


# --- Erratum 1: skewed tokens --------------------------------------------------------------------


def _off_diagonal(law, m3: float) -> Evidence:
    grad_A, grad_B = at_diagonal(law, D, T, *START)
    off = ~np.eye(D, dtype=bool)
    found = flat(grad_A[D:, :D][off], grad_B[:, :D][off])
    predicted = np.repeat(theory.skewed_gradient(m3, *START, T), D * (D - 1))
    return Evidence(predicted, found, tolerance=1e-12, relative=True)


@claim(
    "MO.erratum1",
    kind="exact",
    anchor=f"{CHAPTER}#mo-erratum-1",
    statement="For skewed coordinates the gradient off the diagonal is a^2 b (E x^3)^2 S_T, not 0.",
)
def erratum1():
    return _off_diagonal(SKEWED, SKEWED.raw(3))


@erratum1.fails_without("skewness (the same values with both signs)")
def _symmetrised():
    both = data.Discrete((2.0, -2.0, 1.0, -1.0), (1 / 6, 1 / 6, 1 / 3, 1 / 3))
    return _off_diagonal(both, SKEWED.raw(3))


def _decay(law) -> Evidence:
    """Off-diagonal over diagonal gradient, times T / log T: it settles, so the ratio vanishes."""
    lengths = [1000, 3000]
    scaled = []
    for T in lengths:
        _, grad_B = at_diagonal(law, 2, T, *START)
        scaled.append(grad_B[0, 1] / grad_B[0, 0] * (T - 2) / theory.harmonic_sum(T))
    k = theory.kappas(law, 2)
    a, b = START
    limit = a * b * SKEWED.raw(3) ** 2 / (k.k2 * a * b - k.k1)
    return Evidence(np.full(2, limit), scaled, tolerance=2e-2, relative=True)


@claim(
    "MO.erratum1-decay",
    kind="exact",
    anchor=f"{CHAPTER}#mo-erratum-1-decay",
    statement="The violation by skewed coordinates is of relative size log T / T.",
)
def erratum1_decay():
    return _decay(SKEWED)


@erratum1_decay.fails_without("the third moment of the law")
def _no_skewness():
    return _decay(data.Rademacher(1.0))
