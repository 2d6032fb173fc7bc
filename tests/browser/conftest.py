"""One browser and one server for all tests of the pages as readers see them."""

import functools
import http.server
import os
import threading

import browser as browser_tool
import pytest
import visits
from playwright.sync_api import sync_playwright


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        try:
            browser = browser_tool.launch(playwright)
        except browser_tool.NoBrowserError as error:
            if os.environ.get("ICGD_REQUIRE_BROWSER"):
                pytest.fail(str(error), pytrace=False)
            pytest.skip(f"The pages were not seen in a browser. {error}")
        yield browser
        browser.close()


class Server(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="session")
def origin(html):
    """The address that the built book is served at."""
    handler = functools.partial(Server, directory=html)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="session")
def seen(browser, origin):
    """page -> what was seen of it over http; a page is visited once."""
    return functools.cache(lambda page: visits.over_http(browser, origin, page))


@pytest.fixture(scope="session")
def seen_from_disk(browser, html):
    """page -> what was seen of its file; a page is visited once."""
    return functools.cache(lambda page: visits.from_disk(browser, html, page))
