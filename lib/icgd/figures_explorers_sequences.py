"""Draw functions of the explorers of chapters 10 to 13, in pairs: see `figures_explorers`."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from icgd.figures import COLOURS, MARKERS
from icgd.figures_explorers import GREY, cells, cells_stage, coloured, legend, powers

# --- Chapter 10: the plane of (a, b) -------------------------------------------------------------


def portrait_stage(figure: Figure, product: float, last: float) -> tuple[Axes, Axes]:
    """product: a b on the minimisers.   last: end of the time axis."""
    left, right = figure.subplots(1, 2, width_ratios=[1.3, 1])
    figure.subplots_adjust(wspace=0.42, bottom=0.17)
    side = np.linspace(-1.8, 1.8, 25)
    gap = np.append(side, np.nan)
    for q in (0.3, 1.0, 2.0):  # orbits a^2 - b^2 = +-q
        arm = np.sqrt(q + gap**2)
        x, y = np.concatenate([arm, -arm]), np.concatenate([gap, gap])
        left.plot(x, y, color="#999999", linewidth=0.5)
        left.plot(y, x, color="#999999", linewidth=0.5)
    branch = np.append(np.geomspace(0.4, 1.8, 20), np.nan)
    both = np.concatenate([branch, -branch])
    left.plot(both, product / both, color=COLOURS[0], linewidth=2.4)
    left.plot(side, -side, "--", color=GREY, linewidth=1.4)
    left.plot(0, 0, "X", color=GREY, markersize=7)
    left.set(xlim=(-1.8, 1.8), ylim=(-1.8, 1.8), xlabel="a", ylabel="b")
    left.set(xticks=[-1, 0, 1], yticks=[-1, 0, 1])
    left.grid(False)
    right.axhline(product, color=COLOURS[0], linewidth=2.4)
    right.set(xlim=(0, last), ylim=(-2.4, 2.4), xlabel="time τ", ylabel="product a b")
    right.set(xticks=[0, last / 2, last], yticks=[-2, -1, 0, 1, 2])
    names = coloured(["minimisers", "the flow"])
    dashed = {"a + b = 0": {"color": GREY, "linestyle": "--"}}
    saddle = {"saddle": {"color": GREY, "marker": "X", "linestyle": "none"}}
    legend(figure, names | dashed | saddle, ncols=4)
    return left, right


def portrait(
    axes: tuple[Axes, Axes], times: np.ndarray, path: tuple[np.ndarray, np.ndarray], end: tuple
) -> None:
    """A trajectory (a, b) at `times`, its start and its end; its product over time."""
    left, right = axes
    a, b = path
    left.plot([*a, end[0]], [*b, end[1]], color=COLOURS[1])
    left.plot(a[0], b[0], "s", color=COLOURS[1], fillstyle="none", markersize=7)
    left.plot(*end, "o", color=COLOURS[1], markersize=8)
    right.plot(times, a * b, color=COLOURS[1])


# --- Chapter 11: the step in the context ---------------------------------------------------------


def step_stage(figure: Figure, d: int, limit: np.ndarray, floor: float) -> np.ndarray:
    """limit: (d,) moduli on the diagonal in the limit.   floor: of the relative error."""
    axes = figure.subplots(1, 3, width_ratios=[1, 1, 1.35])
    figure.subplots_adjust(left=0.02, wspace=0.2, bottom=0.2, top=0.86)
    cells_stage(axes[0], d, "now")
    cells_stage(axes[1], d, "in the limit")
    cells(axes[1], np.diag(limit), 1.0, digits=2)
    axes[2].set(xlabel="tokens read t", ylabel="relative error", ylim=(0, 1), yticks=[0, 0.5, 1])
    powers(axes[2].xaxis, 0, 3)
    axes[2].axhline(floor, color=GREY, linestyle=":", linewidth=1.2)
    box = axes[2].get_position()
    axes[2].set_position([box.x0 + 0.06, box.y0, box.width - 0.06, box.height])
    return axes


def step(
    axes: np.ndarray,
    moduli: np.ndarray,
    lengths: np.ndarray,
    errors: np.ndarray,
    t: int,
    error: float,
) -> None:
    """The moduli of a matrix, and the error against the context length with a marker at one."""
    cells(axes[0], moduli, 1.0, digits=2)
    axes[2].plot(lengths, errors, color=COLOURS[1])
    axes[2].plot(t, error, "s", color=COLOURS[1], markersize=8)


# --- Chapter 12: laws and errors -----------------------------------------------------------------


def laws_stage(figure: Figure) -> tuple[Axes, Axes]:
    left, right = figure.subplots(1, 2)
    figure.subplots_adjust(wspace=0.48)
    left.plot([-3, 3], [-3, 3], color=COLOURS[0])
    left.set(xlim=(-3, 3), ylim=(-3, 3), xlabel="asked: u", ylabel="answered")
    left.set(xticks=[-2, 0, 2], yticks=[-2, 0, 2])
    right.set(xlabel="context length t", ylabel="relative error")
    powers(right.xaxis, 0, 4, 2)
    powers(right.yaxis, -4, 1)
    names = coloured(["correct answer", "the layer"])
    legend(figure, names | {"left for ever": {"color": GREY, "linestyle": ":"}})
    return left, right


def laws(
    axes: tuple[Axes, Axes],
    product: float,
    values: np.ndarray,
    lengths: np.ndarray,
    errors: np.ndarray,
    left_over: float,
) -> None:
    """The cubic product u^3 with markers at some values of u, and the error against the length."""
    left, right = axes
    u = np.linspace(-3, 3, 41)
    left.plot(u, product * u**3, color=COLOURS[1])
    left.plot(values, product * values**3, "s", color=COLOURS[1], markersize=6)
    right.axhline(max(left_over, 1.1e-4), color=GREY, linestyle=":", linewidth=1.2)
    right.plot(lengths, np.maximum(errors, 1.1e-4), color=COLOURS[1])


# --- Chapter 13: on and off the diagonal ---------------------------------------------------------


def diagonal_stage(figure: Figure) -> tuple[Axes, Axes]:
    left, right = figure.subplots(1, 2)
    figure.subplots_adjust(wspace=0.48)
    for ax in (left, right):
        ax.set(xlabel="training length T")
    left.set(ylabel="product on the diagonal", ylim=(0, 1.05), yticks=[0, 0.5, 1])
    right.set(ylabel="other entries / diagonal")
    powers(left.xaxis, 0, 3)
    powers(right.xaxis, 0, 3)
    powers(right.yaxis, -3, 0)
    names = coloured(["no mask", "masked", "W₁", "W₂"])
    legend(figure, names | {"leading term": {"color": GREY, "linestyle": "--"}}, ncols=5)
    return left, right


def diagonal(
    axes: tuple[Axes, Axes],
    lengths: list[int],
    products: dict[str, list[float]],
    shares: np.ndarray,
    leading: np.ndarray,
    at: int,
    product: float,
    here: tuple[float, float],
) -> None:
    """Products, shares and their leading terms over the training length, with markers at one."""
    left, right = axes
    for i, values in enumerate(products.values()):
        left.plot(lengths, values, color=COLOURS[i])
    left.plot(at, product, MARKERS[0], color=COLOURS[0], markersize=8)
    for i, (share, term) in enumerate(zip(shares, leading, strict=True), start=2):
        right.plot(lengths, term, "--", color=COLOURS[i], linewidth=1)
        right.plot(lengths, share, color=COLOURS[i])
        right.plot(at, here[i - 2], MARKERS[i], color=COLOURS[i], markersize=8)
