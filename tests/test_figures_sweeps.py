"""Maps of a thousand cells stay light, and show each cell where it belongs."""

import base64
import io
import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgba

from icgd import figures, figures_sweeps


@pytest.fixture
def ax():
    with plt.rc_context(figures.STYLE):
        fig, ax = plt.subplots(figsize=(6.4, 4.6))
        yield ax
        plt.close(fig)


def draw(ax, x, y, values):
    figures_sweeps.phase_diagram(
        ax, x, y, values, lines={"border": (x, np.full(len(x), y[1]))}, limits=(0, 2),
        label="loss", xlabel="n", ylabel="noise",
    )  # fmt: skip
    file = io.BytesIO()
    ax.figure.savefig(file, format="svg", bbox_inches="tight", dpi=ax.figure.dpi)
    return file.getvalue().decode()


def test_a_thousand_cells_are_one_image(ax):
    x, y = np.geomspace(1, 1000, 37), np.geomspace(0.1, 10, 31)
    svg = draw(ax, x, y, np.add.outer(np.linspace(0, 1, 37), np.linspace(0, 1, 31)))
    assert len(svg) < 40_000
    assert svg.count("<image") == 2  # the cells and the colour bar
    assert svg.count("<path") < 60


def test_cells_lie_at_their_coordinates_and_are_sharp_on_sharp_screens(ax):
    values = np.array([[0.05, 0.55], [1.05, 1.55], [0.25, 1.95]])  # (x, y)
    svg = draw(ax, np.array([1.0, 10, 100]), np.array([1.0, 10]), values)
    encoded = re.search(r'<image xlink:href="data:image/png;base64,([^"]*)"', svg)[1]
    pixels = plt.imread(io.BytesIO(base64.b64decode(encoded)))
    height, width = pixels.shape[:2]
    box = ax.get_window_extent()
    assert width / box.width * ax.figure.dpi >= 2 * 96 - 2  # two pixels a CSS pixel
    levels = plt.get_cmap("viridis").resampled(figures_sweeps.LEVELS)
    for column, at in enumerate((0.1, 0.6, 0.95)):
        for row, up in enumerate((0.2, 0.9)):
            colour = pixels[round(up * height), round(at * width)]  # stored upside down
            wanted = to_rgba(levels(values[column, row] / 2))
            np.testing.assert_allclose(colour, wanted, atol=1 / 255)
