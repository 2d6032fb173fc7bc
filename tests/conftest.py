"""Shared by all tests: one thread, so that digits do not depend on the machine; no display."""

import importlib.util
import os
import re
from pathlib import Path

import bs4
import pytest

ROOT = Path(__file__).resolve().parents[1]

for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")
os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("TQDM_DISABLE", "1")

NOT_BUILT = "The book is not built, or its last build failed: run python3 tasks.py book."


def load_script(path):
    """A module from a file that is not part of a package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark what tasks.py runs with the shapes in every signature checked: the library's tests.

    Not what hands over bad shapes on purpose. The evidence has a folder of its own: its thousands
    of calls send the same few shapes through the same functions as these tests do.
    """
    for item in items:
        is_library = item.path.parent.name in ("regression", "autoregression")
        if is_library and not item.get_closest_marker("bad_input"):
            item.add_marker("shape_checked")


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture
def tasks():
    """A fresh copy of tasks.py, free to be patched."""
    return load_script(ROOT / "tasks.py")


@pytest.fixture(scope="session")
def notebook_tool():
    return load_script(ROOT / "tools" / "notebooks.py")


@pytest.fixture(scope="session")
def html():
    """The folder of built pages."""
    if not (ROOT / "_build" / "complete.txt").is_file():
        pytest.fail(NOT_BUILT, pytrace=False)
    return ROOT / "_build" / "html"


@pytest.fixture(scope="session")
def pages(html):
    """{address under the built folder: parsed page} for every page that readers see."""
    files = sorted(file for file in html.rglob("*.html") if "_static" not in file.parts)
    return {
        file.relative_to(html).as_posix(): bs4.BeautifulSoup(
            without_glyphs(file.read_text("utf-8")), "html.parser"
        )
        for file in files
    }


def without_glyphs(page):
    """A page without the visible half of its formulas: most of its elements, and nothing to test.

    The half that screen readers read stays.
    """
    kept, end, depth = [], 0, 0
    for tag in re.finditer(r'(<span[^>]* class="katex-html")|<span\b|</span>', page):
        if not depth and not tag[1]:
            continue
        if not depth:
            kept.append(page[end : tag.start()])
        depth += -1 if tag[0] == "</span>" else 1
        end = tag.end()
    return "".join([*kept, page[end:]])
