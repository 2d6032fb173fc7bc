"""Draw functions for steps in the plane of weights: see `figures`. They compute nothing."""

import numpy as np
from matplotlib.axes import Axes

from icgd.figures import COLOURS


def steps(
    ax: Axes,
    x: np.ndarray,
    y: np.ndarray,
    values: np.ndarray,
    ends: dict[str, np.ndarray],
    target: tuple[str, np.ndarray],
    title: str,
) -> None:
    """Level lines of a function of two weights, and an arrow from zero to each end.

    values: (len(y), len(x)), positive.   target: name and place of a point marked by a cross.
    """
    levels = np.geomspace(1.05 * values.min(), values.max(), 14)
    ax.contour(x, y, values, levels=levels, cmap="Greys_r", linewidths=0.7)
    for i, (name, end) in enumerate(ends.items()):
        style = {"arrowstyle": "-|>", "color": COLOURS[i], "lw": 2.2, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", xy=end, xytext=(0, 0), arrowprops=style)
        ax.plot([], [], color=COLOURS[i], label=name)  # arrows have no place in a legend
    ax.plot(*target[1], "X", color="black", markersize=8, label=target[0])
    ax.set(title=title, aspect="equal")
    ax.grid(False)
