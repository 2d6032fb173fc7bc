"""The instructor's table of outcomes: every chapter, with exercises that it has."""

import re

import nbformat


def test_outcomes_name_exercises_of_every_chapter(root):
    text = (root / "chapters/instructors.md").read_text("utf-8")
    table = text[text.index("## Outcomes") : text.index("## Lecture plans")]
    rows = {int(n): line for n, line in re.findall(r"(?m)^\| (\d+) \|(.*)$", table)}
    paths = sorted((root / "chapters").glob("[0-9][0-9]-*.ipynb"))
    assert sorted(rows) == [int(path.name[:2]) for path in paths]
    for path in paths:
        cells = nbformat.read(path, as_version=4).cells
        labels = re.findall(r"(?m)^:label: (ex-\S+)$", "\n".join(cell.source for cell in cells))
        named = re.findall(r"\{ref\}`(ex-[^`]+)`", rows[int(path.name[:2])])
        assert len(named) >= 3
        assert set(named) <= set(labels), path.name
