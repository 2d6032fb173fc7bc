"""Honest, wrong and empty answers; the table and the reports; what happens when things break."""

import csv
import json
import multiprocessing
import os
import sys
import time
import zipfile
from pathlib import Path

import nbformat
import pytest
import trial

from icgd_grading import assignments, classroom, gradebook, judge, reports
from icgd_grading.sandbox import LIMITS, Limits, SandboxError, worker_command

unix = pytest.mark.skipif(os.name == "nt", reason="needs a shell, links or pipes of Unix")
ROOT = Path(__file__).resolve().parents[2]
NO_TORCH = "pass"  # importing torch is most of a submission's time


def passed(row):
    return {(case["question"], case["name"]) for case in row["cases"] if case["passed"]}


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


GRADIENT = "import numpy as np\ndef gradient(X, y, w):\n    return "
STUBS = {
    "empty": "np.array([])",
    "nan": "np.full(X.shape[1], np.nan)",
    "zeros": "np.zeros(X.shape[1])",
    "argument": "w",
    "none": "None",
}
WRONG = {
    "factor-2": "2 * X.T @ (X @ w - y) / len(y)",
    "not-averaged": "X.T @ (X @ w - y)",
    "sign": "X.T @ (y - X @ w) / len(y)",
    "divided-by-d": "X.T @ (X @ w - y) / X.shape[1]",
    "a-column": "(X.T @ (X @ w - y) / len(y))[:, None]",
}


@pytest.fixture(scope="module")
def graded(grade, assignment):
    files = {"reference.ipynb": trial.answers()}
    for name, source in (STUBS | WRONG).items():
        files[f"{name}.ipynb"] = trial.answers(q1=GRADIENT + source, q3=NO_TORCH)
    files["=cmd.ipynb"] = trial.answers(q1="raise ValueError('=1+1, \"quoted\"')", q3=NO_TORCH)
    files["one-failure.ipynb"] = trial.answers(q1=GRADIENT + "X @ y @ w", q3=NO_TORCH)
    return grade(assignment, files)


def test_the_reference_earns_every_point(graded):
    rows, _ = graded
    row = rows["reference.ipynb"]
    assert (row["status"], row["reason"], reports.total(row)) == ("graded", "", trial.POINTS)
    assert sum(row["possible"].values()) == trial.POINTS + 4


@pytest.mark.parametrize("name", STUBS | WRONG)
def test_wrong_and_empty_answers_pass_no_hidden_test(graded, name):
    row = graded[0][f"{name}.ipynb"]
    hidden = [case for case in row["cases"] if case["question"] == "q1" and case["hidden"]]
    assert len(hidden) == 2
    assert not [case["name"] for case in hidden if case["passed"]]
    assert row["questions"]["q2"] == 2, "another question is not touched"


