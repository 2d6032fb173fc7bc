"""Evidence for MO, Section 4.3: x_1 = (1, ..., 1), with and without masking (chapter 13)."""

import numpy as np
import torch

from icgd.autoregression import data, theory
from icgd.autoregression.blocks import diagonal_blocks, place_blocks
from icgd.autoregression.full_one import full_one_flow
from icgd.claims import Evidence, claim
from icgd.evidence.autoregression.tools import at_diagonal, flat, population, shape
from icgd.training import flow

CHAPTER = "13-beyond-the-diagonal"
D, T, START = 3, 7, (0.3, 0.7)
OFF = ~np.eye(D, dtype=bool)


def masked(loss):
    """The loss whose gradients off the diagonal of W_KQ_32 and W_PV_12 are clipped to zero."""

    def clipped(A, B):
        eye = torch.eye(B.shape[0], dtype=torch.float64)
        keep_A, keep_B = torch.ones_like(A), torch.ones_like(B)
        keep_A[len(eye) :, : len(eye)], keep_B[:, : len(eye)] = eye, eye
        return loss(A * keep_A + A.detach() * (1 - keep_A), B * keep_B + B.detach() * (1 - keep_B))

    return clipped


# --- Lemmas A.5 and A.6 --------------------------------------------------------------------------


def _lemmaA5(mask: bool) -> Evidence:
    S, n = theory.harmonic_sum(T), T - 2
    a, b = START
    pull = n - a * b * (n + (D - 1) * S)
    grad_A, grad_B = at_diagonal(data.Ones(), D, T, a, b)
    if mask:
        grad_A[D:, :D][OFF] = 0
        grad_B[:, :D][OFF] = 0
    predicted = flat(*diagonal_blocks(D, b * pull, a * pull))
    return Evidence(predicted, -flat(grad_A, grad_B), tolerance=1e-12, relative=True)


@claim(
    "MO.LemmaA.5",
    kind="exact",
    anchor=f"{CHAPTER}#mo-lemma-a-5",
    statement=(
        "From x_1 = ones, with masking: a' = b (T-2 - c1 a b), c1 = T-2 + (d-1) S_T, and b' alike."
    ),
)
def lemmaA5():
    return _lemmaA5(mask=True)


@lemmaA5.fails_without("masking the gradients off the diagonal")
def _unmasked():
    return _lemmaA5(mask=False)


def _lemmaA6(spread: float) -> Evidence:
    c1, c2 = T - 2 + (D - 1) * theory.harmonic_sum(T), T - 2.0
    tilt = torch.diag(torch.tensor([1.0 + spread, 1.0 - spread, 1.0], dtype=torch.float64))
    points = [(0.3, 0.7), (-0.4, 0.2), (1.1, 0.5)]
    loss = population(data.Ones(), D, T)
    exact = [loss(*place_blocks(a * tilt, b * tilt)).item() for a, b in points]
    surrogate = [D * theory.surrogate(a, b, c1, c2) for a, b in points]
    return Evidence(np.diff(surrogate), np.diff(exact), tolerance=1e-12, relative=True)


@claim(
    "MO.LemmaA.6",
    kind="exact",
    anchor=f"{CHAPTER}#mo-lemma-a-6",
    statement=(
        "The masked flow is that of (c2 - c1 a b)^2 / 2 c1 with c2 = T-2, c1 = T-2 + (d-1) S_T."
    ),
)
def lemmaA6():
    return _lemmaA6(0.0)


@lemmaA6.fails_without("multiples of the identity")
def _tilted():
    return _lemmaA6(0.3)


# --- Theorem 4.3 ---------------------------------------------------------------------------------


def _theorem43(mask: bool) -> Evidence:
    loss = population(data.Ones(), D, T)
    A, B = flow(masked(loss) if mask else loss, diagonal_blocks(D, *START), [0.0, 6.0]).final
    product = 1 / (1 + (D - 1) / (T - 2) * theory.harmonic_sum(T))
    found = flat(A[D:, :D] @ B[:, :D], A[:D], A[D:, D:], B[:, D:])
    target = flat(product * np.eye(D), np.zeros(4 * D * D))
    return Evidence(target, found, tolerance=1e-7)


