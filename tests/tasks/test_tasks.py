"""tasks.py: what it takes for changed, what it repairs, and what it says when a build fails."""

import argparse
import json
import subprocess
import sys

import pytest


def tree(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


# --- hashes --------------------------------------------------------------------------------------

FILES = {"lib/icgd/a.py": "1", "lib/icgd/b.py": "2", "_config.yml": "3"}
NAMES = ["lib", "_config.yml", "absent"]


@pytest.mark.parametrize(
    "change",
    [
        {"lib/icgd/a.py": "9"},
        {"lib/icgd/deep/c.py": ""},
        {"_config.yml": ""},
        {"lib/icgd/a.py": "2", "lib/icgd/b.py": "1"},  # the same contents under swapped names
        {"absent": ""},
    ],
)
def test_hash_notices(tasks, tmp_path, change):
    before = tasks.hash_of_files(tree(tmp_path, FILES), NAMES)
    assert tasks.hash_of_files(tree(tmp_path, change), NAMES) != before


def test_hash_notices_a_new_name(tasks, tmp_path):
    before = tasks.hash_of_files(tree(tmp_path, FILES), NAMES)
    (tmp_path / "lib/icgd/a.py").rename(tmp_path / "lib/icgd/aa.py")
    assert tasks.hash_of_files(tmp_path, NAMES) != before


@pytest.mark.parametrize("name", ["lib/icgd/__pycache__/a.pyc", "lib/x.egg-info/y", "other.py"])
def test_hash_leaves_out(tasks, tmp_path, name):
    before = tasks.hash_of_files(tree(tmp_path, FILES), NAMES)
    assert tasks.hash_of_files(tree(tmp_path, {name: "new"}), NAMES) == before


def test_hash_is_the_same_elsewhere(tasks, tmp_path):
    one, two = tree(tmp_path / "one", FILES), tree(tmp_path / ".two folders", FILES)
    assert tasks.hash_of_files(one, NAMES) == tasks.hash_of_files(two, NAMES)


def test_environment_key_depends_on_each_ingredient(tasks, tmp_path):
    files = {"pyproject.toml": "a", "constraints.txt": "b"}
    one = tree(tmp_path / "one", files)
    keys = [
        tasks.environment_key(one, "3.12", ""),
        tasks.environment_key(one, "3.13", ""),
        tasks.environment_key(one, "3.12", "https://example.org/cpu"),
        tasks.environment_key(tree(tmp_path / "two", files), "3.12", ""),
        tasks.environment_key(tree(one, {"constraints.txt": "c"}), "3.12", ""),
        tasks.environment_key(tree(one, {"pyproject.toml": "c"}), "3.12", ""),
    ]
    assert len(set(keys)) == len(keys)


def test_book_inputs_exist(tasks, root):
    """A misspelt name would be left out of the hash without a word."""
    assert [name for name in tasks.BOOK_INPUTS if not (root / name).exists()] == []


# --- the environment -----------------------------------------------------------------------------


@pytest.fixture
def setup(tasks, tmp_path, monkeypatch):
    """setup_environment on a folder of its own; returns (run it, the commands it ran)."""
    ran = []
    state = argparse.Namespace(answers=True, pip_code=0, ran=ran)
    venv = tmp_path / ".venv"
    monkeypatch.setattr(
        tasks, "ROOT", tree(tmp_path, {"pyproject.toml": "", "constraints.txt": ""})
    )
    monkeypatch.setattr(tasks, "VENV", venv)
    monkeypatch.setattr(tasks, "ENVIRONMENT_STAMP", venv / "course-setup.txt")
    monkeypatch.setattr(tasks, "venv_answers", lambda *arguments: state.answers)

    def run(command, **options):
        words = [str(word) for word in command]
        ran.append("pip" if "pip" in words else "venv")
        if "venv" in words:
            major, minor = sys.version_info[:2]
            tree(venv, {"pyvenv.cfg": f"version = {major}.{minor}.1\n", "made-by-venv": ""})
            return 0
        if state.pip_code is None:
            raise KeyboardInterrupt
        return state.pip_code

    monkeypatch.setattr(tasks, "run", run)

    def once(torch_index=""):
        ran.clear()
        tasks.setup_environment(torch_index)
        return list(ran)

    state.once = once
    return state


def test_setup_runs_once(setup):
    assert setup.once() == ["venv", "pip"]
    assert setup.once() == []


def test_torch_comes_first_from_its_index(setup):
    assert setup.once("https://example.org/cpu") == ["venv", "pip", "pip"]


def test_changed_pins_are_installed_in_place(setup, tmp_path):
    setup.once()
    tree(tmp_path, {"constraints.txt": "torch==9"})
    assert setup.once() == ["pip"]


def test_interrupted_setup_starts_again(setup):
    setup.pip_code = None
    with pytest.raises(KeyboardInterrupt):
        setup.once()
    setup.pip_code = 0
    assert setup.once() == ["venv", "pip"]
    assert setup.once() == []


def test_interrupted_change_of_pins_starts_again(setup, tmp_path):
    setup.once()
    tree(tmp_path, {"constraints.txt": "torch==9"})
    setup.pip_code = None
    with pytest.raises(KeyboardInterrupt):
        setup.once()
    setup.pip_code = 0
    assert setup.once() == ["venv", "pip"]


def test_failed_pip_is_reported_and_tried_again(setup, tasks):
    setup.pip_code = 1
    with pytest.raises(tasks.TaskError, match="pip failed"):
        setup.once()
    setup.pip_code = 0
    assert setup.once() == ["pip"]


def test_broken_python_or_pip_is_replaced(setup, tmp_path):
    setup.once()
    setup.answers = False
    assert setup.once() == ["venv", "pip"]


def test_other_pythons_environment_is_replaced(setup, tmp_path):
    setup.once()
    tree(tmp_path, {".venv/pyvenv.cfg": "version = 3.9.1\n", ".venv/course-setup.txt": "old"})
    assert setup.once() == ["venv", "pip"]


@pytest.mark.parametrize("key", ["version", "version_info"])
def test_version_of_an_environment(tasks, tmp_path, key):
    tree(tmp_path, {"pyvenv.cfg": f"home = /usr/bin\n{key} = 3.12.4\n"})
    assert tasks.venv_python_version(tmp_path) == "3.12"


def test_unsupported_python_is_told_what_to_do(root, tmp_path):
    text = (root / "tasks.py").read_text("utf-8").replace("(3, 11), (3, 13)", "(3, 90), (3, 91)")
    script = tree(tmp_path, {"tasks.py": text}) / "tasks.py"
    done = subprocess.run([sys.executable, script, "book"], capture_output=True, text=True)
    assert done.returncode != 0
    assert "needs Python 3.90 to 3.91" in done.stderr
    assert "Traceback" not in done.stderr


def test_foreign_settings_do_not_reach_the_commands(tasks, monkeypatch):
    for name in ("PYTHONPATH", "MPLBACKEND", "JUPYTER_PATH"):
        monkeypatch.setenv(name, "elsewhere")
    env = tasks.comparable_environment()
    assert not {"PYTHONPATH", "MPLBACKEND", "JUPYTER_PATH"} & env.keys()
    assert env["OMP_NUM_THREADS"] == env["TQDM_DISABLE"] == "1"


# --- what a build starts from --------------------------------------------------------------------

BUILT = {"html/index.html": "", ".doctrees/a": "", ".jupyter_cache/b": ""}


def finished_build(tasks, folder, inputs="in", pages="pg"):
    tasks.prepare_build(folder, inputs, pages)
    tree(folder, {**BUILT, "complete.txt": pages})


def remaining(folder):
    return {name for name in BUILT if (folder / name).exists()}


def test_unchanged_build_is_kept(tasks, tmp_path):
    finished_build(tasks, tmp_path)
    assert tasks.prepare_build(tmp_path, "in", "pg")
    assert remaining(tmp_path) == BUILT.keys()


def test_changed_chapter_keeps_only_executed_results(tasks, tmp_path):
    finished_build(tasks, tmp_path)
    assert not tasks.prepare_build(tmp_path, "in", "other")
    assert remaining(tmp_path) == {".jupyter_cache/b"}


def test_changed_library_empties_the_build(tasks, tmp_path):
    finished_build(tasks, tmp_path)
    assert not tasks.prepare_build(tmp_path, "other", "pg")
    assert remaining(tmp_path) == set()


def test_failed_build_is_not_taken_for_a_good_one(tasks, tmp_path):
    finished_build(tasks, tmp_path)
    tasks.prepare_build(tmp_path, "in", "pg")  # ... and this one never completes
    assert not tasks.prepare_build(tmp_path, "in", "pg")
    assert "html/index.html" not in remaining(tmp_path)


# --- what a failed build says --------------------------------------------------------------------


def notebook(*sources):
    cells = [
        {"cell_type": kind, "source": source.splitlines(keepends=True)} for kind, source in sources
    ]
    return json.dumps({"cells": cells})


REPORT = """Traceback (most recent call last):
nbclient.exceptions.CellExecutionError: An error occurred while executing the following cell:
------------------
x = 1

\x1b[31mf(x)\x1b[0m
------------------

ValueError: n must be positive, got 0
"""


def test_failed_cell_is_named(tasks, tmp_path):
    cells = notebook(("markdown", "# Title"), ("code", "x = 1\ny"), ("code", "x = 1\n\nf(x)"))
    report = "_build/html/reports/chapters/02-layer.err.log"
    tree(tmp_path, {"chapters/02-layer.ipynb": cells, report: REPORT})
    log = [f"{tmp_path}/chapters/02-layer.ipynb: WARNING: Executing notebook failed [mystnb.exec]"]
    assert tasks.failure_report(tmp_path, log) == (
        "chapters/02-layer.ipynb, cell 3 failed: ValueError: n must be positive, got 0"
        "\n    | x = 1\n    | f(x)"
    )


def test_warning_in_a_notebook_names_its_cell(tasks, tmp_path):
    log = [
        "reading sources... done\n",
        f"\x1b[91m{tmp_path}/chapters/01-a.ipynb:40012: WARNING: undefined label: 'fig-x'\x1b[0m\n",
        f"{tmp_path}/chapters/01-a.ipynb:40012: WARNING: undefined label: 'fig-x'\n",
    ]
    told = tasks.failure_report(tmp_path, log)
    assert told == "chapters/01-a.ipynb, cell 4, line 12: WARNING: undefined label: 'fig-x'"


@pytest.mark.parametrize("words", ["undefined label: ex-rdge", "label 'ex-rdge' not found."])
def test_warning_without_a_place_is_given_one(tasks, tmp_path, words):
    cells = notebook(("markdown", "# Title"), ("markdown", "{ref}`ex-rdge`"))
    tree(tmp_path, {"chapters/03-b.ipynb": cells, "chapters/notes.md": "nothing"})
    told = tasks.failure_report(tmp_path, [f"{tmp_path}/chapters/02-a.ip.rst: WARNING: {words}\n"])
    assert told == f"chapters/03-b.ipynb, cell 2: WARNING: {words}"


def test_failure_without_a_warning_shows_the_end_of_the_log(tasks, tmp_path):
    log = ["first\n", *["between\n"] * 30, "Configuration error: no such theme\n"]
    told = tasks.failure_report(tmp_path, log)
    assert told.endswith("Configuration error: no such theme")
    assert "first" not in told


# --- the commands --------------------------------------------------------------------------------


def test_a_failing_step_hides_no_later_one(tasks, monkeypatch, capsys):
    seen = []

    def fails(args):
        seen.append("book")
        raise tasks.TaskError("broken page")

    monkeypatch.setattr(tasks, "lint", lambda args: seen.append("style"))
    monkeypatch.setattr(tasks, "book", fails)
    monkeypatch.setattr(tasks, "run_tests", lambda command, extra: seen.append("pytest"))
    with pytest.raises(tasks.TaskError, match="Some tests failed"):
        tasks.test(argparse.Namespace(extra=[]))
    assert seen[:3] == ["style", "book", "pytest"]
    printed = capsys.readouterr().out
    assert "broken page" in printed
    assert "FAILED" in printed.split("Summary")[1]


@pytest.mark.parametrize(("code", "extra"), [(0, []), (5, ["-k", "x"])])
def test_pytest_codes_that_pass(tasks, monkeypatch, code, extra):
    monkeypatch.setattr(tasks, "run", lambda command, **options: code)
    tasks.run_tests(["pytest"], extra)


@pytest.mark.parametrize(("code", "extra"), [(1, []), (5, []), (2, ["-k", "x"])])
def test_pytest_codes_that_fail(tasks, monkeypatch, code, extra):
    monkeypatch.setattr(tasks, "run", lambda command, **options: code)
    with pytest.raises(tasks.TaskError, match=f"code {code}"):
        tasks.run_tests(["pytest"], extra)


def test_only_some_commands_take_extra_arguments(tasks):
    with pytest.raises(tasks.TaskError, match="takes nothing after --"):
        tasks.main(["lint", "--", "-k", "x"])


def test_a_second_run_waits_for_the_first(tasks, tmp_path, monkeypatch):
    monkeypatch.setattr(tasks, "ROOT", tmp_path)
    with tasks.only_one("build"), open(tmp_path / ".build.lock", "w") as other:
        assert not tasks.locked(other)
    with open(tmp_path / ".build.lock", "w") as other:
        assert tasks.locked(other)
