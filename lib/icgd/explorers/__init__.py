"""Explorers: a picture, its controls and its numbers; live with a kernel, from frames without one.

An `Explorer` joins pure functions. `compute(**parameters)` gives a result; `stage(figure)` draws
once what stands still and returns the axes, and `draw(axes, result)` what moves; `readout(result)`
and `alt(result)` say it. Made in a notebook, the object carries two forms of itself. A front end
with a kernel shows ipywidgets, which recompute at any value. The built book shows frames made here,
one for each combination of the controls' values, and native inputs (`assets/explorers.js`) that
choose among them: no widget manager, no request.

Frames are made when the object is: what cannot be shown stops the cell, and so the build.
"""

import gzip
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import ipywidgets
from matplotlib.figure import Figure

from icgd.explorers import pages
from icgd.explorers.scenes import Scene

#: Bytes that one explorer may add to a page as it is served, compressed.
BUDGET = 100_000


class ExplorerError(ValueError):
    """An explorer that cannot be shown; the message names it."""


@dataclass(frozen=True)
class Slider:
    """A parameter on a line.

    label: what it is.   values: in the built page.   start: which of them is shown first.
    unit: of the values, in words, said after the number.   text: how a value is written.
    live: what a kernel offers between the first and the last value: "whole" numbers, any number
    ("any", or "any, log" on a logarithmic slider), or only these "values".
    plays: the parameter is time, or counts steps, and can run by itself.
    """

    label: str
    values: Sequence
    start: Any
    unit: str = ""
    text: Callable[[Any], str] = "{:g}".format
    live: str = "values"
    plays: bool = False
    native: ClassVar[str] = "range"

    def texts(self) -> list[str]:
        return [self.text(value) for value in self.values]

    def widget(self) -> ipywidgets.Widget:
        first, last = self.values[0], self.values[-1]
        label = f"{self.label} ({self.unit})" if self.unit else self.label
        shared = {"description": label, "style": {"description_width": "initial"}}
        shared["layout"] = {"width": "28rem", "max_width": "100%"}
        if self.live == "whole":
            return ipywidgets.IntSlider(self.start, first, last, **shared)
        if self.live == "any":
            step = (last - first) / 200
            return ipywidgets.FloatSlider(self.start, min=first, max=last, step=step, **shared)
        if self.live == "any, log":
            ends = {"min": math.log10(first), "max": math.log10(last)}
            return ipywidgets.FloatLogSlider(self.start, **ends, step=0.01, **shared)
        options = list(zip(self.texts(), self.values, strict=True))
        return ipywidgets.SelectionSlider(options=options, value=self.start, **shared)


@dataclass(frozen=True)
class Choice:
    """A parameter with names: a dropdown. values: the names; the first is shown first."""

    label: str
    values: Sequence[str]
    plays: ClassVar[bool] = False
    native: ClassVar[str] = "select"

    @property
    def start(self) -> str:
        return self.values[0]

    def texts(self) -> list[str]:
        return list(self.values)

    def widget(self) -> ipywidgets.Widget:
        style = {"description_width": "initial"}
        return ipywidgets.Dropdown(options=self.texts(), description=self.label, style=style)


@dataclass(frozen=True)
class Frame:
    """One state: the picture as SVG, what it shows in words, and the numbers, each as text."""

    svg: str
    alt: str
    readout: dict[str, str]


