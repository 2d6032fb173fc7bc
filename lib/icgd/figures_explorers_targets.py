"""Draw functions of the explorers of chapters 4 to 6, in pairs: see `figures_explorers`."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from icgd.figures import COLOURS, MARKERS
from icgd.figures_explorers import GREY, cells, cells_stage, coloured, legend, powers

# --- Chapter 4: what each direction gets ---------------------------------------------------------


def directions_stage(figure: Figure, names) -> Axes:
    ax = figure.subplots()
    ax.axhline(1, color=GREY, linestyle=":", linewidth=1.2)
    ax.set(xlabel="variance of the covariates along the direction", ylim=(0, 1.6))
    ax.set(ylabel="share of the hidden weight found", yticks=[0, 0.5, 1, 1.5])
    powers(ax.xaxis, -2, 2)
    legend(figure, coloured(names) | {"all of it": {"color": GREY, "linestyle": ":"}})
    return ax


def directions(ax: Axes, variances: np.ndarray, shares: dict[str, np.ndarray]) -> None:
    """Shares over the eigenvalues of a covariance, a marker a direction."""
    for i, y in enumerate(shares.values()):
        ax.plot(variances, y, MARKERS[i] + "-", color=COLOURS[i])


# --- Chapter 5: targets and steps ----------------------------------------------------------------


def target_stage(figure: Figure) -> tuple[Axes, Axes]:
    left, right = figure.subplots(1, 2)
    figure.subplots_adjust(wspace=0.48, top=0.8)
    left.set(xlim=(-3, 3), ylim=(-3.2, 3.2), xticks=[-2, 0, 2], yticks=[-2, 0, 2])
    left.set(xlabel="along a line", ylabel="one target")
    right.set(xlim=(0, 2), ylim=(-0.5, 1), xticks=[0, 1, 2], yticks=[-0.5, 0, 0.5, 1])
    right.set(xlabel="step size / linear step", ylabel="share of E|β|² found")
    right.axvline(1, color=GREY, linestyle=":", linewidth=1.2)
    styles = coloured(["f", "its linear part", "one step"])
    legend(figure, styles | {"step of linear targets": {"color": GREY, "linestyle": ":"}}, ncols=2)
    return left, right


def target(
    axes: tuple[Axes, Axes],
    t: np.ndarray,
    lines: tuple[np.ndarray, np.ndarray],
    sizes: np.ndarray,
    share: np.ndarray,
    best: tuple[float, float],
) -> None:
    """A function and its linear part; what a step finds against its size, and where it is best."""
    left, right = axes
    for i, y in enumerate(lines):
        left.plot(t, y, color=COLOURS[i])
    right.plot(sizes, share, color=COLOURS[2])
    right.plot(*best, MARKERS[2], color=COLOURS[2], markersize=8)


# --- Chapter 6: a hypothesis dropped -------------------------------------------------------------


def hypothesis_stage(figure: Figure) -> np.ndarray:
    axes = figure.subplots(1, 3, width_ratios=[1, 1, 1.1])
    figure.subplots_adjust(left=0.02, wspace=0.16, bottom=0.2, top=0.84)
    cells_stage(axes[0], 2, "best step")
    cells_stage(axes[1], 2, "learned C")
    axes[2].set(xlim=(0, 3), ylim=(-0.6, 1.6), xticks=[0, 1, 2, 3], yticks=[], xlabel="loss")
    return axes


def hypothesis(
    axes: np.ndarray, step: np.ndarray, learned: np.ndarray, losses: tuple[float, float]
) -> None:
    """The matrix of the best step, the learned one, and the losses of the two."""
    for ax, matrix in zip(axes, (step, learned), strict=False):
        cells(ax, matrix, 0.3)
    for row, (loss, name) in enumerate(zip(losses, ("one step", "all weights"), strict=True)):
        axes[2].barh(1 - row, loss, 0.55, color=COLOURS[row])
        axes[2].text(0.06, 1.33 - row, f"{name}: {loss:.3f}", va="bottom", fontsize=8.5)
