"""What depends on where the book and its repository live.

``repository.url`` and ``html.baseurl`` in _config.yml say where. While one of them still has the
placeholder OWNER, whatever would lead there is left out: no reader meets a dead button.

- With the repository: buttons to it, to Binder and to Colab.
- With the site: canonical addresses, cards for links that are shared, and sitemap.xml.
"""

from pathlib import Path
from urllib.parse import urljoin
from xml.sax.saxutils import escape

from docutils import nodes

PLACEHOLDER = "OWNER"
REPOSITORY_OPTIONS = (
    *("launch_buttons", "repository_url", "repository_branch"),
    *("use_repository_button", "use_edit_page_button", "use_issues_button"),
)


def is_known(address):
    return bool(address) and PLACEHOLDER not in address


def drop_unknown(app, config):
    options = config.html_theme_options
    if not is_known(options.get("repository_url")):
        for name in REPOSITORY_OPTIONS:
            options.pop(name, None)
    if not is_known(config.html_baseurl):
        config.html_baseurl = ""
    elif not config.html_baseurl.endswith("/"):
        config.html_baseurl += "/"


def first_words(doctree, most=200):
    """The start of a page's first paragraph, for previews; formulas are left out of the choice."""
    for paragraph in doctree.findall(nodes.paragraph):
        text = " ".join(paragraph.astext().split())
        if len(text) > 60 and not any(paragraph.findall(nodes.math)):
            return text if len(text) <= most else text[:most].rsplit(" ", 1)[0] + " …"
    return ""


def describe(app, pagename, templatename, context, doctree):
    if doctree is None:
        return
    context["description"] = first_words(doctree)
    if app.config.html_baseurl:
        context["card_image"] = urljoin(app.config.html_baseurl, "_static/card.png")


def write_sitemap(app, exception):
    base = app.config.html_baseurl
    if exception or not base or app.builder.format != "html":
        return
    pages = sorted(app.env.found_docs)
    rows = "".join(f"<url><loc>{escape(urljoin(base, p + '.html'))}</loc></url>\n" for p in pages)
    name = "http://www.sitemaps.org/schemas/sitemap/0.9"
    text = f'<?xml version="1.0" encoding="utf-8"?>\n<urlset xmlns="{name}">\n{rows}</urlset>\n'
    Path(app.outdir, "sitemap.xml").write_text(text, "utf-8")


def setup(app):
    app.connect("config-inited", drop_unknown, priority=1)  # before the theme reads them
    app.connect("html-page-context", describe)
    app.connect("build-finished", write_sitemap)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
