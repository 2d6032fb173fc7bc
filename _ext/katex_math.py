"""Maths set while the book is built: KaTeX's HTML for the eye, its MathML for screen readers.

No script runs in the page. KaTeX (MIT) lies in ``katex_dir``; QuickJS (PyPI: quickjs-ng) runs it,
so Node is not needed. A formula KaTeX cannot set is a warning with its place: the build, which
treats warnings as errors, fails instead of showing red text.
"""

import json
import re
from pathlib import Path

import bs4
import quickjs
from docutils import nodes
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

log = logging.getLogger(__name__)

# Sphinx numbers equations; KaTeX must not number them a second time.
SELF_NUMBERING = re.compile(r"\\(begin|end)\{(align|alignat|equation|gather)\}")
# KaTeX writes the height of each line of a formula as a strut.
STRUT = re.compile(r'class="katex-strut" style="height:([\d.]+)em')


class Typesetter:
    """KaTeX in a QuickJS context, started at the first formula; remembers what it has set."""

    def __init__(self, folder, macros):
        self.folder, self.macros = Path(folder), macros
        self.render, self.done = None, {}

    def __call__(self, tex, display):
        if (tex, display) not in self.done:
            self.render = self.render or self._start()
            # A screen reader would read the LaTeX aloud after the MathML.
            self.done[tex, display] = self.render(tex, display).replace(
                "<annotation ", '<annotation aria-hidden="true" '
            )
        return self.done[tex, display]

    def _start(self):
        context = quickjs.Context()
        context.eval("var self = globalThis;" + (self.folder / "katex.min.js").read_text("utf-8"))
        options = json.dumps({"macros": self.macros, "strict": "ignore", "throwOnError": True})
        # A fresh copy of the options each time: KaTeX stores \gdef macros in them.
        # normalize() flattens the string: QuickJS hands no rope string to Python.
        context.eval(
            f"const options = {options};"
            "function render(tex, displayMode) {"
            "  const macros = {...options.macros};"
            "  return katex.renderToString(tex, {...options, macros, displayMode}).normalize();"
            "}"
        )
        return context.get("render")


def typeset(translator, node, display):
    tex = node.astext().strip()
    tex = SELF_NUMBERING.sub(r"\\\1{\2*}", tex)
    tex = re.sub(r"\\label\{[^}]*\}", "", tex)
    if display and r"\\" in tex and r"\begin{" not in tex:
        tex = r"\begin{split}" + tex + r"\end{split}"  # as Sphinx does for MathJax
    try:
        return translator.builder.app.katex(tex, display)
    except quickjs.JSException as error:
        reason = str(error).splitlines()[0].removeprefix("Error: ")
        log.warning("%s in the formula %s", reason, tex, location=node, type="katex")
        return f'<code class="katex-error">{translator.encode(tex)}</code>'


def keep_stops(app, doctree, docname):
    """Tie a formula to the punctuation behind it.

    KaTeX sets a formula in boxes, and browsers break lines between a box and a full stop.
    """
    for formula in list(doctree.findall(nodes.math)):
        text = formula.next_node(descend=False, siblings=True)
        stops = re.match(r"[.,;:!?)\]’”]+", text) if isinstance(text, nodes.Text) else None
        if not stops:
            continue
        parent, at = formula.parent, formula.parent.index(formula)
        if len(formula.astext()) <= 36:
            kept = nodes.inline("", "", formula, nodes.Text(stops[0]), classes=["nobreak"])
        else:  # it may have to break itself: its last box takes the punctuation in
            tex = formula.astext() + rf"\text{{{stops[0]}}}"
            kept = nodes.math(tex, tex)
        parent[at : at + 2] = [kept, nodes.Text(text[stops.end() :])]


def visit_inline(self, node):
    self.body.append(self.starttag(node, "span", "", CLASS="math notranslate nohighlight"))
    self.body.append(typeset(self, node, display=False) + "</span>")
    raise nodes.SkipNode


def visit_display(self, node):
    html = typeset(self, node, display=True)
    # The browser lays an equation out when it comes near (course.css); until then it keeps
    # this height free, so that nothing moves.
    height = 1.21 * max(map(float, STRUT.findall(html)), default=1.2) + 2.1
    style = f"contain-intrinsic-height:auto {height:.1f}em"
    self.body.append(self.starttag(node, "div", CLASS="math notranslate nohighlight", STYLE=style))
    if node["number"]:
        # The number itself links to the equation: a large target, and no second glyph.
        number = get_node_equation_number(self, node)
        self.body.append(
            f'<span class="eqno"><a href="#{node["ids"][0]}" title="Link to this equation">'
            f"({number})</a></span>"
        )
    self.body.append(html + "</div>\n")
    raise nodes.SkipNode


def plain(title):
    """A title's HTML with each formula as plain text: for <title> and the search index."""
    soup = bs4.BeautifulSoup(title or "", "html.parser")
    for formula in soup.select(".katex"):
        formula.annotation.decompose()
        formula.replace_with(formula.math.get_text())
    return str(soup)


def start(app):
    app.katex = Typesetter(Path(app.confdir, app.config.katex_dir), app.config.katex_macros)
    app.add_css_file(app.config.katex_url + "/katex.min.css")
    app.add_js_file(app.config.katex_url + "/copy-tex.min.js")  # a copied formula is its LaTeX
    if hasattr(app.builder, "index_page"):
        index_page = app.builder.index_page
        app.builder.index_page = lambda name, tree, title: index_page(name, tree, plain(title))


def page_context(app, pagename, templatename, context, doctree):
    context["title"] = plain(context.get("title"))


def setup(app):
    app.add_html_math_renderer("katex", (visit_inline, None), (visit_display, None))
    app.add_config_value("katex_dir", "assets/vendor/katex", "env")  # beside _config.yml
    app.add_config_value("katex_url", "vendor/katex", "html")  # the same folder under _static
    app.add_config_value("katex_macros", {}, "env")
    app.connect("builder-inited", start)
    app.connect("doctree-resolved", keep_stops)
    app.connect("html-page-context", page_context)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
