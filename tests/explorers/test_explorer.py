"""An explorer is whole or it is refused by name; what it shows is what it computed."""

import gzip
import itertools
import json

import bs4
import ipywidgets
import numpy as np
import pytest

from icgd import explorers
from icgd.explorers import Choice, Explorer, ExplorerError, Slider

POWERS = [1.0, 2.0, 3.0]


def stage(figure):
    ax = figure.subplots()
    ax.set(xlim=(0, 1), ylim=(0, 30), xticks=[0, 1], yticks=[0, 30])
    return ax


def draw(ax, result):
    ax.plot([0, 1], [0, result["y"]])
    ax.text(0.5, 5, f"{result['y']:.4f}")


def compute(power, base):
    y = float(base) ** power
    return {"y": y, "power": power}


def make(**changes):
    parts = {
        "name": "toy",
        "claim": "OS.Theorem1",
        "controls": {
            "power": Slider("power p", POWERS, 2.0, unit="times", live="any", plays=True),
            "base": Choice("base", ["2", "3"]),
        },
        "compute": compute,
        "stage": stage,
        "draw": draw,
        "readout": lambda result: {"y": f"{result['y']:.3f}", "p": f"{result['power']:g}"},
        "alt": lambda result: f"A line up to {result['y']:.3f}.",
        "caption": "A toy.",
    }
    return Explorer(**{**parts, **changes})


@pytest.fixture(scope="module")
def toy():
    return make()


@pytest.fixture
def box(toy):
    return bs4.BeautifulSoup(toy.html, "html.parser").figure


def test_a_frame_for_every_combination_first_control_slowest(toy):
    shown = [frame.readout for frame in toy.frames]
    grid = list(itertools.product(POWERS, "23"))
    assert shown == [{"y": f"{int(b) ** p:.3f}", "p": f"{p:g}"} for p, b in grid]
    assert toy.first.readout == {"y": "4.000", "p": "2"}


def test_the_page_has_the_hooks_of_script_and_style(box):
    assert box["class"] == ["explorer"]
    assert (box["data-explorer"], box["data-claim"]) == ("toy", "OS.Theorem1")
    assert box.fieldset.has_attr("disabled")  # until the script has read the frames
    for control in box.select(".explorer-control"):
        labelled = control.select_one("input, select")
        assert control.label["for"] == labelled["id"]
    slider, output = box.input, box.output
    assert (slider["type"], slider["min"], slider["max"], slider["value"]) == (
        "range",
        "0",
        "2",
        "1",
    )
    assert slider["aria-valuetext"] == output.text == "2 times"
    assert json.loads(slider["data-texts"]) == ["1 times", "2 times", "3 times"]
    assert output["for"] == [slider["id"]]
    assert [o.text for o in box.select("option")] == ["2", "3"]
    assert box.select_one("option[selected]")["value"] == "0"
    assert box.select_one("button.explorer-play")["aria-label"] == "Play power p"


def test_the_first_picture_stands_there_without_a_script(toy, box):
    assert box.img["alt"] == toy.first.alt
    assert int(box.img["width"]) == 480  # five inches
    assert int(box.img["height"]) == 326
    assert [dd.text for dd in box.select(".explorer-readout dd")] == ["4.000", "2"]
    assert box.select_one(".explorer-readout")["aria-live"] == "polite"
    assert "JavaScript" in box.noscript.text
    assert box.figcaption.text == "A toy. (Claim OS.Theorem1.)"


def test_the_packed_frames_are_the_frames(toy, box):
    data = json.loads(box.script.string)
    unpacked = ["".join(data["elements"][i] for i in frame) for frame in data["frames"]]
    assert unpacked == [frame.svg for frame in toy.frames]
    assert data["alts"] == [frame.alt for frame in toy.frames]
    assert data["readouts"] == [list(frame.readout.values()) for frame in toy.frames]
    assert data["sizes"] == [3, 2]


def test_text_from_outside_is_escaped():
    box = make(
        caption="a < b & c",
        alt=lambda result: f'"{result["y"]}" </script> <b>',
        readout=lambda result: {"<i>": "</dd>"},
        controls={"power": Slider("p < q", POWERS, 1.0), "base": Choice("b", ["2"])},
    ).html
    page = bs4.BeautifulSoup(box, "html.parser")
    assert len(page.select("script, b, i")) == 1
    assert page.img["alt"] == '"2.0" </script> <b>'
    assert page.label.text == "p < q"
    assert page.dt.text == "<i>"


def test_made_twice_it_is_the_same():
    assert make().html == make().html


