"""Evidence for what k linear layers can run (chapter 8): layers against algorithms written out.

Every check draws a few random prompts and compares predictions; the algorithms are plain loops.
"""

from collections.abc import Iterator

import numpy as np
import torch

from icgd.claims import Evidence, claim
from icgd.regression import learners_iterative as iterative
from icgd.regression import transformer
from icgd.regression.data import LinearTask, Prompts, normal, sample_prompts
from icgd.regression.depth_newton import NewtonStack

CHAPTER = "08-depth"
D, N, BATCH = 3, 7, 5
STEPS, CURVATURES = [0.5, 0.9, 1.3], [0.3, -0.2, 0.7]


def some_prompts() -> Prompts:
    g = torch.Generator().manual_seed(0)
    return sample_prompts(LinearTask(D, 0.4), BATCH, N, generator=g)


def arrays(prompts: Prompts) -> Iterator[tuple[np.ndarray, ...]]:
    """X, y and x_query of one prompt after another."""
    fields = (prompts.X, prompts.y, prompts.x_query)
    return zip(*(field.numpy() for field in fields), strict=True)


def descend_by_hand(X, y, matrices, w) -> np.ndarray:
    """w <- w - A (1/n) sum_i (w.x_i - y_i) x_i, one step a matrix."""
    for A in matrices:
        w = w - A @ (X.T @ (X @ w - y)) / len(X)
    return w


def by_hand(prompts: Prompts, matrices, w0=None, *, with_query: bool = False) -> np.ndarray:
    """The predictions of `descend_by_hand`; `with_query` adds (x_query, 0) to the examples' sum."""
    w0 = np.zeros(prompts.d) if w0 is None else w0
    found = []
    for X, y, query in arrays(prompts):
        if with_query:  # the layer divides by n whether or not the query is in the sum
            X, y = np.vstack([X, query]), np.append(y, 0.0)
            matrices_n = [A * len(X) / prompts.n for A in matrices]
        else:
            matrices_n = matrices
        found.append(descend_by_hand(X, y, matrices_n, w0) @ query)
    return np.array(found)


def predictions(model, prompts: Prompts) -> np.ndarray:
    return model(prompts).detach().numpy()


# --- Gradient descent ----------------------------------------------------------------------------


def _lemma1(transpose: bool) -> Evidence:
    A = 0.3 * normal(4, D, D, generator=torch.Generator().manual_seed(1))
    prompts, matrices = some_prompts(), (A.mT if transpose else A).numpy()
    layers = predictions(transformer.gradient_descent(D, A), prompts)
    return Evidence(by_hand(prompts, matrices), layers, tolerance=1e-12)


@claim(
    "Ahn.Lemma1",
    kind="algebra",
    anchor=f"{CHAPTER}#ahn-lemma-1",
    statement="k linear layers with P = diag(0, 1), Q_k = -diag(A_k, 0) run k steps of gradient "
    "descent preconditioned by A_k^T.",
)
def lemma1():
    return _lemma1(transpose=True)


@lemma1.fails_without("the transpose, for matrices that are not symmetric")
def _no_transpose():
    return _lemma1(transpose=False)


def _proposition1(query_label: bool) -> Evidence:
    w0 = normal(D, generator=torch.Generator().manual_seed(2))
    model, prompts = transformer.von_oswald(D, 0.3, 3, w0=w0), some_prompts()
    wanted = by_hand(prompts, [0.3 * np.eye(D)] * 3, w0.numpy())
    if not query_label:
        model.w0.zero_()
    return Evidence(wanted, predictions(model, prompts), tolerance=1e-12)


@claim(
    "Oswald.Proposition1",
    kind="algebra",
    anchor=f"{CHAPTER}#oswald-proposition-1",
    statement="One set of weights, repeated in every layer, runs gradient descent from any w0 if "
    "the query enters with the label -w0.x_query.",
)
def proposition1():
    return _proposition1(query_label=True)


