"""Print the whole book, all pages in order, as one PDF; called by ``tasks.py pdf``.

The pages' texts are joined in one file, where links between them become links inside it. Once that
is printed, the page of each heading is known; these numbers are printed alone, over the contents.
"""

import argparse
import html as markup
import sys
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

import bs4
import yaml
from browser import NoBrowserError, launch
from playwright.sync_api import sync_playwright
from pypdf import PdfReader, PdfWriter

ROOT = Path(__file__).resolve().parents[1]
STYLE = Path(__file__).with_suffix(".css")
# Of no use on paper, or put there by scripts that do not run here.
REMOVED = "script, noscript, .headerlink, .explorer-controls, button, .toggle-button"
# The contents' page numbers and nothing else, each in its place.
ONLY_NUMBERS = "body * { visibility: hidden } #contents .number { visibility: visible }"
ONLY_NUMBERS += "@page { @bottom-center { content: none } }"
PAPER = {"width": 658, "height": 994}  # CSS pixels between the margins of book_pdf.css

# What is wider than the paper is made smaller.
FIT = """() => {
  const wide = "div.math > .katex-display, pre, .text_html, .pst-scrollable-table-container";
  for (const box of document.querySelectorAll(wide)) {
    const share = box.clientWidth / box.scrollWidth;
    if (share < 1) box.style.zoom = Math.max(share - 0.005, 0.4);
  }
}"""


def page_names(root):
    contents = yaml.safe_load((root / "_toc.yml").read_text("utf-8"))
    parts = [page["file"] for part in contents["parts"] for page in part["chapters"]]
    return [contents["root"], *parts]


def anchor(page, name=""):
    """A name in the one file for ``name`` on ``page``; two pages may use the same name."""
    return f"{PurePosixPath(page).name}--{name}" if name else PurePosixPath(page).name


def inside(link, page, pages):
    """Where a link on ``page`` leads in the one file; '' if it leaves the book's pages."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return ""
    folder = PurePosixPath(page).parent
    target = (folder / unquote(parts.path)).with_suffix("").as_posix() if parts.path else page
    return "#" + anchor(target, unquote(parts.fragment)) if target in pages else ""


def article(built, page, pages):
    """The text of one page, ready to stand beside the others."""
    soup = bs4.BeautifulSoup((built / f"{page}.html").read_text("utf-8"), "html.parser")
    text = soup.select_one("article.bd-article")
    for tag in text.select(REMOVED):
        tag.decompose()
    for folded in text.select("details"):
        folded["open"] = ""
    for tag in text.select("[id]"):
        tag["id"] = anchor(page, tag["id"])
    for link in text.select("a[href]"):
        if urlsplit(link["href"]).scheme:
            continue
        link["href"] = inside(link["href"], page, pages)
        if not link["href"]:
            del link["href"]
    for image in text.select("img[src]"):
        image["loading"] = "eager"
        if not image["src"].startswith("data:"):
            image["src"] = f"../html/{PurePosixPath(page).parent}/{image['src']}"
    text["id"] = anchor(page)
    return text


def headings(page, text):
    """(level, anchor, title) of the page and its sections."""
    found = []
    for heading in text.select("h1, h2"):
        title = bs4.BeautifulSoup(str(heading), "html.parser")
        for formula in title.select(".katex-mathml"):
            formula.decompose()
        at = anchor(page) if heading.name == "h1" else heading.parent.get("id", anchor(page))
        found.append((heading.name, at, title.find().decode_contents()))
    return found


def contents(entries, numbers):
    """The table of contents; ``numbers`` gives the page of each anchor, once known."""
    rows = "".join(
        f'<li class="{"page" if level == "h1" else "section"}"><a href="#{at}">{title}</a>'
        f'<span class="number">{numbers.get(at, "")}</span></li>'
        for level, at, title in entries
    )
    return f'<section id="contents"><h1>Contents</h1><ol>{rows}</ol></section>'


def document(config, body, more_style=""):
    title, author = markup.escape(config["title"]), markup.escape(config["author"])
    return (
        '<!DOCTYPE html><html lang="en" data-theme="light" data-mode="light"><head>'
        f'<meta charset="utf-8"><title>{title}</title>'
        '<link rel="stylesheet" href="../html/_static/book.css">'
        f"<style>{STYLE.read_text('utf-8')}{more_style}</style></head><body>"
        f'<section id="title-page"><img src="../html/_static/logo.svg" alt=""><h1>{title}</h1>'
        f"<p>{author}</p></section>{body}</body></html>"
    )


def print_file(browser, source, text):
    """Print the HTML ``text``, kept as ``source``; returns the PDF beside it."""
    source.write_text(text, "utf-8")
    page = browser.new_page(viewport=PAPER)
    page.set_default_timeout(300_000)
    page.emulate_media(media="print")
    page.goto(source.as_uri())
    page.evaluate("document.fonts.ready.then(() => true)")
    page.evaluate("Promise.all([...document.images].map((image) => image.decode())).then(() => 1)")
    page.evaluate(FIT)
    target = source.with_suffix(".pdf")
    page.pdf(path=target, prefer_css_page_size=True, print_background=True)
    page.close()
    return target


def page_indices(reader):
    """{anchor: index of its page}; a browser keeps the anchors that links lead to."""
    places = reader.named_destinations.items()
    return {name.lstrip("/"): reader.get_destination_page_number(place) for name, place in places}


def add_outline(writer, entries, indices):
    """Bookmarks: the pages of the book, and below each its sections."""
    parent = None
    for level, at, title in entries:
        text = bs4.BeautifulSoup(title, "html.parser").get_text()
        item = writer.add_outline_item(text, indices[at], parent if level == "h2" else None)
        parent = item if level == "h1" else parent


def make(root, target):
    """Print the built book to ``target``; returns how many pages it has."""
    built, pages = root / "_build/html", page_names(root)
    config = yaml.safe_load((root / "_config.yml").read_text("utf-8"))
    articles = [article(built, page, pages) for page in pages]
    entries = [e for page, text in zip(pages, articles, strict=True) for e in headings(page, text)]
    text = f'<div class="bd-content">{"".join(map(str, articles))}</div>'
    folder = root / "_build/pdf"
    folder.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = launch(playwright)
        whole = document(config, contents(entries, {}) + text)
        book = PdfReader(print_file(browser, folder / "book.html", whole))
        indices = page_indices(book)
        if missing := [at for _, at, _ in entries if at not in indices]:
            sys.exit(f"Every heading must have its page in the PDF; {missing} have none.")
        numbers = {at: index + 1 for at, index in indices.items()}
        alone = document(config, contents(entries, numbers), ONLY_NUMBERS)
        layer = PdfReader(print_file(browser, folder / "numbers.html", alone))
    writer = PdfWriter(clone_from=book)
    for index, page in enumerate(layer.pages):
        writer.pages[index].merge_page(page)
    add_outline(writer, entries, indices)
    writer.add_metadata({"/Title": config["title"], "/Author": config["author"]})
    writer.write(target)
    return len(writer.pages)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", type=Path)
    try:
        count = make(ROOT, parser.parse_args().target)
    except NoBrowserError as error:
        sys.exit(f"The book is printed by a browser. {error}")
    print(f"{count} pages")
