#!/usr/bin/env python3
"""The course's commands: build the book, run the tests, serve, edit. Standard library only.

Every command first makes sure of the course's own virtual environment, .venv beside this file;
nothing has to be installed or activated before.
"""

import sys

OLDEST, NEWEST = (3, 11), (3, 13)
if not OLDEST <= sys.version_info[:2] <= NEWEST:
    sys.exit(
        "The course needs Python %d.%d to %d.%d; this is Python %d.%d.\n"
        % (OLDEST + NEWEST + tuple(sys.version_info[:2]))
        + "Name one that you have, as in: python3.12 tasks.py book"
        " (with make: make PYTHON=python3.12 book; on Windows: py -3.12 tasks.py book)."
    )

import argparse
import hashlib
import http.server
import json
import os
import re
import shutil
import subprocess
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
ENVIRONMENT_STAMP = VENV / "course-setup.txt"
BUILD = ROOT / "_build"
HTML = BUILD / "html"
ZIP = BUILD / "icgd-course.zip"
PDF = BUILD / "icgd-course.pdf"

# What the pages depend on besides the chapters. The cache of executed chapters notices a change
# in a chapter, but in none of these.
BOOK_INPUTS = (
    *("lib", "data", "_ext", "_templates", "assets", "_config.yml", "_toc.yml"),
    *("constraints.txt", "pyproject.toml", "tasks.py", "tools"),
)
UNFINISHED, FAILED = "unfinished", "failed"


class TaskError(Exception):
    """What went wrong and what to do, to be shown without a traceback."""


def say(message):
    print(f"\n==> {message}", flush=True)


def digest(parts):
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def hash_of_files(root, names):
    """One hash over the names and bytes of files, and of all files in folders, under ``root``."""
    lines = []
    for name in names:
        path = root / name
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in files:
            parts = file.relative_to(root).parts
            generated = any(p == "__pycache__" or p.endswith(".egg-info") for p in parts)
            hidden = any(p.startswith(".") for p in parts)
            if file.is_file() and not generated and not hidden:
                content = hashlib.sha256(file.read_bytes()).hexdigest()
                lines.append(f"{'/'.join(parts)} {content}")
    return digest(lines)


def read(path):
    return path.read_text("utf-8").strip() if path.is_file() else ""


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n", "utf-8")


def run(command, **options):
    return subprocess.run([str(part) for part in command], cwd=ROOT, **options).returncode


def remove(path):
    if not path.is_dir():
        path.unlink(missing_ok=True)
        return
    try:
        shutil.rmtree(path)
    except OSError as error:
        raise TaskError(f"{path} cannot be removed ({error}). Is a program still using it?")


@contextmanager
def only_one(activity):
    """Wait until no other run of this file is at ``activity``; a killed run holds nothing up."""
    with open(ROOT / f".{activity}.lock", "w") as handle:
        if not locked(handle):
            say(f"Waiting for another run of tasks.py to finish its {activity}")
            while not locked(handle):
                time.sleep(0.2)
        yield


