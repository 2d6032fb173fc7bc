"""Train on 10,000 sampled sequences, as MO, Section 6, does; writes data/sampled_runs.json.

    TQDM_DISABLE=1 OMP_NUM_THREADS=1 python tools/sampled_runs.py          # about 8 CPU-minutes

One pass over the training set and one over the test set give each law its losses (`EmpiricalLoss`);
the 200 epochs then cost nothing that depends on the number of sequences. The loss at scale s
follows from the one at scale 1: with x_1 replaced by s x_1 it is s^2 L(s A, s B).
"""

import argparse
import json
from pathlib import Path

import torch

from icgd.autoregression import data, experiments
from icgd.autoregression.empirical import EmpiricalLoss

TARGET = Path(__file__).resolve().parents[1] / "data" / "sampled_runs.json"
EVERY = 5


def passes(law, d, T, count):
    """(training, test): the losses on `count` sequences each, of scale 1 and seeds 1 and 2."""
    found = []
    for seed in (1, 2):
        g = torch.Generator().manual_seed(seed)
        x = data.sample_sequences(law, count, d, T, generator=g).x
        found.append(EmpiricalLoss(x))
    return found


def at_scale(loss, s):
    return lambda A, B: s**2 * loss(s * A, s * B)


def record(run, test, s):
    """What the paper draws, at every fifth epoch, and the read blocks at the last."""
    A, B = (block[::EVERY] for block in run.params)
    products = experiments.products(run)[::EVERY]
    last = at_scale(test.last, s)
    A_end, B_end = run.final
    d = B.shape[1]
    return {
        "product": [round(float(p.mean()), 6) for p in products],
        "product_least": [round(float(p.min()), 6) for p in products],
        "product_most": [round(float(p.max()), 6) for p in products],
        "ratio": [
            round(test.ratio(s * a, s * b).mean().item(), 6) for a, b in zip(A, B, strict=True)
        ],
        "test_loss": [float(f"{last(a, b).item():.6g}") for a, b in zip(A, B, strict=True)],
        "W_KQ_32": [[round(v, 5) for v in row] for row in A_end[d:, :d].tolist()],
        "W_PV_12": [[round(v, 5) for v in row] for row in B_end[:, :d].tolist()],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sequences", type=int, default=10_000)
    parser.add_argument("--only", nargs="*", help="ids of experiments; the default is all")
    parser.add_argument("--target", type=Path, default=TARGET)
    options = parser.parse_args()
    torch.set_num_threads(1)
    cache, found = {}, {}
    for name, experiment in experiments.load_experiments().items():
        if options.only and name not in options.only:
            continue
        scale = getattr(experiment.law, "scale", 1.0)
        unit = type(experiment.law)(1.0) if hasattr(experiment.law, "scale") else experiment.law
        key = unit, experiment.T
        if key not in cache:
            cache[key] = passes(unit, experiment.d, experiment.T, options.sequences)
        training, test = cache[key]
        runs = experiments.train(
            experiment,
            generator=torch.Generator().manual_seed(1),
            loss=at_scale(training, scale),
        )
        found[name] = {str(start): record(run, test, scale) for start, run in runs.items()}
        print(name, {k: v["product"][-1] for k, v in found[name].items()}, flush=True)
    about = (
        "The runs of MO, Section 6 and Appendix B, on sampled sequences: training set of seed 1, "
        "test set of seed 2, starts of seed 1. Made by tools/sampled_runs.py."
    )
    table = {"about": about, "sequences": options.sequences, "every": EVERY, "runs": found}
    text = json.dumps(table, separators=(", ", ": "))
    options.target.write_text(text.replace('}, "', '},\n"') + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
