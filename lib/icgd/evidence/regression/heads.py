"""Evidence for more heads and smaller keys (chapter 7): the open question of OS, Section 6."""

from functools import cache

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor
from torch.autograd.functional import hessian

from icgd.claims import Evidence, claim
from icgd.evidence.regression.dynamics import CHAPTER, NOISE, SIGMA
from icgd.evidence.regression.shift import gaussian
from icgd.evidence.regression.unified import LinearLaw, with_mean
from icgd.regression import dynamics
from icgd.regression.data import normal
from icgd.regression.enumeration import gauss_hermite
from icgd.regression.heads import heads_loss, reduced_heads
from icgd.regression.moments import TokenMoments

N = 3
ISOTROPIC = LinearLaw("isotropic", gauss_hermite(2), gauss_hermite(2))
SKEWED = LinearLaw("skewed", gaussian(SIGMA), gauss_hermite(2))


@cache
def best_loss(law: LinearLaw, heads: int, key_dim: int) -> float:
    """The lowest loss that Newton's method finds from two random starts, over all K, Q and w."""
    tokens = law.moments()
    generator = torch.Generator().manual_seed(0)
    size = heads * (key_dim * (2 * tokens.d + 1) + tokens.d + 1)
    starts = [0.1 * normal(size, generator=generator) for _ in range(2)]
    return min(_descend(tokens, heads, key_dim, start) for start in starts)


def _descend(tokens: TokenMoments, heads: int, key_dim: int, start: Tensor) -> float:
    d, loss = tokens.d, heads_loss(tokens, N)
    sizes = [heads * key_dim * (d + 1), heads * key_dim * d, heads * (d + 1)]

    def value(flat: Tensor) -> Tensor:
        K, Q, w = flat.split(sizes)
        A = reduced_heads(K.view(heads, key_dim, d + 1), Q.view(heads, key_dim, d))
        return loss(A, w.view(heads, d + 1))

    def with_gradient(flat: np.ndarray) -> tuple[float, np.ndarray]:
        point = torch.tensor(flat, requires_grad=True)
        result = value(point)
        return result.item(), torch.autograd.grad(result, point)[0].numpy()

    def curvature(flat: np.ndarray) -> np.ndarray:
        return hessian(value, torch.tensor(flat), vectorize=True).numpy()

    options = {"gtol": 1e-9, "maxiter": 300}
    end = minimize(
        with_gradient,
        start.numpy(),
        jac=True,
        hess=curvature,
        method="trust-exact",
        options=options,
    )
    return float(end.fun)


def _more_heads(*laws: LinearLaw) -> Evidence:
    one = [best_loss(law, 1, 2) for law in laws]
    return Evidence(one, [best_loss(law, 2, 2) for law in laws], tolerance=1e-9)


@claim(
    "ZFB.heads",
    kind="trained",
    anchor=f"{CHAPTER}#zfb-heads",
    statement="Under the sign symmetry more heads of full key dimension do not lower the minimum "
    "of the loss: two heads against one.",
)
def more_heads():
    return _more_heads(ISOTROPIC, SKEWED)


@more_heads.fails_without("the sign symmetry (weights of mean 0.8 e_1)")
def _with_mean():
    return _more_heads(with_mean())


SIZES = ((1, 1), (2, 1), (1, 2))


def _key_dimension(rank) -> Evidence:
    predicted, measured = [], []
    for law, sigma in ((ISOTROPIC, np.eye(2)), (SKEWED, SIGMA)):
        for heads, key_dim in SIZES:
            least = dynamics.minimum_loss(sigma, n=N, noise_var=NOISE, rank=rank(heads, key_dim))
            predicted.append(least + NOISE)
            measured.append(best_loss(law, heads, key_dim))
    return Evidence(predicted, measured, tolerance=1e-9)


@claim(
    "ZFB.key-dimension",
    kind="trained",
    anchor=f"{CHAPTER}#zfb-key-dimension",
    statement="H heads with keys of r numbers reach tr Sigma + s2 less the R = min(d, H r) largest "
    "l^2 / g; for Sigma = I that is d + s2 - R n / (n + d + 1 + s2).",
)
def key_dimension():
    return _key_dimension(lambda heads, key_dim: min(2, heads * key_dim))


@key_dimension.fails_without("the rank of one head's keys (R = d)")
def _full_rank():
    return _key_dimension(lambda heads, key_dim: 2)