def locked(handle):
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(handle.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


# --- the environment -----------------------------------------------------------------------------


def environment_key(root, python_version, torch_index):
    """Changes when .venv has to be installed again; also when the repository has moved."""
    files = hash_of_files(root, ["pyproject.toml", "constraints.txt"])
    return digest([files, python_version, torch_index, str(root)])


def venv_python_version(venv):
    """The version a virtual environment was made with, from its pyvenv.cfg."""
    match = re.search(r"(?m)^version(?:_info)?\s*=\s*(\d+\.\d+)", read(venv / "pyvenv.cfg"))
    return match[1] if match else ""


def venv_answers(*arguments):
    try:
        command = [str(PYTHON), *arguments]
        return subprocess.run(command, cwd=VENV, capture_output=True).returncode == 0
    except OSError:
        return False


def setup_environment(torch_index):
    """Make .venv complete. Costs a few hundredths of a second when it already is."""
    version = "%d.%d" % sys.version_info[:2]
    key = environment_key(ROOT, version, torch_index)
    stamp = read(ENVIRONMENT_STAMP)
    probe = "import sys, importlib.util as u; sys.exit(not all(map(u.find_spec, sys.argv[1:])))"
    packages = ("icgd", "jupyter_book", "otter", "pip", "playwright", "pytest", "torch")
    if stamp == key and venv_answers("-c", probe, *packages):
        return
    began = time.monotonic()
    if VENV.exists():
        if stamp == UNFINISHED:
            reason = "the last set-up was interrupted"
        elif venv_python_version(VENV) != version:
            reason = f"it was not made with Python {version}"
        elif not venv_answers("-m", "pip", "--version"):
            reason = "its Python or its pip does not run"
        else:
            reason = ""
        if reason:
            say(f"Removing {VENV}: {reason}")
            remove(VENV)
    if not VENV.exists():
        say(f"Making the virtual environment {VENV} (Python {version})")
        write(ENVIRONMENT_STAMP, UNFINISHED)
        base = getattr(sys, "_base_executable", None) or sys.executable
        if run([base, "-m", "venv", VENV]) != 0:
            raise TaskError(
                "Python could not make a virtual environment. On Debian and Ubuntu its venv "
                "support is a package of its own: sudo apt install python3-venv"
            )
    write(ENVIRONMENT_STAMP, UNFINISHED)
    pip = [PYTHON, "-m", "pip", "install", "--disable-pip-version-check", "-c", "constraints.txt"]
    steps = [[*pip, "-e", ".[book,browser,grade,test]"]]
    if torch_index:
        # Only torch: that index has not all of its dependencies in the versions pinned here.
        steps.insert(0, [*pip, "--no-deps", "--index-url", torch_index, "torch"])
    for step in steps:
        what = f"torch from {torch_index}" if "--index-url" in step else "the course's packages"
        say(f"Installing {what} (the first time this takes a few minutes)")
        if run(step, env=course_environment()) != 0:
            write(ENVIRONMENT_STAMP, FAILED)
            raise TaskError("pip failed; its message is above. The next run tries again.")
    write(ENVIRONMENT_STAMP, key)
    say(f"The environment is complete ({time.monotonic() - began:.0f} s)")


def course_environment(**extra):
    """The variables that the course's commands run under: nothing of the user's set-up leaks in."""
    unwanted = ("PYTHONPATH", "PYTHONHOME", "JUPYTER_PATH", "MPLBACKEND", "VIRTUAL_ENV")
    env = {name: value for name, value in os.environ.items() if name not in unwanted}
    env.update(
        PYTHONNOUSERSITE="1",
        PYTHONUTF8="1",
        PYTHONUNBUFFERED="1",  # progress is shown as it happens
        JUPYTER_PREFER_ENV_PATH="1",  # the python3 kernel is .venv's
        JUPYTER_PLATFORM_DIRS="1",
        IPYTHONDIR=str(VENV / "ipython"),
        MPLCONFIGDIR=str(VENV / "matplotlib"),
    )
    return {**env, **extra}


def comparable_environment():
    """Where digits are compared: one thread, so that sums are added in one order; no bars."""
    threads = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    return course_environment(TQDM_DISABLE="1", PYTHONHASHSEED="0", **dict.fromkeys(threads, "1"))


# --- the book ------------------------------------------------------------------------------------


def prepare_build(build, inputs, pages):
    """Remove what may be stale; True if the last successful build was of exactly these files.

    ``inputs`` hashes all but the chapters, ``pages`` the chapters. After a failed build the pages
    are built anew, since Sphinx does not repeat the warnings of pages it has already read.
    """
    if read(build / "inputs.txt") != inputs:
        remove(build)
    fresh = read(build / "complete.txt") == pages
    if not fresh:
        remove(build / "html")
        remove(build / ".doctrees")
    (build / "complete.txt").unlink(missing_ok=True)
    write(build / "inputs.txt", inputs)
    return fresh


def build_book():
    """Build the book with warnings as errors. Returns the report of what failed, or ''."""
    began = time.monotonic()
    key = read(ENVIRONMENT_STAMP)
    inputs = digest([hash_of_files(ROOT, BOOK_INPUTS), key])
    pages = hash_of_files(ROOT, ["chapters"])
    fresh = prepare_build(BUILD, inputs, pages)
    say("Building the book" + (" (nothing has changed)" if fresh else ", executing its chapters"))
    if not fresh:  # what it cannot execute, Jupyter Book tries again and reports
        run([PYTHON, ROOT / "tools/execute_chapters.py"], env=comparable_environment())
    jupyter_book = "from jupyter_book.cli.main import main; main()"
    command = [str(PYTHON), "-c", jupyter_book, "build", ".", "-W", "--keep-going"]
    log = []
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=comparable_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )
    for line in process.stdout:
        if "Kernel is running over TCP without encryption" in line:
            continue  # to this machine only
        line = line if sys.stdout.isatty() else without_colour(line)
        print(line, end="", flush=True)
        log.append(line)
    if process.wait() == 0:
        write(BUILD / "complete.txt", pages)
        say(f"The book is ready ({time.monotonic() - began:.0f} s). Open {HTML / 'index.html'}")
        return ""
    return failure_report(ROOT, log)


