"""Figures of the executed chapters, by name, for pages outside the book such as the slides.

``{chapter-figure} fig-landscape`` shows the figure that a chapter's cell carries under that name
(``mystnb.figure.name``), with the cell's alternative text. The figures come from the cache that the
build of the book filled, so they cannot differ from the book's.
"""

from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from jupyter_cache import get_cache
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective


def named_figures(chapters, cache):
    """{name: (svg, alt)} of all notebooks in ``chapters``, with the outputs in ``cache``."""
    figures = {}
    for notebook in sorted(Path(chapters).glob("*.ipynb")):
        try:
            executed = get_cache(cache).merge_match_into_file(notebook)[1]
        except KeyError:
            raise ExtensionError(
                f"{notebook.name} must have been executed as it stands, and was not; "
                "build the book first: tasks.py book"
            ) from None
        for cell in executed.cells:
            style = cell.metadata.get("mystnb", {})
            name = style.get("figure", {}).get("name")
            for output in cell.get("outputs", []):
                svg = output.get("data", {}).get("image/svg+xml")
                if name and svg:
                    figures[name] = "".join(svg), style.get("image", {}).get("alt", "")
    return figures


class ChapterFigure(SphinxDirective):
    """An image element; its file is written beside the slides' own."""

    required_arguments = 1
    option_spec = {"width": directives.length_or_percentage_or_unitless}

    def run(self):
        name, app = self.arguments[0], self.env.app
        if name not in app.chapter_figures:
            raise self.error(
                f"a figure must be one of the executed chapters', got {name!r}; "
                f"there are {', '.join(sorted(app.chapter_figures))}."
            )
        svg, alt = app.chapter_figures[name]
        file = Path(app.confdir, "figures", f"{name}.svg")
        file.parent.mkdir(exist_ok=True)
        file.write_text(svg, "utf-8")
        image = nodes.image(uri=f"figures/{name}.svg", alt=alt, classes=["chapter-figure"])
        image["width"] = self.options.get("width", "80%")
        self.env.note_dependency(str(file))
        return [image]


def load(app):
    folders = app.config.chapters, app.config.chapters_cache
    app.chapter_figures = named_figures(*(Path(app.confdir, folder) for folder in folders))


def setup(app):
    app.add_config_value("chapters", "../chapters", "env")
    app.add_config_value("chapters_cache", "../_build/.jupyter_cache", "env")
    app.connect("builder-inited", load)
    app.add_directive("chapter-figure", ChapterFigure)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
