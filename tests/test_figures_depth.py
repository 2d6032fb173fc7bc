"""Draw functions for iterative learners draw what they are given."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from icgd import figures_depth

K = np.arange(1, 5)


@pytest.fixture
def ax():
    figure, ax = plt.subplots()
    yield ax
    figure.canvas.draw()
    plt.close(figure)


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_filters_are_lines_over_a_density_of_height_one(ax):
    h = np.linspace(0, 3, 13)
    figures_depth.filters(ax, h, {"one": 1 - h, "two": 1 - h**2}, 7 * np.exp(-h))
    assert labels(ax) == ["density", "one", "two"]
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), 1 - h**2)
    assert ax.collections[0].get_paths()[0].vertices[:, 1].max() == 1.0
    assert ax.get_xlim() == (0, 3)


def test_losses_over_layers_are_logarithmic_with_a_floor(ax):
    lines = {"a": (K, 1.0 / K), "b": (K[:2], 0.5 / K[:2])}
    crosses = {"c": (K, 0.3 / K, 0.01 / K)}
    figures_depth.against_depth(ax, lines, crosses, ylabel="risk", floor=("ridge", 0.2))
    assert ax.get_yscale() == "log"
    assert set(labels(ax)) == {"a", "b", "c", "ridge"}
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), 0.5 / K[:2])
    colours = {line.get_color() for line in ax.lines[:3]}
    assert len(colours) == 3


def test_descents_have_their_ends(ax):
    t = np.geomspace(0.1, 10, 7)
    figures_depth.descents(ax, {"one": (t, 1 / t), "two": (t, 2 / t)}, {"one": 0.1, "two": 0.2})
    assert ax.get_xscale() == ax.get_yscale() == "log"
    assert labels(ax) == ["one", "two"]
    np.testing.assert_array_equal(ax.lines[3].get_ydata(), [0.2, 0.2])
    assert ax.lines[3].get_color() == ax.lines[2].get_color()
