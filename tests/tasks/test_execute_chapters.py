"""The script that fills the book's execution cache executes what the book shows, and only that."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[2]


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_executes_every_notebook_of_the_contents_once():
    chapters = load(ROOT / "tools/execute_chapters.py").chapters()
    contents = (ROOT / "_toc.yml").read_text("utf-8")
    notebooks = sorted(file for file in (ROOT / "chapters").glob("*.ipynb"))
    assert sorted(chapters) == [file for file in notebooks if f"chapters/{file.stem}" in contents]
    assert len(chapters) == len(set(chapters)) > 0


def test_its_cache_is_where_jupyter_book_looks():
    script = load(ROOT / "tools/execute_chapters.py")
    config = (ROOT / "_config.yml").read_text("utf-8")
    assert "execute_notebooks: cache" in config
    assert script.CACHE == ROOT / "_build/.jupyter_cache"