def failure_report(root, log):
    """What a reader of a failed build must know: each failing cell, each warning, once."""
    reports = sorted((root / "_build/html/reports").rglob("*.err.log"))
    lines = [failed_cell(root, report) for report in reports]
    for line in map(without_colour, log):
        is_warning = re.search(r"\b(WARNING|ERROR|CRITICAL): ", line)
        is_told_above = "[mystnb.exec]" in line and reports
        if is_warning and not is_told_above:
            line = line.strip().replace(str(root) + os.sep, "")
            lines.append(place_in_notebook(line) or place_of_label(root, line) or line)
    unique = list(dict.fromkeys(lines))
    return "\n".join(unique or ["".join(log[-20:]).strip() or "Jupyter Book said nothing."])


def without_colour(text):
    return re.sub(r"\x1b\[[\d;]*m", "", text)


def place_in_notebook(line):
    """A warning's line number in a notebook is cell * 10000 + line: say so in words."""
    place = re.match(r"(.*\.ipynb):(\d{5,})(?=: )", line)
    if not place:
        return ""
    cell, number = divmod(int(place[2]), 10_000)
    return f"{place[1]}, cell {cell}, line {number}{line[place.end() :]}"


def place_of_label(root, line):
    """Where the chapters name the label a warning is about.

    sphinx-proof and sphinx-exercise give no line, and name a page with the wrong suffix or the
    wrong page altogether.
    """
    warning = re.match(r"\S.*\.rst: (WARNING: .*label:? '?([\w-]+).*)", line)
    if not warning:
        return ""
    message, label = warning.groups()
    places = []
    for page in sorted((root / "chapters").glob("*.*")):
        if page.suffix == ".md" and label in read(page):
            places.append(f"chapters/{page.name}")
        elif page.suffix == ".ipynb":
            sources = ["".join(cell["source"]) for cell in json.loads(read(page))["cells"]]
            cells = [i for i, source in enumerate(sources, start=1) if label in source]
            places += [f"chapters/{page.name}, cell {i}" for i in cells]
    return f"{'; '.join(places)}: {message}" if places else ""


def failed_cell(root, report):
    """Name the notebook and the cell of an execution error, from myst-nb's report of it."""
    name = report.relative_to(root / "_build/html/reports").as_posix()[: -len(".err.log")]
    text = without_colour(report.read_text("utf-8", errors="replace"))
    reason = text.strip().splitlines()[-1]
    notebook = root / (name + ".ipynb")
    cells = json.loads(read(notebook))["cells"] if notebook.is_file() else []
    for index, cell in enumerate(cells, start=1):
        source = "".join(cell["source"]).strip()
        if cell["cell_type"] == "code" and source and f"\n{source}\n" in text:
            first = [line for line in source.splitlines() if line][:3]
            shown = "".join(f"\n    | {line}" for line in first)
            return f"{name}.ipynb, cell {index} failed: {reason}{shown}"
    return f"{name}.ipynb failed: {reason}"


# --- the commands --------------------------------------------------------------------------------


def book(args):
    with only_one("build"):
        report = build_book()
    if report:
        raise TaskError(f"The book was not built.\n\n{report}")


def zip(args):
    book(args)
    if run([PYTHON, ROOT / "tools/book_zip.py", HTML, ZIP]) != 0:
        raise TaskError("The book was not packed; see above.")
    say(f"The book in one file, {ZIP.stat().st_size / 1e6:.1f} MB: {ZIP}")


