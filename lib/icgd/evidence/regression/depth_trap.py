"""Evidence for a local minimum of three layers that is not global (chapter 8), on R^2."""

from functools import cache

import numpy as np
import torch
from scipy.special import roots_genlaguerre
from torch import Tensor
from torch.autograd.functional import hessian

from icgd.claims import Evidence, claim
from icgd.evidence.regression.depth_critical import CHAPTER, SPECTRUM, N, random_matrices, settle
from icgd.regression import depth, filters
from icgd.regression.depth_population import DepthLoss
from icgd.regression.transformer import as_matrices

TRAP = ((0.50, 0.75), (1.26, 0.53), (0.75, 1.15))


@cache
def trap() -> tuple[float, Tensor]:
    """(loss, A): the local minimum of three layers that are diagonal, from near `TRAP`."""
    loss = DepthLoss(N, 0.0, 3, np.eye(2))
    start = torch.tensor(TRAP, dtype=torch.float64)
    end = settle(lambda v: loss(torch.diag_embed(v)), {"v": start})
    return float(end.losses[-1]), torch.diag_embed(end.final["v"])


def curvatures(A: Tensor) -> np.ndarray:
    """Eigenvalues of the Hessian of the loss over all entries of the matrices, in order."""
    loss = DepthLoss(N, 0.0, len(A), np.eye(2))
    H = hessian(lambda flat: loss(flat.view_as(A)), A.flatten(), vectorize=True)
    return torch.linalg.eigvalsh(H).numpy()


def _trap(layers: int) -> Evidence:
    """Where a descent over full matrices ends, what tuned steps reach, and its downward modes.

    It starts near the trap's first layers, turned and bent so that they no longer commute. The
    predictions are a loss by another quadrature, a fraction, and none.
    """
    loss = DepthLoss(N, 0.0, layers, np.eye(2))
    start = torch.diag_embed(torch.tensor(TRAP, dtype=torch.float64))[:layers]
    start = start + 0.1 * random_matrices(layers, seed=0)
    end = settle(lambda A: loss(A), {"A": start})
    down = int((curvatures(end.final["A"]) < -1e-6).sum())
    tuned = loss(as_matrices(2, depth.tuned_steps(layers, SPECTRUM).copy())).item()
    predicted = [loss_by_angles(trap()[1]), float(filters.best_polynomial(3, SPECTRUM)[0]), 0]
    return Evidence(predicted, [end.losses[-1], tuned, down], tolerance=1e-8)


def loss_by_angles(A: Tensor) -> float:
    """E tr F F^T of sparse layers on R^2, from the eigenvalues s (1 +- t) / 2 of H and their angle.

    X^T X has the density s^(N-1) exp(-s/2) in s, t (1 - t^2)^((N-3)/2) in t, any angle in [0, pi).
    """
    s, mass = roots_genlaguerre(8, N - 1)
    t, line = np.polynomial.legendre.leggauss(30)
    t, mass_t = (1 + t) / 2, line * (1 + t) * (1 - ((1 + t) / 2) ** 2) ** ((N - 3) / 2)
    angle = np.pi * np.arange(16) / 16
    s, t, angle = np.meshgrid(s / N, t, angle, indexing="ij")  # H has trace 2 s / N
    cos, sin = t * np.cos(2 * angle), t * np.sin(2 * angle)
    H = s[..., None, None] * np.stack([1 + cos, sin, sin, 1 - cos], -1).reshape(*s.shape, 2, 2)
    F = np.eye(2)
    for layer in A.numpy():
        F = (np.eye(2) - layer.T @ H) @ F
    law = np.multiply.outer(mass / mass.sum(), mass_t / mass_t.sum())
    return float((law * (F**2).sum((-1, -2)).mean(-1)).sum())


@claim(
    "depth.three-layer-trap",
    kind="trained",
    anchor=f"{CHAPTER}#depth-three-layer-trap",
    statement="Three sparse layers have a local minimum that is not global, 0.022027 against "
    "0.013664 (n = 20, d = 2): its matrices commute and are not multiples of I.",
)
def three_layer_trap():
    return _trap(3)


@three_layer_trap.fails_without("a third layer (two instead)")
def _two():
    return _trap(2)
