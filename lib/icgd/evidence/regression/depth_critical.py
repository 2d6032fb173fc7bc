"""Evidence for minima and critical points of k layers (chapter 8), by the exact loss on R^2."""

from functools import partial

import numpy as np
import torch
from torch import Tensor
from torch.func import functional_call

from icgd.claims import Evidence, claim
from icgd.evidence.regression.preconditioning import root
from icgd.regression import depth, enumeration
from icgd.regression.data import normal
from icgd.regression.depth_population import DepthLoss
from icgd.regression.filters import Spectrum
from icgd.regression.transformer import LinearTransformer, as_matrices
from icgd.training import Loss, Params, Trajectory, descend

CHAPTER = "08-depth"
N = 20
SIGMA = np.array([[1.5, 0.4], [0.4, 0.5]])
INVERSE = torch.as_tensor(np.linalg.inv(SIGMA))
SPECTRUM = Spectrum(N, 2)
_LBFGS = partial(
    torch.optim.LBFGS,
    line_search_fn="strong_wolfe",
    history_size=50,
    tolerance_grad=1e-13,
    tolerance_change=1e-16,
)


def settle(loss: Loss, start: Params, steps: int = 60) -> Trajectory:
    """L-BFGS, 20 iterations a step, until |gradient| <= 1e-8 or `steps`."""
    return descend(
        loss, start, step_size=1.0, steps=steps, optimizer=_LBFGS, gradient_tolerance=1e-8
    )


def random_matrices(layers: int, seed: int) -> Tensor:
    """(layers, 2, 2): no symmetry, entries of size 0.7."""
    return 0.7 * normal(layers, 2, 2, generator=torch.Generator().manual_seed(seed))


# --- One layer -----------------------------------------------------------------------------------


def _one_layer(task_covariance) -> Evidence:
    """All entries of P and Q, over every prompt of a finite law: n = d = 2, no noise."""
    small = enumeration.gauss_hermite(2)
    covariates, weights = small.image(root(SIGMA)), small.image(root(task_covariance))
    X, w = (covariates.power(3) * weights).points.split([6, 2], 1)
    X = X.reshape(-1, 3, 2)
    Z = torch.cat([X, torch.einsum("bid,bd->bi", X, w)[..., None]], 2)
    y, law = Z[:, -1, -1].clone(), (covariates.power(3) * weights).weights
    Z[:, -1, -1] = 0.0
    model = LinearTransformer(2).initialise(0.2, generator=torch.Generator().manual_seed(3))

    def loss(P: Tensor, Q: Tensor) -> Tensor:
        out = functional_call(model, {"P": P, "Q": Q}, (Z, model.mask(2)), tie_weights=False)
        return law @ (out + y) ** 2

    model.forward = lambda Z, mask: model.forward_tokens(Z, mask)[:, -1, -1]
    end = settle(loss, {"P": model.P.detach(), "Q": model.Q.detach()}).final
    learned = -end["P"][0, 2, 2] * end["Q"][0, :2, :2]  # A of the sparse form
    gamma = (1 + 1 / 2) * SIGMA + np.trace(SIGMA) / 2 * np.eye(2)
    return Evidence(np.linalg.inv(gamma), learned, tolerance=1e-6)


@claim(
    "Ahn.Theorem1",
    kind="trained",
    anchor=f"{CHAPTER}#ahn-theorem-1",
    statement="One layer, x ~ N(0, Sigma), w ~ N(0, I), no noise: all weights trained, the layer "
    "runs one step preconditioned by ((1 + 1/n) Sigma + (tr Sigma / n) I)^-1.",
)
def theorem1():
    return _one_layer(np.eye(2))


@theorem1.fails_without("weights of covariance I (Sigma^-1 instead)")
def _inverse_weights():
    return _one_layer(np.linalg.inv(SIGMA))


# --- Two layers ----------------------------------------------------------------------------------


def _two_layers(covariance) -> Evidence:
    loss, found = DepthLoss(N, 0.0, 2, covariance, np.eye(2)), []
    for seed in range(3):
        A = settle(lambda A: loss(A), {"A": random_matrices(2, seed)}).final["A"]
        found.append(A[A.diagonal(dim1=1, dim2=2).sum(1).argsort(descending=True)])
    tuned = as_matrices(2, depth.tuned_steps(2, SPECTRUM).copy())
    return Evidence(tuned.expand(3, -1, -1, -1), torch.stack(found), tolerance=1e-6)


@claim(
    "Ahn.Theorem2",
    kind="trained",
    anchor=f"{CHAPTER}#ahn-theorem-2",
    statement="Two sparse layers, isotropic: from random matrices that are not symmetric, every "
    "descent of the exact loss ends at the two tuned steps, multiples of I.",
)
def theorem2():
    return _two_layers(np.eye(2))


@theorem2.fails_without("isotropic covariates (Sigma = diag(1, 3) instead)")
def _skewed():
    return _two_layers(np.diag([1.0, 3.0]))


# --- Critical points -----------------------------------------------------------------------------


def _sparse_gradient(task_covariance) -> Evidence:
    A = as_matrices(2, depth.tuned_steps(3, SPECTRUM).copy()) @ INVERSE
    A.requires_grad_(True)
    loss = DepthLoss(N, 0.0, 3, SIGMA, task_covariance)(A)
    gradient = torch.autograd.grad(loss, A)[0]
    return Evidence(torch.zeros_like(gradient), gradient, tolerance=1e-10)


@claim(
    "Ahn.Theorem3",
    kind="exact",
    anchor=f"{CHAPTER}#ahn-theorem-3",
    statement="Sparse layers, w ~ N(0, Sigma^-1): the tuned steps A_k = a_k Sigma^-1 are a "
    "critical point of the loss over all matrices A_k (three layers).",
)
def theorem3():
    return _sparse_gradient(np.linalg.inv(SIGMA))


@theorem3.fails_without("weights of covariance Sigma^-1 (I instead)")
def _identity_sparse():
    return _sparse_gradient(np.eye(2))


def _dense_gradient(task_covariance) -> Evidence:
    tuned = depth.tuned_gdpp(2, SPECTRUM, starts=12)
    steps = torch.as_tensor(tuned.steps)
    A = (as_matrices(2, steps) @ INVERSE).requires_grad_(True)
    values = [tuned.curvatures[0] / tuned.steps[0], 0.0]
    B = as_matrices(2, values).requires_grad_(True)
    loss = DepthLoss(N, 0.0, 2, SIGMA, task_covariance, dense=True)(A, B)
    gradient = torch.stack(torch.autograd.grad(loss, (A, B)))
    return Evidence(torch.zeros_like(gradient), gradient, tolerance=1e-8)


@claim(
    "Ahn.Theorem4",
    kind="exact",
    anchor=f"{CHAPTER}#ahn-theorem-4",
    statement="Dense layers, w ~ N(0, Sigma^-1): tuned GD++, A_k = a_k Sigma^-1 and B_k = b_k I, "
    "is a critical point of the loss over all A_k, B_k (two layers).",
)
def theorem4():
    return _dense_gradient(np.linalg.inv(SIGMA))


@theorem4.fails_without("weights of covariance Sigma^-1 (I instead)")
def _identity_dense():
    return _dense_gradient(np.eye(2))
