"""Evidence for Sander's setting: diagonal layers and their sign classes (chapter 15)."""

from functools import lru_cache, partial

import numpy as np
import torch

from icgd.autoregression import augmented, data, learners, theory
from icgd.autoregression.blocks import place_blocks
from icgd.autoregression.direct import direct_loss
from icgd.autoregression.enumeration import all_sequences
from icgd.autoregression.models import predict
from icgd.autoregression.normalisation import constant, context_pairs
from icgd.claims import Evidence, claim
from icgd.evidence.autoregression.tools import (
    UNCENTRED,
    as_real,
    generator,
    population,
    sequences,
)
from icgd.training import descend

CHAPTER = "15-sequence-neighbours"
LBFGS = partial(
    torch.optim.LBFGS, max_iter=20, tolerance_change=1e-14, line_search_fn="strong_wolfe"
)


def _diagonals(d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    return tuple(np.random.default_rng(seed).standard_normal((2, d)))


def _placed(a, b):
    return place_blocks(*(torch.diag(torch.as_tensor(v, dtype=torch.float64)) for v in (a, b)))


# --- The loss at diagonal blocks, and its minimum ------------------------------------------------


def _loss(lambdas) -> Evidence:
    """The formula beside the mean over all sequences, for two normalisers and uncentred tokens."""
    d, T = 2, 5
    a, b = _diagonals(d, 0)
    x, weights = all_sequences(UNCENTRED, d, T)
    x = data.unroll(x[:, 0].real, lambdas(data.recover_eigenvalues(x)), T).x
    found = [
        direct_loss(*_placed(a, b), x, rho=rho, weights=weights)
        for rho in (context_pairs, constant)
    ]
    said = [
        augmented.unitary_loss(a, b, UNCENTRED, T=T, rho=rho) for rho in (context_pairs, constant)
    ]
    return Evidence(said, found, tolerance=1e-10, relative=True)


@claim(
    "Sander.loss",
    kind="exact",
    anchor=f"{CHAPTER}#sander-loss",
    statement="With diagonal blocks the loss is a sum over coordinates, for every law of x_1.",
)
def loss():
    return _loss(lambda lambdas: lambdas)


@loss.fails_without("independent phases (all equal instead)")
def _one_phase():
    return _loss(lambda lambdas: lambdas[:, :1].expand_as(lambdas).contiguous())


@lru_cache
def _trained_diagonals(d: int, T: int, seed: int):
    """Where a descent over six free diagonals ends, from a random start."""
    loss = population(data.Ones(), d, T)

    def diagonal_loss(six):
        rows = torch.cat([torch.cat([torch.diag(six[0]), torch.diag(six[1])], 1),
                          torch.cat([torch.diag(six[2]), torch.diag(six[3])], 1)])  # fmt: skip
        return loss(rows, torch.cat([torch.diag(six[4]), torch.diag(six[5])], 1))

    start = torch.randn(6, d, dtype=torch.float64, generator=generator(seed))
    run = descend(diagonal_loss, (start,), step_size=1.0, steps=3, optimizer=LBFGS)
    return run.final[0].numpy(), run.losses[-1]


def _unitary(T: int) -> Evidence:
    """The lower of two descents: its loss, its |a_j| over their mean, its |a_j b_j|."""
    d = 2
    six, lowest = min((_trained_diagonals(d, T, s) for s in range(2)), key=lambda r: r[1])
    C = augmented.step_sums(T)[0]
    p = theory.limit_product(data.Ones(), d=d, T=T)
    size = np.abs(six[2])
    measured = [lowest, *(size / size.mean()), *np.abs(six[2] * six[4])]
    return Evidence([d * (T - 2 - C * p) / 2, *[1] * d, *[p] * d], measured, tolerance=1e-5)


@claim(
    "Sander.unitary-minimum",
    kind="trained",
    anchor=f"{CHAPTER}#sander-unitary-minimum",
    statement="Over diagonal blocks the minimum has equal |a_j| and a_j b_j = C / (D + (d - 1) E).",
)
def unitary_minimum():
    return _unitary(6)


@unitary_minimum.fails_without("T of at least 4")
def _short():
    return _unitary(3)


def _classes(stretch: float) -> Evidence:
    """The exact loss of all minimisers: a = s sign, b = p sign / s, for each pattern of signs."""
    d, T = 4, 7
    p = theory.limit_product(data.Ones(), d=d, T=T)
    found = []
    for signs in augmented.sign_classes(d):
        a, b = 0.7 * signs, p / 0.7 * signs
        a[0], b[0] = stretch * a[0], b[0] / stretch
        found.append(population(data.Ones(), d, T)(*_placed(a, b)).item())
    lowest = d * (T - 2 - augmented.step_sums(T)[0] * p) / 2
    return Evidence(np.full(len(found), lowest), found, tolerance=1e-10)


@claim(
    "Sander.sign-classes",
    kind="exact",
    anchor=f"{CHAPTER}#sander-sign-classes",
    statement="All 2^(d-1) patterns of signs reach the minimum; only one of them is a plain step.",
)
def sign_classes():
    return _classes(1.0)


@sign_classes.fails_without("equal sizes |a_j| (one doubled, its product kept)")
def _doubled():
    return _classes(2.0)


def _plain(D: np.ndarray) -> Evidence:
    """The layer of the minimiser with these signs beside a plain gradient step."""
    x, p = sequences(data.Ones(), 3, 7).x, 0.6
    layer = predict(*_placed(D, p * D), x)
    step = learners.gradient_step(p)(x)
    return Evidence(as_real(step), as_real(layer), tolerance=1e-12, relative=True)


@claim(
    "Sander.not-unique",
    kind="algebra",
    anchor=f"{CHAPTER}#sander-sign-classes",
    statement="With signs S the minimiser predicts S W_hat S x_t: a gradient step only for S = ±I.",
)
def not_unique():
    return _plain(-np.ones(3))


@not_unique.fails_without("equal signs")
def _mixed_signs():
    return _plain(np.array([1.0, -1.0, 1.0]))


def _quarter(rho) -> Evidence:
    T, d = 20_000, 5
    C = augmented.step_sums(T, rho)[0]
    p = theory.limit_product(data.Ones(), d=d, T=T, rho=rho)
    return Evidence([0.25, 1.5], [1 - C * p / (T - 2), p * T], tolerance=1e-3)


@claim(
    "Sander.quarter",
    kind="exact",
    anchor=f"{CHAPTER}#sander-quarter",
    statement="Without a normaliser a quarter of the error stays for ever, with p about 3 / (2 T).",
)
def quarter():
    return _quarter(constant)


@quarter.fails_without("rho_t = 1 (t - 1 instead)")
def _normalised():
    return _quarter(context_pairs)
