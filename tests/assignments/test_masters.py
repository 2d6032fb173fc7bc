"""Every hidden test of every problem set rejects what is wrong, and passes what is right."""

import ast
import re
import runpy
from pathlib import Path

import nbformat
import numpy as np
import pytest

HERE = Path(__file__).parent
NAMES = sorted(path.stem for path in (HERE / "wrong").glob("*.py"))
LEAST = 3  # wrong answers that each hidden test must reject, each wrong in its own way


def kept_answers(kind, name):
    """{question: {in a few words: source that redefines functions}}"""
    return runpy.run_path(str(HERE / kind / f"{name}.py"))[kind.upper()]


WRONG = {name: kept_answers("wrong", name) for name in NAMES}
RIGHT = {name: kept_answers("right", name) for name in NAMES}
QUESTIONS = [(name, question) for name in NAMES for question in WRONG[name]]


def like(value, fill):
    """Something of the shape of an answer, filled."""
    if isinstance(value, tuple):
        return tuple(like(part, fill) for part in value)
    if isinstance(value, str):
        return ""
    return np.full(np.shape(value), fill)


def off(value):
    """The answer, one per cent too large; or the other verdict."""
    if isinstance(value, tuple):
        return tuple(off(part) for part in value)
    if isinstance(value, str):
        return value[::-1]
    return not value if isinstance(value, bool) else 1.01 * value


def stubs(answers, functions):
    """Answers that answer nothing: empty, NaN, zeros, the first argument; for each function.

    And the right one, one per cent off.
    """
    kinds = {
        "empty array": lambda real: lambda *a: np.array([]),
        "NaN": lambda real: lambda *a: like(real(*a), np.nan),
        "zeros": lambda real: lambda *a: like(real(*a), 0.0),
        "its own argument": lambda real: lambda *a: a[0] if a else None,
        "nothing": lambda real: lambda *a: None,
        "one per cent": lambda real: lambda *a: off(real(*a)),
    }
    for kind, make in kinds.items():
        yield kind, answers | {name: make(answers[name]) for name in functions}


@pytest.mark.parametrize("name", NAMES)
def test_the_reference_passes_everything(problem_sets, name):
    problems = problem_sets[name]
    answers = problems.answers()
    for question in problems.questions.values():
        failed = [case.name for case in question.cases if not case.passes(answers)]
        assert not failed, f"{name} {question.name}: {failed}"


@pytest.mark.parametrize(("name", "question"), [(n, q) for n in NAMES for q in RIGHT[n]])
def test_other_right_answers_pass(problem_sets, name, question):
    problems = problem_sets[name]
    for what, source in RIGHT[name][question].items():
        answers = problems.answers(source)
        failed = [
            case.name for case in problems.questions[question].cases if not case.passes(answers)
        ]
        assert not failed, f"{what}: {failed}"


@pytest.mark.parametrize(("name", "question"), QUESTIONS)
def test_every_wrong_answer_is_rejected(problem_sets, name, question):
    problems = problem_sets[name]
    hidden = [case for case in problems.questions[question].cases if case.hidden]
    rejected = {case.name: [] for case in hidden}
    for what, source in WRONG[name][question].items():
        answers = problems.answers(source)
        for case in hidden:
            if not case.passes(answers):
                rejected[case.name].append(what)
    accepted = set(WRONG[name][question]).difference(*rejected.values())
    assert not accepted, f"no hidden test notices: {accepted}"
    few = {case: found for case, found in rejected.items() if len(found) < LEAST}
    assert not few, f"tests that reject too few of {set(WRONG[name][question])}: {few}"


@pytest.mark.parametrize(("name", "question"), QUESTIONS)
def test_stubs_fail_every_hidden_test(problem_sets, name, question):
    """And what students are given, functions that return nothing, fails every public one too."""
    problems = problem_sets[name]
    asked = problems.questions[question]
    for kind, answers in stubs(problems.answers(), asked.functions):
        cases = [case for case in asked.cases if case.hidden or kind == "nothing"]
        passed = [case.name for case in cases if case.passes(answers)]
        assert not passed, f"{kind} passes {passed}"


