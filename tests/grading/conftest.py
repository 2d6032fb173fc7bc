"""The trial assignment, made once, and a way to grade files of it."""

import importlib.util
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # trial.py and hostile.py

if importlib.util.find_spec("otter") or os.environ.get("ICGD_REQUIRE_SANDBOX"):
    import nbformat
    import trial

    from icgd_grading import assignments, classroom
    from icgd_grading.sandbox import LIMITS, SandboxError, worker_command
else:  # installed without the extra for grading
    LIMITS, collect_ignore_glob = None, ["test_*.py"]


@pytest.fixture(scope="session")
def sandbox():
    """Skips where there is no sandbox, except on a machine whose task it is to test it."""
    try:
        return worker_command(LIMITS)
    except SandboxError as error:
        if os.environ.get("ICGD_REQUIRE_SANDBOX"):
            raise
        pytest.skip(str(error))


def made(folder, questions):
    (folder / "source/trial").mkdir(parents=True)
    nbformat.write(trial.master(questions), folder / "source/trial/master.ipynb")
    return assignments.make("trial", folder / "source", folder / "build")


@pytest.fixture(scope="session")
def assignment(tmp_path_factory):
    return made(tmp_path_factory.mktemp("trial"), [*trial.SOLUTIONS, *trial.BY_HAND])


@pytest.fixture(scope="session")
def light(tmp_path_factory):
    """The questions that need no torch, whose import is most of a submission's time."""
    return made(tmp_path_factory.mktemp("light"), ["q1", "q2"])


@pytest.fixture(scope="session")
def grade(sandbox, tmp_path_factory):
    """Grades {file name: bytes or notebook}: {file name: row}, and the folder of the results."""

    def grade(assignment, files, limits=LIMITS, folder=None, **options):
        folder = folder or tmp_path_factory.mktemp("class")
        handed_in = folder / "handed in"
        handed_in.mkdir(exist_ok=True)
        for name, content in files.items():
            if not isinstance(content, bytes):
                content = nbformat.writes(content).encode()
            (handed_in / name).write_bytes(content)
        results = folder / "results"
        rows = classroom.grade(assignment, handed_in, results, limits=limits, **options)
        return {row["submission"]: row for row in rows}, results

    return grade
