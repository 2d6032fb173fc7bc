"""Explorers of chapters 1 to 3. Each function returns an `Explorer` with all its frames made."""

from functools import cache

import numpy as np
import torch

from icgd import figures_explorers as draw
from icgd.explorers import Choice, Explorer, Slider
from icgd.explorers.words import number, significant
from icgd.regression import models, theory
from icgd.regression.data import LinearTask, sample_prompts
from icgd.regression.learners import gradient_step
from icgd.regression.population import population_loss
from icgd.training import descend


def risk_explorer() -> Explorer:
    """Chapter 1: the risks of all learners against the number of examples and the noise."""
    d, sizes = 10, np.array([*range(1, 22), 24, 28, 33, 39, 46, 53, 60])
    learners = {
        "guess zero": lambda n, d, noise_var: d + noise_var,
        "one gradient step": theory.minimum_loss,
        "least squares": theory.least_squares_risk,
        "ridge (Bayes)": theory.ridge_risk,
    }

    @cache
    def curves(noise_var):
        return {
            name: np.array([risk(int(n), d, noise_var) for n in sizes])
            for name, risk in learners.items()
        }

    def compute(n, noise_var):
        at = {name: float(risk(n, d, noise_var)) for name, risk in learners.items()}
        return {"n": n, "noise_var": noise_var, "curves": curves(noise_var), "at": at}

    def readout(result):
        step, ridge = (result["at"][name] for name in ("one gradient step", "ridge (Bayes)"))
        lost = step - result["noise_var"], ridge - result["noise_var"]
        ratio = f"{lost[0] / lost[1]:.1f} times ridge's" if lost[1] > 1e-9 else "ridge has none"
        at = {name: number(risk) for name, risk in result["at"].items()}
        return {**at, "excess over σ² of one step": ratio}

    def alt(result):
        at = ", ".join(f"{name} {number(risk)}" for name, risk in result["at"].items())
        return (
            f"Risk against the number of examples, noise variance {result['noise_var']:g}. "
            f"Least squares explodes near 10 examples. At {result['n']} examples: {at}."
        )

    return Explorer(
        name="risk",
        claim="OS.ridge-risk",
        controls={
            "n": Slider(
                "examples n", [2, 5, 8, 10, 12, 20, 40, 60], 20, unit="examples", live="whole"
            ),
            "noise_var": Slider("noise variance σ²", [0.0, 0.1, 0.5, 2.0, 5.0], 0.5, live="any"),
        },
        compute=compute,
        stage=lambda figure: draw.risks_stage(figure, learners, right=60, top=18),
        draw=lambda ax, r: draw.risks(ax, sizes, r["curves"], r["n"], r["at"], r["noise_var"]),
        readout=readout,
        alt=alt,
        caption="The exact risks of four learners, d = 10. A triangle at the top edge: beyond it.",
    )


def attention_explorer() -> Explorer:
    """Chapter 2: one prompt goes through the layer, token by token."""
    d, n, eta = 3, 6, 0.1
    generator = torch.Generator().manual_seed(1)
    prompts = sample_prompts(LinearTask(d, noise_var=0.5), batch=1, n=n, generator=generator)
    tokens, step = prompts.tokens()[0], gradient_step(eta)(prompts).item()
    constructed = models.one_step_construction(d, eta)
    layers = {
        "gradient step, linear scores": (constructed, False),
        "gradient step, softmax scores": (constructed, True),
        "random weights": (
            models.LinearSelfAttention(d).initialise(0.5, generator=generator),
            False,
        ),
    }

    @cache
    @torch.no_grad()
    def parts(weights):
        layer, is_softmax = layers[weights]
        scores = (tokens[:-1] @ layer.W_K.T) @ (layer.W_Q @ tokens[-1])
        values = tokens[:-1] @ layer.W_V.T @ layer.h
        if is_softmax:  # as in the chapter: scale n eta, values are plain labels
            scores, values = torch.softmax(n * eta * scores, 0), values / eta
        return scores.numpy(), values.numpy()

    def compute(read, weights):
        scores, values = parts(weights)
        running = np.concatenate([[0.0], np.cumsum(scores * values)])
        return {"read": read, "weights": weights, "scores": scores, "values": values,
                "running": running, "target": step}  # fmt: skip

    sums = [compute(0, weights)["running"] for weights in layers]
    low, high = min(step, *map(min, sums)), max(step, *map(max, sums))
    room = low - 0.1 * (high - low), high + 0.1 * (high - low)

    def readout(result):
        j = result["read"]
        last = {
            "score": number(result["scores"][j - 1], 3) if j else "none yet",
            "value": number(result["values"][j - 1], 3) if j else "none yet",
        }
        return {
            **last,
            "prediction so far": number(result["running"][j], 3),
            "after all tokens": number(result["running"][-1], 3),
            "one gradient step": number(result["target"], 3),
        }

    def alt(result):
        j, so_far = result["read"], number(result["running"][result["read"]], 3)
        return (
            f"Bars of the scores and values of six examples, {result['weights']}, the first "
            f"{j} of them read. The running sum of their products is at {so_far}; one gradient "
            f"step predicts {number(result['target'], 3)}."
        )

    return Explorer(
        name="attention",
        claim="OS.Eq33",
        controls={
            "read": Slider(
                "examples read j", range(n + 1), n, unit=f"of {n}", live="whole", plays=True
            ),
            "weights": Choice("weights of the layer", list(layers)),
        },
        compute=compute,
        stage=lambda figure: draw.reading_stage(figure, n, step, room),
        draw=lambda axes, r: draw.reading(axes, r["scores"], r["values"], r["running"], r["read"]),
        readout=readout,
        alt=alt,
        caption=(
            "One prompt, d = 3, n = 6, η = 0.1. Each example's score for the query times its value"
            " is what it adds to the prediction. Pale: not yet read."
        ),
        size=(5.0, 3.8),
    )


