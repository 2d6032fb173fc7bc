"""Explorers of chapters 10 and 11. Each function returns an `Explorer` with all its frames made."""

from functools import cache

import numpy as np
import torch

from icgd import figures_explorers_sequences as draw
from icgd.autoregression import data, learners, theory
from icgd.explorers import Explorer, Slider
from icgd.explorers.words import number, significant


def portrait_explorer() -> Explorer:
    """Chapter 10: the flow of (a, b) from a start that the reader picks."""
    c1, c2 = theory.rates(data.Gaussian(0.5), d=5, T=100)
    limit, fine = c2 / c1, np.linspace(0, 2, 4001)
    times = np.concatenate([[0.0], np.geomspace(1e-3, 0.4, 34)])
    grid = [round(0.3 * k, 1) for k in range(-5, 6)]

    def compute(a0, b0):
        a, b = theory.trajectory(a0, b0, c1, c2, fine)
        there = np.flatnonzero(np.abs(a * b - limit) <= 0.01 * limit)
        return {"start": (a0, b0), "path": theory.trajectory(a0, b0, c1, c2, times),
                "end": theory.limit_point(a0, b0, c1, c2), "q": a0**2 - b0**2,
                "arrival": fine[there[0]] if len(there) else np.inf}  # fmt: skip

    def readout(result):
        a, b = result["end"]
        saddle = result["end"] == (0.0, 0.0)
        return {
            "conserved q = a² − b²": number(result["q"]),
            "end (a, b)": f"({number(a)}, {number(b)})",
            "a b at the end": number(a * b, 3),
            "c₂ / c₁": number(limit, 3),
            "a b within 1 % of c₂ / c₁": (
                "never: it ends at the saddle" if saddle else f"from τ = {result['arrival']:.3f}"
            ),
        }

    def alt(result):
        a, b = result["end"]
        where = "the saddle at the origin" if (a, b) == (0.0, 0.0) else (
            f"the minimiser ({number(a)}, {number(b)})"
        )  # fmt: skip
        return (
            "Plane of a and b with two branches of minimisers and the saddle's line a + b = 0. "
            f"The flow from ({number(result['start'][0], 1)}, {number(result['start'][1], 1)}) "
            f"ends at {where}."
        )

    return Explorer(
        name="portrait",
        claim="MO.erratum2",
        controls={
            "a0": Slider("start a₀", grid, 1.5, text=lambda v: number(v, 1), live="any"),
            "b0": Slider("start b₀", grid, -1.2, text=lambda v: number(v, 1), live="any"),
        },
        compute=compute,
        stage=lambda figure: draw.portrait_stage(figure, limit, times[-1]),
        draw=lambda axes, r: draw.portrait(axes, times, r["path"], r["end"]),
        readout=readout,
        alt=alt,
        caption=(
            "Gaussian tokens, σ = 0.5, d = 5, T = 100. Thin lines: orbits, on which a² − b² does"
            " not change. Dashed: the stable line of the saddle. Right: the product over time."
        ),
        size=(5.2, 3.2),
    )


def step_explorer() -> Explorer:
    """Chapter 11: the in-context step as the context grows, for layers trained at length T."""
    law, d = data.Gaussian(1.0), 3
    generator = torch.Generator().manual_seed(4)
    x = data.sample_sequences(law, 1, d, 201, generator=generator).x[0]
    u = x[0].real.numpy()
    lengths = np.unique(np.geomspace(2, 1000, 26).astype(int))

    @cache
    def errors(T):
        p = theory.limit_product(law, d=d, T=T)
        return np.array([theory.relative_error(law, d=d, t=int(t), product=p) for t in lengths])

    def compute(t, T):
        p = theory.limit_product(law, d=d, T=T)
        W = torch.zeros(d, d, dtype=torch.complex128, requires_grad=True)
        (gradient,) = torch.autograd.grad(learners.ols_loss(W, x[:t]), W)
        W_hat = -p / (t - 1) * gradient  # one step from zero, Corollary 4.1
        return {"t": t, "T": T, "p": p, "W_hat": W_hat.abs().numpy(), "errors": errors(T),
                "error": theory.relative_error(law, d=d, t=t, product=p)}  # fmt: skip

    def readout(result):
        off = result["W_hat"][~np.eye(d, dtype=bool)].max()
        return {
            "learned a b": number(result["p"], 4),
            "step size a b / (t − 1)": significant(result["p"] / (result["t"] - 1)),
            "largest cross-talk": number(off, 3),
            "relative error of the step": number(result["error"], 3),
            "least squares is exact": "yes" if result["t"] >= d + 1 else f"not before t = {d + 1}",
        }

    def alt(result):
        diagonal = ", ".join(number(v, 2) for v in np.diag(result["W_hat"]))
        off = result["W_hat"][~np.eye(d, dtype=bool)].max()
        return (
            f"Heat map of the matrix after {result['t']} tokens, trained at length {result['T']}: "
            f"{diagonal} on the diagonal, at most {number(off, 3)} off it. Beside it the relative "
            f"error, which falls to a floor and is {number(result['error'], 3)} here."
        )

    return Explorer(
        name="step",
        claim="MO.Corollary4.1",
        controls={
            "t": Slider(
                "tokens read t", [2, 3, 4, 5, 7, 10, 16, 30, 60, 120, 200], 4, unit="tokens",
                live="whole", plays=True,
            ),
            "T": Slider(
                "length in training T", [4, 10, 30, 100, 1000], 100, unit="tokens", live="whole"
            ),
        },
        compute=compute,
        stage=lambda figure: draw.step_stage(
            figure, d, theory.long_limit_product(law, d=d) * u**2,
            theory.relative_error_limit(law, d=d),
        ),
        draw=lambda axes, r: draw.step(axes, r["W_hat"], lengths, r["errors"], r["t"], r["error"]),
        readout=readout,
        alt=alt,
        caption=(
            "Moduli of the matrix that the layer uses, one Gaussian sequence, d = 3, and their"
            " limit as T and t grow. Right: the exact relative error, averaged over sequences."
        ),
        size=(5.4, 2.7),
    )  # fmt: skip