@claim(
    "MO.Theorem4.3",
    kind="trained",
    anchor=f"{CHAPTER}#mo-theorem-4-3",
    statement="From x_1 = ones with masking, a b tends to 1 / (1 + (d-1) S_T / (T-2)).",
)
def theorem43():
    return _theorem43(mask=True)


@theorem43.fails_without("masking the gradients off the diagonal")
def _without_mask():
    return _theorem43(mask=False)


# --- Proposition 4.2 and erratum 6 ---------------------------------------------------------------


def _proposition42(law) -> Evidence:
    """The gradient off the diagonal where Theorem 4.1's structure would have training rest."""
    product = 1 / (1 + (D - 1) / (T - 2) * theory.harmonic_sum(T))
    a = b = np.sqrt(product)
    grad_A, grad_B = at_diagonal(law, D, T, a, b)
    predicted = np.repeat(theory.full_one_gradient(D, T, a, b), D * (D - 1))
    return Evidence(predicted, flat(grad_A[D:, :D][OFF], grad_B[:, :D][OFF]), tolerance=1e-12)


@claim(
    "MO.Proposition4.2",
    kind="exact",
    anchor=f"{CHAPTER}#mo-proposition-4-2",
    statement=(
        "From x_1 = ones the diagonal limit has a gradient off the diagonal, so it is no limit."
    ),
)
def proposition42():
    return _proposition42(data.Ones())


@proposition42.fails_without("a start outside Assumption 4.1 (random signs)")
def _signs():
    return _proposition42(data.Rademacher(1.0))


def _erratum6(rows) -> Evidence:
    """Growth of the gradients from T = 101 to T = 1001: off the diagonal like S_T, on it like T."""
    short, long = (at_diagonal(data.Ones(), D, T, *START)[1] for T in (101, 1001))
    measured = [long[0, 1] / short[0, 1], long[0, 0] / short[0, 0]]
    return Evidence([rows(1001) / rows(101), 999 / 99], measured, tolerance=3e-2, relative=True)


@claim(
    "MO.erratum6",
    kind="exact",
    anchor=f"{CHAPTER}#mo-erratum-6",
    statement=(
        "Proposition 4.2 is a finite-context effect: off-diagonal gradients grow like log T only."
    ),
)
def erratum6():
    return _erratum6(theory.harmonic_sum)


@erratum6.fails_without("the logarithm (growth like T)")
def _linear():
    return _erratum6(lambda T: T - 2)


# --- The four-variable flow and the limit the paper leaves open ----------------------------------


def _four(law) -> Evidence:
    times = np.linspace(0, 2, 5)
    points = full_one_flow(D, T).integrate(*START, times)
    run = flow(population(law, D, T), diagonal_blocks(D, *START), times)
    predicted = [b for p in points for b in place_blocks(shape(*p[:2], D), shape(*p[2:], D))]
    measured = [b for A, B in zip(*run.params, strict=True) for b in (A, B)]
    return Evidence(flat(*predicted), flat(*measured), tolerance=1e-7)


@claim(
    "MO.four-variable-flow",
    kind="trained",
    anchor=f"{CHAPTER}#mo-four-variable-flow",
    statement="From x_1 = ones all 6 d^2 parameters follow a polynomial flow in four variables.",
)
def four_variables():
    return _four(data.Ones())


@four_variables.fails_without("x_1 = ones (random signs)")
def _other_law():
    return _four(data.Rademacher(1.0))


def _limit(mask: bool) -> Evidence:
    loss = population(data.Ones(), D, T)
    limit = full_one_flow(D, T).limit(*START)
    # The flow itself: descent with finite steps ends at another point of the valley.
    run = flow(masked(loss) if mask else loss, diagonal_blocks(D, *START), [0.0, 20.0])
    predicted = place_blocks(shape(*limit[:2], D), shape(*limit[2:], D))
    return Evidence(flat(*predicted), flat(*run.final), tolerance=1e-7)


@claim(
    "MO.full-one-limit",
    kind="trained",
    anchor=f"{CHAPTER}#mo-full-one-limit",
    statement="The limit left open by Proposition 4.2 is the end of the four-variable flow.",
)
def full_one_limit():
    return _limit(mask=False)


@full_one_limit.fails_without("the gradients off the diagonal (masked)")
def _masked_limit():
    return _limit(mask=True)
