"""The pages of the book's text."""

import pytest


@pytest.fixture(scope="session")
def chapters(pages):
    return {name: page for name, page in pages.items() if name.startswith("chapters/")}
