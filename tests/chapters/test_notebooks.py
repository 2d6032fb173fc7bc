"""The rules that every chapter keeps, read from the files as they are committed."""

import ast
import re
from pathlib import Path

import nbformat
import pytest

CHAPTERS = Path(__file__).resolve().parents[2] / "chapters"
NOTEBOOKS = sorted(CHAPTERS.glob("*.ipynb"))
NUMBERED = [path for path in NOTEBOOKS if re.match(r"\d\d-", path.name)]
LONGEST_CELL = 20  # lines
WIDEST_LINE = 79  # columns: a printed page holds no more
DRAWING_CALLS = {"figure", "show", "subplot_mosaic", "subplots"}  # of pyplot, or of our figures

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
every_chapter = pytest.mark.parametrize("path", NUMBERED, ids=lambda path: path.stem)


def cells_of(path, cell_type):
    """(number, cell) for the cells of one type; numbers count all cells from 1."""
    notebook = nbformat.read(path, as_version=4)
    return [(i, c) for i, c in enumerate(notebook.cells, start=1) if c.cell_type == cell_type]


def tags(cell):
    return cell.metadata.get("tags", [])


def draws(source):
    """Whether a cell's code calls a function that opens or shows a figure."""
    code = "\n".join(line for line in source.splitlines() if not line.lstrip().startswith("%"))
    calls = (node.func for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call))
    return any(isinstance(f, ast.Attribute) and f.attr in DRAWING_CALLS for f in calls)


def test_there_are_chapters():
    assert NUMBERED, f"no numbered chapter in {CHAPTERS}"


@pytest.mark.parametrize("path", sorted(CHAPTERS.iterdir()), ids=lambda path: path.name)
def test_file_names_use_hyphens(path):
    assert "_" not in path.name, "an underscore changes the page's address in Jupyter Book 2"


@every_notebook
def test_is_in_the_committed_form(path, notebook_tool):
    """No outputs but kept text, ids from the sources, the plain kernelspec."""
    text = path.read_text("utf-8")
    tidy = notebook_tool.as_text(notebook_tool.tidy(nbformat.reads(text, as_version=4)))
    assert text == tidy, f"{path.name} is not tidy; run: python3 tasks.py notebooks {path.stem}"


@every_notebook
def test_checked_outputs_are_kept(path):
    for number, cell in cells_of(path, "code"):
        if "nbval-check-output" in tags(cell):
            assert "keep_output" in tags(cell), f"cell {number} is compared with nothing"
            assert cell.outputs, f"cell {number} has no stored output to compare with"


@every_notebook
def test_code_cells_are_short(path):
    for number, cell in cells_of(path, "code"):
        lines = cell.source.splitlines()
        assert len(lines) <= LONGEST_CELL, f"cell {number}: {len(lines)} lines; move code to lib/"
        widest = max(map(len, lines), default=0)
        assert widest <= WIDEST_LINE, f"cell {number}: a line of {widest} columns"


@every_notebook
def test_figures_have_caption_and_alternative_text(path):
    for number, cell in cells_of(path, "code"):
        if draws(cell.source):
            render = cell.metadata.get("mystnb", {})
            figure, image = render.get("figure", {}), render.get("image", {})
            assert figure.get("caption"), f"cell {number} draws a figure without a caption"
            assert figure.get("name"), f"cell {number} draws a figure that cannot be referred to"
            assert image.get("alt"), f"cell {number} draws a figure without alternative text"


def test_figure_names_are_unique():
    seen = {}
    for path in NOTEBOOKS:
        for number, cell in cells_of(path, "code"):
            if name := cell.metadata.get("mystnb", {}).get("figure", {}).get("name"):
                assert name not in seen, f"{name}: {seen[name]} and {path.stem}, cell {number}"
                seen[name] = f"{path.stem}, cell {number}"


@every_chapter
def test_says_how_long_it_takes(path):
    opening = "\n".join(cell.source for _, cell in cells_of(path, "markdown")[:2])
    assert re.search(r"\d+\s+min", opening), "the opening must say how many minutes it takes"
