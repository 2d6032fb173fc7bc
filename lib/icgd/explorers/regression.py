"""Explorers of the first paper's chapters: each returns an `Explorer` with all its frames made."""

from functools import cache

import numpy as np

from icgd import figures_explorers as draw
from icgd.explorers import Explorer, Slider
from icgd.regression import theory


def number(value: float, digits: int = 2) -> str:
    """A number in a readout; infinity in a word."""
    return f"{value:.{digits}f}" if np.isfinite(value) else "infinite"


def risk() -> Explorer:
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
        at = {name: number(risk) for name, risk in result["at"].items()}
        excess = result["at"]["one gradient step"] - result["noise_var"]
        best = result["at"]["ridge (Bayes)"] - result["noise_var"]
        ratio = f"{excess / best:.1f} × ridge's" if best > 1e-9 else "ridge has none"
        return {**at, "one step's excess over σ²": ratio}

    def alt(result):
        at = result["at"]
        return (
            f"Risk against the number of examples for noise variance {result['noise_var']:g}. "
            f"At n = {result['n']}: "
            + ", ".join(f"{name} {number(risk)}" for name, risk in at.items())
            + "."
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
        draw=lambda figure, r: draw.risks(
            figure, sizes, r["curves"], r["n"], r["at"], floor=r["noise_var"], top=18
        ),
        readout=readout,
        alt=alt,
        caption="Explorer: the exact risks of four learners for d = 10.",
    )