def landscape_explorer() -> Explorer:
    """Chapter 3: gradient descent runs on the exact loss of a two-dimensional slice."""
    n, d, noise_var, steps = 20, 10, 0.5, 150
    eta, least = theory.step_size(n, d, noise_var), theory.minimum_loss(n, d, noise_var)
    unit, last = torch.eye(d, d + 1).double(), torch.eye(d + 1).double()[d]
    starts = {
        "near the saddle's line: (0.42, −0.40)": (0.42, -0.40),
        "β large: (0.02, 0.45)": (0.02, 0.45),
        "wrong signs: (−0.45, 0.05)": (-0.45, 0.05),
    }

    def loss(alpha, beta):
        return population_loss(alpha * unit, beta * last, n=n, noise_var=noise_var)

    @cache
    def run(start):
        begin = tuple(torch.tensor(v).double() for v in starts[start])
        found = descend(loss, begin, step_size=2e-4, steps=steps, record_every=1)
        return np.stack(found.params, 1), found.losses - least

    def compute(step, start):
        path, excess = run(start)
        return {"step": step, "start": start, "path": path, "excess": excess}

    def above(result):
        excess = result["excess"][result["step"]]
        return significant(excess) if excess > 1e-9 else "less than 10⁻⁹"

    def readout(result):
        alpha, beta = (float(v) for v in result["path"][result["step"]])
        return {
            "α": number(alpha, 3),
            "β": number(beta, 3),
            "product α β": number(alpha * beta, 4),
            "η of Theorem 1": number(eta, 4),
            "loss above its minimum": above(result),
        }

    def alt(result):
        alpha, beta = (number(v, 3) for v in result["path"][result["step"]])
        return (
            "Level lines of the loss over alpha and beta with two thick branches of minimisers. "
            f"Descent from {result['start']} is after {result['step']} steps at ({alpha}, {beta}), "
            f"{above(result)} above the minimum."
        )

    # On the slice the loss is a parabola in alpha beta: its level lines are hyperbolas.
    levels = np.geomspace(0.05, 60, 8)
    spread = np.sqrt(levels / (n * d / eta))
    return Explorer(
        name="landscape",
        claim="OS.minimisers",
        controls={
            "step": Slider(
                "steps of descent", [0, 1, 2, 4, 7, 11, 16, 23, 32, 44, 60, 80, 110, steps], 32,
                unit="steps", live="whole", plays=True,
            ),
            "start": Choice("start (α, β)", list(starts)),
        },
        compute=compute,
        stage=lambda figure: draw.descent_stage(
            figure, np.concatenate([eta - spread, eta + spread]), eta, steps
        ),
        draw=lambda axes, r: draw.descent(axes, r["path"], r["excess"], r["step"]),
        readout=readout,
        alt=alt,
        caption=(
            "Gradient descent on the exact loss of the slice A = α [I 0], w = (0, β); n = 20,"
            " d = 10, σ² = 0.5. Right: the loss above its minimum, step by step."
        ),
        size=(5.2, 3.2),
    )  # fmt: skip
