"""Draw functions of the explorers, in pairs; as in `figures`, they compute nothing.

`..._stage(figure, ...)` draws what stands still and returns the axes: limits, few ticks, labels,
the legend. The function of the same name, (axes, arrays) -> None, adds what moves.
"""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from icgd.figures import COLOURS, MARKERS

GREY = "#444444"


def legend(figure: Figure, names: dict[str, dict], ncols: int = 3) -> None:
    """A legend in the margin above the axes: name -> properties of its line."""
    handles = [Line2D([], [], label=name, **style) for name, style in names.items()]
    figure.legend(handles=handles, loc="upper center", ncols=ncols, columnspacing=1.4)


def powers(axis, first: int, last: int, every: int = 1) -> None:
    """A logarithmic axis from 10^first to 10^last; labels are plain text, minor ticks are off."""
    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    shown = np.arange(first, last + 1, every)
    raised = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    named = {0: "1", 1: "10", 2: "100", 3: "1000"}
    labels = [named.get(k, "10" + str(k).translate(raised)) for k in shown]
    axis.set_ticks(10.0**shown, labels)
    axis.set_ticks([], minor=True)
    axis.axes.set(**{f"{axis.axis_name}lim": (10.0**first, 10.0**last)})


def coloured(names) -> dict[str, dict]:
    """Names with the first colours, for `legend`."""
    return {name: {"color": colour} for name, colour in zip(names, COLOURS, strict=False)}


# --- Chapter 1: risks ----------------------------------------------------------------------------


def risks_stage(figure: Figure, names, *, right: float, top: float) -> Axes:
    ax = figure.subplots()
    ax.set(xlabel="examples in the prompt n", ylabel="risk", xlim=(0, right), ylim=(0, top))
    ax.set(xticks=np.arange(0, right + 1, 20), yticks=np.arange(0, top + 1, 5))
    floor = {"noise σ²": {"color": GREY, "linestyle": ":"}}
    legend(figure, coloured(names) | floor)
    return ax


def risks(
    ax: Axes,
    x: np.ndarray,
    curves: dict[str, np.ndarray],
    at: float,
    values: dict[str, float],
    floor: float,
) -> None:
    """Risks of several learners over x, the floor, and a marker on each curve at one x."""
    top = ax.get_ylim()[1]
    ax.axvline(at, color="#888888", linewidth=1)
    ax.axhline(floor, color=GREY, linestyle=":", linewidth=1.2)
    for i, (name, y) in enumerate(curves.items()):
        ax.plot(x, np.minimum(y, 10 * top), color=COLOURS[i])
        marker = MARKERS[i] if values[name] <= top else "^"  # off the axes
        ax.plot(at, min(values[name], 0.98 * top), marker, color=COLOURS[i], markersize=8)


# --- Chapter 2: a prompt goes through the layer --------------------------------------------------


def reading_stage(figure: Figure, examples: int, target: float, room: tuple) -> np.ndarray:
    """room: limits of the prediction."""
    axes = figure.subplots(2, 1, sharex=True, height_ratios=[1, 1.15])
    figure.subplots_adjust(hspace=0.14, top=0.9, bottom=0.14, left=0.15)
    figure.align_ylabels(axes)
    axes[0].set(ylim=(-1.1, 1.1), yticks=[-1, 0, 1], ylabel="of the largest")
    axes[0].axhline(0, color=GREY, linewidth=0.8)
    axes[1].axhline(target, color=GREY, linestyle=":")
    axes[1].set(xlabel="example j", ylabel="prediction", xlim=(-0.3, examples + 0.5), ylim=room)
    axes[1].set(xticks=np.arange(examples + 1))
    axes[1].locator_params(axis="y", nbins=4)
    styles = {
        "score": {"color": COLOURS[1], "linewidth": 6},
        "value": {"color": COLOURS[2], "linewidth": 6},
        "running sum": {"color": COLOURS[0], "marker": "o"},
        "gradient step": {"color": GREY, "linestyle": ":"},
    }
    legend(figure, styles, ncols=4)
    return axes


