"""Evidence for Zhang, Frei and Bartlett: where gradient flow takes their layer (chapter 7).

Flows run on the exact loss in all nine parameters of a layer on R^2, the query among its tokens.
"""

from functools import cache, partial

import numpy as np
import torch
from torch import Tensor

from icgd.claims import Evidence, claim
from icgd.regression import dynamics
from icgd.regression.data import normal
from icgd.regression.enumeration import gauss_hermite
from icgd.regression.normalised import normalised_loss
from icgd.training import Trajectory, descend
from icgd.training import flow as exact_flow

CHAPTER = "07-dynamics-and-shift"
N, NOISE = 5, 0.3
SIGMA = np.array([[1.5, 0.3], [0.3, 1.1]])
THETA = np.array([[0.1, -0.7], [0.6, -0.5]])
KEYS = {"n": N, "noise_var": NOISE}

loss = partial(normalised_loss, covariance=SIGMA, **KEYS)
flow = partial(exact_flow, rtol=1e-9, atol=1e-11)  # an error of 1e-9 or so, well below 1e-8


def layer(A_x, b: float, a=0.0, w_x=0.0) -> dict[str, Tensor]:
    """The parameters A = [A_x a], w = (w_x, b); a and w_x are zero in the paper's start."""
    d = len(A_x)
    A, w = torch.zeros(d, d + 1, dtype=torch.float64), torch.zeros(d + 1, dtype=torch.float64)
    A[:, :d], A[:, d] = torch.as_tensor(A_x), torch.as_tensor(a)
    w[:d], w[d] = torch.as_tensor(w_x), b
    return {"A": A, "w": w}


def blocks(params: dict[str, Tensor]) -> np.ndarray:
    """A_x, a, w_x and b in one row."""
    return torch.cat([params["A"].flatten(), params["w"]]).numpy()


# --- The loss ------------------------------------------------------------------------------------


def brute_loss(A: Tensor, w: Tensor, *, n: int) -> float:
    """(1/2) E[(prediction - w_task.x_q)^2] of the layer as it is written, over a finite list."""
    d = len(A)
    L = torch.linalg.cholesky(torch.as_tensor(SIGMA))
    law = gauss_hermite(d).image(L).power(n) * gauss_hermite(d) * gauss_hermite(n)
    X, task, noise = law.points.split([n * d, d, n], 1)
    X = X.reshape(-1, n, d)
    y = torch.einsum("bnd,bd->bn", X, task) + NOISE**0.5 * noise
    tokens = torch.cat([X, y[..., None]], 2)
    queries = gauss_hermite(d, nodes=4).image(L)  # of degree six in the query
    total = 0.0
    for x_q, weight in zip(queries.points, queries.weights, strict=True):
        v_q = torch.nn.functional.pad(x_q, (0, 1))
        seen = tokens.mT @ tokens + torch.outer(v_q, v_q)
        errors = (seen @ w) @ (A.T @ x_q) / n - task @ x_q
        total += (weight * (law.weights @ errors**2) / 2).item()
    return total


def _loss(self_term: bool) -> Evidence:
    predicted, measured = [], []
    for seed in (0, 1):
        generator = torch.Generator().manual_seed(seed)
        A, w = normal(2, 3, generator=generator), normal(3, generator=generator)
        keys = {"n": 2, "noise_var": NOISE, "covariance": SIGMA, "self_term": self_term}
        predicted.append(normalised_loss(A, w, **keys).item())
        measured.append(brute_loss(A, w, n=2))
    return Evidence(predicted, measured, tolerance=1e-12, relative=True)


@claim(
    "ZFB.loss",
    kind="exact",
    anchor=f"{CHAPTER}#zfb-loss",
    statement="The loss of the layer that divides by n and lets the query attend to itself is a "
    "polynomial known in closed form.",
)
def exact_loss():
    return _loss(self_term=True)


@exact_loss.fails_without("the query's attention to itself")
def _masked():
    return _loss(self_term=False)


# --- The limit -----------------------------------------------------------------------------------


@cache
def end_of_flow(scale: float, A_scale: float) -> Trajectory:
    """Flow from b = scale, A_x = A_scale Theta Theta^T / |Theta Theta^T|, over 30 units of time."""
    A_x, _ = dynamics.start(THETA, A_scale)
    return flow(loss, layer(A_x, scale), np.array([0.0, 30.0]), gradient_tolerance=1e-8)


def _limit(predicted_imbalance: float, *starts: tuple[float, float]) -> Evidence:
    wanted = layer(*dynamics.limit(SIGMA, imbalance=predicted_imbalance, **KEYS))
    ends = [blocks(end_of_flow(*start).final) for start in starts]
    return Evidence([blocks(wanted)] * len(ends), ends, tolerance=1e-8)


