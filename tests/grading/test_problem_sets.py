"""The course's own problem sets, made by otter and graded as students' notebooks are."""

import ast
import runpy
from pathlib import Path

import nbformat
import pytest

from icgd_grading import assignments, classroom
from icgd_grading.sandbox import LIMITS

ROOT = Path(__file__).resolve().parents[2]
NAMES = assignments.names(ROOT / "assignments")


def wrong_answers(name):
    """{question: {what is wrong: source}}, from the tests of the masters."""
    return runpy.run_path(str(ROOT / "tests/assignments/wrong" / f"{name}.py"))["WRONG"]


@pytest.fixture(scope="module", params=NAMES)
def made(request):
    """Kept in _build, as by the commands: otter runs again only where a master has changed."""
    return assignments.make(request.param, ROOT / "assignments", ROOT / "_build" / "assignments")


def with_wrong_answers(notebook):
    """The solution with the first wrong answer to each question put after its right one."""
    name = Path(notebook).stem
    content = nbformat.read(notebook, 4)
    for changes in wrong_answers(name).values():
        content.cells.append(nbformat.v4.new_code_cell(next(iter(changes.values()))))
    return content


def test_solution_earns_every_point_wrong_answers_do_not(made, sandbox, tmp_path):
    wrong = tmp_path / f"{made.name}.ipynb"
    nbformat.write(with_wrong_answers(made.solution), wrong)
    rows = {}
    for path in (made.solution, wrong):
        rows[path] = classroom.in_own_process(path, made.tests, sandbox, LIMITS)
        assert rows[path]["status"] == "graded"
    solved = rows[made.solution]
    assert (solved["reason"], solved["questions"]) == ("", solved["possible"])
    for question in wrong_answers(made.name):
        assert rows[wrong]["questions"][question] < solved["possible"][question], question


def test_tests_keep_to_what_the_judge_can_run(made):
    """A test takes the students' names and imports the rest; ``env`` would be another process's."""
    for source in made.tests.values():
        tree = ast.parse(source)
        for function in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
            names = [argument.arg for argument in function.args.args]
            assert "env" not in names, function.name
            assert function.name.startswith("test_"), "its name is what students read"
