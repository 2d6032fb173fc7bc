"""Evidence for prompts drawn from real rows: what the layer learns from a table (chapter 16).

The prompts of a small part of the table are listed one by one, so that the loss is exact for every
(A, w), and Newton's method looks for its global minimum.
"""

from itertools import combinations, permutations, product

import numpy as np
import torch

from icgd.claims import Evidence, claim
from icgd.evidence.regression.minimum import global_minimum, one_step_parts
from icgd.regression import tables
from icgd.regression.data import Prompts
from icgd.regression.enumeration import Rule, WeightedPrompts
from icgd.regression.moments import TokenMoments

CHAPTER = "16-real-rows-and-sweeps"
COLUMNS = [2, 3, 8]  # body mass index, blood pressure, one serum value
N = 2


def all_prompts(task: tables.TableTask, n: int) -> WeightedPrompts:
    """Every prompt the task can draw, once for each choice of rows, order and signs; d = 2."""
    count, rows, d = task.inputs.shape
    orders = list(permutations(range(d))) if task.shuffled else [tuple(range(d))]
    signs = list(product((1.0, -1.0), repeat=d)) if task.shuffled else [(1.0,) * d]
    X, y = [], []
    for which, query in product(range(count), range(rows)):
        for context in combinations([row for row in range(rows) if row != query], n):
            chosen = [*context, query]
            for order, sign, label_sign in product(orders, signs, (1.0, -1.0)):
                x = task.inputs[which, chosen][:, list(order)]
                X.append(x * torch.tensor(sign, dtype=torch.float64))
                y.append(label_sign * task.labels[which, chosen])
    X, y = torch.stack(X), torch.stack(y)
    weights = torch.full((len(y),), 1 / len(y), dtype=torch.float64)
    return WeightedPrompts(Prompts(X[:, :-1], y[:, :-1], X[:, -1], y[:, -1]), weights)


def _few_rows(shuffled: bool) -> tables.TableTask:
    part = tables.diabetes()[0][:6, COLUMNS]
    return tables.column_task(part, "standardised", shuffled=shuffled)


def _shuffled(shuffled: bool) -> Evidence:
    """The minimiser's odd and even parts and the loss, against the four averages of the table."""
    task = _few_rows(shuffled)
    moments, d = tables.step_moments(task), task.d
    end = global_minimum(all_prompts(task, N).reduced_loss(), d)
    predicted = [*one_step_parts(moments.step_size(N) * np.eye(d)), moments.least_risk(N)]
    return Evidence(predicted, [*end.parts(), end.loss], tolerance=1e-7)


@claim(
    "RS.shuffled",
    kind="trained",
    anchor=f"{CHAPTER}#rs-shuffled",
    statement="On the rows of any table, with the order and the signs of its columns drawn for "
    "each prompt, the global minimum is one plain gradient step, of a size that three averages "
    "over the table give.",
)
def shuffled():
    return _shuffled(True)


@shuffled.fails_without("drawing the order and the signs of the columns")
def _fixed_columns():
    return _shuffled(False)


def regression_rows() -> tuple[torch.Tensor, torch.Tensor]:
    """Progression (442,) beside three columns (442, 3), all standardised."""
    table, names = tables.diabetes()
    task = tables.column_task(table[:, [*COLUMNS, names.index("progression")]], "standardised")
    return task.inputs[-1], task.labels[-1]


def one_regression(signs: tuple[float, ...]) -> TokenMoments:
    """Its rows, drawn with replacement; a prompt's labels have one sign, drawn from `signs`."""
    x, y = regression_rows()
    weights = torch.full((len(y),), 1 / len(y), dtype=torch.float64)
    values = torch.stack([sign * y for sign in signs])
    share = torch.full((len(signs),), 1 / len(signs), dtype=torch.float64)
    return TokenMoments.enumerate(Rule(x, weights), values, share, noise=0.0)


def memorised(moments: TokenMoments, n: int) -> tuple[np.ndarray, float]:
    """(C*, L*) for one regression up to its sign, where q = beta^T Q^-1 beta.

    C* = S^-1 beta beta^T Q^-1 / (1 + (n - 1) q),
    L* = E[y^2] - (beta^T S^-1 beta) n q / (1 + (n - 1) q).
    """
    d = moments.d
    S = moments.second[:d, :d].numpy()
    Q = moments.fourth[:d, :d, d, d].numpy()
    B = moments.pairs[:d, d, :d, d].numpy()
    beta = np.sqrt(np.diag(B)) * np.sign(B[0])  # B = beta beta^T, up to the sign of beta
    solved, q = np.linalg.solve(S, beta), beta @ np.linalg.solve(Q, beta)
    C = np.outer(solved, np.linalg.solve(Q, beta)) / (1 + (n - 1) * q)
    explained = beta @ solved
    return C, float(moments.second[d, d] - explained * n * q / (1 + (n - 1) * q))


def _one_regression(signs: tuple[float, ...]) -> Evidence:
    """The minimiser's parts, its loss, and the loss after long prompts beside least squares."""
    moments, n = one_regression(signs), 5
    (C, least), (_, limit) = (memorised(moments, size) for size in (n, 10**9))
    end = global_minimum(moments.loss(n), moments.d)
    predicted = [*one_step_parts(C), least, limit]
    return Evidence(predicted, [*end.parts(), end.loss, left_by_least_squares()], tolerance=1e-6)


def left_by_least_squares() -> float:
    """The mean of the squared residuals of all rows."""
    x, y = regression_rows()
    fit = torch.linalg.lstsq(x, y[:, None]).solution[:, 0]
    return (y - x @ fit).square().mean().item()


@claim(
    "RS.one-table",
    kind="trained",
    anchor=f"{CHAPTER}#rs-one-table",
    statement="Trained on one regression up to its sign, the layer learns the weights: C* has rank "
    "one, and as n grows the loss falls to that of least squares on the whole table.",
)
def one_table():
    return _one_regression((1.0, -1.0))


@one_table.fails_without("both signs of the label")
def _one_sign():
    return _one_regression((1.0,))
