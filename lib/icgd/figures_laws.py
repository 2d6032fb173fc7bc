"""Draw functions for comparisons over many laws at once: (ax, arrays) -> None, as in `figures`."""

import numpy as np
from matplotlib.axes import Axes

from icgd.figures import COLOURS, MARKERS


def agreement(
    ax: Axes,
    groups: dict[str, tuple[np.ndarray, np.ndarray]],
    *,
    xlabel: str,
    ylabel: str,
) -> None:
    """Measured against predicted numbers, a marker a number, over the line where they agree."""
    everything = np.concatenate([np.ravel(part) for pair in groups.values() for part in pair])
    ends = np.array([everything.min(), everything.max()])
    ends = ends + 0.05 * (ends[1] - ends[0]) * np.array([-1, 1])
    ax.plot(ends, ends, color="#444444", linewidth=1.2, zorder=1)
    for i, (name, (predicted, measured)) in enumerate(groups.items()):
        ax.plot(
            np.ravel(predicted),
            np.ravel(measured),
            MARKERS[i % len(MARKERS)],
            color=COLOURS[i % len(COLOURS)],
            markersize=7,
            markerfacecolor="none",
            markeredgewidth=1.6,
            label=name,
        )
    ax.set(xlabel=xlabel, ylabel=ylabel, aspect="equal")
    ax.legend(loc="upper left", bbox_to_anchor=(1.02, 1))
