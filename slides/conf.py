"""The lectures as slides (sphinx-revealjs): maths, macros and figures are the book's own."""

import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "_ext"))
BOOK = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))

project = BOOK["title"]
author, copyright = BOOK["author"], BOOK["copyright"]
language = "en"
extensions = ["myst_parser", "sphinx_revealjs", "katex_math", "chapter_figures"]
myst_enable_extensions = ["dollarmath", "colon_fence"]
exclude_patterns = ["figures"]
html_sourcelink_suffix = ""

html_math_renderer = "katex"
katex_dir = "../assets/vendor/katex"
katex_macros = BOOK["sphinx"]["config"]["katex_macros"]

revealjs_static_path = ["../assets", "figures", "theme"]
revealjs_css_files = ["lecture.css"]
revealjs_style_theme = "white"
revealjs_use_index = True
revealjs_script_conf = {
    "hash": True,
    "transition": "none",
    "slideNumber": "c/t",
    "width": 1200,
    "height": 720,
}
revealjs_script_plugins = [
    {"name": "RevealNotes", "src": "revealjs/plugin/notes/notes.js"},
]
