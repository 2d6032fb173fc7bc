"""Self-checks for chapter 13, beyond the diagonal."""

from collections.abc import Callable
from itertools import product

import numpy as np
import torch

from icgd.autoregression import data
from icgd.autoregression.blocks import diagonal_blocks
from icgd.autoregression.full_one import full_one_flow
from icgd.autoregression.population import PopulationLoss
from icgd.exercises.trial import Trial

CHAPTER = "13-beyond-the-diagonal.html"


def check_gradient(gradient: Callable[[int, int, float, float], tuple]) -> None:
    """gradient(d, T, a, b): the four numbers of the gradient for u = (1, ..., 1).

    (W_1 diagonal, W_2 diagonal, W_1 off the diagonal, W_2 off the diagonal).
    """
    names = "diagonal of W_1", "diagonal of W_2", "rest of W_1", "rest of W_2"
    with Trial("ex-13-two", f"{CHAPTER}#equation-eq-beyond-gradient") as trial:
        for d, T, a, b in ((2, 5, 0.3, 0.7), (3, 4, -0.6, 1.1), (5, 7, 0.8, 0.2)):
            found = trial.arrays(gradient, (), (), (), (), d=d, T=T, a=a, b=b)
            A, B = (block.requires_grad_() for block in diagonal_blocks(d, a, b))
            on_A, on_B = torch.autograd.grad(PopulationLoss(data.Ones(), d=d, T=T)(A, B), (A, B))
            exact = on_A[d, 0], on_B[0, 0], on_A[d, 1], on_B[0, 1]
            for name, got, want in zip(names, found, exact, strict=True):
                trial.same(got, want.item(), f"{name}: the derivative of the exact loss")


def check_positive_exponents(who: Callable[[int, int], set]) -> None:
    """who(k, r): the coordinates whose lambda has a positive exponent in lambda_k^n
    lambda_s^(1-n) lambda_r^(t-1), for every s and every 1 <= n < t.
    """
    with Trial("ex-13-signs", f"{CHAPTER}#equation-eq-beyond-prediction") as trial:
        for k, r in product(range(3), repeat=2):
            found = trial.call(who, k=k, r=r)
            trial.holds(isinstance(found, set | frozenset), "return a set of coordinates")
            for s, t in product(range(3), (2, 3, 5)):
                for n in range(1, t):
                    powers = np.zeros(3, int)
                    for coordinate, power in ((k, n), (s, 1 - n), (r, t - 1)):
                        powers[coordinate] += power
                    trial.holds(
                        set(found) == set(np.flatnonzero(powers > 0).tolist()),
                        f"with s = {s}, n = {n}, t = {t} these are the positive powers",
                    )


def check_coefficients(coefficients: Callable[[int, int], tuple]) -> None:
    """coefficients(d, T): (D_11, C_11, C_12, C_21) of the loss in four variables."""
    with Trial("ex-13-coefficients", f"{CHAPTER}#equation-eq-beyond-four-loss") as trial:
        for d, T in ((2, 4), (3, 7), (5, 12)):
            found = trial.arrays(coefficients, (), (), (), (), d=d, T=T)
            counted = full_one_flow(d, T)
            exact = counted.quartic[0, 0], *counted.linear.ravel()[:3]
            for name, got, want in zip(("D_11", "C_11", "C_12", "C_21"), found, exact, strict=True):
                trial.same(got, want, f"{name} is a count of power sums")
