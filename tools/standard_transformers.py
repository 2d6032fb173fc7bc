"""Train standard transformers on regression prompts, wider and deeper: standard_transformers.json.

    TQDM_DISABLE=1 OMP_NUM_THREADS=1 python tools/standard_transformers.py    # about 9 CPU-minutes

Prompts as in the last sections of chapter 8: d = 1, n = 6, noise of variance 0.25. Two random
starts of every size, each trained by Adam on 2,500 batches of 64 fresh prompts, every size with
the same prompts. The step size rises over the first twentieth of the run and then falls linearly to
zero; its peak is 0.08 / sqrt(width). No run is left out and none was picked. Then three longer runs
with d = 2, n = 8, of 9,000 batches and one start a size.

All networks of a plan, ridge, least squares and the best gradient step are compared on one set of
new prompts. Weights are kept for one small network, so that a chapter can look at it.
"""

import argparse
import itertools
import json
import platform
import time
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch.func import functional_call

from icgd.evidence.regression.transformers import predict, references
from icgd.regression.data import LinearTask, sample_prompts
from icgd.regression.standard_transformer import StandardTransformer
from icgd.training import descend

TARGET = Path(__file__).resolve().parents[1] / "data" / "standard_transformers.json"
NOISE_VAR, BATCH, PEAK, WARM = 0.25, 64, 0.08, 0.05
TRAIN_SEED, TEST_SEED, TEST = 100, 7, 100_000
KEPT = (16, 2, 1)  # width, layers and start of the network whose weights are stored


class Plan(NamedTuple):
    """Runs that are compared with one another."""

    d: int
    n: int
    steps: int
    sizes: tuple  # of pairs: width, layers
    starts: tuple  # seeds


SHORT = Plan(1, 6, 2_500, ((4, 2), (8, 2), (16, 2), (16, 1), (32, 2), (16, 4)), (1, 2))
LONGER = Plan(2, 8, 9_000, ((16, 2), (32, 2), (32, 4)), (1,))


def train(plan, width, layers, start):
    """(network, trajectory, seconds) from the start with this seed."""
    began = time.process_time()
    model = StandardTransformer(plan.d, width=width, layers=layers)
    model.initialise(generator=torch.Generator().manual_seed(start))
    g = torch.Generator().manual_seed(TRAIN_SEED + start)
    task = LinearTask(plan.d, NOISE_VAR)

    def loss(**weights):
        prompts = sample_prompts(task, BATCH, plan.n, generator=g)
        predictions = functional_call(model, weights, (prompts,))
        return (predictions - prompts.y_query).square().mean()

    def rate(step):
        return PEAK / width**0.5 * min((step + 1) / (WARM * plan.steps), 1 - step / plan.steps)

    run = descend(
        loss,
        dict(model.named_parameters()),
        steps=plan.steps,
        step_size=rate,
        optimizer=partial(torch.optim.Adam, fused=True),
    )
    model.load_state_dict(run.final)
    return model, run, time.process_time() - began


def figures(values):
    """A mean and its standard error, to five digits."""
    mean, error = values.mean().item(), values.std().item() / len(values) ** 0.5
    return [float(f"{mean:.5g}"), float(f"{error:.2g}")]


def compare(predictions, known, y):
    """Loss, loss minus ridge's on the same prompts, and mean squared distances."""
    squares = (predictions - y).square()
    excess = squares - (known["ridge"] - y).square()
    distances = {name: figures((predictions - k).square()) for name, k in known.items()}
    return {"loss": figures(squares), "above ridge": figures(excess), "distance to": distances}


def table(plan):
    """The record of a plan, empty but for the learners; with the test prompts."""
    generator = torch.Generator().manual_seed(TEST_SEED)
    test = sample_prompts(LinearTask(plan.d, NOISE_VAR), TEST, plan.n, generator=generator)
    known = references(test, NOISE_VAR)
    found = {"d": plan.d, "n": plan.n, "noise_var": NOISE_VAR, "steps": plan.steps}
    found["learners"] = {name: compare(p, known, test.y_query) for name, p in known.items()}
    return found | {"runs": []}, known, test


def fill(found, known, test, plan):
    """Train the plan's networks; yields each with its row, once that is in ``found``."""
    for start, (width, layers) in itertools.product(plan.starts, plan.sizes):
        model, run, seconds = train(plan, width, layers, start)
        row = {"width": width, "layers": layers, "start": start}
        row["parameters"] = sum(p.numel() for p in model.parameters())
        row["seconds"] = round(seconds)
        row["training"] = [part.mean().item() for part in np.array_split(run.losses, 20)]
        row |= compare(predict(model, test), known, test.y_query)
        found["runs"].append(row)
        print(row, flush=True)
        yield model, row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", type=Path, default=TARGET)
    target = parser.parse_args().target
    torch.set_num_threads(1)
    (short, *at_short), (longer, *at_longer) = table(SHORT), table(LONGER)
    record = {
        "about": "Standard transformers trained on prompts by tools/standard_transformers.py; "
        "pairs are a mean over the test prompts and its standard error.",
        "batch": BATCH, "test_prompts": TEST, "test_seed": TEST_SEED, "train_seed": TRAIN_SEED,
        "python": platform.python_version(), "torch": torch.__version__,
        **short, "longer": longer, "kept": None,
    }  # fmt: skip
    for model, row in fill(short, *at_short, SHORT):
        size = {name: row[name] for name in ("width", "layers", "start")}
        if tuple(size.values()) == KEPT:
            weights = {name: p.tolist() for name, p in model.state_dict().items()}
            record["kept"] = {**size, "weights": weights}
        write(record, target)
    for _ in fill(longer, *at_longer, LONGER):
        write(record, target)


def write(record, target):
    """One line a run; weights to six digits."""
    text = json.dumps(_rounded(record), separators=(", ", ": "), ensure_ascii=False)
    for mark in ('"learners"', '"runs"', '{"width"', '"longer"', '"kept"'):
        text = text.replace(mark, "\n" + mark)
    target.write_text(text + "\n", encoding="utf-8")


def _rounded(part):
    if isinstance(part, dict):
        return {name: _rounded(value) for name, value in part.items()}
    if isinstance(part, list):
        return [_rounded(value) for value in part]
    return float(f"{part:.6g}") if isinstance(part, float) else part


if __name__ == "__main__":
    main()
