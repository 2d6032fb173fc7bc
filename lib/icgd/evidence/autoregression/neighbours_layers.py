"""Evidence for layers on layers and for the mesa layer (chapter 15)."""

import json
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch

from icgd.autoregression import data, learners
from icgd.autoregression.mesa_layer import mesa_layer
from icgd.autoregression.normalisation import constant
from icgd.autoregression.processes import Haar, Phases, Sphere, relative_errors, sample_process
from icgd.autoregression.sequence_transformer import (
    KEY,
    SequenceTransformer,
    causal_mask,
    gradient_descent,
    on_raw_tokens,
    raw_tokens,
)
from icgd.autoregression.steps import gradient_steps, ridge, ridge_steps
from icgd.claims import Evidence, claim
from icgd.evidence.autoregression.tools import flat, generator, sequences

CHAPTER = "15-sequence-neighbours"
D, T = 3, 7
PRODUCTS = (0.2, 0.5, 0.1)
WEIGHTS = Path(__file__).resolve().parents[4] / "data" / "sequence_layers.json"


def _x() -> torch.Tensor:
    return sequences(data.Gaussian(1.0), D, T).x


def _real(values) -> np.ndarray:
    return flat(torch.view_as_real(values.detach()))


def _descended(x, steps, ridge_strength: float = 0.0) -> torch.Tensor:
    """W_k x_t with W_k from k explicit gradients (autograd) on L_OLS,t + z |W|^2 / 2."""
    rows = []
    for sequence in x:
        for t in range(2, x.shape[1] + 1):
            W = torch.zeros(D, D, dtype=torch.complex128)
            for size in steps(t):
                W = W.clone().requires_grad_(True)
                objective = learners.ols_loss(W, sequence[:t])
                objective = objective + ridge_strength * W.abs().square().sum() / 2
                (slope,) = torch.autograd.grad(objective, W)
                W = (W - size * slope).detach()
            rows.append(W @ sequence[t - 1])
    return torch.stack(rows).reshape(len(x), x.shape[1] - 1, D)


# --- Layers --------------------------------------------------------------------------------------


def _layers(spoil) -> Evidence:
    x = _x()
    model = gradient_descent(D, PRODUCTS)
    spoil(model)
    explicit = _descended(x, lambda t: [p / (t - 1) for p in PRODUCTS])
    return Evidence(_real(explicit), _real(model(x)), tolerance=1e-10, relative=True)


@claim(
    "Mesa.layers",
    kind="algebra",
    anchor=f"{CHAPTER}#mesa-layers",
    statement="k linear layers run k gradient steps on the context's problem, at every t at once.",
)
def layers():
    return _layers(lambda model: None)


@layers.fails_without("keys that no layer changes")
def _changed_keys():
    def spoil(model):
        block = slice(KEY * D, (KEY + 1) * D)
        with torch.no_grad():
            model.P[0, block, block] = 0.1 * torch.eye(D)

    return _layers(spoil)


def _copy(order) -> Evidence:
    x = _x()
    model = gradient_descent(D, PRODUCTS)
    Z = raw_tokens(model, x)
    width = model.width
    Z = torch.cat([Z[..., :width], order(Z[..., width:])], dim=-1)
    y = on_raw_tokens(model, T).forward_tokens(Z, causal_mask(model.rho, T))[:, 1:, :D]
    return Evidence(_real(model(x)), _real(y), tolerance=1e-10, relative=True)


@claim(
    "Mesa.copy",
    kind="algebra",
    anchor=f"{CHAPTER}#mesa-copy",
    statement="One more linear layer, which reads positions, builds the pairs (x_t, x_{t-1}).",
)
def copy():
    return _copy(lambda positions: positions)


@copy.fails_without("positions in order")
def _no_order():
    return _copy(lambda positions: positions.flip(-1))


# --- Trained layers ------------------------------------------------------------------------------

LAWS = {"diagonal": Phases(), "general": Haar()}


@lru_cache
def trained() -> dict:
    """(process, layers) -> SequenceTransformer with the weights of data/sequence_layers.json."""
    found = {}
    stored = json.loads(WEIGHTS.read_text("utf-8"))
    for run in stored["runs"]:
        model = SequenceTransformer(stored["d"], run["layers"])
        with torch.no_grad():
            for name, weight in (("P", model.P), ("Q", model.Q)):
                weight.copy_(torch.tensor(run["weights"][name], dtype=torch.float64))
        found[run["process"], run["layers"]] = model
    return found


@lru_cache
def fresh(process: str, count: int = 4000, T: int = 10) -> torch.Tensor:
    """Sequences that no training has seen."""
    law, start = LAWS[process], Sphere(2**0.5, "complex")
    return sample_process(start, law, count, 2, T, generator=generator(5)).x