def pdf(args):
    book(args)
    say("Printing the book (a minute or two)")
    if run([PYTHON, ROOT / "tools/book_pdf.py", PDF], env=course_environment()) != 0:
        raise TaskError("The book was not printed; see above.")
    say(f"The book on paper, {PDF.stat().st_size / 1e6:.1f} MB: {PDF}")


def slides(args):
    book(args)
    target = BUILD / "slides"
    remove(target)
    sphinx = [PYTHON, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "revealjs"]
    if run([*sphinx, "-d", BUILD / ".slides-doctrees", ROOT / "slides", target]) != 0:
        raise TaskError("The slides were not made; see above.")
    say(f"The slides are ready. Open {target / 'index.html'}")


def lint(args):
    ruff = [PYTHON, "-m", "ruff"]
    check = [*ruff, "check", *(["--fix"] if args.fix else []), "."]
    form = [*ruff, "format", *([] if args.fix else ["--check"]), "."]
    codes = [run(check, env=course_environment()), run(form, env=course_environment())]
    if any(codes):
        raise TaskError("Style: see above. Most of it is repaired by: tasks.py lint --fix")


def test(args):
    """Run every step, whatever an earlier one gave, and end with a summary."""
    pytest = [PYTHON, "-m", "pytest", *args.extra]
    two = ["-n", "2", "--dist", "loadfile"]
    shapes = ["-m", "shape_checked", "--jaxtyping-packages=icgd,beartype.beartype", *two]
    shapes += ["tests/regression", "tests/autoregression"]
    # The ledger runs every claim, when the book is built and when its cells are tested.
    elsewhere = ["--ignore=tests/browser", "--ignore=tests/evidence/test_claims.py"]
    rest = ["-m", "not shape_checked", *elsewhere, *two, "tests"]
    notebooks = ["--nbval-lax", "--nbval-cell-timeout=300"]
    notebooks += ["--nbval-sanitize-with", "tests/chapters/sanitize.cfg"]
    # On Windows kernels need network ports, and two started at once can be given the same one.
    notebooks += [] if os.name == "nt" else ["-p", "kernels", *two, "--no-loadscope-reorder"]
    # the ledger first: it takes longest
    notebooks += sorted((ROOT / "chapters").glob("*.ipynb"), key=lambda f: (f.stem != "claims", f))
    browser = ["tests/browser", "-n", "2", "--dist", "loadgroup"]
    steps = {
        "style": lambda: lint(argparse.Namespace(fix=False)),
        "book": lambda: book(args),
        "library, shapes checked": partial(run_tests, [*pytest, *shapes], args.extra),
        "rules, pages, grading": partial(run_tests, [*pytest, *rest], args.extra),
        "chapters, executed": partial(run_tests, [*pytest, *notebooks], args.extra),
        "pages in a browser": partial(run_tests, [*pytest, *browser], args.extra),
    }
    rows = []
    for name, step in steps.items():
        say(f"Tests: {name}")
        began, verdict = time.monotonic(), "passed"
        try:
            step()
        except TaskError as error:
            verdict = "FAILED"
            print(error)
        rows.append(f"  {verdict:7} {time.monotonic() - began:6.1f} s  {name}")
    say("Summary\n" + "\n".join(rows))
    if any("FAILED" in row for row in rows):
        raise TaskError("Some tests failed; the first failing step above is the place to start.")


def run_tests(command, extra):
    is_notebook = "--nbval-lax" in command
    special = {"PYTHONPATH": str(ROOT / "tools")} if is_notebook else {"MPLBACKEND": "Agg"}
    code = run(command, env={**comparable_environment(), **special})
    selected_none = code == 5 and extra  # -k NAME may leave a step without tests
    if code != 0 and not selected_none:
        raise TaskError(f"pytest ended with code {code}.")


def serve(args):
    book(args)
    handler = partial(http.server.SimpleHTTPRequestHandler, directory=HTML)
    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", args.port), handler)
    except OSError as error:
        raise TaskError(f"Port {args.port} cannot be used ({error}). Choose another: --port N")
    say(f"Serving the book at http://127.0.0.1:{server.server_port}/ (stop with Ctrl+C)")
    with server:
        server.serve_forever()


