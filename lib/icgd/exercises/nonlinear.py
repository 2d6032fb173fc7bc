"""Self-checks for chapter 5, nonlinear targets."""

from collections.abc import Callable

import numpy as np
from scipy.special import roots_genlaguerre

from icgd.exercises.trial import Trial, quiz
from icgd.regression.enumeration import gauss_hermite
from icgd.regression.families import Polynomial

CHAPTER = "05-nonlinear-targets.html"


def check_linear_share(split: Callable[..., tuple[np.ndarray, float]]) -> None:
    """split(points, weights, values): (beta, rest) of a function on a finite law of x.

    points: (k, d) with weights (k,) and E[x x^T] = I; values: (k,) of f there. beta: (d,), the best
    linear function, and rest: the mean square it leaves.
    """
    rng = np.random.default_rng(9)
    with Trial("ex-05-share", f"{CHAPTER}#equation-eq-nonlin-beta") as trial:
        for d in (2, 3):
            rule = gauss_hermite(d)
            points, weights = rule.points.numpy(), rule.weights.numpy()
            slope, bent = rng.standard_normal(d), rng.standard_normal(len(points))
            for f, what in ((points @ slope, "linear"), (bent, "arbitrary")):
                given = {"points": points, "weights": weights, "values": f}
                beta, rest = trial.arrays(split, (d,), (), **given)
                root = np.sqrt(weights)
                fit, gap, *_ = np.linalg.lstsq(points * root[:, None], f * root, rcond=None)
                trial.same(beta, fit, f"beta fits the {what} function best, in weighted squares")
                trial.same(
                    rest + 1.0, 1.0 + (gap.sum() if what == "arbitrary" else 0.0),
                    f"rest is the mean square of f minus its linear part, for a {what} function",
                )  # fmt: skip


def check_sign_labels(answer: Callable[[int], tuple[float, float]]) -> None:
    """answer(d): (E|beta_f|^2, E[f(x)^2 |x|^2]) for f(x) = sign(w . x)."""
    with Trial("ex-05-sign", f"{CHAPTER}#equation-eq-nonlin-beta") as trial:
        for d in (1, 2, 7):
            beta_sq, f_sq_x_sq = trial.arrays(answer, (), (), d=d)
            weights = roots_genlaguerre(40, 0.0)[1]  # E|z| over the half line, by s = z^2 / 2
            trial.same(
                beta_sq, (2 * weights.sum() / np.sqrt(2 * np.pi)) ** 2,
                "beta_f has the direction of w and the length E|z|, z standard normal: no "
                "dimension in it", rtol=1e-8,
            )  # fmt: skip
            rule = gauss_hermite(d)
            power = (rule.weights @ rule.points.square().sum(1)).item()
            trial.same(f_sq_x_sq, power, "labels of size one leave E|x|^2")


def check_offset(step: Callable[[float, float, float, int, int, float], float]) -> None:
    """step(beta_sq, f_sq_x_sq, offset, n, d, noise_var): of the family f + offset.

    beta_sq = E|beta_f|^2 and f_sq_x_sq = E[f^2 |x|^2] belong to the family without its offset.
    """
    with Trial("ex-05-offset", f"{CHAPTER}#os-nonlinear-step-size") as trial:
        for offset, n, d, noise_var in ((0.0, 5, 2, 0.3), (0.7, 5, 2, 0.3), (-1.3, 11, 3, 0.0)):
            plain, lifted = (Polynomial((c, 1.0, 0.0, -0.2)).moments(d) for c in (0.0, offset))
            found = trial.number(
                step, beta_sq=plain.beta_sq, f_sq_x_sq=plain.f_sq_x_sq,
                offset=offset, n=n, d=d, noise_var=noise_var,
            )  # fmt: skip
            trial.same(
                found, lifted.step_size(n, noise_var),
                "it is the step of the polynomial family with that constant term, from its moments",
            )  # fmt: skip


def check_blind(family: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> None:
    """family(w, x): values (k,) of one function at x (k, d), w (d,), that the layer cannot see.

    The law is w ~ N(0, I) with a random sign in front: find a function other than zero for which
    the step size is zero, different from |w . x|.
    """
    rng = np.random.default_rng(10)
    with Trial("ex-05-blind", f"{CHAPTER}#equation-eq-nonlin-beta") as trial:
        rule = gauss_hermite(3, 12)
        x, weights = rule.points.numpy(), rule.weights.numpy()
        turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
        for w in rng.standard_normal((3, 3)):
            f = trial.array(family, (len(x),), w=w, x=x)
            trial.holds(bool(weights @ f**2 > 1e-6), "the function is not zero")
            trial.holds(bool(np.abs(weights @ (f[:, None] * x)).max() < 1e-8), "E[x f(x)] is zero")
            turned = trial.array(family, (len(x),), w=turn @ w, x=x @ turn.T)
            trial.same(turned, f, "turning w and x together changes nothing", rtol=1e-6)
            trial.holds(
                not np.allclose(f, np.abs(x @ w), atol=1e-6), "it is not the example of the text"
            )


def check_theorem_3(answers: dict[str, str]) -> None:
    """answers: for each step of the proof of Theorem 3 the hypothesis that it uses.

    Steps: "u_bar minimises the conditional loss", "u_bar is odd in y", "u_bar turns with X",
    "the numerator is n E|beta_f|^2". Hypotheses: "query independent of the context",
    "negation", "rotation", "independent examples given f".
    """
    key = {
        "u_bar minimises the conditional loss": "query independent of the context",
        "u_bar is odd in y": "negation",
        "u_bar turns with X": "rotation",
        "the numerator is n E|beta_f|^2": "independent examples given f",
    }
    why = {
        "u_bar minimises the conditional loss": "Why is E[x_q x_q^T | context] still I?",
        "u_bar is odd in y": "Which map turns every label into its negative?",
        "u_bar turns with X": "Which change of f undoes a change of all x_i?",
        "the numerator is n E|beta_f|^2": "Why has each of n terms the mean beta_f, given f?",
    }
    with Trial("ex-05-offset", f"{CHAPTER}#os-lemma-8") as trial:
        quiz(trial, answers, key, why)
