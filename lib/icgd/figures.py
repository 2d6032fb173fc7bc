"""Draw functions: (ax, arrays) -> None. They draw what they are given and compute nothing.

A prediction is a line; a measurement is a marker drawn over it. Colours are Okabe and Ito's, which
stay apart for readers with colour-blindness, in a fixed order.
"""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000"]
MARKERS = ["o", "s", "^", "D", "v", "P", "X"]

STYLE = {
    "axes.edgecolor": "#444444",
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.prop_cycle": mpl.cycler(color=COLOURS),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.constrained_layout.use": True,
    "figure.facecolor": "none",
    "figure.figsize": (6.4, 3.8),
    "font.size": 10.5,
    "grid.alpha": 0.35,
    "grid.linewidth": 0.6,
    "image.cmap": "PuOr",
    "legend.framealpha": 0.0,
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
    "svg.hashsalt": "icgd",  # without it every build gives other ids, so other files
}


def use_style() -> None:
    """Set the course's style; in a notebook, also draw figures as SVG."""
    plt.rcParams.update(STYLE)
    try:
        from matplotlib_inline.backend_inline import set_matplotlib_formats
    except ImportError:  # a plain script needs no notebook backend
        return
    set_matplotlib_formats("svg")


def curves(
    ax: Axes,
    x: np.ndarray,
    predicted: dict[str, np.ndarray],
    measured: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]] | None = None,
    *,
    xlabel: str,
    ylabel: str,
    floor: tuple[str, float] | None = None,
) -> None:
    """Lines for predictions over x; markers (x, y, error bar) for measurements of the same name.

    floor: (label, level) of a horizontal line that nothing can go below.
    """
    for i, (name, y) in enumerate(predicted.items()):
        ax.plot(x, y, color=COLOURS[i % len(COLOURS)], label=name)
        if measured and name in measured:
            at, value, error = measured[name]
            ax.errorbar(
                at, value, error, fmt=MARKERS[i % len(MARKERS)], color=COLOURS[i % len(COLOURS)]
            )
    if floor:
        ax.axhline(floor[1], color="#444444", linestyle=":", linewidth=1.2, label=floor[0])
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.legend()


def decays(
    ax: Axes,
    series: dict[str, tuple[np.ndarray, np.ndarray]],
    *,
    xlabel: str,
    ylabel: str,
) -> None:
    """Positive quantities over steps or time, on a logarithmic axis; zeros are left out."""
    for i, (name, (x, y)) in enumerate(series.items()):
        keep = np.asarray(y) > 0
        ax.semilogy(np.asarray(x)[keep], np.asarray(y)[keep], color=COLOURS[i], label=name)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.legend()


def matrix(ax: Axes, values: np.ndarray, title: str, *, limit: float | None = None) -> None:
    """A heat map centred at zero, with its entries written in when there are few of them.

    limit: the value at the ends of the colour scale; the default is the largest entry.
    """
    values = np.atleast_2d(values)
    limit = limit or float(np.abs(values).max()) or 1.0
    image = ax.pcolormesh(values, vmin=-limit, vmax=limit, edgecolors="#bbbbbb", linewidth=0.4)
    ax.invert_yaxis()
    ax.set(xticks=[], yticks=[], title=title, aspect="equal")
    ax.grid(False)
    if values.size <= 36:
        for (row, column), entry in np.ndenumerate(values):
            shown = f"{entry:.2g}" if abs(entry) > limit / 200 else "0"
            colour = "white" if abs(entry) > 0.6 * limit else "#333333"
            ax.text(
                column + 0.5, row + 0.5, shown, ha="center", va="center", color=colour, fontsize=8
            )
    else:
        ax.figure.colorbar(image, ax=ax, shrink=0.8)


