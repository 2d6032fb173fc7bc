"""Evidence for the training dynamics of MO, Theorem 4.1, and beyond it (chapter 10)."""

import numpy as np
import torch

from icgd.autoregression import data, theory
from icgd.autoregression.blocks import diagonal_blocks
from icgd.claims import Evidence, claim
from icgd.evidence.autoregression.tools import SKEWED, dense, flat, gradients, population
from icgd.training import descend, flow

CHAPTER = "10-gradient-flow"
D, T = 3, 7
STARTS = [(0.1, 0.1), (0.5, 1.5), (2.0, 2.0)]  # MO, Section 6
FAIR = data.Gaussian(0.5)


def _trained(law, start, end: float = 15.0):
    """Where the exact flow of all parameters ends, from the diagonal start."""
    return flow(population(law, D, T), diagonal_blocks(D, *start), [0.0, end]).final


# --- Theorem 4.1 ---------------------------------------------------------------------------------


def _theorem41(law) -> Evidence:
    rates = theory.rates(law, d=D, T=T)
    limits = [diagonal_blocks(D, *theory.limit_point(*start, *rates)) for start in STARTS]
    ends = [_trained(law, start) for start in STARTS]
    predicted, measured = (flat(*[b for pair in pairs for b in pair]) for pairs in (limits, ends))
    return Evidence(predicted, measured, tolerance=1e-7)


@claim(
    "MO.Theorem4.1",
    kind="trained",
    anchor=f"{CHAPTER}#mo-theorem-4-1",
    statement=(
        "Gradient flow ends at W_KQ_32 = a I, W_PV_12 = b I with a b = k1 / (k2 + k3 S_T / (T-2))."
    ),
)
def theorem41():
    return _theorem41(FAIR)


@theorem41.fails_without("E[x_j^3 x_l^3] = 0 (skewed coordinates)")
def _skewed():
    return _theorem41(SKEWED)


# --- What the flow conserves ---------------------------------------------------------------------


def _conserved(step_size: float) -> Evidence:
    """|A|^2 - |B|^2 before and after, from a start and for a law without symmetry."""
    A, B = dense(D)
    loss = population(SKEWED, D, T)
    if step_size:
        end_A, end_B = descend(loss, (A / 10, B / 10), step_size=step_size, steps=20).final
        start = (A.square().sum() - B.square().sum()) / 100
        return Evidence(start, end_A.square().sum() - end_B.square().sum(), tolerance=1e-9)
    grad_A, grad_B = gradients(loss, A, B)
    return Evidence(
        (A.numpy() * grad_A).sum(), (B.numpy() * grad_B).sum(), tolerance=1e-12, relative=True
    )


@claim(
    "MO.conserved",
    kind="exact",
    anchor=f"{CHAPTER}#mo-conserved",
    statement="The flow conserves |A|^2 - |B|^2 from any start (on the diagonal: q = a^2 - b^2).",
)
def conserved():
    return _conserved(0.0)


@conserved.fails_without("infinitesimal steps (0.01 instead)")
def _finite_steps():
    return _conserved(0.01)


# --- The trajectory in closed form ---------------------------------------------------------------


def _trajectory(conserve: bool) -> Evidence:
    times = np.linspace(0, 4, 9)
    rates = theory.rates(FAIR, d=D, T=T)
    predicted, measured = [], []
    for a0, b0 in [*STARTS, (-1.0, 0.3)]:
        run = flow(population(FAIR, D, T), diagonal_blocks(D, a0, b0), times)
        measured += [run.params[0][:, D, 0], run.params[1][:, 0, 0]]
        level = np.sign(a0 + b0) * np.sqrt(abs(a0 * b0))  # the balanced start with the same |a b|
        predicted += theory.trajectory(*((a0, b0) if conserve else (level, level)), *rates, times)
    return Evidence(flat(*predicted), flat(*measured), tolerance=1e-8)


@claim(
    "MO.trajectory",
    kind="trained",
    anchor=f"{CHAPTER}#mo-trajectory",
    statement=(
        "The flow of (a, b) is an elementary function of time: a Riccati equation in (a + b)^2."
    ),
)
def trajectory():
    return _trajectory(True)


@trajectory.fails_without("the conserved q = a^2 - b^2 (0 instead)")
def _balanced():
    return _trajectory(False)


# --- Erratum 2: the saddle -----------------------------------------------------------------------


def _saddle(b0: float) -> Evidence:
    """The end of the surrogate's flow from (1, b0), beside the saddle (0, 0)."""
    c1, c2 = theory.rates(FAIR, d=D, T=T)

    def surrogate(a, b):
        return (c2 - c1 * a * b) ** 2 / (2 * c1)

    start = torch.tensor(1.0, dtype=torch.float64), torch.tensor(b0, dtype=torch.float64)
    end = flow(surrogate, start, [0.0, 12.0]).final
    return Evidence(np.zeros(2), flat(*end), tolerance=1e-4)


@claim(
    "MO.erratum2",
    kind="trained",
    anchor=f"{CHAPTER}#mo-erratum-2",
    statement="From b0 = -a0 the flow ends at the saddle (0, 0), not at a b = c2 / c1.",
)
def erratum2():
    return _saddle(-1.0)


@erratum2.fails_without("a start exactly on the line b = -a")
def _beside():
    return _saddle(-0.99)
