"""Evidence for rotations in general position (chapter 15)."""

import torch

from icgd.autoregression import data, learners, theory
from icgd.autoregression.blocks import diagonal_blocks, place_blocks
from icgd.autoregression.direct import direct_loss
from icgd.autoregression.enumeration import all_sequences
from icgd.autoregression.mesa_layer import mesa_layer
from icgd.autoregression.models import predict
from icgd.autoregression.processes import Sphere
from icgd.claims import Evidence, claim
from icgd.evidence.autoregression.tools import as_real, dense, generator, sequences

CHAPTER = "15-sequence-neighbours"


def _basis(learner) -> Evidence:
    """Q learner(x) beside learner(Q x) for a dense unitary Q."""
    x = sequences(data.Gaussian(1.0), 3, 7).x
    Q = torch.linalg.qr(torch.randn(3, 3, dtype=x.dtype, generator=generator(3)))[0]
    return Evidence(
        as_real(learner(x) @ Q.mT), as_real(learner(x @ Q.mT)), tolerance=1e-9, relative=True
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
