"""Draw functions of the explorers: (figure, arrays) -> None. As in `figures`, they compute nothing.

Limits and ticks are given or fixed, so that the axes stand still while a control moves; ticks are
few, since they are most of the work of a frame.
"""

import numpy as np
from matplotlib.figure import Figure

from icgd.figures import COLOURS, MARKERS


def risks(
    figure: Figure,
    x: np.ndarray,
    curves: dict[str, np.ndarray],
    at: float,
    values: dict[str, float],
    *,
    floor: float,
    top: float,
) -> None:
    """Risks of several learners over x, cut off at `top`, and a marker on each at one x."""
    ax = figure.subplots()
    ax.axvline(at, color="#888888", linewidth=1)
    ax.axhline(floor, color="#444444", linestyle=":", linewidth=1.2, label="noise σ²")
    for i, (name, y) in enumerate(curves.items()):
        ax.plot(x, np.minimum(y, 10 * top), color=COLOURS[i], label=name)
        inside = values[name] <= top
        height = min(values[name], 0.98 * top)
        ax.plot(at, height, MARKERS[i] if inside else "^", color=COLOURS[i], markersize=8)
    ax.set(xlabel="examples in the prompt n", ylabel="risk", xlim=(0, x[-1]), ylim=(0, top))
    ax.set(xticks=[0, 10, 20, 40, 60], yticks=np.arange(0, top + 1, 5))
    above(figure, ncols=3)


def above(figure: Figure, ncols: int) -> None:
    """The legend in the margin above the axes, where it covers nothing."""
    figure.legend(loc="upper center", ncols=ncols, columnspacing=1.4, handlelength=1.6)