LARGEST = dynamics.largest_scale(SIGMA, **KEYS)


@claim(
    "ZFB.limit",
    kind="trained",
    anchor=f"{CHAPTER}#zfb-limit",
    statement="From the start of Zhang, Frei and Bartlett gradient flow in all parameters ends at "
    "b = (tr Gamma^-2)^(1/4), A_x = Gamma^-1 / b, a = 0, w_x = 0 (time 30).",
)
def limit():
    return _limit(0.0, (0.5 * LARGEST, 0.5 * LARGEST))


@limit.fails_without("a balanced start, b^2 = |A_x|^2 (b = 1, |A_x| = 0.5)")
def _balanced():
    return _limit(0.0, (1.0, 0.5))


@claim(
    "ZFB.scale",
    kind="trained",
    anchor=f"{CHAPTER}#zfb-scale",
    statement="The condition scale^2 |Gamma| sqrt(d) < 2 on the start is not needed: from 10 times "
    "the largest scale it allows the flow has the same limit (time 30).",
)
def scale():
    return _limit(0.0, (10 * LARGEST, 10 * LARGEST))


@scale.fails_without("a start with u_i.A_x u_i >= 0 and b > 0 (A_x = -b I / sqrt 2, Sigma = I)")
def _stable_manifold():
    """Here A_x = p(t) I stays on the line that ends in the saddle at zero."""
    plain = partial(normalised_loss, covariance=np.eye(2), **KEYS)
    end = flow(plain, layer(-np.eye(2) / 2**0.5, 1.0), np.array([0.0, 10.0])).final
    return Evidence(blocks(layer(*dynamics.limit(np.eye(2), **KEYS))), blocks(end), tolerance=1e-8)


@claim(
    "ZFB.unbalanced",
    kind="trained",
    anchor=f"{CHAPTER}#zfb-unbalanced",
    statement="From an unbalanced start, q = b^2 - |A_x|^2, the product b A_x ends at the same "
    "Gamma^-1, with b^2 = (q + sqrt(q^2 + 4 tr Gamma^-2)) / 2 (time 30).",
)
def unbalanced():
    wanted = [blocks(layer(*dynamics.limit(SIGMA, imbalance=q, **KEYS))) for q in (0.75, -0.75)]
    ends = [blocks(end_of_flow(*start).final) for start in ((1.0, 0.5), (0.5, 1.0))]
    return Evidence(wanted, ends, tolerance=1e-8)


@unbalanced.fails_without("the sign of q (b and |A_x| exchanged)")
def _exchanged():
    return _limit(0.75, (0.5, 1.0))


# --- What is conserved, and a curve --------------------------------------------------------------


def _conserved(run: Trajectory) -> Evidence:
    imbalance = run.params["w"].square().sum(1) - run.params["A"].square().sum((1, 2))
    return Evidence(imbalance[0].expand(len(imbalance)), imbalance, tolerance=1e-8)


def _anywhere() -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(3)
    A, w = 0.5 * normal(2, 3, generator=generator), 0.5 * normal(3, generator=generator)
    return {"A": A, "w": w}


@claim(
    "ZFB.conserved",
    kind="trained",
    anchor=f"{CHAPTER}#zfb-conserved",
    statement="Gradient flow conserves |w|^2 - |A|^2 from any start, a and w_x included.",
)
def conserved():
    return _conserved(flow(loss, _anywhere(), np.linspace(0, 1, 5)))


@conserved.fails_without("gradient flow (descent in steps of 0.02)")
def _descent():
    return _conserved(descend(loss, _anywhere(), step_size=0.02, steps=50))


def _logistic(covariance) -> Evidence:
    times = np.linspace(0, 4, 9)
    run = flow(
        partial(normalised_loss, covariance=covariance, **KEYS),
        layer(0.2 / 2**0.5 * np.eye(2), 0.2),
        times,
    )
    measured = run.params["w"][:, 2, None] * run.params["A"][:, [0, 1], [0, 1]]
    predicted = dynamics.isotropic_product(times, 0.2, d=2, **KEYS)
    return Evidence(np.stack([predicted] * 2, 1), measured, tolerance=1e-8)


@claim(
    "ZFB.logistic",
    kind="trained",
    anchor=f"{CHAPTER}#zfb-logistic",
    statement="For Sigma = I and A_x = b I / sqrt(d) the product b A_x = p I follows a logistic "
    "curve, p' = 2 sqrt(d) p (1 - g p).",
)
def logistic():
    return _logistic(np.eye(2))


@logistic.fails_without("Sigma = I (variances 1.2 and 0.8)")
def _skewed():
    return _logistic(np.diag([1.2, 0.8]))