def mean_error(learner, x) -> float:
    """The mean over t of the relative errors."""
    with torch.no_grad():
        return relative_errors(learner(x[:, :-1]), x).mean().item()


def _one_layer(process: str, count: int) -> Evidence:
    """The trained layer's predictions over the best step's, on sequences it has not seen."""
    x = fresh(process)
    model = trained()[process, count]
    with torch.no_grad():
        y = model(x[:, :-1])
    step = gradient_steps([0.6420])(x[:, :-1])
    scale = (step.conj() * y).sum().real / step.abs().square().sum()
    miss = (y - scale * step).abs().square().mean() / y.abs().square().mean()
    return Evidence([1.0, 0.0], [float(scale), float(miss)], tolerance=0.02)


@claim(
    "Mesa.trained-layer",
    kind="trained",
    anchor=f"{CHAPTER}#mesa-trained-layer",
    statement="One layer, all weights free, trained on general rotations, predicts as one step.",
)
def trained_layer():
    return _one_layer("general", 1)


@trained_layer.fails_without("a single layer (three instead)")
def _three_layers():
    return _one_layer("general", 3)


# --- The mesa layer ------------------------------------------------------------------------------


def _online(z: float) -> Evidence:
    x = _x()
    return Evidence(_real(ridge(0.3)(x)), _real(mesa_layer(z)(x)), tolerance=1e-10, relative=True)


@claim(
    "Mesa.online",
    kind="algebra",
    anchor=f"{CHAPTER}#mesa-online",
    statement="Rank-one updates give the regularised least-squares prediction at every t.",
)
def online():
    return _online(0.3)


@online.fails_without("R_0 = I / z (R_0 = I instead)")
def _wrong_start():
    return _online(1.0)


def _linear_limit(z: float) -> Evidence:
    """z Phi_t x_t beside linear attention; and z times the difference beside its limit."""
    x = _x()
    linear = gradient_steps([1.0], rho=constant)(x)
    two = gradient_steps([1.0, 1.0], rho=constant)(x)  # 2 linear - sum v k^* K q
    scaled = z * mesa_layer(z)(x)
    said = torch.stack([linear, two - 2 * linear])
    found = torch.stack([scaled, z * (scaled - linear)])
    return Evidence(_real(said), _real(found), tolerance=1e-3, relative=True)


@claim(
    "Mesa.linear-limit",
    kind="algebra",
    anchor=f"{CHAPTER}#mesa-linear-limit",
    statement="As z grows z Phi_t x_t tends to linear attention, with an error -sum v k^* K q / z.",
)
def linear_limit():
    return _linear_limit(1e6)


@linear_limit.fails_without("a large z")
def _small_z():
    return _linear_limit(10.0)


def _ridge_steps(z: float) -> Evidence:
    x, a = _x(), 0.05
    explicit = _descended(x, lambda t: [a] * 4, ridge_strength=0.3)
    return Evidence(_real(explicit), _real(ridge_steps(a, z, 4)(x)), tolerance=1e-10, relative=True)


@claim(
    "Mesa.ridge-steps",
    kind="algebra",
    anchor=f"{CHAPTER}#mesa-ridge-steps",
    statement="J inner iterations on the query are J gradient steps on the regularised problem.",
)
def inner_steps():
    return _ridge_steps(0.3)


@inner_steps.fails_without("the regulariser in the iteration")
def _no_ridge():
    return _ridge_steps(0.0)


def _bayes(z_factor: float) -> Evidence:
    """The posterior mean of W x_t for W with N(0, w2) entries, by conditioning, beside ridge."""
    g, t, w2, s2 = generator(2), 5, 0.7, 0.4
    x = torch.randn(1, t, D, dtype=torch.float64, generator=g)
    keys, values, query = x[0, :-1], x[0, 1:], x[0, -1]
    # Coordinates of W are independent: each row is a Gaussian process with kernel w2 k.k'.
    K = w2 * keys @ keys.T + s2 * torch.eye(t - 1, dtype=torch.float64)
    posterior = values.T @ torch.linalg.solve(K, w2 * keys @ query)
    y = ridge(z_factor * s2 / w2)(x.to(torch.complex128))[0, -1]
    return Evidence(posterior.numpy(), y.real.numpy(), tolerance=1e-10)


@claim(
    "Mesa.bayes",
    kind="algebra",
    anchor=f"{CHAPTER}#mesa-bayes",
    statement="For a Gaussian prior on W the mesa layer with z = s2 / w2 is the Bayes predictor.",
)
def bayes():
    return _bayes(1.0)


@bayes.fails_without("z = s2 / w2 (twice that)")
def _wrong_z():
    return _bayes(2.0)
