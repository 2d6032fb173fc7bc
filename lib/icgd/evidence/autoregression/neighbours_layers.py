"""Evidence for layers on layers, as built and as trained (chapter 15)."""

import json
from functools import lru_cache
from pathlib import Path

import torch

from icgd.autoregression import data, learners
from icgd.autoregression.processes import Haar, Phases, Sphere, relative_errors, sample_process
from icgd.autoregression.sequence_transformer import (
    KEY,
    SequenceTransformer,
    causal_mask,
    gradient_descent,
    on_raw_tokens,
    raw_tokens,
)
from icgd.autoregression.steps import gradient_steps
from icgd.claims import Evidence, claim
from icgd.evidence.autoregression.tools import as_real, generator, sequences

CHAPTER = "15-sequence-neighbours"
D, T = 3, 7
PRODUCTS = (0.2, 0.5, 0.1)
WEIGHTS = Path(__file__).resolve().parents[4] / "data" / "sequence_layers.json"


def samples() -> torch.Tensor:
    return sequences(data.Gaussian(1.0), D, T).x


def descended(x, steps, ridge_strength: float = 0.0) -> torch.Tensor:
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
    x = samples()
    model = gradient_descent(D, PRODUCTS)
    spoil(model)
    explicit = descended(x, lambda t: [p / (t - 1) for p in PRODUCTS])
    return Evidence(as_real(explicit), as_real(model(x)), tolerance=1e-10, relative=True)


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
    x = samples()
    model = gradient_descent(D, PRODUCTS)
    Z = raw_tokens(model, x)
    width = model.width
    Z = torch.cat([Z[..., :width], order(Z[..., width:])], dim=-1)
    y = on_raw_tokens(model, T).forward_tokens(Z, causal_mask(model.rho, T))[:, 1:, :D]
    return Evidence(as_real(model(x)), as_real(y), tolerance=1e-10, relative=True)


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

#: p_1, ..., p_k of the k = 1, 2, 3 gradient steps with the least error on the training sequences.
BEST_STEPS = {
    "general": [[0.642], [0.551, 1.281], [0.526, 0.746, 1.906]],
    "diagonal": [[0.597], [0.534, 1.321], [0.517, 0.732, 2.119]],
}


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
    step = gradient_steps(BEST_STEPS[process][0])(x[:, :-1])
    scale = (step.conj() * y).sum().real / step.abs().square().sum()
    miss = (y - scale * step).abs().square().mean() / y.abs().square().mean()
    return Evidence([1.0, 0.0], [float(scale), float(miss)], tolerance=2e-3)


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
