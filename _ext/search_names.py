"""The search index knows each statement by its name, without the parentheses around it.

sphinx-proof and sphinx-exercise keep the parentheses that they print around a name in the title
that Sphinx indexes.
"""

import re


def bare(title):
    return re.sub(r"^\s*\((.*)\)\s*$", r"\1", title)


def start(app):
    if not hasattr(app.builder, "index_page"):
        return
    index_page = app.builder.index_page

    def with_names(name, tree, title):
        index_page(name, tree, title)
        titles = app.builder.indexer._all_titles
        titles[name] = [(bare(text), anchor) for text, anchor in titles.get(name, [])]

    app.builder.index_page = with_names


def setup(app):
    app.connect("builder-inited", start)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
