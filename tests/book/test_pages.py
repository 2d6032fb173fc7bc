"""What the built pages must be: whole, self-contained, and readable without seeing the figures."""

import copy
import posixpath
import re
from urllib.parse import unquote, urlsplit

# What makes a browser fetch something by itself; a link to elsewhere does not.
LOADING = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
LOADING |= {"video": "src", "audio": "src", "embed": "src", "object": "data"}


def is_outside(address):
    return bool(urlsplit(address).scheme or urlsplit(address).netloc)


def target(page, address):
    """(page, anchor) that a relative address on a page leads to."""
    parts = urlsplit(address)
    path = posixpath.join(posixpath.dirname(page), unquote(parts.path)) if parts.path else page
    return posixpath.normpath(path), unquote(parts.fragment)


def shown(problems):
    return "\n".join(["", *problems])


def test_every_chapter_of_the_contents_is_there(root, html):
    chapters = re.findall(r"(?:root|file): *(chapters/\S+)", (root / "_toc.yml").read_text("utf-8"))
    assert chapters
    assert not [name for name in chapters if not (html / f"{name}.html").is_file()]


def test_internal_links_and_anchors_resolve(html, pages):
    ids = {name: {tag["id"] for tag in page.select("[id]")} for name, page in pages.items()}
    problems = []
    for name, page in pages.items():
        for link in page.select("a[href]"):
            if is_outside(link["href"]) or link["href"] in ("", "#"):
                continue
            path, anchor = target(name, link["href"])
            if not (html / path).exists():
                problems.append(f"{name}: {link['href']} leads nowhere")
            elif anchor and path in ids and anchor not in ids[path]:
                problems.append(f"{name}: no {anchor} on {path}")
    assert not problems, shown(problems)


def test_ids_are_unique(chapters):
    problems = []
    for name, page in chapters.items():
        ids = [tag["id"] for tag in page.select("[id]")]
        problems += sorted({f"{name}: two of {i}" for i in ids if ids.count(i) > 1})
    assert not problems, shown(problems)


def test_everything_loaded_is_the_books_own(html, pages):
    problems = []
    for name, page in pages.items():
        for tag in page.find_all(list(LOADING)):
            address = tag.get(LOADING[tag.name], "")
            if not address or address.startswith("data:"):
                continue
            if is_outside(address):
                problems.append(f"{name} loads {address}")
            elif not (html / target(name, address)[0]).is_file():
                problems.append(f"{name}: {address} is missing")
        problems += [f"{name}: a style names {s}" for s in re.findall(r"url\(http[^)]*", str(page))]
    assert not problems, shown(problems)


def test_style_sheet_names_only_files_of_the_book(html):
    css = (html / "_static" / "book.css").read_text("utf-8")
    addresses = re.findall(r"""url\(["']?([^"')]+)["']?\)""", css)
    assert addresses
    outside = [a for a in addresses if is_outside(a) and not a.startswith("data:")]
    assert not outside
    local = [a for a in addresses if not is_outside(a) and not a.startswith("#")]
    missing = [a for a in local if not (html / "_static" / re.split("[?#]", a)[0]).is_file()]
    assert not missing, shown(missing)


def test_figures_have_alternative_text_and_caption(chapters):
    problems = []
    for name, page in chapters.items():
        for image in page.select("article img"):
            if not image.get("alt", "").strip():
                problems.append(f"{name}: no alternative text for {image.get('src')}")
        for image in page.select(".cell_output img"):
            caption = image.find_parent("figure") and image.find_parent("figure").figcaption
            if not caption or not caption.get_text(strip=True):
                problems.append(f"{name}: no caption for {image.get('src')}")
    assert not problems, shown(problems)


def test_figures_alternative_text_is_words(chapters):
    """A file name or a formula's source is no help to who cannot see the figure."""
    texts = [i["alt"] for page in chapters.values() for i in page.select(".cell_output img[alt]")]
    assert not [text for text in texts if len(text.split()) < 3 or "\\" in text or "$" in text]


def test_every_formula_is_set(chapters):
    errors = {name: page.select(".katex-error") for name, page in chapters.items()}
    assert not {name: found for name, found in errors.items() if found}
    for name, page in chapters.items():
        unset = [m for m in page.select("article .math") if not m.select_one(".katex")]
        assert not unset, f"{name}: {unset}"


def test_no_raw_markup_is_left_in_the_text(chapters):
    """A role or a formula that MyST did not recognise stays on the page as it was typed."""
    problems = []
    for name, page in chapters.items():
        article = copy.copy(page.select_one("article"))  # the pages are shared by all tests
        for part in article.select("pre, code, script, style, .math, .highlight"):
            part.extract()
        for text in re.findall(r"\{[a-z:]+\}`[^`]*`|\$\\|\$\$|:::+", article.get_text(" ")):
            problems.append(f"{name}: {text!r}")
    assert not problems, shown(problems)


def test_no_cell_wrote_to_stderr(chapters):
    problems = [
        f"{name}: {output.get_text()[:200]}"
        for name, page in chapters.items()
        for output in page.select(".cell_output .output.stderr, .cell_output .output.traceback")
    ]
    assert not problems, shown(problems)


def test_icons_are_in_the_cut_fonts(root, pages):
    kept = set((root / "assets/vendor/fontawesome/icons.txt").read_text("utf-8").split())
    styles = {"fa-solid", "fa-regular", "fa-brands", "fa-lg", "fa-fw", "fa-sm", "fa-xs", "fa-2x"}
    used = {c for page in pages.values() for tag in page.select("i[class]") for c in tag["class"]}
    missing = {c for c in used if c.startswith("fa-")} - kept - styles
    assert not missing, f"run tools/subset_icons.py to add {sorted(missing)}"


def test_every_claim_has_its_place_in_the_book(pages):
    import icgd.evidence  # noqa: F401 - registers the claims
    from icgd import claims

    registered = claims.registry()
    assert registered, "importing icgd.evidence registered no claim"
    problems = []
    for claim in registered.values():
        chapter, _, anchor = claim.anchor.partition("#")
        page = pages.get(f"chapters/{chapter}.html")
        if page is None or not page.find(id=anchor):
            problems.append(f"{claim.id}: nothing at {claim.anchor}")
    assert not problems, shown(problems)