@dataclass(eq=False)
class Explorer:
    """A picture with controls, live and still.

    Args:
        name: of the explorer, short, unique in the book.
        claim: the id of the claim it illustrates.
        controls: parameter -> `Slider` or `Choice`, in the order of the controls.
        compute: pure; takes the controls' values by name.
        stage: figure -> axes, with all that stands still: limits, ticks, labels, legend.
        draw: (axes, result) -> None; adds what moves, and leaves the axes as they are.
        readout: result -> {label: text}, with the same labels for every result.
        alt: result -> what the picture shows, in words.
        caption: a sentence or two below the figure.
        size: of the figure, in inches.
    Raises:
        ExplorerError: no combination of values, a frame that cannot be made, or too many bytes.
    """

    name: str
    claim: str
    controls: dict[str, Slider | Choice]
    compute: Callable[..., Any]
    stage: Callable[[Figure], Any]
    draw: Callable[[Any, Any], None]
    readout: Callable[[Any], dict[str, str]]
    alt: Callable[[Any], str]
    caption: str
    size: tuple[float, float] = (5.0, 3.4)
    scene: Scene = field(init=False, repr=False)
    frames: list[Frame] = field(init=False, repr=False)
    first: Frame = field(init=False, repr=False)
    html: str = field(init=False, repr=False)

    def __post_init__(self):
        grid = list(itertools.product(*(control.values for control in self.controls.values())))
        if not self.controls or not grid:
            self._fail(f"have at least one frame, got no values for {list(self.controls)}")
        start = tuple(control.start for control in self.controls.values())
        if start not in grid:
            self._fail(f"start at one of its values, got {start}")
        try:
            self.scene = Scene(self.stage, self.size)
        except Exception as error:
            self._fail(f"have a stage, got {type(error).__name__}: {error}", error)
        self.frames = [self.frame(**dict(zip(self.controls, point, strict=True))) for point in grid]
        self.first = self.frames[grid.index(start)]
        for frame in self.frames:
            if list(frame.readout) != list(self.first.readout) or not frame.alt.strip():
                self._fail(
                    f"read out the same labels, and say what is seen, in all frames: {frame}"
                )
        self.html = pages.figure(self)
        if self.kilobytes * 1000 > BUDGET:
            self._fail(
                f"take at most {BUDGET / 1000:g} KB compressed, got {self.kilobytes:.1f} KB in "
                f"{len(grid)} frames; draw fewer points or frames"
            )

    def _fail(self, invariant: str, cause: Exception | None = None):
        raise ExplorerError(f"explorer {self.name!r} must {invariant}.") from cause

    @property
    def kilobytes(self) -> float:
        """What the explorer adds to a page, compressed."""
        return len(gzip.compress(self.html.encode(), mtime=0)) / 1000

    def frame(self, **parameters) -> Frame:
        """Compute and draw one state, at values on or off the grid."""
        try:
            result = self.compute(**parameters)
            svg = self.scene.picture(self.draw, result)
            return Frame(svg, self.alt(result), self.readout(result))
        except Exception as error:
            at = ", ".join(f"{key} = {value}" for key, value in parameters.items())
            self._fail(f"have a picture at {at}, got {type(error).__name__}: {error}", error)

    def live(self) -> ipywidgets.Widget:
        """Controls that recompute, above the picture and its numbers."""
        inputs = {key: control.widget() for key, control in self.controls.items()}
        shown = ipywidgets.HTML()

        def show(change=None):
            try:
                frame = self.frame(**{key: widget.value for key, widget in inputs.items()})
                shown.value = pages.without_style(frame)
            except ExplorerError as error:  # the reader moves on; the last picture would mislead
                shown.value = pages.message(str(error))

        rows = []
        for key, widget in inputs.items():
            widget.observe(show, "value")
            player = self._player(key, widget) if self.controls[key].plays else []
            rows.append(ipywidgets.HBox([widget, *player]))
        show()
        return ipywidgets.VBox([*rows, shown, ipywidgets.HTML(pages.caption(self))])

    def _player(self, key, widget) -> list[ipywidgets.Widget]:
        values = self.controls[key].values
        play = ipywidgets.Play(value=0, min=0, max=len(values) - 1, interval=400)

        def move(change):
            widget.value = values[change["new"]]

        play.observe(move, "value")
        return [play]

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, Any]:
        """The widget for a front end with a kernel, the frames for the book, a line for a log."""
        plain = f"Explorer {self.name!r}: {len(self.frames)} frames, claim {self.claim}"
        return {
            **self.live()._repr_mimebundle_(),
            "text/html": self.html,
            "text/plain": plain,
        }
