"""The browser that prints the book and that the tests look through.

It is one that the machine has (Chromium, Chrome, Edge) or that ``CHROMIUM`` names; none is
downloaded.
"""

import os
import shutil

from playwright.sync_api import Error

COMMANDS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
INSTALLED = ("chrome", "msedge")  # where each system keeps them, Playwright knows
FLAGS = (
    # It shows this book only, often as root in a container.
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
)


class NoBrowserError(Exception):
    """No browser can be started; says what to do."""


def launch(playwright):
    """A headless browser, under Playwright's control."""
    named = os.environ.get("CHROMIUM")
    path = named or next(filter(None, map(shutil.which, COMMANDS)), None)
    ways = [{"executable_path": path}] if path else [{"channel": name} for name in INSTALLED]
    for way in ways:
        try:
            return playwright.chromium.launch(args=list(FLAGS), **way)
        except Error as error:
            reason = str(error).strip().splitlines()[0]
    raise NoBrowserError(
        f"{named or 'Chromium'} must be there and start, and did not ({reason}). Install Chromium "
        "or Chrome (Debian, Ubuntu: sudo apt install chromium), or name one: CHROMIUM=/path/to/it"
    )
