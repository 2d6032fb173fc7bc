"""Self-checks for chapter 9, sequences that predict themselves."""

from collections.abc import Callable

import numpy as np

from icgd.autoregression import data
from icgd.autoregression.blocks import diagonal_blocks
from icgd.autoregression.enumeration import enumerated_loss
from icgd.autoregression.normalisation import Rho, constant, context_pairs
from icgd.exercises.trial import Trial

CHAPTER = "09-autoregressive-processes.html"


def parabola(law, d: int, T: int, rho: Rho = context_pairs) -> tuple[float, float, float]:
    """(e, f, g): the loss at W_KQ_32 = p I, W_PV_12 = I is e - f p + g p^2; by enumeration."""
    zero, one, two = (
        enumerated_loss(law, *diagonal_blocks(d, p, 1.0), T=T, rho=rho).item() for p in (0, 1, 2)
    )
    g = (two - 2 * one + zero) / 2
    return zero, zero + g - one, g


def check_one_hand(product: Callable[[np.ndarray, np.ndarray], float]) -> None:
    """product(values, chances): the best a b in one dimension for a finite law of the token."""
    with Trial("ex-09-one", f"{CHAPTER}#equation-eq-ar-diagonal") as trial:
        for values, chances in (
            ((-2.0, 2.0), (0.5, 0.5)),
            ((0.5, -1.0, 2.0), (0.5, 0.3, 0.2)),
            ((0.0, 1.5), (0.9, 0.1)),
        ):
            given = {"values": np.array(values), "chances": np.array(chances)}
            found = trial.number(product, **given)
            for T in (3, 6):
                _, f, g = parabola(data.Discrete(values, chances), 1, T)
                trial.same(2 * g * found, f, f"the exact loss at length {T} has no slope there")


def check_no_normaliser(loss: Callable[[int, int], float]) -> None:
    """loss(d, T): the least loss for u = (1, ..., 1) and rho = 1, relative to predicting zero."""
    with Trial("ex-09-no-normaliser", f"{CHAPTER}#equation-eq-ar-power-of-y") as trial:
        for d, T in ((1, 3), (1, 6), (2, 4), (3, 3)):
            zero, f, g = parabola(data.Ones(), d, T, constant)
            trial.same(
                trial.number(loss, d=d, T=T), 1 - f**2 / (4 * g * zero),
                "it is the lowest point of the exact loss in the product, over its value at zero",
            )  # fmt: skip
        far, farther = (trial.number(loss, d=2, T=T) for T in (20_000, 40_000))
        trial.same(farther, far, "for long sequences it settles", rtol=1e-3)
        other = trial.number(loss, d=5, T=40_000)
        trial.same(other, farther, "and where it settles does not depend on d", rtol=1e-3)


def check_copying_positions(construct: Callable[[int], tuple[np.ndarray, np.ndarray]]) -> None:
    """construct(T): (P, Q), positions P (T + 1, s) and Q (s, s), that copy with the least s.

    The score of token i for token t is P[i] @ Q @ P[t]; i <= t, t = 1, ..., T.
    """
    with Trial("ex-09-linear-copy", f"{CHAPTER}#equation-eq-ar-copy") as trial:
        for T in (2, 5, 8):
            found = trial.call(construct, T=T)
            P, Q = (np.asarray(part, dtype=float) for part in found)
            s = Q.shape[0]
            trial.holds(P.shape == (T + 1, s) and Q.shape == (s, s), "P is (T + 1, s), Q is (s, s)")
            scores = (P @ Q @ P.T).T  # row t, column i
            for t in range(1, T + 1):
                wanted = np.arange(t + 1) == t - 1
                trial.same(
                    scores[t, : t + 1], wanted.astype(float),
                    f"token {t} of {T} scores 1 at the token before and 0 at the others up to it",
                )  # fmt: skip
            trial.holds(s <= T, "no more dimensions are used than the rank argument asks for")


def check_sign_survivors(count: Callable[[int], tuple[int, int, int, int]]) -> None:
    """count(t): how many n = 1, ..., t - 1 survive in (jklm, jm|kl, jk|lm, jl|km), lambda = +-1."""
    groups = ("jklm",), ("jm", "kl"), ("jk", "lm"), ("jl", "km")
    signs = np.array([-1.0, 1.0])
    with Trial("ex-09-signs", f"{CHAPTER}#equation-eq-ar-four-slots") as trial:
        for t in (2, 3, 7, 10):
            found = trial.arrays(count, (), (), (), (), t=t)
            n = np.arange(1, t)
            exponents = {"j": 0 * n - t, "k": n, "l": 1 - n, "m": 0 * n + t - 1}
            for got, blocks in zip(found, groups, strict=True):
                totals = [sum(exponents[factor] for factor in block) for block in blocks]
                means = [(signs[:, None] ** total).mean(0) for total in totals]
                trial.same(
                    got, np.prod(means, 0).sum(),
                    f"it is the sum over n of the mean phase of {' | '.join(blocks)}",
                )  # fmt: skip
