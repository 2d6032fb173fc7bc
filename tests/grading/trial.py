"""A trial assignment, and the notebooks that are handed in.

Three questions have tests, worth eight points; one is marked by hand.
"""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import nbformat
from nbformat import v4

from icgd_grading import classroom, judge

CONFIG = """# ASSIGNMENT CONFIG
name: trial
init_cell: true
export_cell: false
check_all_cell: false
generate: true
tests:
    ok_format: false
"""

SOLUTIONS = {
    "q1": "import numpy as np\n\ndef gradient(X, y, w):\n    return X.T @ (X @ w - y) / len(y)",
    "q2": "step_size = 0.5",
    "q3": (
        "import torch\n\nclass Attention(torch.nn.Module):\n"
        "    def __init__(self, A):\n        super().__init__()\n"
        "        self.A = torch.nn.Parameter(A)\n\n"
        "def predict(A, X, y, query):\n    return y @ X @ A @ query / len(y)\n\n"
        "def trained(A, rate):\n    model = Attention(A)\n    (model.A**2).sum().backward()\n"
        "    with torch.no_grad():\n        model.A -= rate * model.A.grad\n    return model"
    ),
}

TESTS = {
    "q1": [
        (
            "shape",
            1,
            False,
            "import numpy as np\n"
            "X = np.arange(15.0).reshape(5, 3)\n"
            "assert gradient(X, np.ones(5), np.zeros(3)).shape == (3,)",
        ),
        (
            "value",
            1,
            True,
            "import numpy as np\n"
            "X = np.random.default_rng(3).normal(size=(5, 3))\n"
            "y, w = np.arange(5.0), np.array([1.0, -2.0, 0.5])\n"
            "expected = sum(x * (x @ w - t) for x, t in zip(X, y)) / 5\n"
            "np.testing.assert_allclose(gradient(X, y, w), expected, rtol=1e-10, strict=True)",
        ),
        (
            "at the minimum",
            1,
            True,
            "import numpy as np\n"
            "X = np.random.default_rng(4).normal(size=(7, 2))\n"
            "w = np.array([3.0, -1.0])\n"
            "g = gradient(X, X @ w, w)\n"
            "np.testing.assert_allclose(g, np.zeros(2), atol=1e-12, strict=True)\n"
            "g = gradient(X, X @ w, 2 * w)\n"
            "np.testing.assert_allclose(g @ w, np.mean((X @ w) ** 2), rtol=1e-10)",
        ),
    ],
    "q2": [
        ("positive", 1, False, "assert 0 < step_size < 1"),
        ("the largest", 1, True, "import math\nassert math.isclose(step_size, 0.5, rel_tol=1e-12)"),
    ],
    "q3": [
        (
            "a number",
            1,
            False,
            "import torch\n"
            "A = torch.eye(2, dtype=torch.float64)\n"
            "X, y = torch.ones(3, 2, dtype=A.dtype), torch.ones(3, dtype=A.dtype)\n"
            "assert predict(A, X, y, X[0]).shape == ()",
        ),
        (
            "against a loop",
            1,
            True,
            "import torch\n"
            "g = torch.Generator().manual_seed(5)\n"
            "A = torch.randn(2, 2, dtype=torch.float64, generator=g)\n"
            "X = torch.randn(3, 2, dtype=torch.float64, generator=g)\n"
            "y = torch.randn(3, dtype=torch.float64, generator=g)\n"
            "expected = sum(t * (x @ A @ X[1]) for x, t in zip(X, y)) / 3\n"
            "torch.testing.assert_close(predict(A, X, y, X[1]), expected)",
        ),
        (
            "a step",
            1,
            True,
            "import torch\n"
            "A = torch.tensor([[1.0, 2.0], [3.0, 5.0]], dtype=torch.float64)\n"
            "parameters = trained(A.clone(), 0.1)\n"
            "torch.testing.assert_close(parameters['A'], 0.8 * A)",
        ),
    ],
}

ARGUMENTS = {"q1": ["gradient"], "q2": ["step_size"], "q3": ["predict", "trained"]}
POINTS = 8
BY_HAND = {"q4": 4}


def master(questions: Iterable[str] = (*SOLUTIONS, *BY_HAND)) -> nbformat.NotebookNode:
    """The master notebook that ``otter assign`` reads."""
    cells = [v4.new_raw_cell(CONFIG), v4.new_markdown_cell("# A trial")]
    for question in questions:
        if question in BY_HAND:
            config = f"name: {question}\npoints: {BY_HAND[question]}\nmanual: true"
            cells.append(v4.new_raw_cell(f"# BEGIN QUESTION\n{config}"))
            cells.append(v4.new_markdown_cell("Prove it."))
            cells.append(v4.new_raw_cell("# BEGIN SOLUTION"))
            cells.append(v4.new_markdown_cell("It is obvious."))
            cells.append(v4.new_raw_cell("# END SOLUTION"))
            cells.append(v4.new_raw_cell("# END QUESTION"))
            continue
        solution = SOLUTIONS[question]
        cells.append(v4.new_raw_cell(f"# BEGIN QUESTION\nname: {question}"))
        cells.append(v4.new_markdown_cell(f"**{question}**"))
        cells.append(v4.new_raw_cell("# BEGIN SOLUTION"))
        cells.append(v4.new_code_cell(f"# BEGIN SOLUTION NO PROMPT\n{solution}\n# END SOLUTION"))
        cells.append(v4.new_raw_cell("# END SOLUTION"))
        cells.append(v4.new_raw_cell("# BEGIN TESTS"))
        for name, points, hidden, body in TESTS[question]:
            function = f"test_{name.replace(' ', '_')}"
            config = f"points: {points}\nhidden: {str(hidden).lower()}\n"
            config += f"failure_message: Look at {question} again."
            names = ", ".join(a for a in ARGUMENTS[question] if a in body)
            lines = [f"def {function}({names}):", *("    " + line for line in body.splitlines())]
            header = f'""" # BEGIN TEST CONFIG\n{config}\n""" # END TEST CONFIG\n'
            cells.append(
                v4.new_code_cell(header + "\n".join([*lines, f"{function}({names})  # IGNORE"]))
            )
        cells.append(v4.new_raw_cell("# END TESTS"))
        cells.append(v4.new_raw_cell("# END QUESTION"))
    return notebook(cells)


def notebook(cells) -> nbformat.NotebookNode:
    """A notebook of these cells; strings are code."""
    cells = [v4.new_code_cell(cell) if isinstance(cell, str) else cell for cell in cells]
    for number, cell in enumerate(cells):
        cell["id"] = f"c{number}"
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


def answers(**changed: str) -> nbformat.NotebookNode:
    """A submission: the solutions, with some questions answered otherwise."""
    start = 'import otter\ngrader = otter.Notebook("trial.ipynb")'
    cells = [start]
    for question, source in (SOLUTIONS | changed).items():
        cells += [source, f'grader.check("{question}")']
    return notebook(cells)


def grade_in_this_process(*arguments) -> None:
    """Grades a class in a process that will be killed: its own judges would take long to start."""
    classroom.in_own_process = judge.judge
    classroom.grade(*arguments, jobs=1)


def running(mark: str) -> list[str]:
    """The command lines of all processes of this machine that hold ``mark``."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            found.append(path.read_text("utf-8", errors="replace").replace("\0", " "))
    return [line for line in found if mark in line]
