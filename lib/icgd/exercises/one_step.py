"""Self-checks for chapter 3, one step of gradient descent is optimal."""

from collections.abc import Callable

import numpy as np
import torch

from icgd.exercises.trial import Trial, quiz
from icgd.regression.enumeration import enumerate_prompts, gauss_hermite
from icgd.regression.learners import label_sum

CHAPTER = "03-one-step-is-optimal.html"


def check_step_ratio(ratio: Callable[[np.ndarray, np.ndarray, float], float]) -> None:
    """ratio(X, y, noise_var): the step size from prompts X (batch, n, d), y (batch, n)."""
    rng = np.random.default_rng(5)
    with Trial("ex-03-ratio", f"{CHAPTER}#equation-eq-eta-ratio") as trial:
        x, y = rng.standard_normal((1, 1, 1)), rng.standard_normal((1, 1))
        trial.same(
            trial.number(ratio, X=x, y=y, noise_var=0.7), 1 / (x.item() ** 2 + 0.7),
            "for one prompt with one example in one dimension, w_hat is a multiple of x y",
        )  # fmt: skip
        Q = np.linalg.qr(rng.standard_normal((6, 5, 3)))[0]
        Q *= np.array([1.0, 1.0, 1.0, 2.0, 2.0, 2.0])[:, None, None]  # X^T X = I, or 4 I
        y = rng.standard_normal((6, 5))
        xy = np.einsum("bnd,bn->bd", Q, y)
        power = (xy**2).sum(1)
        share = (power[:3].sum() / 1.5 + power[3:].sum() / 4.5) / power.sum()
        trial.same(
            trial.number(ratio, X=Q, y=y, noise_var=0.5), share,
            "where X^T X = k I, w_hat is X^T y / (k + noise_var); the two averages are taken "
            "before they are divided",
        )  # fmt: skip
        X = rng.standard_normal((6, 5, 3))
        turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
        first = trial.number(ratio, X=X, y=y, noise_var=0.5)
        turned = trial.number(ratio, X=X @ turn, y=y, noise_var=0.5)
        trial.same(turned, first, "rotating the covariates changes nothing")


def check_clean_target(answer: Callable[[int, int, float], tuple[float, float]]) -> None:
    """answer(n, d, noise_var): (step, minimum) when the target w_star . x_query has no noise."""
    with Trial("ex-03-clean-target", f"{CHAPTER}#os-lemma-1") as trial:
        for n, d, noise_var in ((3, 1, 0.3), (1, 2, 0.7)):
            law = enumerate_prompts(gauss_hermite(d), n, noise_var)
            target = (law.prompts.w * law.prompts.x_query).sum(1)
            unit = (label_sum(law.prompts) * law.prompts.x_query).sum(1)
            cross, square = law.mean(unit * target).item(), law.mean(unit**2).item()
            size, least = trial.arrays(answer, (), (), n=n, d=d, noise_var=noise_var)
            trial.same(
                size * square, cross, "the gradient of the loss with respect to the step vanishes"
            )
            power = law.mean(target**2).item()
            trial.same(
                least, power - 2 * size * cross + size**2 * square,
                "the minimum is the loss at that step, measured against the noiseless target",
            )  # fmt: skip


def check_heads(odd: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> None:
    """odd(A, w): the matrix C of a layer with H heads, A: (H, d, d + 1), w: (H, d + 1)."""
    rng = np.random.default_rng(6)
    with Trial("ex-03-heads", "02-linear-self-attention.html#equation-eq-odd-part") as trial:
        for heads, d in ((1, 3), (3, 2), (2, 5)):
            A, w = rng.standard_normal((heads, d, d + 1)), rng.standard_normal((heads, d + 1))
            C = trial.array(odd, (d, d), A=A, w=w)
            X, y = rng.standard_normal((7, d)), rng.standard_normal(7)
            plus, minus = (_predictor(A, w, X, sign * y) for sign in (1, -1))
            trial.same(
                C @ X.T @ y, (plus - minus) / 2,
                "C X^T y is half the change of sum_h A_h G w_h when all labels change sign",
            )  # fmt: skip


def check_theorem_1(answers: dict[str, str]) -> None:
    """answers: for each step of the proof of Theorem 1 the hypothesis that it uses.

    Steps: "the query disappears", "ridge is the conditional mean of w_star", "the even part drops
    out", "the second moments are multiples of I". Hypotheses: "query covariance I", "Gaussian
    weights and noise", "sign symmetry", "rotation symmetry".
    """
    key = {
        "the query disappears": "query covariance I",
        "ridge is the conditional mean of w_star": "Gaussian weights and noise",
        "the even part drops out": "sign symmetry",
        "the second moments are multiples of I": "rotation symmetry",
    }
    why = {
        "the query disappears": "Which average turns ((u - w)^T x)^2 into |u - w|^2?",
        "ridge is the conditional mean of w_star": "When is a posterior mean linear in the labels?",
        "the even part drops out": "Which map of (w_star, eps) keeps X and turns y into -y?",
        "the second moments are multiples of I": "Which maps give Q = R Q R^T for all R?",
    }
    with Trial("ex-03-mean", f"{CHAPTER}#os-lemma-2") as trial:
        quiz(trial, answers, key, why)


def _predictor(A: np.ndarray, w: np.ndarray, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    tokens = torch.tensor(np.column_stack([X, y]))
    return np.einsum("hij,jk,hk->i", A, (tokens.T @ tokens).numpy(), w)