def test_every_problem_set_has_its_wrong_answers(problem_sets):
    assert list(problem_sets) == NAMES
    assert len(NAMES) == 6


@pytest.mark.parametrize("name", NAMES)
def test_otter_removes_what_only_the_solution_says(problem_sets, name):
    """Between the marks; what is left of a function is its signature and its docstring."""
    for question in problem_sets[name].questions.values():
        if question.manual:
            continue
        left, inside = [], False
        for line in question.solution.splitlines():
            inside |= line.strip() == "# BEGIN SOLUTION"
            left += [] if inside else [line]
            inside &= line.strip() != "# END SOLUTION"
        assert not inside
        tree = ast.parse("\n".join(left))
        names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
        assert names == question.functions
        assert len(tree.body) == len(names)
        assert all(ast.get_docstring(node) and len(node.body) == 1 for node in tree.body)


@pytest.mark.parametrize("name", NAMES)
def test_points_add_up(problem_sets, name):
    problems = problem_sets[name]
    assert 20 <= sum(question.points for question in problems.questions.values()) <= 40
    for question in problems.questions.values():
        if question.manual:
            assert "| rubric | points |" in question.solution
            rows = [line for line in question.solution.splitlines() if line.startswith("| ")]
            scores = [
                int(row.split("|")[-2]) for row in rows if row.split("|")[-2].strip().isdigit()
            ]
            assert sum(scores) == question.points, f"the rubric of {question.name}"
        else:
            assert sum(case.points for case in question.cases) == question.points
            assert any(case.hidden for case in question.cases)
            assert any(not case.hidden for case in question.cases)
            order = [case.hidden for case in question.cases]
            assert order == sorted(order), "public tests first: their numbers stay the same"


@pytest.mark.parametrize("name", NAMES)
def test_every_question_says_what_it_asks(problem_sets, name):
    for question in problem_sets[name].questions.values():
        head = question.text.splitlines()[0]
        assert f"({question.points} points, " in head
        assert "minutes)" in head
        levels = ("prove", "compute", "break", "research")
        assert any(f", {level}, " in head for level in levels), head


@pytest.mark.parametrize("name", NAMES)
def test_every_failure_says_something_that_otter_can_carry(problem_sets, name):
    """A double quote would end the message in the file that otter writes."""
    for question in problem_sets[name].questions.values():
        for case in question.cases:
            assert case.message.strip(), case.name
            assert '"' not in case.message, case.name


@pytest.mark.parametrize("name", NAMES)
def test_the_sections_to_read_again_exist(problem_sets, root, name):
    for question in problem_sets[name].questions.values():
        for number, title in re.findall(r"chapter (\d+), \*([^*]+)\*", question.text):
            (path,) = (root / "chapters").glob(f"{int(number):02d}-*.ipynb")
            cells = nbformat.read(path, as_version=4).cells
            lines = "\n".join(cell.source for cell in cells).splitlines()
            assert {f"## {title}", f"### {title}"} & set(lines), f"{question.name}: {title}"


@pytest.mark.parametrize("name", NAMES)
def test_every_graded_question_has_wrong_answers(problem_sets, name):
    questions = problem_sets[name].questions.values()
    graded = {question.name for question in questions if not question.manual}
    assert graded == set(WRONG[name])


@pytest.mark.parametrize("name", NAMES)
def test_tests_compare_strictly(problem_sets, name):
    """An empty array equals everything for `np.allclose` and `.all()`."""
    for question in problem_sets[name].questions.values():
        for case in question.cases:
            assert "np.allclose" not in case.source
            assert ".all()" not in case.source
            assert len({other.name for other in question.cases}) == len(question.cases)
