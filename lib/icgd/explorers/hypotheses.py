"""The explorer of chapter 6, on the laws that the hypothesis table's checks use."""

from functools import cache

import numpy as np
import torch

from icgd import figures_explorers_targets as draw
from icgd.evidence.regression.hypotheses_linear import N, half_circle, linear
from icgd.evidence.regression.minimum import global_minimum
from icgd.evidence.regression.unified import shifted, symmetric, two_point, with_mean
from icgd.explorers import Choice, Explorer
from icgd.explorers.words import number
from icgd.regression import enumeration, models


def hypotheses_explorer() -> Explorer:
    """Chapter 6: the hypotheses of Theorem 1, dropped one by one."""
    gauss, signs = enumeration.gauss_hermite(2), enumeration.rademacher(2)
    unequal = enumeration.unequal_fourth_moments()
    wide = gauss.image(torch.diag(torch.tensor([1.0, 2.0]).double()))
    narrow = gauss.image(torch.diag(torch.tensor([0.6, 1.0]).double()))
    skewed_noise = two_point(-0.5, 1.0)
    # hypothesis -> a law without it, and one without what would suffice instead
    rows = {
        "Gaussian covariates": (lambda: linear(signs), lambda: linear(unequal)),
        "covariates of mean zero": (
            lambda: linear(half_circle()),
            lambda: linear(shifted(narrow, (0.8, 0.0))),
        ),
        "E[x xᵀ] = I": (lambda: linear(wide), None),
        "Gaussian weights": (
            lambda: linear(gauss, symmetric((1.0, 2.0), (2.0, -1.0))),
            lambda: linear(gauss, wide),
        ),
        "w and −w equally likely": (lambda: with_mean().moments(), None),
        "Gaussian noise": (
            lambda: linear(gauss, noise=skewed_noise),
            lambda: linear(half_circle(), noise=skewed_noise),
        ),
        "noise of positive variance": (
            lambda: linear(gauss, noise=0.0),
            lambda: linear(unequal, noise=0.0),
        ),
    }
    drops = ["nothing", "this hypothesis", "and what suffices instead"]

    @cache
    def law(name, drop):
        tokens = (lambda: linear(gauss), *rows[name])[drop]()
        cross, second = tokens.predictor_moments(N)
        S = tokens.second[:2, :2].numpy()
        eta = np.trace(S @ cross.T) / np.trace(S @ second)
        step = torch.tensor(eta * np.eye(2, 3)), torch.tensor([0.0, 0.0, 1.0]).double()
        loss = tokens.loss(N)
        end = global_minimum(loss, 2, scales=(1e-3, 0.1))
        even = float(np.abs(end.parts()[4:]).max())
        return (
            eta * np.eye(2),
            models.odd_part(end.A, end.w).numpy(),
            loss(*step).item(),
            end.loss,
            even,
        )

    def compute(name, drop):
        level = drops.index(drop)
        if level == 2 and rows[name][1] is None:
            level = 1
        found = law(next(iter(rows)) if level == 0 else name, level)
        step, learned, one, least, even = found
        return {"name": name, "drop": drop, "step": step, "learned": learned,
                "losses": (one, least), "even": even, "needed": rows[name][1] is None}  # fmt: skip

    def readout(result):
        one, least = result["losses"]
        missed, needed = one - least, "is needed" if result["needed"] else "is not needed"
        return {
            "loss of the best step": number(one, 4),
            "lowest loss": number(least, 4),
            "missed by one step": number(missed, 4) if missed > 1e-9 else "nothing",
            "uses terms even in y": "yes" if result["even"] > 1e-4 else "no",
            "the hypothesis": needed,
        }

    def alt(result):
        one, least = (number(loss, 4) for loss in result["losses"])
        diagonal = ", ".join(number(v, 3) for v in np.diag(result["learned"]))
        return (
            f"Theorem 1 without {result['name']}; dropped: {result['drop']}. The matrix of the "
            f"best step has {number(result['step'][0, 0], 3)} on its diagonal, the learned one "
            f"{diagonal}. Bars: loss {one} of one step, {least} of all weights."
        )

    return Explorer(
        name="hypotheses",
        claim="OS.hypothesis-gaussian-covariates",
        controls={
            "name": Choice("hypothesis of Theorem 1", list(rows)),
            "drop": Choice("dropped", drops),
        },
        compute=compute,
        stage=draw.hypothesis_stage,
        draw=lambda axes, r: draw.hypothesis(axes, r["step"], r["learned"], r["losses"]),
        readout=readout,
        alt=alt,
        caption=(
            "The laws of the table's checks, n = 3 on the plane. Left: the best multiple of I and"
            " the matrix C of the global minimum, found by Newton's method over all weights."
        ),
        size=(5.2, 2.4),
    )
