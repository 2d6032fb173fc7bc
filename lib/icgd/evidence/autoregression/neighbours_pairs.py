"""Evidence for conjugate pairs of phases, Sander's orthogonal setting (chapter 15)."""

from functools import lru_cache

import torch

from icgd.autoregression import augmented, data
from icgd.autoregression.blocks import diagonal_blocks
from icgd.autoregression.direct import direct_loss
from icgd.autoregression.enumeration import all_sequences
from icgd.autoregression.normalisation import constant, context_pairs
from icgd.claims import Evidence, claim
from icgd.evidence.autoregression.neighbours_sander import CHAPTER, LBFGS
from icgd.training import descend


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
