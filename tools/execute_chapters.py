"""Execute the book's chapters side by side into its cache; called by ``tasks.py book``.

Jupyter Book executes one page after another. This fills the cache that it looks into first, as many
chapters at a time as there are processors. A chapter that fails is left to Jupyter Book, which
executes it again and reports the failing cell.
"""

import logging
import os
from pathlib import Path

import yaml
from jupyter_cache import get_cache
from jupyter_cache.executors import load_executor

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / "_build/.jupyter_cache"  # where Jupyter Book looks


def chapters() -> list[Path]:
    """The notebooks in _toc.yml, in its order, but the ledger first: it takes longest."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    names = [page["file"] for part in toc["parts"] for page in part["chapters"]]
    files = [ROOT / f"{name}.ipynb" for name in [toc["root"], *names]]
    return sorted((file for file in files if file.is_file()), key=lambda f: f.stem != "claims")


def main():
    import kernels  # beside this file

    kernels.use_sockets()
    logging.basicConfig(format="%(message)s", level=logging.INFO)
    cache = get_cache(CACHE)
    for file in chapters():
        cache.add_nb_to_project(str(file))
    config = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
    log = logging.getLogger("chapters")
    log.setLevel(logging.INFO)  # the executor says what it executes, and no more
    executor = load_executor("local-parallel", cache, log)
    os.chdir(ROOT)
    executor.run_and_cache(timeout=config["execute"]["timeout"])


if __name__ == "__main__":
    main()