@proposition1.fails_without("the query's label -w0.x_query (0 instead)")
def _no_label():
    return _proposition1(query_label=False)


def _unmasked(layers: int, with_query: bool) -> Evidence:
    prompts, steps = some_prompts(), STEPS[:layers]
    model = transformer.gradient_descent(D, steps, masked=False)
    wanted = by_hand(prompts, [a * np.eye(D) for a in steps], with_query=with_query)
    return Evidence(wanted, predictions(model, prompts), tolerance=1e-12)


@claim(
    "depth.unmasked",
    kind="algebra",
    anchor=f"{CHAPTER}#depth-unmasked",
    statement="Without the mask k layers run gradient descent on n + 1 examples, the query with "
    "label 0 among them.",
)
def unmasked():
    return _unmasked(3, with_query=True)


@unmasked.fails_without("the query among the examples, from the second layer on")
def _masked():
    return _unmasked(2, with_query=False)


# --- Beyond gradient descent ---------------------------------------------------------------------


def _gdpp(query_moves: bool) -> Evidence:
    """GD++ step by step: predictions of each step's weights on the data of that moment."""
    prompts, wanted = some_prompts(), []
    for X, y, query in arrays(prompts):
        total = 0.0
        for a, c in zip(STEPS, CURVATURES, strict=True):
            H, step = X.T @ X / N, a * X.T @ y / N
            total, y = total + step @ query, y - X @ step
            X = X - c * X @ H
            query = query - c * H @ query if query_moves else query
        wanted.append(total)
    layers = predictions(transformer.gd_plus_plus(D, STEPS, CURVATURES), prompts)
    return Evidence(wanted, layers, tolerance=1e-12)


@claim(
    "Oswald.GDpp",
    kind="algebra",
    anchor=f"{CHAPTER}#oswald-gdpp",
    statement="Layers with P_k = diag(b_k I, 1), Q_k = -diag(a_k I, 0) run GD++: a step a_k, then "
    "x <- (I - a_k b_k H_k) x for examples and query.",
)
def gdpp():
    return _gdpp(query_moves=True)


@gdpp.fails_without("a query that moves with the examples")
def _query_rests():
    return _gdpp(query_moves=False)


def _newton(steps: int) -> Evidence:
    prompts = some_prompts()
    newton = iterative.newton_inverse(0.3, 3)(prompts).numpy()
    return Evidence(by_hand(prompts, [0.3 * np.eye(D)] * steps), newton, tolerance=1e-12)


@claim(
    "Giannou.Newton",
    kind="algebra",
    anchor=f"{CHAPTER}#giannou-newton",
    statement="k Newton steps M <- M (2 I - H M) towards H^-1, from M = a I, predict what 2^k "
    "gradient steps of size a predict.",
)
def newton():
    return _newton(2**3)


@newton.fails_without("doubling (2 k gradient steps instead of 2^k)")
def _linear_count():
    return _newton(2 * 3)


def _newton_layers(forget: bool) -> Evidence:
    """Three steps towards the inverse, beside eight layers."""
    prompts, stack = some_prompts(), NewtonStack(D, 0.3, 3)
    if not forget:
        stack.P[1::2, stack.slot("r"), stack.slot("e")] = 0.0
    newton = iterative.newton_inverse(0.3, 3)(prompts).numpy()
    return Evidence(newton, predictions(stack, prompts), tolerance=1e-12)


@claim(
    "Giannou.layers",
    kind="algebra",
    anchor=f"{CHAPTER}#newton-layers",
    statement="2 k + 2 linear layers, with d more tokens that hold the columns of M, predict what "
    "k Newton steps towards the inverse of H predict.",
)
def newton_layers():
    return _newton_layers(forget=True)


@newton_layers.fails_without("workers that clear their residual after each step")
def _remember():
    return _newton_layers(forget=False)
