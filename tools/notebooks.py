"""Execute the chapters in place and tidy them for git; called by ``tasks.py notebooks``.

A committed chapter holds no outputs, except the printed text of cells tagged ``keep_output``, and
nothing that a second run would change: cell ids follow from the sources, counts of executions and
front ends' metadata are dropped. Once _config.yml knows the repository's address, each chapter
begins with a cell that fetches the course on Colab and does nothing elsewhere.
"""

import argparse
import hashlib
import sys
import time
from pathlib import Path

import nbformat
import yaml
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

ROOT = Path(__file__).resolve().parents[1]
CHAPTERS = ROOT / "chapters"
PLACEHOLDER = "OWNER"  # in an address that is not known yet; as in _ext/addresses.py
COLAB = """\
# On Colab: fetch the course and its library. Elsewhere: nothing.
import sys

if "google.colab" in sys.modules:
    !git clone -q --depth 1 -b {branch} {url} course
    %cd -q course/chapters
    %pip install -q .."""
COLAB_TAGS = ["colab", "remove-cell"]  # not shown in the book
NOTEBOOK_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
KEPT_CELL_METADATA = ("mystnb", "tags")
TIMEOUT = 300  # seconds a cell, as in _config.yml


class UntidyOutput(Exception):
    """A cell's output cannot be kept as text."""


def cell_ids(cells):
    """An id for each cell that follows from its source; equal sources are told apart by order."""
    seen, ids = {}, []
    for cell in cells:
        content = cell["cell_type"] + "\n" + "".join(cell["source"]).strip()
        name = hashlib.sha256(content.encode()).hexdigest()[:12]
        seen[name] = seen.get(name, 0) + 1
        ids.append(name if seen[name] == 1 else f"{name}-{seen[name]}")
    return ids


def kept_outputs(cell):
    """The printed text of a cell, as one output, since a kernel may send it in pieces."""
    text = ""
    for output in cell.outputs:
        if output.output_type != "stream" or output.name != "stdout":
            what = getattr(output, "name", output.output_type)
            raise UntidyOutput(f"a cell tagged keep_output may only print; it gave {what}")
        text += output.text
    return [nbformat.v4.new_output("stream", name="stdout", text=text)] if text else []


def tidy(notebook):
    """Bring a notebook, in place, into the one form that is committed."""
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    notebook.metadata = nbformat.from_dict(NOTEBOOK_METADATA)
    for cell, name in zip(notebook.cells, cell_ids(notebook.cells), strict=True):
        cell.id = name
        cell.source = cell.source.strip("\n")
        kept = {key: cell.metadata[key] for key in KEPT_CELL_METADATA if cell.metadata.get(key)}
        cell.metadata = nbformat.from_dict(kept)
        cell.pop("attachments", None)
        if cell.cell_type == "code":
            keeps = "keep_output" in cell.metadata.get("tags", [])
            cell.outputs = kept_outputs(cell) if keeps else []
            # nbval refuses an output without a count; which number is of no interest.
            cell.execution_count = 1 if cell.outputs else None
    return notebook


def start_on_colab(notebook, url, branch):
    """Put the cell for Colab first; without an address there is none."""
    cells = [c for c in notebook.cells if "colab" not in c.metadata.get("tags", [])]
    if url and PLACEHOLDER not in url:
        source = COLAB.format(url=url, branch=branch)
        cells.insert(0, nbformat.v4.new_code_cell(source, metadata={"tags": COLAB_TAGS}))
    notebook.cells = cells


def as_text(notebook):
    return nbformat.writes(notebook).rstrip("\n") + "\n"


def execute(notebook, folder):
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=TIMEOUT, kernel_name="python3", resources=resources).execute()


def process(path, run):
    """Execute and tidy one chapter; True if the file changed."""
    before = path.read_text("utf-8")
    notebook = nbformat.reads(before, as_version=4)
    repository = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))["repository"]
    start_on_colab(notebook, repository["url"], repository["branch"])
    if run:
        execute(notebook, path.parent)
    after = as_text(tidy(notebook))
    if after != before:
        path.write_bytes(after.encode())  # the same line ends on every system
    return after != before


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--no-run", action="store_true")
    args = parser.parse_args(argv)
    paths = [CHAPTERS / f"{Path(name).stem}.ipynb" for name in args.names]
    failed = False
    for path in paths or sorted(CHAPTERS.glob("*.ipynb")):
        began = time.monotonic()
        try:
            verdict = "changed" if process(path, not args.no_run) else "unchanged"
        except FileNotFoundError:
            verdict = "no such chapter"
        except CellExecutionError as error:
            verdict = f"failed, left as it was\n{error}"
        except UntidyOutput as error:
            verdict = f"failed, left as it was: {error}"
        failed |= verdict not in ("changed", "unchanged")
        print(f"{path.name}: {verdict} ({time.monotonic() - began:.1f} s)", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
