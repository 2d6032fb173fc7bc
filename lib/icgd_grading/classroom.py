"""A folder of submissions into a table: in parallel, and able to go on after an interruption."""

import ast
import hashlib
import json
import multiprocessing
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from pathlib import Path
from typing import Any

from tqdm import tqdm

from . import gradebook, judge
from .assignments import Assignment, AssignmentError
from .sandbox import LIMITS, Limits, worker_command

UNPROTECTED = """\
NO SANDBOX. A notebook that is graded like this can read and delete your files, use the network,
read the hidden tests, end or slow down the grader, change other students' results and leave
programs behind. Patching the grader, numpy or builtins still earns nothing: the tests run in
another process. Do this only with notebooks that you would run on this machine yourself."""


class Journal:
    """Results as they come, one line each; a line that a kill has cut is graded again."""

    def __init__(self, path: Path):
        self.path, self._lock = path, threading.Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = path.read_text("utf-8").splitlines() if path.is_file() else []
        self.rows: dict[str, dict[str, Any]] = {}
        for line in lines:
            try:
                entry = json.loads(line)
                self.rows[entry["key"]] = entry["row"]
            except (ValueError, LookupError, TypeError):
                continue
        with open(path, "a", encoding="utf-8") as file:
            file.write("\n" if lines else "")

    def add(self, key: str, row: dict[str, Any]) -> None:
        """Append, and have it on the disk before going on."""
        with self._lock, open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps({"key": key, "row": row}) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self.rows[key] = row


def submissions(folder: Path) -> dict[str, Path]:
    """Every file in the folder and below by its relative name, hidden ones and caches aside."""
    found = {}
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if not path.is_dir() and not any(part.startswith((".", "__")) for part in parts):
            found["/".join(parts)] = path
    return found


def key(name: str, path: Path, assignment: Assignment, limits: Limits) -> str:
    """Names one result: whose, of which bytes, by which tests."""
    try:
        content = judge.read(path, limits.notebook)
    except judge.Unreadable as error:
        content = str(error).encode()
    parts = [name, hashlib.sha256(content).hexdigest(), assignment.hash, repr(limits)]
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


def grade(
    assignment: Assignment,
    folder: Path,
    results: Path,
    *,
    jobs: int = 2,
    sandboxed: bool = True,
    private: tuple[Path, ...] = (),
    limits: Limits = LIMITS,
) -> list[dict[str, Any]]:
    """Grade every file of a folder; writes a journal, then all that ``gradebook`` does.

    Submissions whose result is in the journal are not graded again, unless they were not graded.

    Raises:
        SandboxError: there is no sandbox, before anything is graded.
        AssignmentError: the solution does not get every point by the same procedure, or a mark
            by hand has to be mended.
    """
    hidden = (folder, results, assignment.folder, *private)
    command = worker_command(limits, sandboxed=sandboxed, private=hidden)
    if not sandboxed:
        print(UNPROTECTED, file=sys.stderr)
    tests = assignment.tests
    found = submissions(folder)
    keys = {name: key(name, path, assignment, limits) for name, path in found.items()}
    journal = Journal(results / "journal.jsonl")
    missing = {"status": "not graded"}
    todo = [n for n in found if journal.rows.get(keys[n], missing)["status"] == "not graded"]
    if todo:
        _check_solution(in_own_process(assignment.solution, tests, command, limits), assignment)
    with ThreadPoolExecutor(jobs) as pool:
        futures = {
            pool.submit(in_own_process, found[name], tests, command, limits): name for name in todo
        }
        try:
            for future in tqdm(as_completed(futures), "graded", len(todo), unit="notebook"):
                journal.add(keys[futures[future]], future.result())
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    rows = [{"submission": name, **journal.rows[keys[name]]} for name in found]
    return gradebook.write(rows, assignment.name, list(tests), assignment.manual, results)


def in_own_process(path: Path, tests: dict[str, str], command: list[str], limits: Limits) -> dict:
    """Judge in a fresh process, so that no submission inherits anything from the one before."""
    kind = "spawn" if os.name == "nt" else "forkserver"
    context = multiprocessing.get_context(kind)
    if kind == "forkserver":
        context.set_forkserver_preload([f"{__package__}.preload", *sorted(imported(tests))])
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_judge, args=(theirs, path, tests, command, limits))
    process.daemon = True
    began, patience = time.monotonic(), 2 * limits.total + limits.start
    process.start()
    theirs.close()
    try:
        if not ours.poll(patience):
            return _not_graded(f"its judge did not end within {patience:g} s")
        row = json.loads(ours.recv_bytes())
        return {**row, "seconds": round(time.monotonic() - began, 2)}
    except EOFError:
        process.join()
        return _not_graded(f"its judge ended with code {process.exitcode}")
    finally:
        process.kill()
        process.join()
        ours.close()


def imported(tests: dict[str, str]) -> set[str]:
    """The modules that the tests import."""
    nodes = [node for test in tests.values() for node in ast.walk(ast.parse(test))]
    plain = {name.name for node in nodes if isinstance(node, ast.Import) for name in node.names}
    return plain | {n.module for n in nodes if isinstance(n, ast.ImportFrom) and n.module}


def _judge(pipe: Any, path: Path, tests: dict[str, str], command: list[str], limits: Limits):
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (judge.MEMORY, judge.MEMORY))
    except (ImportError, OSError, ValueError):  # Windows, macOS
        pass
    row = judge.judge(path, tests, command, limits)
    with suppress(BrokenPipeError):  # the grader was stopped
        pipe.send_bytes(json.dumps(row).encode())


def _not_graded(reason: str) -> dict[str, Any]:
    return {"status": "not graded", "reason": reason, "questions": {}, "possible": {}, "cases": []}


def _check_solution(row: dict[str, Any], assignment: Assignment) -> None:
    if row["questions"] != row["possible"] or row["status"] != "graded" or row["reason"]:
        failed = ", ".join(f"{c['question']} {c['name']}" for c in row["cases"] if not c["passed"])
        raise AssignmentError(
            f"Nothing was graded: the solution of {assignment.name} does not get every point. "
            + "; ".join(part for part in (row["status"], row["reason"], failed) if part)
        )
