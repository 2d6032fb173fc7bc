"""The trusted side: runs an assignment's otter tests on a submission and counts the points."""

import os
import stat
from pathlib import Path
from typing import Any

from otter.test_files import ExceptionTestFile
from otter.test_files.abstract_test import TestCase, TestCaseResult

from .sandbox import LIMITS, Limits, SandboxError
from .session import Session, Unreadable

MEMORY = 12 << 30  # a test that an answer drives beyond this fails; torch alone reserves several


class Environment(dict):
    """The names that otter hands to a test, fetched from the worker when first asked for."""

    def __init__(self, session: Session):
        super().__init__()
        self._session = session

    def get(self, name: str, default: Any = None) -> Any:
        """What the notebook has under this name, or ``default``."""
        if name not in self:
            self[name] = self._session.get(name)
        return default if self[name] is None else self[name]


def judge(
    path: Path, tests: dict[str, str], command: list[str], limits: Limits = LIMITS
) -> dict[str, Any]:
    """Grade one submission.

    Args:
        path: the submitted file; it is read, never executed here.
        tests: the source of each question's otter test file, in the exception-based format.
        command: starts a worker, from ``sandbox.worker_command``.
        limits: what the submission may use.

    Returns:
        The submission's ``status`` (graded, unreadable, not graded), the ``reason`` for it and for
        what was left out, the points of each of the ``questions``, and its ``cases``.
    """
    questions = [ExceptionTestFile.from_string(source, name) for name, source in tests.items()]
    try:
        session = Session(read(path, limits.notebook), command, limits)
    except Unreadable as error:
        return row(questions, "unreadable", str(error))
    except SandboxError as error:
        return row(questions, "not graded", str(error))
    try:
        environment = Environment(session)
        results: dict[int, Any] = {}
        # Whatever a notebook does when it sees a hidden input, its public answers are in.
        for hidden in (False, True):
            for question in questions:
                cases = [case for case in question.test_cases if case.hidden == hidden]
                part = ExceptionTestFile(question.name, question.path, cases)
                part.source = question.source
                part.run(environment)
                results |= {id(result.test_case): result for result in part.test_case_results}
    finally:
        session.close()
    if session.broken:
        return row(questions, "not graded", session.broken)
    for question in questions:
        question.test_case_results = [results[id(case)] for case in question.test_cases]
    return row(questions, "graded", "; ".join(session.notes))


def read(path: Path, limit: int) -> bytes:
    """The bytes of a regular file, without following links or waiting for pipes."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        with open(os.open(path, flags | getattr(os, "O_BINARY", 0)), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise Unreadable("not a regular file")
            content = file.read(limit + 1)
    except OSError as error:
        raise Unreadable(f"the file cannot be read: {error.strerror}") from None
    if len(content) > limit:
        raise Unreadable(f"larger than {limit / 2**20:g} MB")
    return content


def case_name(case: TestCase) -> str:
    """A test's name, from its function: otter gives only numbers."""
    return case.body.test_func.__name__.removeprefix("test_").replace("_", " ")


def found(result: TestCaseResult) -> str:
    """The line that a public test failed at, and how; neither inputs nor expected values."""
    if result.passed or result.test_case.hidden:
        return ""
    return "\n".join(result.message.splitlines()[1:4])[:1000]


def row(questions: list[ExceptionTestFile], status: str, reason: str) -> dict[str, Any]:
    """The result as plain data; a submission that was not graded has no points, not zero."""
    cases = [
        {
            "question": question.name,
            "name": case_name(result.test_case),
            "hidden": result.test_case.hidden,
            "points": result.test_case.points,
            "passed": result.passed,
            "hint": result.test_case.success_message
            if result.passed
            else result.test_case.failure_message,
            "message": found(result),
        }
        for question in questions
        for result in question.test_case_results
    ]
    # otter counts a question without results as passed where it is all or nothing
    none = {"graded": None, "unreadable": 0.0, "not graded": None}[status]
    points = {q.name: float(q.score) if status == "graded" else none for q in questions}
    return {
        "status": status,
        "reason": reason,
        "questions": points,
        "possible": {question.name: float(question.possible) for question in questions},
        "cases": cases,
    }
