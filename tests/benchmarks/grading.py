"""A class of 300 graded by two workers, a tenth of it hostile: time, memory, and what must hold.

    python tests/benchmarks/grading.py                      a quarter of an hour: the class twice
    python tests/benchmarks/grading.py --submissions 40     three minutes

First the whole class, timed; then again, which must grade nothing and give the same table; then
afresh, killed in the middle and resumed, which must give the same table once more. No row may be
lost, no honest one may differ from its known points, and no hostile one may earn a point.
"""

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nbformat
import psutil

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "grading"))

import trial  # noqa: E402
from hostile import ATTACKS  # noqa: E402

from icgd_grading import assignments  # noqa: E402

MINUTES = 8
GRADIENT = "import numpy as np\ndef gradient(X, y, w):\n    return "
HONEST = {  # changes to the solution, and the points that are left
    "right": ({}, 8),
    "factor-2": ({"q1": GRADIENT + "2 * X.T @ (X @ w - y) / len(y)"}, 6),
    "a-half-more": ({"q2": "step_size = 0.75"}, 7),
    "transposed": ({"q3": trial.SOLUTIONS["q3"].replace("X @ A @ query", "X @ A.T @ query")}, 7),
    "zeros": ({"q1": GRADIENT + "np.zeros(X.shape[1])"}, 6),
    "unfinished": ({"q1": GRADIENT + "...", "q2": "step_size = ..."}, 3),
}


def hand_in(folder, number, hostile):
    """Write the notebooks; returns the points that each must get."""
    expected = {}
    kinds = list(HONEST)
    attacks = [name for name, attack in ATTACKS.items() if attack.points == 0]
    for n in range(number - hostile):
        kind = kinds[n % len(kinds)]
        changes, expected[f"student-{n:03d}-{kind}.ipynb"] = HONEST[kind]
        content = trial.answers(**changes)
        content.metadata["student"] = n  # no two files are the same
        nbformat.write(content, folder / f"student-{n:03d}-{kind}.ipynb")
    for n in range(hostile):
        attack = attacks[n * len(attacks) // hostile]
        name = f"student-{10 * n:03d}x-{attack}.ipynb"
        (folder / name).write_bytes(ATTACKS[attack].content)
        expected[name] = 0
    return expected


def start(assignment, folder, results):
    program = (
        "import sys; from pathlib import Path; from icgd_grading import assignments, classroom\n"
        "if __name__ == '__main__':\n"
        "    made, handed_in, results = map(Path, sys.argv[1:])\n"
        "    classroom.grade(assignments.Assignment('trial', made), handed_in, results, jobs=2)\n"
    )
    script = results.with_suffix(".py")
    script.write_text(program)
    command = [sys.executable, script, assignment.folder, folder, results]
    return subprocess.Popen(command)


def watch(process, until=lambda: False):
    """Wait for the end or ``until``; returns seconds and the peak memory of all processes."""
    began, peak = time.monotonic(), 0
    while process.poll() is None and not until():
        try:
            grader = psutil.Process(process.pid)
            total = sum(p.memory_info().rss for p in [grader, *grader.children(recursive=True)])
            peak = max(peak, total)
        except psutil.NoSuchProcess:
            pass
        time.sleep(0.5)
    return time.monotonic() - began, peak


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--submissions", type=int, default=300, help="(default: %(default)s)")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    args = parser.parse_args()
    number, hostile = args.submissions, args.submissions // 10
    work = Path(tempfile.mkdtemp())
    (work / "source/trial").mkdir(parents=True)
    nbformat.write(trial.master(), work / "source/trial/master.ipynb")
    assignment = assignments.make("trial", work / "source", work / "build")
    folder = work / "handed in"
    folder.mkdir()
    expected = hand_in(folder, number, hostile)

    first = start(assignment, folder, work / "first")
    seconds, peak = watch(first)
    table = (work / "first/grades.csv").read_bytes()
    grades = json.loads((work / "first/grades.json").read_text())
    rows = {row["submission"]: row for row in grades["rows"]}
    again, _ = watch(start(assignment, folder, work / "first"))
    same_again = (work / "first/grades.csv").read_bytes() == table

    journal = work / "second/journal.jsonl"

    def halfway():
        return journal.is_file() and journal.read_bytes().count(b"\n") >= number // 2

    killed = start(assignment, folder, work / "second")
    watch(killed, halfway)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    done = journal.read_bytes().count(b"\n")
    watch(start(assignment, folder, work / "second"))
    same_resumed = (work / "second/grades.csv").read_bytes() == table

    points = {name: sum(p or 0 for p in row["questions"].values()) for name, row in rows.items()}
    times = [row["seconds"] for name, row in rows.items() if "x-" not in name]
    figures = {
        "submissions": number,
        "hostile": hostile,
        "seconds": round(seconds),
        "median seconds a notebook": round(statistics.median(times), 2),
        "peak megabytes, all processes": round(peak / 2**20),
        "lost rows": len(expected.keys() - rows.keys()),
        "not graded": sum(row["status"] == "not graded" for row in rows.values()),
        "honest with other points": sum(
            points.get(n) != p for n, p in expected.items() if "x-" not in n
        ),
        "hostile above zero": sum(points.get(n) != 0 for n in expected if "x-" in n),
        "seconds of the second run": round(again, 1),
        "same table on a second run": same_again,
        "graded before the kill": done,
        "same table after the kill": same_resumed,
    }
    for name, value in figures.items():
        print(f"{name:32s} {value}")
    if args.json:
        args.json.write_text(json.dumps(figures, indent=1) + "\n")
    shutil.rmtree(work)
    held = same_again and same_resumed and seconds < 60 * MINUTES
    bad = ("lost rows", "not graded", "honest with other points", "hostile above zero")
    sys.exit(not held or any(figures[name] for name in bad))


if __name__ == "__main__":
    main()