def reading(
    axes: np.ndarray, scores: np.ndarray, values: np.ndarray, running: np.ndarray, read: int
) -> None:
    """Scores and values of the examples, those read in full colour, and the sum of their products.

    running: (len(scores) + 1,), from 0.
    """
    j = np.arange(1, len(scores) + 1)
    for side, heights, colour in ((-0.17, scores, COLOURS[1]), (0.17, values, COLOURS[2])):
        share = heights / max(np.abs(heights).max(), 1e-12)
        for seen, alpha in ((j <= read, 1.0), (j > read, 0.25)):
            axes[0].bar(j[seen] + side, share[seen], 0.3, color=colour, alpha=alpha)
    at = np.arange(len(running))
    line = {"color": COLOURS[0], "marker": "o"}
    axes[1].plot(at, running, alpha=0.25, **line)
    axes[1].plot(at[: read + 1], running[: read + 1], **line)


# --- Chapter 3: descent on the landscape ---------------------------------------------------------


def descent_stage(
    figure: Figure, products: np.ndarray, product: float, steps: int
) -> tuple[Axes, Axes]:
    """Level lines alpha beta = products, and the minimisers alpha beta = product."""
    left, right = figure.subplots(1, 2, width_ratios=[1.25, 1])
    figure.subplots_adjust(wspace=0.5, bottom=0.17)
    side = np.append(np.geomspace(0.004, 0.5, 28), np.nan)  # the gap between two branches
    both = np.concatenate([side, -side])
    lines = np.concatenate([level / both for level in products])
    left.plot(np.tile(both, len(products)), lines, color="#999999", linewidth=0.6)
    left.plot(both, product / both, color=COLOURS[0], linewidth=2.4)
    left.set(xlim=(-0.5, 0.5), ylim=(-0.5, 0.5), xlabel="α", ylabel="β")
    left.set(xticks=[-0.4, 0, 0.4], yticks=[-0.4, 0, 0.4])
    right.set(
        xlabel="steps", ylabel="loss − minimum", xlim=(0, steps), xticks=[0, steps // 2, steps]
    )
    powers(right.yaxis, -6, 3, 3)
    legend(figure, coloured(["minimisers", "descent"]))
    return left, right


def descent(axes: tuple[Axes, Axes], path: np.ndarray, excess: np.ndarray, step: int) -> None:
    """A path up to a step, with its start and its end, and the losses along it.

    path: (steps + 1, 2) points (alpha, beta).   excess: (steps + 1,) losses above the minimum.
    """
    left, right = axes
    every = [k for k in range(step + 1) if k < 12 or k % 3 == 0 or k == step]
    left.plot(*path[every].T, color=COLOURS[1])
    left.plot(*path[0], "s", color=COLOURS[1], fillstyle="none")
    left.plot(*path[step], "o", color=COLOURS[1], markersize=8)
    right.plot(np.arange(len(excess))[::2], np.maximum(excess[::2], 1e-9), color=COLOURS[1])
    right.plot(step, max(excess[step], 1.2e-6), "o", color=COLOURS[1], markersize=8)


def cells(ax: Axes, values: np.ndarray, limit: float, digits: int = 3) -> None:
    """A matrix as a heat map from -limit to limit, its entries written in; see `cells_stage`."""
    ax.pcolormesh(values, vmin=-limit, vmax=limit, edgecolors="#bbbbbb", linewidth=0.4)
    for (row, column), entry in np.ndenumerate(values):
        colour = "white" if abs(entry) > 0.6 * limit else "#333333"
        shown = f"{entry:.{digits}f}".replace("-", "−")
        ax.text(column + 0.5, row + 0.5, shown, ha="center", va="center", color=colour, fontsize=8)


def cells_stage(ax: Axes, size: int, title: str) -> None:
    ax.set(xlim=(0, size), ylim=(size, 0), xticks=[], yticks=[], aspect="equal", title=title)
    ax.title.set_fontsize(9.5)
    ax.grid(False)
