"""Shared by all tests: one thread, so that digits do not depend on the machine; no display."""

import importlib.util
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")
os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("TQDM_DISABLE", "1")


def load_script(path):
    """A module from a file that is not part of a package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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
