"""Draw functions for iterative learners, as in `figures`: they draw arrays and compute nothing."""

import numpy as np
from matplotlib.axes import Axes

from icgd.figures import COLOURS, MARKERS


def filters(ax: Axes, h: np.ndarray, curves: dict[str, np.ndarray], density: np.ndarray) -> None:
    """Filters F(h) as lines over the density of the eigenvalues h, shaded, not to scale."""
    ax.fill_between(h, density / density.max(), color="#999999", alpha=0.3, lw=0, label="density")
    for i, (name, values) in enumerate(curves.items()):
        ax.plot(h, values, color=COLOURS[i], label=name)
    ax.axhline(0, color="#444444", linewidth=0.8)
    ax.set(xlabel="eigenvalue h of H", ylabel="what is left, F(h)", xlim=(h[0], h[-1]))
    ax.legend(fontsize=9)


def against_depth(
    ax: Axes,
    predicted: dict[str, tuple[np.ndarray, np.ndarray]],
    measured: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]] | None = None,
    *,
    ylabel: str,
    floor: tuple[str, float] | None = None,
) -> None:
    """Losses over the number of layers, each at its own depths, on a logarithmic axis.

    predicted: (depths, losses), joined markers.   measured: (depths, means, error bars), crosses.
    floor: (label, level) of a dotted line.
    """
    for i, (name, (depths, losses)) in enumerate(predicted.items()):
        ax.semilogy(depths, losses, MARKERS[i] + "-", color=COLOURS[i], label=name)
    for i, (name, (depths, means, errors)) in enumerate((measured or {}).items()):
        colour = COLOURS[(len(predicted) + i) % len(COLOURS)]
        ax.errorbar(depths, means, errors, fmt="x", color=colour, label=name, ms=8, mew=2)
    if floor:
        ax.axhline(floor[1], color="#444444", linestyle=":", linewidth=1.2, label=floor[0])
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set(xlabel="layers", ylabel=ylabel)
    ax.legend(fontsize=9)


def descents(
    ax: Axes, runs: dict[str, tuple[np.ndarray, np.ndarray]], ends: dict[str, float]
) -> None:
    """Losses over the time of a flow, both logarithmic, and dotted lines at the predicted ends."""
    for i, (name, (times, losses)) in enumerate(runs.items()):
        ax.loglog(times, losses, color=COLOURS[i], label=name)
        ax.axhline(ends[name], color=COLOURS[i], linestyle=":", linewidth=1.4)
    ax.set(xlabel="time of the flow", ylabel="exact loss")
    ax.legend(fontsize=9)
