"""Every page in a real browser: silent, still, readable by all, and alive without a kernel."""

import re
from pathlib import Path

import bs4
import pytest
from visits import DESKTOP, PHONE, STATES, Seen, open_page

ROOT = Path(__file__).parents[2]
CONTENTS = re.findall(r"(?:root|file): *(chapters/\S+)", (ROOT / "_toc.yml").read_text("utf-8"))
JUMP = 0.05  # of the score that browsers give; up to 0.1 counts as good


def each(names, what="page"):
    """One parameter a page; all tests of a page go to one process, which visits it once."""
    marks = [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in names]
    return pytest.mark.parametrize(what, marks)


every_page = each([*(f"{name}.html" for name in CONTENTS), "search.html"])


@every_page
def test_no_error_and_nothing_from_outside(page, seen):
    found = seen(page)
    assert found.console == []
    assert found.outside == []
    assert found.failed == []


@every_page
def test_the_same_from_disk_with_the_network_off(page, seen_from_disk):
    found = seen_from_disk(page)
    assert found.console == []
    assert found.outside == []
    assert found.failed == []


@every_page
def test_nothing_jumps(page, seen, seen_from_disk):
    for found in (seen(page), seen_from_disk(page)):
        assert sum(value for value, _ in found.jumps) < JUMP, found.jumps


@every_page
def test_axe_finds_nothing(page, seen):
    assert seen(page).violations == {state: [] for state in STATES}


@every_page
def test_the_page_does_not_scroll_sideways(page, seen):
    assert {width: room for width, room in seen(page).sideways.items() if room > 0} == {}


@every_page
def test_dark_is_dark_and_light_is_light(page, seen):
    for (width, mode), lightness in seen(page).lightness.items():
        fits = lightness > 0.9 if mode == "light" else lightness < 0.2
        assert fits, (width, mode, lightness)


@every_page
def test_explorers_answer_mouse_and_keyboard(page, html, seen, seen_from_disk):
    built = (html / page).read_text("utf-8").count('<figure class="explorer"')
    for found in (seen(page), seen_from_disk(page)):
        assert len(found.explorers) == built
        assert [told for told in found.explorers if told] == []


@pytest.fixture
def visitor(browser, origin):
    """Opens a page for a single test."""
    opened = []

    def open_one(address, **options):
        opened.append(open_page(browser, options.pop("at", origin), Seen(), **options))
        opened[-1].goto(address if ":" in address else origin + address)
        return opened[-1]

    yield open_one
    for page in opened:
        page.context.close()


FIRST, SECOND, LAST = (f"{CONTENTS[i]}.html" for i in (0, 1, -1))


def test_skip_link_is_the_first_stop_and_leads_to_the_text(visitor):
    page = visitor(SECOND, viewport={"width": DESKTOP, "height": 900})
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('href')") == "#main-content"
    page.wait_for_function("document.activeElement.getBoundingClientRect().top >= 0")
    page.keyboard.press("Enter")
    assert page.url.endswith("#main-content")


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
def test_next_and_previous_lead_through_the_book(visitor, width):
    page = visitor(FIRST, viewport={"width": width, "height": 900})
    page.locator("a.right-next").click()
    page.wait_for_url(f"**/{SECOND}")
    page.locator("a.left-prev").click()
    page.wait_for_url(f"**/{FIRST}")


def test_the_switch_turns_the_page_dark_and_the_next_page_remembers(visitor):
    page = visitor(FIRST, viewport={"width": DESKTOP, "height": 900}, color_scheme="light")
    seen = set()
    for _ in range(3):
        page.locator("button.theme-switch-button").first.click()
        seen.add(page.evaluate("document.documentElement.dataset.mode"))
        if page.evaluate("document.documentElement.dataset.mode") == "dark":
            page.locator("a.right-next").click()
            assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert seen == {"auto", "light", "dark"}


def test_figures_are_turned_for_the_dark(visitor, html):
    page = visitor(figures_page(html), color_scheme="dark")
    filters = page.evaluate(
        "[...document.querySelectorAll('.cell_output img')].map((i) => getComputedStyle(i).filter)"
    )
    assert filters
    assert "none" not in filters


def figures_page(html):
    names = [f"{name}.html" for name in CONTENTS]
    return next(n for n in names if "cell_output" in (html / n).read_text("utf-8"))


# --- search --------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def statements(html):
    """(name, page, anchor) of every named theorem, lemma, proposition and corollary."""
    boxes = bs4.SoupStrainer("div", class_=lambda names: names and "admonition" in names.split())
    found = []
    for page in (f"{name}.html" for name in CONTENTS):
        text = (html / page).read_text("utf-8")
        tree = bs4.BeautifulSoup(text, "html.parser", parse_only=boxes)
        for box in tree.select("[id]:is(.theorem, .lemma, .proposition, .corollary)"):
            title = box.select_one(".admonition-title")
            for formula in title.select(".katex"):  # the index has its source
                formula.replace_with(formula.select_one("annotation").get_text())
            title = title.get_text()
            if name := re.search(r"\((.*)\)\s*$", title):
                found.append((name[1], page, box["id"]))
    return found


@pytest.mark.xdist_group("search")
def test_search_leads_to_every_named_statement(visitor, statements):
    page = visitor("search.html")
    page.wait_for_function("Search.hasIndex()")
    assert len(statements) > 20
    missed = []
    for name, where, anchor in statements:
        plain = page.evaluate(
            "(q) => { const p = Search._parseQuery(q); return Search._performSearch(...p)"
            ".slice(-8).map(([doc, , anchor]) => `${doc}.html${anchor}`) }",
            name,
        )
        if f"{where}#{anchor}" not in plain:
            missed.append(f"{name}: {where}#{anchor}")
    assert missed == []


@pytest.mark.xdist_group("search")
@pytest.mark.parametrize("where", ["http", "disk"])
def test_search_from_a_page_by_keyboard(visitor, html, origin, statements, where):
    name, target, anchor = statements[0]
    at = origin if where == "http" else html.as_uri()
    page = visitor(f"{at}/{SECOND}" if where == "disk" else SECOND, at=at)
    page.keyboard.press("Control+k")
    page.locator("dialog input[name=q]").wait_for(state="visible")
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    first = page.locator("#search-results li a").first
    first.wait_for()
    first.click()
    page.wait_for_url(f"**/{target}*#{anchor}")


# --- without a script ----------------------------------------------------------------------------


@pytest.fixture
def scriptless(browser, html):
    context = browser.new_context(java_script_enabled=False, offline=True)
    yield lambda name: open_in(context, html, name)
    context.close()


def open_in(context, html, name):
    page = context.new_page()
    page.goto(f"{html.as_uri()}/{name}")
    return page


def test_without_a_script_solutions_are_open_and_explorers_say_what_is_missing(scriptless, html):
    for name in (f"{name}.html" for name in CONTENTS):
        text = (html / name).read_text("utf-8")
        explorers, solutions = text.count('<figure class="explorer"'), "solution dropdown" in text
        if not explorers and not solutions:
            continue
        page = scriptless(name)
        for solution in page.locator(".solution.dropdown").all()[:1]:
            assert solution.locator("p").nth(1).is_visible(), name
        boxes = page.locator("figure.explorer").all()
        assert len(boxes) == explorers
        for box in boxes:
            assert box.locator("img").is_visible(), name
            assert "JavaScript" in box.inner_text(), name
            assert not box.locator("fieldset").is_visible(), name
        page.close()
