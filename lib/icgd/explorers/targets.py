"""Explorers of chapters 4 and 5. Each function returns an `Explorer` with all its frames made."""

from functools import cache

import numpy as np
import torch

from icgd import figures_explorers_targets as draw
from icgd.explorers import Choice, Explorer, Slider
from icgd.explorers.words import number, percent
from icgd.regression import enumeration, theory
from icgd.regression.families import CosineRidge, Polynomial, TwoLayerNetwork
from icgd.regression.targets import evaluate


def preconditioner_explorer() -> Explorer:
    """Chapter 4: the condition number of the covariates against the learned preconditioner."""
    d, noise_var = 8, 0.5
    weights = ["covariance Σ⁻¹ (Theorem 2)", "covariance I"]
    names = ["learned preconditioner", "best plain step"]

    def compute(condition, n, omega):
        variances = np.geomspace(condition**-0.5, condition**0.5, d)
        sigma = np.diag(variances)
        law = {"n": n, "noise_var": noise_var}
        law["task_covariance"] = np.diag(1 / variances) if omega == weights[0] else np.eye(d)
        P = theory.preconditioner(sigma, **law)
        plain = theory.best_scalar_step(sigma, **law)
        signal = float(np.trace(sigma @ law["task_covariance"]))
        losses = [theory.skewed_risk(C, sigma, **law) for C in (P, plain * np.eye(d))]
        gains = [signal + noise_var - loss for loss in losses]
        # E[C X^T y | w] = n C Sigma w: in direction j, n c_j lambda_j of the hidden weight.
        shares = dict(zip(names, (n * np.diag(P) * variances, n * plain * variances), strict=True))
        return {"condition": condition, "n": n, "omega": omega, "variances": variances,
                "shares": shares, "signal": signal, "losses": losses, "kept": gains[1] / gains[0],
                "condition of P": np.linalg.cond(P)}  # fmt: skip

    def readout(result):
        excess = [percent((loss - noise_var) / result["signal"]) for loss in result["losses"]]
        return {
            "condition number learned": number(result["condition of P"], 1),
            "left by the learned step": excess[0],
            "left by the plain step": excess[1],
            "gain that the plain step keeps": percent(result["kept"]),
        }

    def alt(result):
        ends = {name: (share[0], share[-1]) for name, share in result["shares"].items()}
        told = "; ".join(
            f"{name} from {number(low)} in the quietest to {number(high)} in the loudest direction"
            for name, (low, high) in ends.items()
        )
        return (
            "Share of the hidden weight found in each direction, condition number "
            f"{result['condition']:g}, {result['n']} examples, weights with {result['omega']}: "
            f"{told}."
        )

    return Explorer(
        name="preconditioner",
        claim="OS.best-scalar-step",
        controls={
            "condition": Slider(
                "condition number of Σ", [1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0], 30.0,
                live="any, log",
            ),
            "n": Slider("examples n", [5, 20, 80], 20, unit="examples", live="whole"),
            "omega": Choice("hidden weights", weights),
        },
        compute=compute,
        stage=lambda figure: draw.directions_stage(figure, names),
        draw=lambda ax, r: draw.directions(ax, r["variances"], r["shares"]),
        readout=readout,
        alt=alt,
        caption=(
            "Eight directions, one marker each: how much of the hidden weight a step finds on"
            " average. Left by a step: its risk above the noise, over the signal. σ² = 0.5."
        ),
    )  # fmt: skip


def family_explorer() -> Explorer:
    """Chapter 5: the family of targets against the step size it teaches."""
    d, noise_var = 3, 0.3
    families = {
        "linear": Polynomial((0.0, 1.0)),
        "ReLU network": TwoLayerNetwork(5),
        "tanh network": TwoLayerNetwork(5, torch.tanh),
        "cubic": Polynomial((0.0, 1.0, 0.0, -0.2)),
        "cosine": CosineRidge(0.7),
    }
    t = torch.linspace(-3, 3, 41, dtype=torch.float64)
    sizes = np.linspace(0, 2, 33)

    @cache
    def moments(name):
        return families[name].moments(d)

    @cache
    def lines(name):
        generator = torch.Generator().manual_seed(7)
        rule = enumeration.gauss_hermite(2, 40)
        direction = torch.tensor([0.8, 0.6], dtype=torch.float64)
        points = torch.cat([rule.points, t[:, None] * direction])
        f = evaluate(families[name].draw(1, 2, generator), points[None])[0]
        beta = (rule.weights * f[: len(rule.points)]) @ rule.points  # E[x f(x)]
        return f[len(rule.points) :].numpy(), (t * (beta @ direction)).numpy()

    def compute(family, n):
        eta, linear_eta = moments(family).step_size(n, noise_var), theory.step_size(n, d, noise_var)
        s = sizes * linear_eta
        # The parabola of a step of size s: E|y|^2 - L(s) over E|beta|^2; n eta at s = eta.
        share = n * (2 * s - s**2 / eta)
        wrong = n * (2 * linear_eta - linear_eta**2 / eta)
        return {"family": family, "n": n, "eta": eta, "linear": linear_eta, "share": share,
                "best": (eta / linear_eta, n * eta), "wrong": wrong,
                "noise": 1 / eta - (n + d + 1)}  # fmt: skip

    def readout(result):
        return {
            "step size η": number(result["eta"], 4),
            "of linear targets": number(result["linear"], 4),
            "effective noise τ²": number(result["noise"], 2),
            "linear part found": percent(result["best"][1]),
            "with the linear step": percent(result["wrong"]),
        }

    def alt(result):
        return (
            f"Left: one function of the family {result['family']} and its linear part. Right: the "
            f"share of the linear part found from {result['n']} examples, a parabola in the step "
            f"size, highest at {number(result['best'][0])} times the linear targets' step, where "
            f"it is {percent(result['best'][1])}."
        )

    return Explorer(
        name="family",
        claim="OS.nonlinear-step-size",
        controls={
            "family": Choice("family of targets", list(families)),
            "n": Slider(
                "examples n", [1, 2, 5, 10, 20, 50, 100], 10, unit="examples", live="whole"
            ),
        },
        compute=compute,
        stage=draw.target_stage,
        draw=lambda axes, r: draw.target(
            axes, t.numpy(), lines(r["family"]), sizes, r["share"], r["best"]
        ),
        readout=readout,
        alt=alt,
        caption=(
            "Left: a target f drawn from the family, and β·x. Right: what one step of a given size"
            " gains over guessing zero, as a share of E|β|²; d = 3, σ² = 0.3."
        ),
        size=(5.2, 3.2),
    )
