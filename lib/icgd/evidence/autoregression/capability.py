"""Evidence for MO, Section 4.2: what the trained layer can and cannot learn (chapter 12)."""

import numpy as np
import torch

from icgd.autoregression import data, enumeration, theory
from icgd.autoregression.blocks import diagonal_blocks
from icgd.autoregression.models import predict
from icgd.claims import Evidence, claim
from icgd.evidence.autoregression.tools import as_real, flat, population, sequences

CHAPTER = "12-capability"
D = 2
LONG = 2000


def best_product(law, d: int, T: int) -> float:
    """The a b that minimises the exact loss on the diagonal: a parabola through three points."""
    low, middle, high = (
        population(law, d, T)(*diagonal_blocks(d, p, 1.0)).item() for p in (0.0, 1.0, 2.0)
    )
    return (1.5 * low - 2 * middle + 0.5 * high) / (high - 2 * middle + low)


def measured_error(law, d: int, t: int, product: float) -> float:
    """E|y_t - x_{t+1}|^2 / E|x_{t+1}|^2: the last term of the exact loss for T = t + 1."""
    blocks = diagonal_blocks(d, product, 1.0)
    term = population(law, d, t + 1)(*blocks) - population(law, d, t)(*blocks)
    return 2 * term.item() / (d * theory.kappas(law, d).m2)


# --- Eq. (3): the prediction of the mesa-optimizer -----------------------------------------------


def _eq3(law_of_W) -> Evidence:
    sample = sequences(data.Gaussian(1.0), 3, 7)
    x, product = law_of_W(sample.x), 0.36
    y = predict(*diagonal_blocks(3, product, 1.0), x)[:, -1]
    moment = torch.einsum("stj,stk->sjk", x[:, :-1], x[:, :-1].conj()) / (x.shape[1] - 1)
    eq3 = (sample.W @ (product * moment) @ x[:, -1, :, None])[..., 0]
    return Evidence(as_real(eq3), as_real(y), tolerance=1e-12)


@claim(
    "MO.Eq3",
    kind="algebra",
    anchor=f"{CHAPTER}#mo-eq-3",
    statement="The trained layer predicts W (a b sum x_i x_i^* / (T - 1)) x_T.",
)
def eq3():
    return _eq3(lambda x: x)


@eq3.fails_without("sequences that obey x_{t+1} = W x_t")
def _scrambled():
    return _eq3(lambda x: x.roll(1, dims=0))


# --- Proposition 4.1: the ratio 1/5 --------------------------------------------------------------


def _proposition41(law) -> Evidence:
    """Ratio prediction / truth at the trained product: for W = diag(lambda), p E x_j^2."""
    A, B = diagonal_blocks(D, best_product(law, D, LONG), 1.0)
    ratios = [theory.mean_ratio(law, A.numpy(), B.numpy(), t=t) for t in (2, 7, 101)]
    return Evidence(np.full(3 * D, 0.2), flat(*ratios), tolerance=1e-3)


@claim(
    "MO.Proposition4.1",
    kind="exact",
    anchor=f"{CHAPTER}#mo-proposition-4-1",
    statement="For Gaussian tokens of any scale the mean ratio prediction / truth tends to 1/5.",
)
def proposition41():
    return _proposition41(data.Gaussian(0.5))


@proposition41.fails_without("Gaussian tokens (random signs instead: the ratio is 1)")
def _signs():
    return _proposition41(data.Rademacher(0.5))


# --- Assumption 4.2, Example 4.1, Theorem 4.2 ----------------------------------------------------


def _recovers(law, t: int) -> Evidence:
    """Squared distance of (k1 / k2) (sum x_i x_i^* / (t - 1)) x_t from x_t, by enumeration."""
    k = theory.kappas(law, D)
    x, weights = enumeration.all_sequences(law, D, t + 1)
    y = predict(*diagonal_blocks(D, k.k1 / k.k2, 1.0), x)[:, t - 2]
    error = weights @ (y - x[:, t]).abs().square().sum(1) / (D * k.m2)
    return Evidence((D - 1) / (t - 1), error, tolerance=1e-10)


@claim(
    "MO.Assumption4.2",
    kind="exact",
    anchor=f"{CHAPTER}#mo-assumption-4-2",
    statement="Random signs meet Assumption 4.2 in mean square: the error is (d - 1) / (t - 1).",
)
def assumption42():
    return _recovers(data.Rademacher(1.7), 9)


@assumption42.fails_without("one value of |x_j| (Gaussian tokens)")
def _gaussian():
    return _recovers(data.Gaussian(1.7), 9)


def _example41(law) -> Evidence:
    """At every context length, not only in the limit: predictions beside the truth."""
    x = sequences(law, 3, 7).x
    k = theory.kappas(law, 3)
    y = predict(*diagonal_blocks(3, k.k1 / k.k2, 1.0), x)[:, :-1]
    truth = x[:, 2:]
    return Evidence(as_real(truth), as_real(y), tolerance=1e-12, relative=True)


@claim(
    "MO.Example4.1",
    kind="algebra",
    anchor=f"{CHAPTER}#mo-example-4-1",
    statement="Tokens with one non-zero entry +-c are predicted exactly, at every context length.",
)
def example41():
    return _example41(data.Sparse(0.5))


@example41.fails_without("a single non-zero entry (random signs in every coordinate)")
def _all_entries():
    return _example41(data.Rademacher(0.5))


def _theorem42(laws) -> Evidence:
    errors = [measured_error(law, D, LONG, best_product(law, D, LONG)) for law in laws]
    return Evidence(np.zeros(len(laws)), errors, tolerance=2e-3)


@claim(
    "MO.Theorem4.2",
    kind="exact",
    anchor=f"{CHAPTER}#mo-theorem-4-2",
    statement=(
        "With long training and test contexts the layer learns exactly the laws of Assumption 4.2."
    ),
)
def theorem42():
    return _theorem42([data.Sparse(0.5), data.Rademacher(2.0)])


@theorem42.fails_without("Assumption 4.2 (Gaussian tokens)")
def _not_learned():
    return _theorem42([data.Gaussian(1.0)])
