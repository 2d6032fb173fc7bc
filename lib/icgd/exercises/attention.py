"""Self-checks for chapter 2, linear self-attention."""

from collections.abc import Callable

import numpy as np
import torch

from icgd.exercises.trial import Trial
from icgd.regression import models
from icgd.regression.data import Prompts

CHAPTER = "02-linear-self-attention.html"


def check_by_hand(predict: Callable[[np.ndarray, np.ndarray, float, float], float]) -> None:
    """predict(x, y, query, eta): the construction's prediction in one dimension; x, y: (n,)."""
    rng = np.random.default_rng(3)
    with Trial("ex-02-by-hand", f"{CHAPTER}#equation-eq-construction") as trial:
        for n, eta in ((2, 0.1), (5, 0.7)):
            x, y, query = rng.standard_normal(n), rng.standard_normal(n), 1.3
            found = trial.number(predict, x=x, y=y, query=query, eta=eta)
            parts = (x[:, None], y, np.array([query]), np.array(0.0))
            prompt = Prompts(*(torch.tensor(part)[None] for part in parts))
            layer = models.one_step_construction(1, eta)(prompt).item()
            trial.same(found, layer, "it is the output of the layer on these tokens")
            double = trial.number(predict, x=x, y=y, query=2 * query, eta=eta)
            trial.same(double, 2 * found, "twice the query gives twice the prediction")


def check_self_attention(extra: Callable[..., float]) -> None:
    """extra(W_K, W_Q, W_V, h, x_query): by how much attending to oneself changes the prediction.

    W_K, W_Q, W_V: (d + 1, d + 1), h: (d + 1,), x_query: (d,). It needs no examples.
    """
    rng = np.random.default_rng(4)
    with Trial("ex-02-self", f"{CHAPTER}#equation-eq-layer") as trial:
        for d in (2, 5):
            W_K, W_Q, W_V = weights = rng.standard_normal((3, d + 1, d + 1))
            h, tokens = rng.standard_normal(d + 1), rng.standard_normal((4, d + 1))
            tokens[-1, d] = 0.0
            scores = tokens @ W_K.T @ W_Q @ tokens[-1]
            to_all, to_earlier = (h @ W_V @ (tokens[:last].T @ scores[:last]) for last in (4, 3))
            names = dict(zip(("W_K", "W_Q", "W_V"), weights, strict=True))
            found = trial.number(extra, **names, h=h, x_query=tokens[-1, :d])
            trial.same(
                found, to_all - to_earlier, "the sum up to j = i minus the sum up to j = i - 1"
            )
            step = [w.detach().numpy() for w in models.one_step_construction(d, 0.3).parameters()]
            keys = dict(zip(("W_K", "W_Q", "W_V", "h"), step, strict=True))
            trial.same(
                trial.number(extra, **keys, x_query=tokens[-1, :d]), 0.0,
                "the construction does not notice: its query token has no label",
            )  # fmt: skip


def check_swapped_slots(weights: Callable[[int], tuple]) -> None:
    """weights(d): (W_K, W_Q, W_V, h) with b = 0 and A_x = 0 whose odd part C is not zero."""
    with Trial("ex-02-swap", f"{CHAPTER}#equation-eq-odd-part") as trial:
        for d in (1, 3, 4):
            s = d + 1
            W_K, W_Q, W_V, h = trial.arrays(weights, (s, s), (s, s), (s, s), (s,), d=d)
            A, w = (W_K.T @ W_Q)[:, :d].T, W_V.T @ h
            trial.same(w[d], 0.0, "b, the last entry of w = W_V^T h, is zero")
            trial.same(A[:, :d], np.zeros((d, d)), "A_x is zero: no key reads a covariate")
            C = models.odd_part(torch.tensor(A), torch.tensor(w))
            trial.holds(bool(C.abs().max() > 1e-9), "the odd part C = b A_x + a w_x^T is not zero")