def landscape(
    ax: Axes,
    a: np.ndarray,
    b: np.ndarray,
    excess: np.ndarray,
    *,
    product: float,
    paths: dict[str, tuple[np.ndarray, np.ndarray]],
) -> None:
    """Contours of a loss over (α, β), the curve α β = product, and descents that run on it.

    excess: (len(b), len(a)) loss above its minimum, positive.
    """
    levels = np.geomspace(max(excess.min(), excess.max() * 1e-3), excess.max(), 12)
    scale = mpl.colors.LogNorm(levels[0], 4 * levels[-1])  # the highest contour stays visible
    ax.contour(a, b, excess, levels=levels, norm=scale, cmap="Greys_r", linewidths=0.8)
    for sign in (-1, 1):
        side = a[np.sign(a) == sign]
        ax.plot(
            side,
            product / side,
            color=COLOURS[0],
            linewidth=2.4,
            label="minimisers, α β = η" if sign > 0 else None,
        )
    for i, (name, (x, y)) in enumerate(paths.items(), start=1):
        ax.plot(x, y, color=COLOURS[i], label=name)
        ax.plot(x[0], y[0], MARKERS[i], color=COLOURS[i])
    ax.set(xlim=(a[0], a[-1]), ylim=(b[0], b[-1]), xlabel="α", ylabel="β")
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))


def accumulation(
    ax: Axes,
    parts: np.ndarray,
    running: np.ndarray,
    target: float,
    *,
    xlabel: str,
    ylabel: str,
    target_label: str,
) -> None:
    """Bars for the parts of a sum, its running value as a line, and the level it should reach."""
    positions = np.arange(1, len(parts) + 1)
    ax.bar(positions, parts, width=0.5, color=COLOURS[4], label="one example")
    ax.plot(np.arange(len(running)), running, color=COLOURS[0], marker="o", label="running sum")
    ax.axhline(target, color="#444444", linestyle=":", linewidth=1.2, label=target_label)
    ax.set(xlabel=xlabel, ylabel=ylabel, xticks=np.arange(len(running)))
    ax.legend(fontsize=8)


def orbits(ax: Axes, paths: dict[str, np.ndarray]) -> None:
    """Complex sequences in the plane, joined in order; a large marker where each begins."""
    for i, (name, z) in enumerate(paths.items()):
        ax.plot(z.real, z.imag, MARKERS[i] + "-", color=COLOURS[i], lw=0.6, ms=3.5, label=name)
        ax.plot(z.real[0], z.imag[0], MARKERS[i], color=COLOURS[i], ms=9)
    ax.set(xlabel="real part", ylabel="imaginary part", aspect="equal")
    ax.legend()


def portrait(
    ax: Axes,
    a: np.ndarray,
    b: np.ndarray,
    velocity: np.ndarray,
    *,
    product: float,
    paths: dict[str, tuple[np.ndarray, np.ndarray]],
) -> None:
    """Stream lines of a flow over (a, b), its rest points a b = product, its saddle at the origin,
    the line a + b = 0 that ends there, and trajectories with a marker at their start.

    velocity: (2, len(b), len(a)).
    """
    ax.streamplot(a, b, *velocity, color="#999999", linewidth=0.6, arrowsize=0.7, density=1.1)
    for sign in (-1, 1):
        side = a[np.sign(a) == sign]
        name = "minimisers" if sign > 0 else None
        ax.plot(side, product / side, color=COLOURS[0], linewidth=2.4, label=name)
    ax.plot(a, -a, "--", color=COLOURS[6], linewidth=1.4, label="a + b = 0")
    ax.plot(0, 0, MARKERS[6], color=COLOURS[6], label="saddle")
    for i, (name, (x, y)) in enumerate(paths.items(), start=1):
        ax.plot(x, y, color=COLOURS[i], label=name)
        ax.plot(x[0], y[0], MARKERS[i], color=COLOURS[i])
    ax.set(xlim=(a[0], a[-1]), ylim=(b[0], b[-1]), xlabel="a", ylabel="b", aspect="equal")
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
