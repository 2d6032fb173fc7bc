"""What a reader's browser sees of a page, gathered in one visit over http and one from disk."""

import itertools
import re
from dataclasses import dataclass, field
from pathlib import Path

import axe_playwright_python
from explorers import use_explorer

LOOK = Path(__file__).with_name("look.js")
AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js")
DESKTOP, PHONE = 1300, 390
#: The order in which a page is looked at: (width, mode).
STATES = [(PHONE, "light"), (PHONE, "dark"), (DESKTOP, "dark"), (DESKTOP, "light")]


@dataclass
class Seen:
    """What went wrong on a page, and how it looked in each state."""

    console: list = field(default_factory=list)
    outside: list = field(default_factory=list)
    failed: list = field(default_factory=list)
    jumps: list = field(default_factory=list)
    explorers: list = field(default_factory=list)
    violations: dict = field(default_factory=dict)
    sideways: dict = field(default_factory=dict)
    lightness: dict = field(default_factory=dict)


def open_page(browser, origin, seen, **options):
    """A page of a new context that cannot reach beyond ``origin``; ``seen`` keeps its troubles."""
    context = browser.new_context(**options)
    context.set_default_timeout(15_000)
    page = context.new_page()

    def refuse(route):
        seen.outside.append(route.request.url)
        route.abort()

    def heard(message):
        if message.type in ("error", "warning"):
            seen.console.append(message.text)

    def answered(response):
        if response.status >= 400:
            seen.failed.append(response.url)

    own = "|".join([re.escape(origin), "data:", "blob:"])
    context.route(re.compile(f"^(?!{own})"), refuse)
    page.on("console", heard)
    page.on("pageerror", lambda error: seen.console.append(str(error)))
    page.on("requestfailed", lambda request: seen.failed.append(request.url))
    page.on("response", answered)
    page.add_init_script(path=LOOK)
    return page


def set_state(page, width, mode):
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=mode)
    page.wait_for_function("mode => document.documentElement.dataset.theme === mode", arg=mode)
    page.evaluate("() => new Promise((done) => requestIdleCallback(done, { timeout: 500 }))")


def read(page, seen):
    """Scroll through the page, as a reader does, and use what can be used."""
    page.wait_for_timeout(200)
    page.evaluate("look.scrollThrough()")
    seen.jumps = page.evaluate("look.jumps")
    seen.explorers = [use_explorer(page, box) for box in page.locator("figure.explorer").all()]


def over_http(browser, origin, address):
    """A visit on a desktop; then the page is looked at in each state, also through axe's eyes."""
    seen = Seen()
    page = open_page(browser, origin, seen, viewport={"width": DESKTOP, "height": 900})
    page.goto(origin + address)
    read(page, seen)
    for width in (DESKTOP, PHONE):
        set_state(page, width, "light")
        seen.sideways[width] = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    page.evaluate("look.thinOut()")
    page.add_script_tag(path=AXE)
    for width, mode in STATES:
        set_state(page, width, mode)
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        seen.lightness[width, mode] = sum(map(int, re.findall(r"\d+", colour)[:3])) / (3 * 255)
        looks = ("colours", "the rest") if mode == "light" else ("colours",)
        found = [page.evaluate("where => look.violations(where)", where) for where in looks]
        seen.violations[width, mode] = list(itertools.chain(*found))
    page.context.close()
    return seen


def from_disk(browser, folder, address):
    """A visit on a phone, to the file, with the network off."""
    seen, view = Seen(), {"width": PHONE, "height": 844}
    page = open_page(browser, folder.as_uri(), seen, offline=True, viewport=view)
    page.goto(f"{folder.as_uri()}/{address}")
    read(page, seen)
    page.context.close()
    return seen
