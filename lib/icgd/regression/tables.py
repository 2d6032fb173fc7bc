"""Prompts drawn from the rows of a real table, with the interface of `data`'s tasks.

A regression on a table predicts one column from the others. `TableTask` draws one of them for each
prompt, and n + 1 different rows; `step_moments` averages over all such prompts exactly.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from icgd import validation
from icgd.regression.data import Prompts

Treatment = Literal["recorded", "centred", "standardised", "whitened"]


def diabetes() -> tuple[Float[np.ndarray, "rows columns"], tuple[str, ...]]:
    """(table, names): 442 patients, ten measurements and the disease's progression a year later.

    In the units of the record: years, kg / m^2, mm Hg, and six blood serum values.
    Source: Efron, Hastie, Johnstone and Tibshirani (2004); ships with scikit-learn.
    """
    from sklearn.datasets import load_diabetes  # a second to import: only where it is used

    bunch = load_diabetes(scaled=False)
    return np.column_stack([bunch.data, bunch.target]), (*bunch.feature_names, "progression")


def split(
    table: Float[np.ndarray, "rows columns"], *, seed: int
) -> tuple[Float[np.ndarray, "half columns"], Float[np.ndarray, "rest columns"]]:
    """Two random halves of the rows, for tuning and for testing; the same seed, the same halves."""
    order = np.random.default_rng(seed).permutation(len(table))
    half = len(table) // 2
    return table[order[:half]], table[order[half:]]


@dataclass(frozen=True)
class TableTask:
    """Regressions on one table: each prompt draws a regression, n + 1 different rows, and signs.

    inputs: (regressions, rows, d).   labels: (regressions, rows).
    shuffled: draw for each prompt an order of the d columns and a sign for each. The label's sign
        is always drawn.
    """

    inputs: Float[Tensor, "regressions rows d"]
    labels: Float[Tensor, "regressions rows"]
    shuffled: bool = True

    def __post_init__(self):
        validation.float64_tensor("inputs", self.inputs, (-1, -1, -1))
        validation.float64_tensor("labels", self.labels, tuple(self.inputs.shape[:2]))
        validation.finite_tensor("inputs", self.inputs)
        validation.finite_tensor("labels", self.labels)

    @property
    def d(self) -> int:
        return self.inputs.shape[2]

    @property
    def noise_var(self) -> float:
        """What least squares on all rows leaves of the labels, averaged over the regressions."""
        fitted = self.inputs @ torch.linalg.lstsq(self.inputs, self.labels[..., None]).solution
        return (self.labels - fitted[..., 0]).square().mean().item()

    def sample(self, batch: int, n: int, generator: torch.Generator) -> Prompts:
        count, rows, d = self.inputs.shape
        if n >= rows:
            raise ValueError(
                f"a prompt needs n + 1 different rows, got n = {n} and {rows} rows; "
                f"take n below {rows}."
            )

        def uniform(*shape: int) -> Tensor:
            return torch.rand(*shape, generator=generator, dtype=torch.float64)

        def signs(*shape: int) -> Tensor:
            return 1 - 2 * (uniform(*shape) < 0.5).double()

        which = torch.randint(count, (batch, 1), generator=generator)
        row = uniform(batch, rows).argsort(1)[:, : n + 1]
        x = self.inputs[which, row]
        y = self.labels[which, row] * signs(batch, 1)
        if self.shuffled:
            order = uniform(batch, 1, d).argsort(2).expand(-1, n + 1, -1)
            x = torch.gather(x, 2, order) * signs(batch, 1, d)
        return Prompts(x[:, :-1], y[:, :-1], x[:, -1], y[:, -1])


def column_task(
    table: Float[np.ndarray, "rows columns"],
    treatment: Treatment,
    *,
    fitted_on: Float[np.ndarray, "reference columns"] | None = None,
    shuffled: bool = True,
) -> TableTask:
    """Every column of the table in turn is the label, the others are the covariates.

    The label is standardised. The covariates are, with every mean and variance from `fitted_on`,

    - "recorded": divided by one number, so that E|x|^2 = d;
    - "centred": minus their means, then the same;
    - "standardised": minus their means, each divided by its standard deviation;
    - "whitened": standardised, then times the inverse root of their correlation matrix.

    Args:
        fitted_on: the rows the treatment is taken from; the default is the table itself.
    """
    if treatment not in get_args(Treatment):
        raise ValueError(
            f"treatment must be one of {', '.join(get_args(Treatment))}, got {treatment!r}."
        )
    reference = table if fitted_on is None else fitted_on
    mean, deviation = reference.mean(0), reference.std(0)
    if not (deviation > 0).all():
        raise ValueError(
            f"every column must vary, got deviations {deviation}; drop the constant columns."
        )
    inputs, labels = [], []
    for column in range(table.shape[1]):
        others = np.arange(table.shape[1]) != column
        shift, scale = _treatment(reference[:, others], treatment)
        inputs.append((table[:, others] - shift) @ scale)
        labels.append((table[:, column] - mean[column]) / deviation[column])
    stack = (torch.as_tensor(np.stack(part)) for part in (inputs, labels))
    return TableTask(*stack, shuffled=shuffled)


def _treatment(X: np.ndarray, treatment: Treatment) -> tuple[np.ndarray, np.ndarray]:
    """(shift, scale): the covariates become (x - shift) @ scale."""
    d = X.shape[1]
    if treatment == "recorded":
        return np.zeros(d), np.eye(d) / np.sqrt((X**2).mean())
    if treatment == "centred":
        return X.mean(0), np.eye(d) / np.sqrt(X.var(0).mean())
    scale = np.diag(1 / X.std(0))
    if treatment == "standardised":
        return X.mean(0), scale
    values, vectors = np.linalg.eigh(np.corrcoef(X.T))
    if values[0] < 1e-10 * values[-1]:
        raise ValueError(
            "no covariate may be a combination of the others, got a correlation matrix with "
            f"eigenvalues {values[0]:.1e} to {values[-1]:.1e}; drop a column or add rows."
        )
    return X.mean(0), scale @ (vectors / np.sqrt(values)) @ vectors.T


@dataclass(frozen=True)
class StepMoments:
    """Four averages that decide how well a step of any size does, for any number of examples.

    With k = (x_q.x_i) y_i, what example i adds to the prediction at step size 1:
    label_sq: E[y_q^2].   cross: E[y_q k_i].   single: E[k_i^2].   pair: E[k_i k_j], i != j.
    A table of N rows gives prompts of up to N - 1 examples; for larger n the formulas go on.
    """

    label_sq: float
    cross: float
    single: float
    pair: float

    def risk(self, step_size: float, n: int) -> float:
        """E[(y_q - step_size sum_i k_i)^2] = label_sq - 2 n eta cross + n eta^2 (single + ...)."""
        n = validation.positive_int("n", n)
        second = self.single + (n - 1) * self.pair
        return self.label_sq - 2 * n * step_size * self.cross + n * step_size**2 * second

    def step_size(self, n: int) -> float:
        """eta* = cross / (single + (n - 1) pair), the lowest point of `risk`.

        >>> StepMoments(10.0, 10.0, 120.0, 10.0).step_size(20) == 10 / 310
        True
        """
        return self.cross / (self.single + (validation.positive_int("n", n) - 1) * self.pair)

    def least_risk(self, n: int) -> float:
        """label_sq - n eta* cross."""
        return self.label_sq - n * self.step_size(n) * self.cross


def step_moments(task: TableTask) -> StepMoments:
    """The averages over all prompts of a table, n + 1 different rows each: sums, no sampling.

    For one regression K_qi = (x_q.x_i) y_i with zero diagonal; the sum of K_qi K_qj over different
    q, i, j is sum_q ((sum_i K_qi)^2 - sum_i K_qi^2). Orders and signs of columns change no K_qi.
    """
    N = validation.int_at_least("the number of rows", task.inputs.shape[1], 3)
    K = task.inputs @ task.inputs.mT * task.labels[:, None, :]
    K = K - torch.diag_embed(K.diagonal(dim1=1, dim2=2))
    row, square = K.sum(2), K.square().sum(2)
    sums = (task.labels * row, square, row.square() - square)
    pairs, triples = N * (N - 1), N * (N - 1) * (N - 2)
    cross, single, pair = (
        (s.sum(1).mean() / size).item()
        for s, size in zip(sums, (pairs, pairs, triples), strict=True)
    )
    return StepMoments(task.labels.square().mean().item(), cross, single, pair)