def lab(args):
    if run([PYTHON, "-m", "jupyterlab", "chapters", *args.extra], env=course_environment()) != 0:
        raise TaskError("JupyterLab ended with an error; its message is above.")


def notebooks(args):
    options = [*args.names, *(["--no-run"] if args.no_run else [])]
    command = [PYTHON, ROOT / "tools" / "notebooks.py", *options]
    if run(command, env=comparable_environment()) != 0:
        raise TaskError("Not every chapter could be executed and tidied; see above.")


def assignments(args):
    grading("assign", *args.names)


def bundle(args):
    grading("bundle", *args.names)


def grade(args):
    grading("grade", args.assignment, Path(args.folder).resolve(), *args.extra)


def summarise(args):
    grading("summarise", Path(args.results).resolve())


def grading(*arguments):
    if run([PYTHON, "-m", "icgd_grading", *arguments], env=course_environment()) != 0:
        raise TaskError("It did not come to its end; the reason is above.")


def clean(args):
    caches = [*ROOT.glob(".*_cache"), *ROOT.glob(".*.lock")]
    for path in [BUILD, *caches, *([VENV] if args.all else [])]:
        if path.exists():
            say(f"Removing {path}")
            remove(path)


def setup(args):
    print("The environment is complete.")


def parser():
    top = argparse.ArgumentParser(
        prog="tasks.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="ICGD_TORCH_INDEX, if set, is the address of the package index torch comes from.",
    )
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def command(function, summary, extra=""):
        sub = commands.add_parser(function.__name__, help=summary, description=summary)
        sub.set_defaults(function=function, takes_extra=bool(extra))
        if extra:
            sub.epilog = f"What follows -- goes to {extra}."
        return sub

    command(book, "build the book, executing every chapter; says where to open it")
    command(zip, "build the book and pack it into one file that opens without a network")
    command(pdf, "build the book and print it, with the browser that the machine has")
    command(slides, "build the book and the slides of the lectures, with its figures")
    command(test, "run all tests: style, library, chapters, built pages", "pytest")
    sub = command(serve, "build the book and serve it to a browser on this machine")
    sub.add_argument("--port", type=int, default=8000, help="(default: %(default)s)")
    command(lab, "open JupyterLab on the chapters", "JupyterLab")
    sub = command(notebooks, "execute the chapters in place and tidy them for git")
    sub.add_argument("names", nargs="*", help="chapters, as in 01-prompts-and-learners (all)")
    sub.add_argument("--no-run", action="store_true", help="tidy only, keep the marked outputs")
    sub = command(lint, "check the style of all code, notebooks included")
    sub.add_argument("--fix", action="store_true", help="repair what can be repaired")
    for function, summary in (
        (assignments, "make the problem sets: students' version, solution and autograder"),
        (bundle, "make the students' zip"),
    ):
        sub = command(function, summary)
        sub.add_argument("names", nargs="*", help="folders in assignments/ (all)")
    sub = command(grade, "grade a folder of notebooks that students handed in", "the grader")
    sub.add_argument("assignment", help="as in 1-regression")
    sub.add_argument("folder", help="the notebooks; results go to FOLDER-graded")
    sub = command(summarise, "histograms of a graded class, and what failed most often")
    sub.add_argument("results", help="the folder that grade wrote")
    sub = command(clean, "remove what was built")
    sub.add_argument("--all", action="store_true", help="the virtual environment too")
    command(setup, "only make the virtual environment")
    return top


def main(argv):
    own, extra = argv, []
    if "--" in argv:
        own, extra = argv[: argv.index("--")], argv[argv.index("--") + 1 :]
    args = parser().parse_args(own)
    args.extra = extra
    if extra and not args.takes_extra:
        raise TaskError(f"tasks.py {args.function.__name__} takes nothing after --.")
    if args.function is not clean:
        with only_one("setup"):
            setup_environment(os.environ.get("ICGD_TORCH_INDEX", ""))
    args.function(args)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except TaskError as error:
        sys.exit(f"\n{error}")
    except KeyboardInterrupt:
        sys.exit("\nStopped.")
