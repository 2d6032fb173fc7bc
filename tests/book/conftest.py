"""The built pages, parsed once."""

import bs4
import pytest

NOT_BUILT = "The book is not built, or its last build failed: run python3 tasks.py book."


@pytest.fixture(scope="session")
def html(root):
    """The folder of built pages."""
    if not (root / "_build" / "complete.txt").is_file():
        pytest.fail(NOT_BUILT, pytrace=False)
    return root / "_build" / "html"


@pytest.fixture(scope="session")
def pages(html):
    """{address under the built folder: parsed page} for every page that readers see."""
    files = sorted(file for file in html.rglob("*.html") if "_static" not in file.parts)
    return {
        file.relative_to(html).as_posix(): bs4.BeautifulSoup(file.read_text("utf-8"), "html.parser")
        for file in files
    }


@pytest.fixture(scope="session")
def chapters(pages):
    return {name: page for name, page in pages.items() if name.startswith("chapters/")}