def test_one_object_is_a_widget_a_page_and_a_line(toy):
    bundle = toy._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert bundle["text/html"] == toy.html
    assert bundle["text/plain"] == "Explorer 'toy': 6 frames, claim OS.Theorem1"


def widgets_of(box, kind):
    return [w for row in box.children if hasattr(row, "children") for w in row.children
            if isinstance(w, kind)]  # fmt: skip


def test_with_a_kernel_it_recomputes_between_the_frames(toy):
    box = toy.live()
    (slider,) = widgets_of(box, ipywidgets.FloatSlider)
    (choice,) = widgets_of(box, ipywidgets.Dropdown)
    shown = next(w for w in box.children if isinstance(w, ipywidgets.HTML))
    assert "4.000" in shown.value
    slider.value = 2.5
    assert f"{2**2.5:.3f}" in shown.value
    choice.value = "3"
    assert f"{3**2.5:.3f}" in shown.value
    (play,) = widgets_of(box, ipywidgets.Play)
    play.value = 2
    assert slider.value == 3.0


def test_live_controls_reach_what_they_promise():
    whole = Slider("n", [2, 5, 11], 5, live="whole").widget()
    assert (whole.min, whole.max, whole.value) == (2, 11, 5)
    log = Slider("c", [1.0, 10.0, 1000.0], 10.0, live="any, log").widget()
    assert (log.min, log.max) == (0, pytest.approx(3))
    only = Slider("d", [2, 3, 7], 3, text="{} of 7".format).widget()
    assert [label for label, _ in only.options] == ["2 of 7", "3 of 7", "7 of 7"]


def test_a_live_failure_is_said_in_place_of_the_picture():
    def picky(power, base):
        if power > 2.2 and power < 2.8:
            raise ArithmeticError("not here")
        return compute(power, base)

    box = make(compute=picky).live()
    (slider,) = widgets_of(box, ipywidgets.FloatSlider)
    slider.value = 2.5
    shown = next(w for w in box.children if isinstance(w, ipywidgets.HTML))
    assert "not here" in shown.value
    assert "<img" not in shown.value


@pytest.mark.parametrize(
    "controls", [{}, {"power": Slider("p", [], 1), "base": Choice("b", ["2"])}]
)
def test_an_empty_grid_is_refused(controls):
    with pytest.raises(ExplorerError, match="'toy' must have at least one frame"):
        make(controls=controls)


def test_a_start_off_the_grid_is_refused():
    controls = {"power": Slider("p", POWERS, 1.5), "base": Choice("b", ["2"])}
    with pytest.raises(ExplorerError, match=r"'toy' must start at one of its values, got \(1.5"):
        make(controls=controls)


def failing(*_, **__):
    raise RuntimeError("broken")


@pytest.mark.parametrize("part", ["compute", "draw", "readout", "alt"])
def test_a_failing_frame_is_named_with_its_place(part):
    match = "'toy' must have a picture at power = 1.0, base = 2, got RuntimeError: broken"
    with pytest.raises(ExplorerError, match=match):
        make(**{part: failing})


def test_a_failing_stage_is_named():
    with pytest.raises(ExplorerError, match="'toy' must have a stage, got RuntimeError: broken"):
        make(stage=failing)


def test_axes_that_move_are_refused():
    def zoom(ax, result):
        ax.set_xlim(0, result["power"])

    with pytest.raises(ExplorerError, match=r"'toy' .* power = 2.0, .* axes must stand still"):
        make(draw=zoom)


def test_readouts_with_other_labels_are_refused():
    with pytest.raises(ExplorerError, match="'toy' must read out the same labels"):
        make(readout=lambda result: {f"{result['power']}": "1"})


def test_a_picture_without_words_is_refused():
    with pytest.raises(ExplorerError, match=r"'toy' must .* say what is seen"):
        make(alt=lambda result: " ")


def test_the_budget_is_enforced():
    generator = np.random.default_rng(0)

    def noise(ax, result):
        ax.plot(generator.uniform(0, 1, 25_000), generator.uniform(0, 30, 25_000))

    with pytest.raises(ExplorerError, match="'toy' must take at most 100 KB compressed, got"):
        make(draw=noise, controls={"power": Slider("p", [1.0], 1.0), "base": Choice("b", ["2"])})


def test_what_is_counted_is_what_is_served(toy):
    assert explorers.BUDGET == 100_000
    assert toy.kilobytes == pytest.approx(len(gzip.compress(toy.html.encode())) / 1000, abs=0.1)
