"""Evidence for where training ends off the diagonal, beyond MO (chapters 13 and 14)."""

import numpy as np

from icgd.autoregression import data, experiments, theory
from icgd.autoregression.blocks import diagonal_blocks, place_blocks
from icgd.autoregression.full_one import FullOneFlow
from icgd.autoregression.population import PopulationLoss
from icgd.claims import Evidence, claim
from icgd.evidence.autoregression.figures import converged
from icgd.evidence.autoregression.tools import SKEWED, flat, population, shape
from icgd.training import flow

D, START = 3, (0.3, 0.7)


def four_variables(loss: PopulationLoss) -> FullOneFlow:
    """The ten coefficients of `loss` on W_KQ_32 = alpha1 I + beta1 J, W_PV_12 = alpha2 I + beta2 J.

    Solved for from ten values of the loss, so it costs O(T) and serves every exchangeable law.
    """
    d, generator = loss.d, np.random.default_rng(0)
    rows, values = [], []
    for a1, b1, a2, b2 in generator.normal(size=(10, 4)):
        u, v = [a2**2, 2 * a2 * b2 + d * b2**2], [a1**2, 2 * a1 * b1, b1**2]
        rows.append([*np.outer(u, v).ravel() / 2, *-np.outer([a2, b2], [a1, b1]).ravel()])
        values.append(loss(*place_blocks(shape(a1, b1, d), shape(a2, b2, d))) - loss.constant)
    found = np.linalg.solve(rows, values)
    return FullOneFlow(d, loss.T, found[:6].reshape(2, 3), found[6:].reshape(2, 2))


# --- Every exchangeable law stays in four variables ----------------------------------------------


def _exchangeable(tilt: float) -> Evidence:
    """The flow of skewed tokens in 6 d^2 parameters beside its four variables."""
    loss, times = PopulationLoss(SKEWED, d=D, T=5), np.linspace(0, 0.5, 5)
    points = four_variables(loss).integrate(*START, times)
    A, B = diagonal_blocks(D, *START)
    A[D, 0] += tilt
    run = flow(loss, (A, B), times)
    predicted = [b for p in points for b in place_blocks(shape(*p[:2], D), shape(*p[2:], D))]
    measured = [b for A, B in zip(*run.params, strict=True) for b in (A, B)]
    return Evidence(flat(*predicted), flat(*measured), tolerance=1e-6)


@claim(
    "MO.exchangeable-flow",
    kind="trained",
    anchor="13-beyond-the-diagonal#mo-exchangeable-flow",
    statement="For every exchangeable law training from a I, b I stays in four variables.",
)
def exchangeable():
    return _exchangeable(0.0)


@exchangeable.fails_without("equal entries on the diagonal at the start")
def _unequal():
    return _exchangeable(0.1)


# --- The off-diagonal entries in long contexts ---------------------------------------------------


def _share(third: bool) -> Evidence:
    """Off-diagonal over diagonal entry of W_KQ_32 and W_PV_12 at the end of the flow, T = 2000."""
    T = 2000
    a1, b1, a2, b2 = four_variables(population(data.Ones(), D, T)).limit(1.0, 1.0)
    S, Q = theory.harmonic_sum(T), float((1 / np.arange(1.0, T - 1) ** 2).sum())
    predicted = -np.array([S + (D - 2) * Q * third, S]) / (T - 2)
    return Evidence(predicted, [b1 / (a1 + b1), b2 / (a2 + b2)], tolerance=0.05, relative=True)


@claim(
    "MO.off-diagonal-share",
    kind="exact",
    anchor="13-beyond-the-diagonal#mo-off-diagonal-share",
    statement=(
        "From x_1 = ones the entries off the diagonal end at -(S_T + (d-2) Q_T)/T and -S_T/T."
    ),
)
def share():
    return _share(third=True)


@share.fails_without("the terms of three coordinates, (d-2) Q_T")
def _pairs():
    return _share(third=False)


# --- Gaussian starts: what is equal at the end ---------------------------------------------------


def _equal(name: str) -> Evidence:
    """|a_j| and |b_j| over their mean at the end of the runs from Gaussian starts."""
    d, found = experiments.load_experiments()[name].d, []
    for run in converged(name).values():
        A, B = run.final
        for block in (A[d:, :d], B[:, :d]):
            sizes = block.diagonal().abs()
            found.append(sizes / sizes.mean())
    return Evidence(np.ones(len(found) * d), flat(*found), tolerance=1e-3)


@claim(
    "MO.gaussian-starts",
    kind="trained",
    anchor="14-every-figure#mo-gaussian-starts",
    statement=(
        "From Gaussian starts, with Gaussian tokens, the diagonals end at equal |a_j| and |b_j|."
    ),
)
def gaussian_starts():
    return _equal("gaussian-1-random")


@gaussian_starts.fails_without("kappa_3 > 0 (Example 4.1 instead)")
def _decoupled():
    return _equal("sparse-1-random")
