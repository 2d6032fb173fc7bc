"""Draw functions for tables of many cells: see `figures`. They compute nothing."""

import numpy as np
from matplotlib.axes import Axes

LINES = ("-", "--", ":", "-.")


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
    image = ax.pcolormesh(x, y, values.T, shading="nearest", cmap=cmap)
    image.set(clim=limits, edgecolor="face", linewidth=0.4)  # no hairlines between cells
    for (name, (at, height)), style in zip(lines.items(), LINES, strict=False):
        ax.plot(at, height, style, color="white", linewidth=3.2)
        ax.plot(at, height, style, color="black", linewidth=1.6, label=name)
    ax.set(xscale="log", yscale="log", xlabel=xlabel, ylabel=ylabel)
    ax.set(xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))
    ax.grid(False)
    ax.figure.colorbar(image, ax=ax, label=label)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)


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
) -> None:
    """Exact risks as lines, sampled ones with error bars, cut at `top`; a dotted line at 1.

    sampled: (mean, standard error) by name.
    """
    for name, y in exact.items():
        ax.plot(x, y, color=colours[name], label=name)
    for name, (mean, error) in sampled.items():
        ax.errorbar(x, mean, error, fmt="o-", linewidth=1, color=colours[name], label=name)
    ax.axhline(1, color="#444444", linestyle=":", linewidth=1.2, label="predicting zero")
    ax.set(title=title, xlabel=xlabel, ylabel=ylabel, ylim=(0, top))
