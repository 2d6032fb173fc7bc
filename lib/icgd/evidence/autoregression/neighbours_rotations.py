"""Evidence for other rotations: Sander's diagonal layers, conjugate pairs, a general W (ch. 15)."""

from functools import lru_cache, partial

import numpy as np
import torch

from icgd.autoregression import augmented, data, learners, theory
from icgd.autoregression.blocks import diagonal_blocks, place_blocks
from icgd.autoregression.direct import direct_loss
from icgd.autoregression.enumeration import all_sequences
from icgd.autoregression.mesa_layer import mesa_layer
from icgd.autoregression.models import predict
from icgd.autoregression.normalisation import constant, context_pairs
from icgd.autoregression.processes import Sphere
from icgd.claims import Evidence, claim
from icgd.evidence.autoregression.tools import dense, flat, generator, population, sequences
from icgd.training import descend

CHAPTER = "15-sequence-neighbours"
SKEWED = data.Discrete((2.0, -0.5), (0.4, 0.6))
LBFGS = partial(
    torch.optim.LBFGS, max_iter=20, tolerance_change=1e-14, line_search_fn="strong_wolfe"
)


def _diagonals(d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    return tuple(np.random.default_rng(seed).standard_normal((2, d)))


def _placed(a, b):
    return place_blocks(*(torch.diag(torch.as_tensor(v, dtype=torch.float64)) for v in (a, b)))


# --- The loss at diagonal blocks, and its minimum ------------------------------------------------


def _loss(lambdas) -> Evidence:
    """The formula beside the mean over all sequences, for two normalisers and skewed tokens."""
    d, T = 2, 5
    a, b = _diagonals(d, 0)
    x, weights = all_sequences(SKEWED, d, T)
    x = data.unroll(x[:, 0].real, lambdas(data.recover_eigenvalues(x)), T).x
    found = [
        direct_loss(*_placed(a, b), x, rho=rho, weights=weights)
        for rho in (context_pairs, constant)
    ]
    said = [augmented.unitary_loss(a, b, SKEWED, T=T, rho=rho) for rho in (context_pairs, constant)]
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
    return Evidence(_real(step), _real(layer), tolerance=1e-12, relative=True)


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
    return Evidence([0.25, 1.5], [1 - C * p / (T - 2), p * T], tolerance=1e-2)


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


# --- Conjugate pairs -----------------------------------------------------------------------------


@lru_cache
def paired_sequences(d: int, T: int):
    """Every sequence from x_1 = 1 with phases in conjugate pairs, by roots of unity."""
    x, weights = all_sequences(data.Ones(), d // 2, T)
    half = data.recover_eigenvalues(x)
    pairs = torch.stack([half, half.conj()], dim=2).reshape(len(half), d)
    return data.unroll(torch.ones(len(half), d, dtype=torch.float64), pairs, T).x, weights


def _memory_blocks(p, q, d: int):
    B = diagonal_blocks(d, 0.0, 1.0)[1]
    eye = torch.eye(d, dtype=torch.float64)
    zero = torch.zeros_like(eye)
    return torch.cat([torch.cat([zero, q * eye], 1), torch.cat([p * eye, zero], 1)]), B


def _orthogonal(sequences_of) -> Evidence:
    d, T, p, q = 4, 6, 0.37, -0.11
    x, weights = sequences_of(d, T)
    found = [
        direct_loss(*_memory_blocks(p, q, d), x, rho=rho, weights=weights)
        for rho in (context_pairs, constant)
    ]
    said = [augmented.orthogonal_loss(p, q, d=d, T=T, rho=rho) for rho in (context_pairs, constant)]
    return Evidence(said, found, tolerance=1e-10, relative=True)


@claim(
    "Sander.orthogonal-loss",
    kind="exact",
    anchor=f"{CHAPTER}#sander-orthogonal-loss",
    statement="The loss of a step with a second query x_{t-1}, on conjugate pairs, in closed form.",
)
def orthogonal_loss():
    return _orthogonal(paired_sequences)


@orthogonal_loss.fails_without("conjugate pairs (independent phases instead)")
def _independent():
    return _orthogonal(lambda d, T: all_sequences(data.Ones(), d, T))


def _second_query(train_q: bool) -> Evidence:
    """(relative loss, p, q) where a descent on every sequence ends; without q a plain step."""
    d, T = 2, 12
    x, weights = paired_sequences(d, T)

    def loss(p, q):
        return direct_loss(*_memory_blocks(p, q if train_q else 0 * q, d), x, weights=weights)

    start = (torch.tensor(0.5, dtype=torch.float64), torch.tensor(0.0, dtype=torch.float64))
    run = descend(loss, start, step_size=1.0, steps=4, optimizer=LBFGS)
    p, q, best, _ = augmented.orthogonal_minimum(d=d, T=T)
    scale = d * (T - 2) / 2
    return Evidence(
        [best / scale, p, q], [run.losses[-1] / scale, *map(float, run.final)], tolerance=1e-7
    )


@claim(
    "Sander.orthogonal-minimum",
    kind="trained",
    anchor=f"{CHAPTER}#sander-orthogonal-minimum",
    statement="On conjugate pairs a second query of weight q < 0 halves a step's loss (T = 12).",
)
def orthogonal_minimum():
    return _second_query(True)


@orthogonal_minimum.fails_without("the second query")
def _step_only():
    return _second_query(False)


# --- A general W ---------------------------------------------------------------------------------


def _basis(learner) -> Evidence:
    """Q learner(x) beside learner(Q x) for a dense unitary Q."""
    x = sequences(data.Gaussian(1.0), 3, 7).x
    Q = torch.linalg.qr(torch.randn(3, 3, dtype=x.dtype, generator=generator(3)))[0]
    return Evidence(
        _real(learner(x) @ Q.mT), _real(learner(x @ Q.mT)), tolerance=1e-9, relative=True
    )


@claim(
    "Process.basis",
    kind="algebra",
    anchor=f"{CHAPTER}#process-basis",
    statement="A gradient step and the mesa layer commute with every unitary change of basis.",
)
def basis():
    return _basis(lambda x: learners.gradient_step(0.4)(x) + mesa_layer(0.3)(x))


@basis.fails_without("multiples of the identity (dense blocks instead)")
def _dense():
    A, B = dense(3)
    return _basis(lambda x: predict(*place_blocks(A[3:, :3], B[:, :3]), x))


def _sphere(turned: bool) -> Evidence:
    """A step's loss on x_1 = (1, 1) with W = Q D Q^T, Q over all rotations, beside the sphere's."""
    T, p = 6, 0.4
    D, weights = all_sequences(data.Ones(), 2, T)
    angles = torch.arange(9 if turned else 1, dtype=torch.float64) * 2 * torch.pi / 9
    turns = torch.stack([angles.cos(), angles.sin(), -angles.sin(), angles.cos()], 1)
    turns = turns.reshape(-1, 2, 2).to(D.dtype)
    start = turns.mT @ torch.ones(2, dtype=D.dtype)  # Q^T x_1, the first token in W's eigenbasis
    total = 0.0
    for Q, u in zip(turns, start, strict=True):
        x = (D * u) @ Q.mT  # W^(t-1) x_1 = Q D^(t-1) Q^T x_1
        total += direct_loss(*diagonal_blocks(2, 1.0, p), x, weights=weights).item() / len(turns)
    law = Sphere(2**0.5)
    return Evidence(theory.diagonal_loss(1.0, p, law, d=2, T=T), total, tolerance=1e-10)


@claim(
    "Process.sphere",
    kind="exact",
    anchor=f"{CHAPTER}#process-sphere",
    statement="With eigenvectors in random position a step sees x_1 as if drawn from a sphere.",
)
def sphere():
    return _sphere(True)


@sphere.fails_without("random eigenvectors")
def _fixed_basis():
    return _sphere(False)


def _floor(law) -> Evidence:
    ds = (2, 3, 5, 11)
    said = [2 * (d - 1) / (5 * (d + 2)) for d in ds] + [(d - 1) / (3 * (d + 1)) for d in ds]
    found = [
        theory.relative_error_limit(law(d, field), d=d) for field in ("real", "complex") for d in ds
    ]
    return Evidence(said, found, tolerance=1e-12)


@claim(
    "Process.floor",
    kind="algebra",
    anchor=f"{CHAPTER}#process-floor",
    statement="Then one step keeps an error of 2(d-1)/(5(d+2)), or (d-1)/(3(d+1)) for unitary W.",
)
def floor():
    return _floor(lambda d, field: Sphere(d**0.5, field))


@floor.fails_without("random eigenvectors (a known basis and random signs)")
def _signs():
    return _floor(lambda d, field: data.Rademacher(1.0))


def _real(values) -> np.ndarray:
    return flat(torch.view_as_real(values.detach()))
