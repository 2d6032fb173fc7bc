"""Draw functions for tables of many cells: see `figures`. They compute nothing."""

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter

LINES = ("-", "--", ":", "-.")
#: A thousand cells as paths weigh a quarter of a megabyte in an SVG, as one image a few kilobytes.
#: A page shows 96 pixels an inch, a sharp screen twice as many; axes, lines and text are paths.
CELLS_DPI = 192
#: Steps of the colour scale: enough to look smooth, few enough to be read off the bar.
LEVELS = 20


def phase_diagram(
    ax: Axes,
    x: np.ndarray,
    y: np.ndarray,
    values: np.ndarray,
    *,
    lines: dict[str, tuple[np.ndarray, np.ndarray]],
    label: str,
    xlabel: str,
    ylabel: str,
    limits: tuple[float, float],
    cmap: str = "viridis",
) -> None:
    """A coloured cell for each setting, on two logarithmic axes, and predicted boundaries over it.

    values: (len(x), len(y)).   limits: the values at the ends of the colour scale.
    lines: boundaries by name, each an x and a y.
    """
    ax.set(xscale="log", yscale="log", xlabel=xlabel, ylabel=ylabel)
    colours = colormaps[cmap].resampled(LEVELS)
    image = ax.pcolormesh(x, y, values.T, shading="nearest", cmap=colours, rasterized=True)
    image.set(clim=limits, antialiased=False)  # no hairlines between cells
    for (name, (at, height)), style in zip(lines.items(), LINES, strict=False):
        for colour, width in (("white", 3.2), ("black", 1.6)):
            (line,) = ax.plot(at, height, style, color=colour, linewidth=width)
            line.get_path().simplify_threshold = 0.4  # points: a quarter of the black line
        line.set_label(name)
    ax.set(xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_minor_locator(LogLocator(subs=(3,)))
        axis.set_minor_formatter(NullFormatter())
    ax.grid(False)
    bar = ax.figure.colorbar(image, ax=ax, label=label, ticks=np.linspace(*limits, 5)[::2])
    bar.solids.set_rasterized(True)
    ax.figure.set_dpi(CELLS_DPI)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3)


def risks(
    ax: Axes,
    x: np.ndarray,
    exact: dict[str, np.ndarray],
    sampled: dict[str, tuple[np.ndarray, np.ndarray]],
    *,
    title: str,
    colours: dict[str, str],
    top: float,
    xlabel: str,
    ylabel: str = "",
    apart: float = 0.0,
) -> None:
    """Exact risks as lines, sampled ones with error bars, cut at `top`; a dotted line at 1.

    sampled: (mean, standard error) by name.   apart: between the bars of one x, to tell them apart.
    """
    for name, y in exact.items():
        ax.plot(x, y, color=colours[name], label=name)
    for i, (name, (mean, error)) in enumerate(sampled.items()):
        at = np.asarray(x) + apart * (i - (len(sampled) - 1) / 2)
        ax.errorbar(at, mean, error, fmt="o-", linewidth=1, color=colours[name], label=name)
    ax.axhline(1, color="#444444", linestyle=":", linewidth=1.2, label="predicting zero")
    ax.set(title=title, xlabel=xlabel, ylabel=ylabel, ylim=(0, top))
