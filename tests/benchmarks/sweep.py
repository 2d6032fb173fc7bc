"""One sweep done in every way: seconds, and whether the tables are identical to the last bit.

    python tests/benchmarks/sweep.py            about a minute
    python tests/benchmarks/sweep.py --quick    fewer cells

A cell measures the risk of ridge regression on 2,000 sampled prompts; the table has one for each of
many context lengths, dimensions and noise levels. Worker processes start anew in every row, which
costs each of them the import of torch.
"""

import argparse
import logging
import tempfile
import time
from pathlib import Path

import numpy as np
from distributed import Client, LocalCluster

from icgd.regression import learners
from icgd.regression.data import LinearTask, sample_prompts
from icgd.sweep import sweep

CLUSTER = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}


def cell(n, d, noise_var, generator):
    prompts = sample_prompts(LinearTask(d, noise_var), 2000, n, generator=generator)
    errors = (learners.ridge(noise_var)(prompts) - prompts.y_query).square()
    return {"risk": errors.mean().item(), "error": (errors.std() / len(errors) ** 0.5).item()}


def by_cluster(axes):
    logging.getLogger("distributed").setLevel(logging.ERROR)
    with LocalCluster(**CLUSTER) as cluster, Client(cluster) as client:
        return sweep(cell, axes, client=client)


def resumed(axes):
    """Half of the table first; then the whole, from the file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.jsonl"
        sweep(cell, {**axes, "n": axes["n"][::2]}, path=path)
        return sweep(cell, axes, path=path)


def main(quick: bool) -> None:
    count = 6 if quick else 18
    axes = {
        "n": np.unique(np.geomspace(2, 200, count).astype(int)),
        "d": [2, 3, 5, 7, 11],
        "noise_var": np.geomspace(0.01, 10, count),
    }
    ways = {
        "serial": lambda: sweep(cell, axes),
        "two workers (joblib)": lambda: sweep(cell, axes, workers=2),
        "two workers (Dask)": lambda: by_cluster(axes),
        "in two goes": lambda: resumed(axes),
    }
    reference = None
    for name, way in ways.items():
        began = time.perf_counter()
        table = way()
        seconds = time.perf_counter() - began
        reference = reference or table
        same = all(np.array_equal(table[key], reference[key]) for key in reference)
        print(f"{name:24}{len(table['n']):6} cells{seconds:8.1f} s   identical: {same}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer cells")
    main(parser.parse_args().quick)
