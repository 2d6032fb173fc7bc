"""What an explorer is in the built page: a `<figure>` with native controls and the packed frames.

`assets/explorers.js` puts a frame together from the elements that it lists.
"""

import html
import json
import re
import urllib.parse

from icgd.explorers.scenes import pack

POINT = 4 / 3  # CSS pixels


def figure(explorer) -> str:
    """The explorer's `<figure>`: picture, controls, numbers, caption, and the packed frames."""
    frame = explorer.first
    controls = "".join(
        control_row(f"explorer-{explorer.name}-{key}", control)
        for key, control in explorer.controls.items()
    )
    elements, frames = pack([frame.svg for frame in explorer.frames])
    data = {
        "sizes": [len(control.values) for control in explorer.controls.values()],
        "elements": elements,
        "frames": frames,
        "alts": [frame.alt for frame in explorer.frames],
        "readouts": [list(frame.readout.values()) for frame in explorer.frames],
    }
    packed = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    return (
        f'<figure class="explorer" {attributes(explorer)}>{picture(frame)}'
        '<fieldset class="explorer-controls" disabled>'
        f'<legend class="explorer-name">Controls of the explorer</legend>{controls}</fieldset>'
        f"{readout(frame)}"
        '<noscript><p class="explorer-still">The controls need JavaScript. Without it this is the'
        " explorer's first picture; the numbered figures of the chapter show more.</p></noscript>"
        f"<figcaption>{caption(explorer)}</figcaption>"
        f'<script type="application/json">{packed}</script></figure>'
    )


def attributes(explorer) -> str:
    name, claim = html.escape(explorer.name), html.escape(explorer.claim)
    return f'data-explorer="{name}" data-claim="{claim}"'


def control_row(name: str, control) -> str:
    """A label, the native input it belongs to, and what the input says."""
    label = f'<label for="{name}">{html.escape(control.label)}</label>'
    inputs = select if control.native == "select" else slider
    return f'<div class="explorer-control">{label}{inputs(name, control)}</div>'


def slider(name: str, control) -> str:
    texts = [" ".join([text, control.unit]).strip() for text in control.texts()]
    start = list(control.values).index(control.start)
    now, all_texts = html.escape(texts[start]), html.escape(json.dumps(texts, ensure_ascii=False))
    spoken = html.escape(f"Play {control.label}")
    play = f'<button type="button" class="explorer-play" aria-label="{spoken}">Play</button>'
    return (
        f'<input type="range" id="{name}" min="0" max="{len(texts) - 1}" step="1" value="{start}"'
        f' autocomplete="off" aria-valuetext="{now}" data-texts="{all_texts}">'
        f'<output for="{name}" aria-live="off">{now}</output>{play if control.plays else ""}'
    )


def select(name: str, control) -> str:
    options = "".join(
        f'<option value="{i}"{" selected" * (text == control.start)}>{html.escape(text)}</option>'
        for i, text in enumerate(control.texts())
    )
    return f'<select id="{name}" autocomplete="off">{options}</select>'


def picture(frame) -> str:
    """The frame as an image, with its size, so that nothing moves when it is decoded."""
    box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', frame.svg).groups()
    width, height = (round(float(side) * POINT) for side in box)
    source = "data:image/svg+xml," + urllib.parse.quote(frame.svg, safe=" !'()*,-./:;=?@_~")
    return (
        f'<img class="explorer-picture" width="{width}" height="{height}"'
        f' alt="{html.escape(frame.alt)}" src="{source}">'
    )


def readout(frame) -> str:
    rows = "".join(
        f"<div><dt>{html.escape(label)}</dt><dd>{html.escape(text)}</dd></div>"
        for label, text in frame.readout.items()
    )
    return f'<dl class="explorer-readout" aria-live="polite" aria-atomic="true">{rows}</dl>'


def caption(explorer) -> str:
    return f"<p>{html.escape(explorer.caption)} (Claim {html.escape(explorer.claim)}.)</p>"


def without_style(frame) -> str:
    """Picture and numbers for a notebook, which has no style sheet of ours: dark on white."""
    numbers = "".join(
        '<span style="display: inline-block; margin: 0 2em 0.3em 0">'
        f"{html.escape(label)}<br><b>{html.escape(text)}</b></span>"
        for label, text in frame.readout.items()
    )
    paper = "background: white; color: black; padding: 0.5em; line-height: 1.4"
    return f'<div style="{paper}">{picture(frame)}<div aria-live="polite">{numbers}</div></div>'


def message(text: str) -> str:
    return f'<p role="alert">{html.escape(text)}</p>'
