"""The problem sets, read from their masters as otter reads them, without a kernel or a sandbox."""

import ast
import re
from dataclasses import dataclass, field

import nbformat
import pytest
import yaml


@dataclass
class Case:
    """One test function of a question."""

    name: str
    points: int
    hidden: bool
    message: str
    source: str

    def passes(self, answers):
        """Whether these names of a student's notebook pass; the test sees no others."""
        names = {}
        exec(compile(self.source, self.name, "exec"), names)
        function = names[self.name]
        wanted = function.__code__.co_varnames[: function.__code__.co_argcount]
        try:
            function(*(answers.get(name) for name in wanted))
        except Exception:
            return False
        return True


@dataclass
class Question:
    name: str
    points: int
    manual: bool
    text: str = ""
    solution: str = ""
    cases: list[Case] = field(default_factory=list)

    @property
    def functions(self):
        """The names that the question asks for."""
        tree = ast.parse(self.solution) if not self.manual else ast.Module([])
        return [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]


@dataclass
class ProblemSet:
    name: str
    imports: str
    questions: dict[str, Question]

    def answers(self, *changes):
        """The names that a notebook with the reference answers and these changes defines."""
        names = {}
        cells = [self.imports, *(q.solution for q in self.questions.values() if not q.manual)]
        for source in (*cells, *changes):
            exec(compile(source, self.name, "exec"), names)
        return names


def read_case(source):
    head, body = re.fullmatch(
        r'""" # BEGIN TEST CONFIG\n(.*?)\n""" # END TEST CONFIG\n(.*)', source, re.DOTALL
    ).groups()
    config = yaml.safe_load(head)
    name = ast.parse(body).body[0].name
    return Case(name, config["points"], config["hidden"], config["failure_message"], body)


def read(path):
    cells = nbformat.read(path, as_version=4).cells
    imports = next(cell.source for cell in cells if cell.cell_type == "code")
    problems, question, inside = ProblemSet(path.parent.name, imports, {}), None, None
    for cell in cells:
        if cell.cell_type == "raw":
            mark = cell.source.splitlines()[0].removeprefix("# ")
            if mark == "BEGIN QUESTION":
                config = yaml.safe_load("\n".join(cell.source.splitlines()[1:]))
                question = Question(config["name"], config["points"], config.get("manual", False))
                problems.questions[question.name] = question
            inside = mark.removeprefix("BEGIN ") if mark.startswith("BEGIN ") else None
        elif question and inside == "QUESTION":
            question.text += cell.source
        elif question and inside == "SOLUTION":
            question.solution += cell.source
        elif question and inside == "TESTS":
            question.cases.append(read_case(cell.source))
    return problems


@pytest.fixture(scope="session")
def problem_sets(root):
    paths = sorted((root / "assignments").glob("*/master.ipynb"))
    return {path.parent.name: read(path) for path in paths}
