"""A scene's pictures are what one figure would have shown, and short."""

import re
import xml.etree.ElementTree as ET

import matplotlib.pyplot as plt
import pytest

from icgd.explorers.scenes import Scene, lean_svg, pack

SIZE = (4.0, 3.0)


def stage(figure):
    ax = figure.subplots()
    ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="across", title="fixed")
    ax.plot([0, 1], [1, 0], color="#123456")
    figure.legend(handles=list(ax.lines), labels=["still"])
    return ax


def draw(ax, y):
    ax.plot([0, 1], [0, y], color="#654321")
    ax.text(0.2, 0.2, f"{y:.5f}")
    ax.bar([0.5], [y], color="#abcdef")


@pytest.fixture(scope="module")
def scene():
    return Scene(stage, SIZE)


def texts(svg):
    return [e.text for e in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_still_and_moving_parts_are_together_once(scene):
    svg = scene.picture(draw, 0.25)
    for once in ("across", "fixed", "still", "0.25000"):
        assert texts(svg).count(once) == 1, once
    assert "#123456" in svg
    assert "#654321" in svg
    assert svg.startswith("<svg")
    assert svg.endswith("</svg>")


def test_nothing_of_a_picture_is_left_in_the_next(scene):
    first = scene.picture(draw, 0.25)
    scene.picture(draw, 0.75)
    assert scene.picture(draw, 0.25) == first
    assert "#654321" not in scene.picture(lambda ax, y: None, 0.25)


def test_nothing_is_left_after_a_failure(scene):
    def fails(ax, y):
        draw(ax, y)
        raise RuntimeError

    before = scene.picture(draw, 0.5)
    with pytest.raises(RuntimeError):
        scene.picture(fails, 0.9)
    assert scene.picture(draw, 0.5) == before


def test_moved_axes_are_refused(scene):
    with pytest.raises(ValueError, match="axes must stand still"):
        Scene(stage, SIZE).picture(lambda ax, y: ax.set_ylim(0, y), 2.0)


def test_places_are_rounded_and_texts_are_not(scene):
    svg = scene.picture(draw, 1 / 3)
    assert "0.33333" in texts(svg)
    assert not re.findall(r"<[^>]*\d\.\d\d[^>]*>", svg)


def test_only_ids_in_use_are_left_and_text_is_text():
    figure, ax = plt.subplots()
    stage_ax = stage(figure)
    svg = lean_svg(figure)
    plt.close(figure)
    assert stage_ax is not ax
    used = set(re.findall(r"#([\w-]+)\)", svg)) | set(re.findall(r'href="#([\w-]+)"', svg))
    assert set(re.findall(r' id="([^"]+)"', svg)) <= used
    assert "<metadata" not in svg


def test_fonts_have_the_widths_that_were_laid_out(scene):
    fonts = set(re.findall(r"font(?:-family)?: ([^;\"]*)", scene.picture(draw, 0.5)))
    assert all(font.endswith("'DejaVu Sans', Verdana, sans-serif") for font in fonts)


def test_pack_stores_every_element_once():
    svgs = ["<g><a/>one</g>", "<g><b/>two</g>", "<g><a/>one</g>"]
    elements, pictures = pack(svgs)
    assert len(set(elements)) == len(elements) == 5
    assert ["".join(elements[i] for i in picture) for picture in pictures] == svgs
