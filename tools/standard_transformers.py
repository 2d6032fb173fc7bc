"""Train standard transformers on regression prompts, wider and deeper: standard_transformers.json.

    TQDM_DISABLE=1 OMP_NUM_THREADS=1 python tools/standard_transformers.py    # about 4 CPU-minutes

Prompts as in the last sections of chapter 8: d = 1, n = 6, noise of variance 0.25. Two random
starts of every size, each trained by Adam on 2,500 batches of 64 fresh prompts, every size with
the same prompts. The step size rises over the first twentieth of the run and then falls linearly to
zero; its peak is 0.08 / sqrt(width). No run is left out and none was picked.

All networks, ridge, least squares and the best gradient step are then compared on one set of new
prompts. Weights are kept for one small network, so that a chapter can look at it.
"""

import argparse
import json
import platform
import time
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch.func import functional_call

from icgd.regression import theory
from icgd.regression.data import LinearTask, sample_prompts
from icgd.regression.learners import gradient_step, least_squares, ridge
from icgd.regression.standard_transformer import StandardTransformer
from icgd.training import descend

TARGET = Path(__file__).resolve().parents[1] / "data" / "standard_transformers.json"
D, N, NOISE_VAR = 1, 6, 0.25
TASK = LinearTask(D, NOISE_VAR)
BATCH, STEPS, PEAK, WARM = 64, 2_500, 0.08, 0.05
SIZES = ((4, 2), (8, 2), (16, 2), (16, 1), (32, 2), (16, 4))  # width, layers
STARTS, TRAIN_SEED, TEST_SEED, TEST = (1, 2), 100, 7, 100_000
KEPT = (16, 2, 1)  # the network whose weights are stored


def train(width, layers, start, steps=STEPS):
    """(network, trajectory, seconds) from the start with this seed."""
    began = time.process_time()
    model = StandardTransformer(D, width=width, layers=layers)
    model.initialise(generator=torch.Generator().manual_seed(start))
    g = torch.Generator().manual_seed(TRAIN_SEED + start)

    def loss(**weights):
        prompts = sample_prompts(TASK, BATCH, N, generator=g)
        predictions = functional_call(model, weights, (prompts,))
        return (predictions - prompts.y_query).square().mean()

    def rate(step):
        return PEAK / width**0.5 * min((step + 1) / (WARM * steps), 1 - step / steps)

    run = descend(
        loss,
        dict(model.named_parameters()),
        steps=steps,
        step_size=rate,
        optimizer=partial(torch.optim.Adam, fused=True),
    )
    model.load_state_dict(run.final)
    return model, run, time.process_time() - began


def references(prompts):
    """The predictions that a network is compared with."""
    step = theory.step_size(N, D, NOISE_VAR)
    learners = {"ridge": ridge(NOISE_VAR), "least squares": least_squares()}
    learners["one step"] = gradient_step(step)
    return {name: learner(prompts) for name, learner in learners.items()}


def predict(model, prompts):
    """Predictions without gradients, a tenth of the prompts at a time."""
    parts = torch.arange(len(prompts.y)).chunk(10)
    with torch.no_grad():
        return torch.cat([
            model(type(prompts)(prompts.X[i], prompts.y[i], prompts.x_query[i], prompts.y_query[i]))
            for i in parts
        ])  # fmt: skip


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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--target", type=Path, default=TARGET)
    options = parser.parse_args()
    torch.set_num_threads(1)
    test = sample_prompts(TASK, TEST, N, generator=torch.Generator().manual_seed(TEST_SEED))
    known = references(test)
    table = {
        "about": "Standard transformers trained on prompts by tools/standard_transformers.py; "
        "pairs are a mean over the test prompts and its standard error.",
        "d": D, "n": N, "noise_var": NOISE_VAR, "batch": BATCH, "steps": options.steps,
        "test_prompts": TEST, "test_seed": TEST_SEED, "train_seed": TRAIN_SEED,
        "python": platform.python_version(), "torch": torch.__version__,
        "learners": {name: compare(p, known, test.y_query) for name, p in known.items()},
        "runs": [], "kept": None,
    }  # fmt: skip
    for start in STARTS:
        for width, layers in SIZES:
            model, run, seconds = train(width, layers, start, options.steps)
            row = {"width": width, "layers": layers, "start": start}
            row["parameters"] = sum(p.numel() for p in model.parameters())
            row["seconds"] = round(seconds)
            row["training"] = [part.mean().item() for part in np.array_split(run.losses, 20)]
            row |= compare(predict(model, test), known, test.y_query)
            table["runs"].append(row)
            print(row, flush=True)
            if (width, layers, start) == KEPT:
                weights = {name: p.tolist() for name, p in model.state_dict().items()}
                table["kept"] = {"width": width, "layers": layers, "start": start,
                                 "weights": weights}  # fmt: skip
            write(table, options.target)


def write(table, target):
    """One line a run; weights to six digits."""
    text = json.dumps(_rounded(table), separators=(", ", ": "), ensure_ascii=False)
    for mark in ('"learners"', '"runs"', '{"width"', '"kept"'):
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
