"""Self-checks for chapter 10, gradient flow finds the gradient step."""

from collections.abc import Callable

import numpy as np
import torch
from scipy.optimize import brentq

from icgd.autoregression import data, theory
from icgd.autoregression.blocks import diagonal_blocks, place_blocks
from icgd.autoregression.population import PopulationLoss
from icgd.exercises.trial import Trial, quiz

CHAPTER = "10-gradient-flow.html"


def check_drift(factor: Callable[[float, float, float, float, float], float]) -> None:
    """factor(a, b, eta, c1, c2): by what one descent step of size eta multiplies a^2 - b^2."""
    rng = np.random.default_rng(12)
    with Trial("ex-10-drift", f"{CHAPTER}#mo-conserved") as trial:
        for a, b, eta, c1, c2 in rng.uniform(0.2, 1.5, (4, 5)):
            found = trial.number(factor, a=a, b=b, eta=eta, c1=c1, c2=c2)
            new_a, new_b = np.array([a, b]) + eta * theory.velocity(a, b, c1, c2)
            trial.same(
                found * (a**2 - b**2), new_a**2 - new_b**2,
                "it is the new a^2 - b^2 over the old one, after one explicit step",
            )  # fmt: skip


def check_plateau(time: Callable[[float, float, float], float]) -> None:
    """time(epsilon, c1, c2): about when ab is half of its limit, from (1, -1 + epsilon)."""
    with Trial("ex-10-plateau", f"{CHAPTER}#mo-trajectory") as trial:
        for c1, c2 in ((3.0, 2.0), (0.7, 1.9)):

            def halfway(epsilon, c1=c1, c2=c2):
                def missing(tau):
                    a, b = theory.trajectory(1.0, -1 + epsilon, c1, c2, [tau])
                    return (a * b).item() - c2 / c1 / 2

                return brentq(missing, 0.0, 60 / c2)

            small, smaller = (trial.number(time, epsilon=e, c1=c1, c2=c2) for e in (1e-3, 1e-6))
            trial.same(
                (smaller - small) * c2, (halfway(1e-6) - halfway(1e-3)) * c2,
                "a thousand times smaller epsilon takes longer by what the trajectory says",
                rtol=1e-2,
            )  # fmt: skip
            trial.holds(
                abs(smaller - halfway(1e-6)) * c2 < 3, "it is off by a constant over c2 at most"
            )


def check_coupled_loss(loss: Callable[..., float]) -> None:
    """loss(a, b, alpha, beta, c2): the loss minus its value at zero, for diagonal U and V.

    a, b: (d,), the entries of U and V; alpha = (T - 2) kappa_2, beta = S_T kappa_3 / (d - 1).
    """
    rng = np.random.default_rng(13)
    with Trial("ex-10-signs", f"{CHAPTER}#flow-gradient") as trial:
        for law, d, T in ((data.Gaussian(0.7), 3, 6), (data.Rademacher(1.2), 2, 5)):
            k = theory.kappas(law, d)
            exact = PopulationLoss(law, d=d, T=T)
            given = {
                "alpha": (T - 2) * k.k2,
                "beta": theory.harmonic_sum(T) * k.k3 / (d - 1),
                "c2": (T - 2) * k.k1,
            }
            for a, b in rng.standard_normal((3, 2, d)):
                entries = (torch.diag(torch.tensor(x)) for x in (a, b))
                drop = exact(*place_blocks(*entries)) - exact(*diagonal_blocks(d, 0.0, 0.0))
                trial.same(
                    trial.number(loss, a=a, b=b, **given), drop.item(),
                    "it is the exact loss at these entries minus the exact loss at zero",
                )  # fmt: skip


def check_without_skew(values: np.ndarray, chances: np.ndarray) -> None:
    """Three values with their chances: not symmetric, and the repaired theorem holds for them."""
    with Trial("ex-10-break", f"{CHAPTER}#flow-gradient") as trial:
        values, chances = np.asarray(values, dtype=float), np.asarray(chances, dtype=float)
        trial.holds(values.shape == chances.shape == (3,), "three values with three chances")
        trial.same(chances.sum(), 1.0, "the chances add up to one")
        trial.holds(bool((chances > 0).all()), "every value occurs")
        law = data.Discrete(tuple(values), tuple(chances))
        size = law.raw(6) ** (1 / 6)
        trial.holds(abs(law.raw(1)) < 1e-9 * size, "the mean is zero")
        odd = max(abs(law.raw(r)) / size**r for r in (3, 5, 7))
        trial.holds(odd > 1e-6, "the law is not symmetric about zero")
        A, B = (block.requires_grad_() for block in diagonal_blocks(2, 0.3, 0.7))
        gradients = torch.autograd.grad(PopulationLoss(law, d=2, T=5)(A, B), (A, B))
        off = max(abs(gradients[0][2, 1].item()), abs(gradients[1][0, 1].item()))
        trial.holds(
            off < 1e-9 * size**6, "the exact gradient vanishes off the diagonal at (aI, bI)"
        )


def check_theorem_4_1(answers: dict[str, str]) -> None:
    """answers: for each step of the proof of Theorem 4.1 the hypothesis that it uses.

    Steps: "four blocks sleep", "rows (f), (j), (k) vanish", "rows (d), (i) vanish", "all diagonal
    entries of U move alike", "the flow does not end at the saddle". Hypotheses: "uniform phases",
    "Assumption 4.1", "E[u_j^3 u_l^3] = 0", "the second sum is kappa_3 too", "a_0 + b_0 != 0".
    """
    key = {
        "four blocks sleep": "uniform phases",
        "rows (f), (j), (k) vanish": "Assumption 4.1",
        "rows (d), (i) vanish": "E[u_j^3 u_l^3] = 0",
        "all diagonal entries of U move alike": "the second sum is kappa_3 too",
        "the flow does not end at the saddle": "a_0 + b_0 != 0",
    }
    why = {
        "four blocks sleep": "What stays the same when all angles turn by one amount?",
        "rows (f), (j), (k) vanish": "In which of these moments does a coordinate stand alone?",
        "rows (d), (i) vanish": "Which odd moment is left when no coordinate stands alone?",
        "all diagonal entries of U move alike": "Over which coordinate does row (h) sum?",
        "the flow does not end at the saddle": "Which line of starts leads into the origin?",
    }
    with Trial("ex-10-break", f"{CHAPTER}#mo-theorem-4-1") as trial:
        quiz(trial, answers, key, why)
