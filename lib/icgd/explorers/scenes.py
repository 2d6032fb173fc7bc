"""Pictures of an explorer as short SVG text: what stands still is drawn once, what moves each time.

Text stays text, so neighbouring pictures share most of it; `pack` stores every element once.
"""

import io
import re
from collections.abc import Callable
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from icgd.figures import STYLE

#: Fixed margins instead of a layout engine: the axes stand still from frame to frame.
SCENE_STYLE = STYLE | {
    "figure.constrained_layout.use": False,
    "figure.subplot.bottom": 0.16,
    "figure.subplot.left": 0.12,
    "figure.subplot.right": 0.96,
    "figure.subplot.top": 0.86,
    "font.size": 10.5,
    "legend.fontsize": 9.5,
    "svg.fonttype": "none",
}
#: Verdana has the widths of DejaVu Sans, which figures are laid out with.
FONTS = "'DejaVu Sans', Verdana, sans-serif"
_HEAD_ENDS = "</style></defs>"


class Scene:
    """A figure whose axes, ticks and legend are drawn once.

    Args:
        stage: figure -> axes (one, or an array of them), with all that stands still.
        size: of the figure in inches.
    """

    def __init__(self, stage: Callable[[Figure], Any], size: tuple[float, float]):
        with mpl.rc_context(SCENE_STYLE):
            self.figure = Figure(figsize=size)
            self.axes = stage(self.figure)
            self.still = lean_svg(self.figure)
        self.limits = self._limits()
        self._clear()
        for legend in list(self.figure.legends):
            legend.remove()
        for ax in self.figure.axes:
            ax.set_title("")
            ax.set_axis_off()

    def picture(self, draw: Callable[[Any, Any], None], result: Any) -> str:
        """The still part with what `draw(axes, result)` adds, as SVG.

        Raises:
            ValueError: `draw` moved the axes, under which the still part would be wrong.
        """
        try:
            with mpl.rc_context(SCENE_STYLE):
                draw(self.axes, result)
                if self._limits() != self.limits:
                    raise ValueError(
                        f"the axes must stand still, at {self.limits}, got {self._limits()}; set "
                        "their limits in `stage`, and draw within them."
                    )
                moving = lean_svg(self.figure)
        finally:
            self._clear()
        return self.still.removesuffix("</svg>") + moving[moving.index(_HEAD_ENDS) :].removeprefix(
            _HEAD_ENDS
        )

    def _limits(self) -> list[tuple[float, ...]]:
        return [(*ax.get_xlim(), *ax.get_ylim()) for ax in self.figure.axes]

    def _clear(self):
        for ax in self.figure.axes:
            for artist in [*ax.lines, *ax.collections, *ax.patches, *ax.texts]:
                artist.remove()


def lean_svg(figure: Figure) -> str:
    """The figure as short SVG text: no metadata, places to one decimal, unused ids dropped."""
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None}, transparent=True)
    svg = out.getvalue()
    svg = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", svg[svg.index("<svg") :], flags=re.S)
    svg = re.sub(r"<[^>]*>", lambda tag: re.sub(r"(\d+\.\d)\d+", r"\1", tag[0]), svg)
    svg = re.sub(r"(font(?:-family)?: (?:[\d.]+px )?)'[^;\"]*sans-serif", rf"\1{FONTS}", svg)
    used = set(re.findall(r"#([\w-]+)", svg))
    svg = re.sub(r' id="([^"]*)"', lambda match: match[0] if match[1] in used else "", svg)
    return re.sub(r"\s+", " ", re.sub(r">\s+<", "><", svg)).strip()


def pack(svgs: list[str]) -> tuple[list[str], list[list[int]]]:
    """(elements, pictures): every different element once, and each picture as a list of them.

    >>> pack(["<g><a/></g>", "<g><b/></g>"])
    (['<g>', '<a/>', '</g>', '<b/>'], [[0, 1, 2], [0, 3, 2]])
    """
    number, pictures = {}, []
    for svg in svgs:
        parts = re.findall(r"[^>]*>", svg)
        pictures.append([number.setdefault(part, len(number)) for part in parts])
    return list(number), pictures
