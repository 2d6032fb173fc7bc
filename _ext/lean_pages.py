"""What a page loads, cut to what it uses.

- sphinx-thebe's scripts go: they are added even when thebe is off, and throw on every page;
- sphinx-design's script for tabs goes where a page has no tabs, our script for explorers likewise;
- the state of ipywidgets goes: in the pages explorers are ready frames, without a widget manager;
- the scripts that remain are deferred: their order is kept, and nothing delays the first paint;
- ids that sphinx-proof and sphinx-exercise give to every box go: an id names one thing;
- images get their width and height, so that nothing moves when they arrive, and load when near.

Works on sphinx-book-theme 1.3 and pydata-sphinx-theme 0.17, as pinned in constraints.txt.
"""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

from docutils import nodes
from PIL import Image
from sphinx.writers.html5 import HTML5Translator

POINT = 4 / 3  # CSS pixels
REPEATED_ID = re.compile(r' id="(?:proof|(?:proof|exercise|solution)-content)"')


def is_unused(script, body):
    name, text = str(script.filename or ""), script.attributes.get("body") or ""
    is_thebe = "thebe" in name or "THEBE_JS_URL" in text
    is_state = script.attributes.get("type") == "application/vnd.jupyter.widget-state+json"
    return (
        is_thebe
        or is_state
        or ("design-tabs" in name and "sd-tab-" not in body)
        or ("explorers.js" in name and "data-explorer=" not in body)
    )


def deferred(script):
    """A copy (the original serves every page) that waits until the page is read."""
    attributes = dict(script.attributes)
    if script.filename:
        attributes.setdefault("defer", "defer")
    elif (attributes.get("body") or "").startswith("DOCUMENTATION_OPTIONS."):
        attributes["type"] = "module"  # an inline script that must follow deferred ones
    return type(script)(script.filename, priority=script.priority, **attributes)


def prune(app, pagename, templatename, context, doctree):
    body = context["body"] = REPEATED_ID.sub("", context.get("body", ""))
    scripts = [s for s in context.get("script_files", []) if not is_unused(s, body)]
    # The search page's own inline scripts run at once and need the others before them.
    context["script_files"] = scripts if pagename == "search" else [deferred(s) for s in scripts]


def image_size(path):
    """(width, height) in CSS pixels of an SVG or raster file; None if it does not say."""
    if path.suffix != ".svg":
        with Image.open(path) as image:
            return image.size
    root = ET.parse(path).getroot()
    box = [float(v) for v in root.get("viewBox", "").replace(",", " ").split()]
    if len(box) != 4:
        return None
    scale = POINT if root.get("width", "").endswith("pt") else 1
    return round(box[2] * scale), round(box[3] * scale)


def visit_image(self, node):
    source = Path(self.builder.srcdir, node["uri"])  # the writer below rewrites node["uri"]
    HTML5Translator.visit_image(self, node)
    if not source.is_file():
        return
    attributes = 'loading="lazy" decoding="async"'
    if size := image_size(source):
        attributes += ' width="{}" height="{}"'.format(*size)
    self.body[-1] = re.sub(r"<img ", f"<img {attributes} ", self.body[-1], count=1)


def depart_image(self, node):
    HTML5Translator.depart_image(self, node)


def setup(app):
    app.add_node(nodes.image, override=True, html=(visit_image, depart_image))
    app.connect("html-page-context", prune, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
