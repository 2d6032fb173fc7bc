"""Explorers of chapters 12 and 13. Each function returns an `Explorer` with all its frames made."""

from functools import cache

import numpy as np
from scipy import stats

from icgd import figures_explorers_sequences as draw
from icgd.autoregression import data, theory
from icgd.autoregression.population import PopulationLoss
from icgd.evidence.autoregression.limits import four_variables
from icgd.explorers import Choice, Explorer, Slider
from icgd.explorers.words import number, percent


def laws_explorer() -> Explorer:
    """Chapter 12: the law of the initial token against the relative error."""
    d, levels = 5, (np.arange(12) + 0.5) / 12
    c = 0.6**-0.5
    # name -> law, and values that u typically takes (all of them where they are few)
    kinds = {
        "Gaussian": (data.Gaussian(1.0), stats.norm.ppf(levels)),
        "Laplace, heavy tails": (
            data.Moments((0, 1, 0, 6, 0, 90)),
            stats.laplace.ppf(levels, scale=0.5**0.5),
        ),
        "uniform, light tails": (
            data.Moments((0, 1, 0, 9 / 5, 0, 27 / 7)),
            3**0.5 * (2 * levels - 1),
        ),
        "signs or zero": (data.Discrete((-c, 0.0, c), (0.3, 0.4, 0.3)), np.array([-c, 0, c])),
        "random signs": (data.Rademacher(1.0), np.array([-1.0, 1.0])),
        "one entry ±c (Example 4.1)": (data.Sparse(5**0.5), 5**0.5 * np.array([-1.0, 0.0, 1.0])),
    }
    lengths = np.unique(np.geomspace(2, 10_000, 30).astype(int))

    def compute(law, T):
        kind, values = kinds[law]
        p = theory.limit_product(kind, d=d, T=T)

        def error(t):
            return abs(theory.relative_error(kind, d=d, t=int(t), product=p))  # rounding below 0

        return {"law": law, "T": T, "p": p, "values": values,
                "errors": np.array([error(t) for t in lengths]),
                "at": (error(10), error(1000)),
                "left": abs(theory.relative_error_limit(kind, d=d))}  # fmt: skip

    def readout(result):
        learned = result["left"] < 1e-12
        return {
            "learned product p": number(result["p"], 4),
            "error at t = 10": number(result["at"][0], 4),
            "error at t = 1000": number(result["at"][1], 4),
            "left for ever (T, t → ∞)": number(result["left"], 4),
            "can be learned": "yes: |u| is c or 0" if learned else "no: |u| takes more values",
        }

    def alt(result):
        return (
            f"Law: {result['law']}, trained at length {result['T']}. Left: the answer p u³ with "
            f"p = {number(result['p'], 3)} against the correct line. Right: relative error, "
            f"{number(result['at'][0], 4)} at 10 tokens and {number(result['at'][1], 4)} at 1000; "
            f"{number(result['left'], 2)} is left for ever."
        )

    return Explorer(
        name="laws",
        claim="MO.characterisation",
        controls={
            "law": Choice("law of the first token", list(kinds)),
            "T": Slider(
                "length in training T", [4, 10, 30, 100, 1000, 100_000], 100, unit="tokens",
                text="{:,}".format,
            ),
        },
        compute=compute,
        stage=draw.laws_stage,
        draw=lambda axes, r: draw.laws(
            axes, r["p"], r["values"], lengths, r["errors"], r["left"]
        ),
        readout=readout,
        alt=alt,
        caption=(
            "Left: in long contexts the layer answers p u³ where u is asked; markers at values that"
            " u takes. Right: the exact relative error against the context length in use, d = 5."
        ),
        size=(5.2, 3.2),
    )  # fmt: skip


def diagonal_explorer() -> Explorer:
    """Chapter 13: from x_1 = (1, ..., 1), the diagonal and the other entries against T."""
    law, grid = data.Ones(), [5, 10, 20, 50, 100, 200, 500, 1000]

    @cache
    def end(d, T):
        four = four_variables(PopulationLoss(law, d=d, T=T))
        a1, b1, a2, b2 = point = four.limit(1.0, 1.0)
        masked = theory.limit_product(law, d=d, T=T)
        alone = theory.diagonal_loss(masked, 1.0, law, d=d, T=T)
        return {"product": (a1 + b1) * (a2 + b2), "masked": masked,
                "shares": (-b1 / (a1 + b1), -b2 / (a2 + b2)),
                "saved": 1 - four.loss(point) / alone}  # fmt: skip

    def leading(d, T):
        S, Q = theory.harmonic_sum(T), float((1 / np.arange(1.0, T - 1) ** 2).sum())
        return (S + (d - 2) * Q) / (T - 2), S / (T - 2)

    def compute(T, d):
        ends = [end(d, length) for length in grid]
        names = ("product", "masked")
        return {"T": T, "d": d, **end(d, T), "leading": leading(d, T),
                "products": {name: [e[name] for e in ends] for name in names},
                "all shares": np.transpose([e["shares"] for e in ends]),
                "all leading": np.transpose([leading(d, length) for length in grid])}  # fmt: skip

    def readout(result):
        off1, off2 = result["shares"]
        return {
            "product of diagonal entries": number(result["product"], 3),
            "with the mask (Theorem 4.3)": number(result["masked"], 3),
            "off-diagonal share of W₁": percent(-off1),
            "off-diagonal share of W₂": percent(-off2),
            "loss the other entries save": percent(result["saved"]),
        }

    def alt(result):
        off1, off2 = (percent(share) for share in result["shares"])
        return (
            f"Against the training length, for d = {result['d']}: the product of the diagonal "
            f"entries rises towards 1, {number(result['product'], 3)} at T = {result['T']}; the "
            f"other entries fall, to {off1} of the diagonal in W1 and {off2} in W2."
        )

    return Explorer(
        name="diagonal",
        claim="MO.off-diagonal-share",
        controls={
            "T": Slider("length in training T", grid, 100, unit="tokens", live="whole"),
            "d": Slider("dimension d", [2, 3, 5, 8], 5, live="values"),
        },
        compute=compute,
        stage=draw.diagonal_stage,
        draw=lambda axes, r: draw.diagonal(
            axes, grid, r["products"], r["all shares"], r["all leading"], r["T"], r["product"],
            r["shares"],
        ),
        readout=readout,
        alt=alt,
        caption=(
            "Where training ends from x₁ = (1, ..., 1). Left: the product of the diagonal entries,"
            " with and without the mask. Right: the other entries over the diagonal, sign changed;"
            " dashed, the leading term for long contexts."
        ),
        size=(5.2, 3.2),
    )  # fmt: skip
