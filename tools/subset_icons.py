"""Cut the theme's icon fonts to the icons that can occur: 300 KB become a few.

Run by hand, after a change of the theme's version or when tests/book finds an icon that is not in
assets/vendor/fontawesome/icons.txt, on a machine with fonttools and brotli, with the book built:

    pip install fonttools brotli
    python tools/subset_icons.py

html_static_path is copied after the theme's files, so these fonts replace the theme's.
"""

import re
from pathlib import Path

import pydata_sphinx_theme
import sphinx_book_theme
from fontTools import subset
from fontTools.ttLib import TTFont

ROOT = Path(__file__).resolve().parents[1]
HTML = ROOT / "_build" / "html"
OUT = ROOT / "assets" / "vendor" / "fontawesome"
THEMES = [Path(m.__file__).parent for m in (pydata_sphinx_theme, sphinx_book_theme)]
STATIC = THEMES[0] / "theme" / "pydata_sphinx_theme" / "static"
THEME_CSS = STATIC / "styles" / "pydata-sphinx-theme.css"
NAMED_ICON = re.compile(r'((?:\.fa-[\w-]+:before,?)+)\{content:"\\?([^"]+)"\}')


def code_point(content):
    return int(content, 16) if re.fullmatch("[0-9a-f]{2,4}", content) else ord(content[0])


def icons_by_name():
    """From the theme's style sheet: {fa-name: code point}."""
    rules = NAMED_ICON.findall(THEME_CSS.read_text("utf-8"))
    return {
        name: code_point(content)
        for names, content in rules
        for name in re.findall(r"\.(fa-[\w-]+):", names)
    }


def names_in_use():
    """Icons named by the theme's templates and code, and by this book's pages."""
    scripts = ("pydata-sphinx-theme.js", "sphinx-book-theme.js")
    files = [
        file
        for theme in THEMES
        for file in theme.rglob("*")
        if file.suffix in (".html", ".py") or file.name in scripts
    ]
    files += HTML.rglob("*.html")
    texts = (file.read_text("utf-8", "ignore") for file in files)
    return {name for text in texts for name in re.findall(r"\bfa-[a-z0-9-]+", text)}


def characters_in_style_sheets():
    """Icons that style sheets name by character: admonitions, links, exercises."""
    found = set()
    sheets = [f for f in (HTML / "_static").rglob("*.css") if "vendor" not in f.parts]
    for sheet in [THEME_CSS, *(f for f in sheets if f.name != "book.css")]:
        css = NAMED_ICON.sub("", sheet.read_text("utf-8", "ignore"))
        found |= {int(code, 16) for code in re.findall(r"\\(f[0-9a-f]{3})\b", css)}
        found |= {ord(char) for char in css if 0xE000 <= ord(char) <= 0xF8FF}
    return found


def main():
    codes = icons_by_name()
    names = sorted(names_in_use() & codes.keys())
    characters = {codes[name] for name in names} | characters_in_style_sheets()
    (OUT / "webfonts").mkdir(parents=True, exist_ok=True)
    for source in sorted((STATIC / "vendor/fontawesome/webfonts").glob("*.woff2")):
        options = subset.Options(layout_features=[], hinting=False, desubroutinize=True)
        options.name_IDs = [0, 13, 14]  # copyright and licence stay; the reserved font name goes
        cutter = subset.Subsetter(options)
        font = TTFont(source)
        cutter.populate(unicodes=characters)
        cutter.subset(font)
        font.flavor = "woff2"
        target = OUT / "webfonts" / source.name
        font.save(target)
        print(f"{source.name}: {source.stat().st_size} -> {target.stat().st_size} bytes")
    (OUT / "icons.txt").write_text("\n".join(names) + "\n", "utf-8")


if __name__ == "__main__":
    main()
