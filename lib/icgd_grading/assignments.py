"""Assignments from their master notebooks: students' and solution versions, tests, the zip."""

import ast
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import yaml
from otter.assign import main as otter_assign


class AssignmentError(Exception):
    """The assignment cannot be made or used; what to do about it."""


@dataclass(frozen=True)
class Assignment:
    """A problem set as otter has made it, in ``folder``."""

    name: str
    folder: Path

    @property
    def student(self) -> Path:
        """The notebook that students are given."""
        return self.folder / "student" / f"{self.name}.ipynb"

    @property
    def solution(self) -> Path:
        """The notebook with the solutions."""
        return self.folder / "autograder" / f"{self.name}.ipynb"

    @property
    def autograder(self) -> Path:
        """The zip that otter's own commands take."""
        return next((self.folder / "autograder").glob("*.zip"))

    @property
    def tests(self) -> dict[str, str]:
        """The source of each question's test file, public and hidden, in the questions' order."""
        with zipfile.ZipFile(self.autograder) as archive:
            names = [name for name in archive.namelist() if re.fullmatch(r"tests/.+\.py", name)]
            return {Path(name).stem: archive.read(name).decode() for name in in_order(names)}

    @property
    def manual(self) -> dict[str, float]:
        """The questions that are marked by hand, and the maximum of each."""
        master = json.loads((self.folder / "source" / f"{self.name}.ipynb").read_text("utf-8"))
        raw = ["".join(c["source"]) for c in master["cells"] if c["cell_type"] == "raw"]
        configs = [yaml.safe_load(text) for text in raw if text.startswith("# BEGIN QUESTION")]
        return {c["name"]: float(c["points"]) for c in configs if c.get("manual")}

    @property
    def hash(self) -> str:
        """Changes when a test changes: a result of other tests is not reused."""
        return hashlib.sha256(repr(self.tests).encode()).hexdigest()


def in_order(questions: Iterable[str]) -> list[str]:
    """Sorted by the numbers in their names."""
    return sorted(questions, key=lambda name: ([int(n) for n in re.findall(r"\d+", name)], name))


def names(source: Path) -> list[str]:
    """The assignments in the folder ``source``: one folder each, with its master.ipynb."""
    return sorted(path.parent.name for path in source.glob("*/master.ipynb"))


def make(name: str, source: Path, build: Path) -> Assignment:
    """The assignment ``name``, made by ``otter assign`` unless nothing has changed since.

    Raises:
        AssignmentError: there is no such assignment, or its tests are not exception-based.
    """
    if name not in names(source):
        known = ", ".join(names(source)) or "none"
        raise AssignmentError(f"There is no {source / name / 'master.ipynb'}. There are: {known}")
    files = sorted(path for path in (source / name).rglob("*") if path.is_file())
    content = [f"{path}: {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in files]
    state = "\n".join([version("otter-grader"), *content])
    assignment, stamp = Assignment(name, build / name), build / name / "made-from.txt"
    if stamp.is_file() and stamp.read_text("utf-8") == state:
        return assignment
    shutil.rmtree(build / name, ignore_errors=True)
    copy = build / name / "source"
    shutil.copytree(source / name, copy)
    master = (copy / "master.ipynb").rename(copy / f"{name}.ipynb")  # otter keeps the file's name
    # The solution is run by the judge before it grades, on the same terms as a student's notebook.
    try:
        otter_assign(str(master), str(build / name), no_run_tests=True)
    except Exception as error:
        raise AssignmentError(f"otter assign failed on {name}: {error}") from error
    check_tests(name, assignment.tests)
    stamp.write_text(state, "utf-8")
    return assignment


def check_tests(name: str, tests: dict[str, str]) -> None:
    """Raise AssignmentError where otter would lose a test or the judge could not run it."""
    for question, test in tests.items():
        if "OK_FORMAT = True" in test:
            raise AssignmentError(f"{name}: write its tests as functions (tests: ok_format: false)")
        functions = [n.name for n in ast.parse(test).body if isinstance(n, ast.FunctionDef)]
        if len(functions) != len(set(functions)):  # otter would keep only the last of a name
            raise AssignmentError(f"{name}, {question}: two of its test functions have one name")


def bundle(assignments: list[Assignment], repository: Path, target: Path) -> Path:
    """The students' zip: notebooks, the library as a wheel, exact versions, how to start."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        return _pack(assignments, repository, target, _wheel(repository, Path(folder)))


def _wheel(repository: Path, folder: Path) -> Path:
    """The library as a wheel, built from a copy: a build leaves files beside its source."""
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(repository / name, folder)
    shutil.copytree(repository / "lib" / "icgd", folder / "lib" / "icgd")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    if subprocess.run([*pip, "-w", str(folder), str(folder)]).returncode != 0:
        raise AssignmentError("The library's wheel could not be built; pip's message is above.")
    return next(folder.glob("*.whl"))


def _pack(assignments: list[Assignment], repository: Path, target: Path, wheel: Path) -> Path:
    otter = f"otter-grader=={version('otter-grader')}"
    texts = {
        "requirements.txt": f"-c constraints.txt\n./{wheel.name}\njupyterlab\nnbclient\n{otter}\n",
        "constraints.txt": (repository / "constraints.txt").read_text("utf-8"),
    }
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in texts.items():
            archive.writestr(name, text)
        archive.write(wheel, wheel.name)
        folders = [assignment.student.parent for assignment in assignments]
        for folder in (repository / "assignments" / "bundle", *folders):
            for path in sorted(folder.rglob("*")):
                archive.write(path, path.relative_to(folder))
    return target
