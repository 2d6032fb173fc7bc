"""One style sheet for the whole book: _static/book.css, which _templates/layout.html names.

It joins the theme's, the extensions' and the course's sheets, rewrites their relative addresses,
drops the rules of icons that no page shows, and carries inside itself the small icon fonts and the
two fonts of nearly every formula, which would move the page's text when they arrive later.
"""

import base64
import os
import re
from pathlib import Path

THEME_SHEETS = ("basic.css", "styles/pydata-sphinx-theme.css")
ICON_RULE = re.compile(r"((?:\.fa-[\w-]+:before,?)+)\{[^}]*\}")
INLINED_BELOW = 8_000  # bytes: a request costs more than a font of this size
OF_FORMULAS = ("KaTeX_Main-Regular.woff2", "KaTeX_Math-Italic.woff2")
ALWAYS_KEPT = {"fa-xmark"}  # shown by a script


def remember_sheets(app, pagename, templatename, context, doctree):
    names = [str(sheet.filename).split("?")[0] for sheet in context.get("css_files", [])]
    # pydata's own sheet is in THEME_SHEETS; thebe's scripts are dropped by lean_pages.
    app.book_sheets = [
        n.removeprefix("_static/") for n in names if "pydata" not in n and "thebe" not in n
    ]


def address(url, folder, static):
    """The CSS url(...) of ``url``, seen from ``folder``, as it must read in _static/book.css."""
    if url.startswith(("data:", "#", "http", "/")):
        return f'url("{url}")'
    path = (folder / re.split("[?#]", url)[0]).resolve()
    is_icon_font = "fontawesome" in path.parts and path.suffix == ".woff2"
    is_small = is_icon_font and path.stat().st_size < INLINED_BELOW
    if is_small or path.name in OF_FORMULAS:
        data = base64.b64encode(path.read_bytes()).decode()
        return f"url(data:font/woff2;base64,{data})"
    return "url(" + os.path.relpath(path, static).replace(os.sep, "/") + ")"


def used_icons(outdir):
    pages = (page.read_text("utf-8") for page in Path(outdir).rglob("*.html"))
    return ALWAYS_KEPT.union(*(re.findall(r"\bfa-[a-z0-9-]+", text) for text in pages))


def write_bundle(app, exception):
    if exception or app.builder.format != "html" or not hasattr(app, "book_sheets"):
        return
    static = Path(app.outdir, "_static").resolve()
    icons, parts = used_icons(app.outdir), []

    def icon_rule(match):
        return match[0] if icons & set(re.findall(r"\.(fa-[\w-]+):", match[1])) else ""

    for name in dict.fromkeys([*THEME_SHEETS, *app.book_sheets]):
        path = static / name
        css = re.sub(r"/\*.*?\*/", "", path.read_text("utf-8"), flags=re.DOTALL)
        css = ICON_RULE.sub(icon_rule, css)
        css = re.sub(
            r"""url\(["']?([^"')]+)["']?\)""",
            lambda match, folder=path.parent: address(match[1], folder, static),
            css,
        )
        parts.append(css)
    (static / "book.css").write_text("\n".join(parts), "utf-8")


def setup(app):
    app.connect("html-page-context", remember_sheets, priority=960)
    # After the theme has written its style sheet for code in two modes.
    app.connect("build-finished", write_bundle, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
