"""Draw functions draw what they are given, on any axes, and leave it as it was."""

import copy

import matplotlib.pyplot as plt
import numpy as np
import pytest

from icgd import figures

X = np.linspace(1.0, 7.0, 13)


@pytest.fixture
def ax():
    figure, ax = plt.subplots()
    yield ax
    figure.canvas.draw()  # what cannot be rendered fails here
    plt.close(figure)


def unchanged(function, ax, *arrays, **options):
    """Call `function`, and see that its arguments came out as they went in."""
    kept = copy.deepcopy((arrays, options))
    assert function(ax, *arrays, **options) is None
    np.testing.assert_equal((arrays, options), kept)


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_curves_draw_a_line_a_prediction_and_markers_over_it(ax):
    predicted = {"ridge": X, "one step": X**2}
    measured = {"ridge": (X[::4], X[::4] + 0.1, np.full(4, 0.2))}
    unchanged(
        figures.curves, ax, X, predicted, measured,
        xlabel="n", ylabel="risk", floor=("noise", 0.5),
    )  # fmt: skip
    lines = {line.get_label(): line for line in ax.lines}
    np.testing.assert_array_equal(lines["one step"].get_ydata(), X**2)
    (container,) = ax.containers  # error bars of the one measurement
    np.testing.assert_array_equal(container.lines[0].get_ydata(), X[::4] + 0.1)
    assert container.lines[0].get_color() == lines["ridge"].get_color()
    assert labels(ax)[:2] == ["ridge", "one step"]
    assert "noise" in labels(ax)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("n", "risk")
    assert len(ax.lines) == 4  # two predictions, one row of markers, the floor


def test_curves_without_measurements(ax):
    unchanged(figures.curves, ax, X, {"ridge": X}, xlabel="n", ylabel="risk")
    assert len(ax.lines) == 1
    assert not ax.containers


def test_decays_are_logarithmic_and_leave_zeros_out(ax):
    y = np.exp(-X)
    y[3] = 0.0
    unchanged(figures.decays, ax, {"loss": (X, y), "odd": (X, 2 * X)}, xlabel="t", ylabel="gap")
    assert ax.get_yscale() == "log"
    assert [len(line.get_xdata()) for line in ax.lines] == [12, 13]
    assert labels(ax) == ["loss", "odd"]


def test_small_matrices_show_their_entries(ax):
    values = np.array([[1.0, -0.5, 0.0], [0.25, 1e-9, -1.0]])
    unchanged(figures.matrix, ax, values, "C")
    assert [text.get_text() for text in ax.texts] == ["1", "-0.5", "0", "0.25", "0", "-1"]
    assert ax.get_title() == "C"
    (image,) = ax.collections
    assert image.get_clim() == (-1.0, 1.0)  # centred at zero
    # The first row is at the top.
    assert ax.yaxis_inverted()


def test_large_matrices_show_a_colour_bar(ax):
    unchanged(figures.matrix, ax, np.ones((7, 11)), "C", limit=2.0)
    assert not ax.texts
    assert len(ax.figure.axes) == 2
    assert ax.collections[0].get_clim() == (-2.0, 2.0)


def test_a_matrix_of_zeros_can_be_drawn(ax):
    unchanged(figures.matrix, ax, np.zeros((2, 3)), "C")
    assert [text.get_text() for text in ax.texts] == ["0"] * 6


def test_landscape_draws_both_branches_and_every_path(ax):
    a, b = np.linspace(-2, 2, 41), np.linspace(-1, 1, 31)
    excess = (a[None, :] * b[:, None] - 0.3) ** 2 + 1e-6
    paths = {"flow": (X / 7, X / 10), "steps": (-X / 7, -X / 10)}
    unchanged(figures.landscape, ax, a, b, excess, product=0.3, paths=paths)
    assert len(ax.lines) == 2 + 2 * len(paths)  # two branches; a path and its start each
    for line in ax.lines[:2]:
        np.testing.assert_allclose(line.get_xdata() * line.get_ydata(), 0.3, rtol=1e-12)
    assert labels(ax)[0].startswith("minimisers")
    assert labels(ax)[1:] == ["flow", "steps"]
    assert ax.get_xlim() == (-2, 2)
    assert ax.get_ylim() == (-1, 1)


def test_colours_are_told_apart():
    assert len(set(figures.COLOURS)) == len(figures.COLOURS) == len(figures.MARKERS)


def test_use_style_sets_what_it_says():
    with plt.rc_context():
        figures.use_style()
        assert plt.rcParams["figure.facecolor"] == "none"
        assert plt.rcParams["svg.hashsalt"] == "icgd"


def test_orbits_draw_each_sequence_and_its_start(ax):
    z = np.exp(0.3j * np.arange(7))
    unchanged(figures.orbits, ax, {"one": z, "two": 2 * z})
    assert len(ax.lines) == 4
    np.testing.assert_array_equal(ax.lines[2].get_xdata(), 2 * z.real)
    np.testing.assert_array_equal(ax.lines[3].get_xdata(), [2.0])
    assert labels(ax) == ["one", "two"]


def test_portrait_draws_rest_points_and_paths(ax):
    grid = np.linspace(-2, 2, 11)
    flow = np.stack(np.broadcast_arrays(grid[:, None], grid[None, :]))
    path = np.array([0.5, 1.0]), np.array([0.2, 0.5])
    unchanged(figures.portrait, ax, grid, grid, flow, product=0.5, paths={"run": path})
    lines = {line.get_label(): line for line in ax.lines}
    right = lines["minimisers"]
    np.testing.assert_allclose(right.get_xdata() * right.get_ydata(), 0.5)
    np.testing.assert_array_equal(lines["a + b = 0"].get_ydata(), -grid)
    np.testing.assert_array_equal(lines["run"].get_ydata(), path[1])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("a", "b")
