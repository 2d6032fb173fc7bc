"""The script that fills the book's execution cache executes what the book shows, and only that."""

from pathlib import Path

import execute_chapters

ROOT = Path(__file__).parents[2]


def test_it_executes_every_notebook_of_the_contents_once():
    chapters = execute_chapters.chapters()
    contents = (ROOT / "_toc.yml").read_text("utf-8")
    notebooks = sorted(file for file in (ROOT / "chapters").glob("*.ipynb"))
    assert sorted(chapters) == [file for file in notebooks if f"chapters/{file.stem}" in contents]
    assert len(chapters) == len(set(chapters)) > 0


def test_its_cache_is_where_jupyter_book_looks():
    config = (ROOT / "_config.yml").read_text("utf-8")
    assert "execute_notebooks: cache" in config
    assert execute_chapters.CACHE == ROOT / "_build/.jupyter_cache"