def test_table_holds_a_line_a_submission(graded):
    rows, results = graded
    with open(results / "grades.csv", newline="", encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    columns = ["q1", "q2", "q3", "q4 by hand (of 4)"]
    assert list(table[0]) == ["submission", "status", "total", "open", *columns, "reason"]
    assert [line["submission"].lstrip("'") for line in table] == sorted(rows)
    assert table[0]["submission"] == "'=cmd.ipynb", "a spreadsheet must not run it"
    for line in table:
        assert float(line["total"]) == reports.total(rows[line["submission"].lstrip("'")])


def test_report_tells_hints_but_nothing_of_hidden_tests(graded):
    rows, results = graded
    page = (results / "reports/one-failure.ipynb.html").read_text("utf-8")
    assert "Look at q1 again." in page
    assert "matmul: Input operand 1 has a mismatch" in page, "a public test says what it found"
    for case in (case for row in rows.values() for case in row["cases"]):
        assert case["message"] == "" or not case["hidden"]
        assert len(case["message"].splitlines()) <= 3, "numpy tells the expected values further on"
    page = (results / "reports/factor-2.ipynb.html").read_text("utf-8")
    assert "value" in page
    assert "Mismatched elements" not in page


def test_summary_counts_points_and_failures(graded):
    rows, _ = graded
    text = reports.summary(list(rows.values()))
    assert f"{len(rows)} submissions: {len(rows)} graded" in text
    assert f"q2: mean {2:.2f} of 2" in text
    assert text.splitlines()[-1].split(maxsplit=1)[0].isdigit()
    worst = text[text.index("most often") :].splitlines()[1]
    count = sum(("q3", "a step") not in passed(row) for row in rows.values())
    assert worst.split()[0] == str(count)


def test_second_run_grades_nothing_and_gives_the_same_table(graded, grade, assignment, monkeypatch):
    _, results = graded
    files = [results / name for name in ("grades.csv", "grades.json", "by-hand.csv")]
    before = [path.read_bytes() for path in files]
    monkeypatch.setattr(classroom, "in_own_process", None)
    grade(assignment, {}, folder=results.parent)
    assert [path.read_bytes() for path in files] == before


def test_changed_submission_is_graded_again(assignment, tmp_path):
    path = tmp_path / "a.ipynb"
    path.write_text("one")
    key = classroom.key("a.ipynb", path, assignment, LIMITS)
    assert key == classroom.key("a.ipynb", path, assignment, LIMITS)
    assert key != classroom.key("b.ipynb", path, assignment, LIMITS)
    assert key != classroom.key("a.ipynb", path, assignment, Limits(call=1))
    path.write_text("two")
    assert key != classroom.key("a.ipynb", path, assignment, LIMITS)


@pytest.mark.usefixtures("graded")  # the server that judges are forked from is up
def test_after_a_kill_in_the_middle_the_rest_is_graded(light, tmp_path):
    handed_in = tmp_path / "handed in"
    handed_in.mkdir()
    for n in range(4):
        late = f"import time\ntime.sleep(0.3)\nstep_size = 0.5 + {n % 2}"
        nbformat.write(trial.answers(q2=late, q3=NO_TORCH), handed_in / f"{n}.ipynb")
    journal = tmp_path / "results/journal.jsonl"
    arguments = (light, handed_in, tmp_path / "results")
    run = multiprocessing.get_context("forkserver").Process(
        target=trial.grade_in_this_process, args=arguments
    )
    run.start()
    while not (journal.is_file() and journal.read_text().count("\n") >= 1) and run.is_alive():
        time.sleep(0.02)
    run.kill()
    run.join()
    done = journal.read_text().splitlines()
    assert 1 <= len(done) < 4
    journal.write_text("\n".join(done) + '\n{"key": "cut in the mid')
    rows = classroom.grade(*arguments)
    assert [row["questions"]["q2"] for row in rows] == [2, 0] * 2
    again = classroom.grade(light, handed_in, tmp_path / "afresh")
    assert [row["questions"] for row in again] == [row["questions"] for row in rows]
    tables = [tmp_path / folder / "grades.csv" for folder in ("results", "afresh")]
    assert tables[0].read_bytes() == tables[1].read_bytes()
    lines = [json.loads(line) for line in journal.read_text().splitlines() if line.endswith("}")]
    assert len(lines) == 4, "what was done before the kill was not done again"


def test_all_public_cases_run_before_any_hidden_one(sandbox, tmp_path):
    """A function that ends its process at hidden inputs is given up, but after its public cases."""
    path = tmp_path / "a.ipynb"
    source = "import os\ndef f(x): return x if x > 0 else os._exit(0)"
    nbformat.write(trial.notebook([source]), path)
    case = "@test_case(points=1, hidden={hidden})\ndef test_{x}(f): assert f({x}) == {x}\n"
    head = "from otter.test_files import test_case\nname = '{}'\npoints = None\n"
    hidden = [case.format(hidden=True, x=0), case.format(hidden=True, x="False")]
    tests = {
        "q1": "".join([head.format("q1"), *hidden]),
        "q2": head.format("q2") + case.format(hidden=False, x=1) + case.format(hidden=True, x=2),
    }
    row = judge.judge(path, tests, sandbox)
    assert row["questions"] == {"q1": 0, "q2": 1}
    assert row["reason"] == "f ended its process"


# --- what is not a student's fault ---------------------------------------------------------------


@unix
def test_sandbox_that_does_not_start_is_not_zero(light, tmp_path):
    path = tmp_path / "a.ipynb"
    nbformat.write(trial.answers(), path)
    for command in (["sh", "-c", "echo no namespaces here >&2; exit 1"], ["true"]):
        row = judge.judge(path, light.tests, command)
        assert row["status"] == "not graded"
        assert row["reason"].startswith("the sandbox does not start")
        assert set(row["questions"].values()) == {None}
    slow = judge.judge(path, light.tests, ["sleep", "60"], Limits(start=0.2))
    assert "it took too long" in slow["reason"]
    gradebook.write([{"submission": "a", **row}], "trial", list(light.tests), {}, tmp_path)
    line = (tmp_path / "grades.csv").read_text().splitlines()[1]
    assert line.startswith("a,not graded,,,,the sandbox")


@unix
def test_sandbox_that_breaks_later_is_not_zero(light, tmp_path):
    path = tmp_path / "a.ipynb"
    nbformat.write(trial.answers(q1="import os\ndef gradient(*a): os._exit(0)", q3=NO_TORCH), path)
    once = f"test -e {tmp_path}/ran && exit 1; touch {tmp_path}/ran; exec " + " ".join(
        worker_command(LIMITS, sandboxed=False)
    )
    row = judge.judge(path, light.tests, ["sh", "-c", once])
    assert row["status"] == "not graded"


def test_judge_that_ends_is_not_zero(tmp_path):
    path = tmp_path / "a.ipynb"
    nbformat.write(trial.answers(), path)
    tests = {"q1": "import os\nos._exit(3)"}
    row = classroom.in_own_process(path, tests, ["true"], LIMITS)
    assert row["status"] == "not graded"
    assert row["reason"] == "its judge ended with code 3"


def test_worker_ends_with_its_judge(light, sandbox, tmp_path):
    path = tmp_path / "a.ipynb"
    nbformat.write(trial.notebook(["import time\ntime.sleep(60)"]), path)
    limits = Limits(memory=(3 << 30) + 78)
    context = multiprocessing.get_context("forkserver")
    arguments = (path, light.tests, worker_command(limits), limits)
    process = context.Process(target=judge.judge, args=arguments)
    process.start()
    wait_for(lambda: trial.running(str(limits.memory)))
    process.kill()
    process.join()
    wait_for(lambda: not trial.running(str(limits.memory)))


def test_systemd_bounds_all_processes_together_where_it_runs(monkeypatch, tmp_path, sandbox):
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    systemd = tmp_path / "systemd-run"
    for code in (0, 1):
        systemd.write_text(f"#!/bin/sh\nexit {code}\n")
        systemd.chmod(0o755)
        scoped = worker_command(LIMITS)[0] == "systemd-run"
        assert scoped == (code == 0)


def test_nothing_is_graded_when_the_solution_fails(light, tmp_path, monkeypatch):
    (tmp_path / "handed in").mkdir()
    nbformat.write(trial.answers(), tmp_path / "handed in/a.ipynb")
    failed = judge.judge(tmp_path / "nowhere", light.tests, ["true"])
    assert failed["status"] == "unreadable"
    monkeypatch.setattr(classroom, "in_own_process", lambda *a: failed)
    monkeypatch.setattr(classroom, "worker_command", lambda *a, **k: ["true"])
    with pytest.raises(
        assignments.AssignmentError, match="the solution of trial does not get every"
    ):
        classroom.grade(light, tmp_path / "handed in", tmp_path / "results")
    assert not (tmp_path / "results/grades.csv").exists()


def test_without_bubblewrap_it_says_what_to_do(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(SandboxError, match="apt install bubblewrap"):
        worker_command(LIMITS)


def test_private_paths_must_lie_outside_what_students_see(sandbox):
    with pytest.raises(SandboxError, match="students' code may read"):
        worker_command(LIMITS, private=[Path(sys.prefix) / "submissions"])


def test_without_a_sandbox_patching_still_earns_nothing(light, tmp_path, capsys):
    (tmp_path / "handed in").mkdir()
    cheat = "import numpy as np, math\nnp.testing.assert_allclose = lambda *a, **k: None\n"
    cheat += "math.isclose = lambda *a, **k: True\nstep_size = 0.9"
    nbformat.write(trial.answers(q2=cheat, q3=NO_TORCH), tmp_path / "handed in/a.ipynb")
    folders = (light, tmp_path / "handed in", tmp_path / "results")
    (row,) = classroom.grade(*folders, sandboxed=False)
    assert row["questions"] == {"q1": 3, "q2": 1}
    assert "NO SANDBOX" in capsys.readouterr().err


# --- files that are none -------------------------------------------------------------------------


@unix
def test_links_and_pipes_are_not_opened(light, tmp_path):
    (tmp_path / "link.ipynb").symlink_to(light.solution)
    os.mkfifo(tmp_path / "pipe.ipynb")
    for name in ("link.ipynb", "pipe.ipynb", "missing.ipynb"):
        row = judge.judge(tmp_path / name, light.tests, ["true"])
        assert (row["status"], reports.total(row)) == ("unreadable", 0)
    assert set(classroom.submissions(tmp_path)) == {"link.ipynb", "pipe.ipynb"}


def test_unreadable_earns_nothing_where_otter_counts_all_or_nothing(light, tmp_path):
    (tmp_path / "a.ipynb").write_text("")
    tests = {name: "all_or_nothing = True\n" + test for name, test in light.tests.items()}
    row = judge.judge(tmp_path / "a.ipynb", tests, worker_command(LIMITS, sandboxed=False))
    assert (row["status"], reports.total(row)) == ("unreadable", 0)


# --- making --------------------------------------------------------------------------------------


def test_students_version_has_neither_solutions_nor_hidden_tests(assignment):
    text = assignment.student.read_text("utf-8")
    assert "def test_shape(gradient)" in text
    for secret in ("test_value", "expected", "0.5\\n", "X @ w - y"):
        assert secret not in text
    assert list(assignment.tests) == ["q1", "q2", "q3"]
    assert "step_size = 0.5" in assignment.solution.read_text("utf-8")


def test_questions_marked_by_hand_are_read_from_the_master(assignment, light):
    assert assignment.manual == trial.BY_HAND
    assert light.manual == {}
    assert "It is obvious." not in assignment.student.read_text("utf-8")


def test_made_again_only_when_changed(assignment, monkeypatch):
    monkeypatch.setattr(assignments, "otter_assign", None)
    source = assignment.folder.parents[1] / "source"
    assert assignments.make("trial", source, assignment.folder.parent) == assignment


def test_tests_that_would_be_lost_are_refused(assignment):
    twice = assignment.tests["q1"].replace("def test_value(", "def test_shape(")
    with pytest.raises(assignments.AssignmentError, match="trial, q1: two of its test functions"):
        assignments.check_tests("trial", {"q1": twice})
    with pytest.raises(assignments.AssignmentError, match="write its tests as functions"):
        assignments.check_tests("trial", {"q1": "OK_FORMAT = True"})


def test_what_otter_refuses_is_told(tmp_path):
    (tmp_path / "source/trial").mkdir(parents=True)
    text = nbformat.writes(trial.master()).replace("name: q1", "title: q1")
    (tmp_path / "source/trial/master.ipynb").write_text(text, "utf-8")
    with pytest.raises(assignments.AssignmentError, match="otter assign failed on trial"):
        assignments.make("trial", tmp_path / "source", tmp_path / "build")
    assert not (tmp_path / "build/trial/made-from.txt").exists()


def test_unknown_assignment_is_named(tmp_path):
    with pytest.raises(assignments.AssignmentError, match="There are: none"):
        assignments.make("trial", tmp_path, tmp_path)


def test_bundle_holds_what_a_student_needs_and_nothing_hidden(assignment, tmp_path):
    path = assignments.bundle([assignment], ROOT, tmp_path / "bundle.zip")
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        requirements = archive.read("requirements.txt").decode()
    wheel = next(name for name in names if name.endswith(".whl"))
    others = {"README.md", "check.py", "constraints.txt", "requirements.txt", "trial.ipynb"}
    assert set(names) == {*others, wheel}
    assert f"./{wheel}" in requirements
    assert "otter-grader==" in requirements


def test_grading_is_not_part_of_the_library():
    for path in (ROOT / "lib/icgd").rglob("*.py"):
        assert "icgd_grading" not in path.read_text("utf-8"), path


def test_modules_that_tests_import_are_loaded_once_for_all():
    tests = {"q1": "import numpy as np\ndef t():\n    from scipy import linalg\n    import os.path"}
    assert classroom.imported(tests) == {"numpy", "scipy", "os.path"}
