"""Train stacks of one to four linear attention layers on fresh prompts: data/depth_runs.json.

    TQDM_DISABLE=1 OMP_NUM_THREADS=1 python tools/depth_runs.py            # about 9 CPU-minutes
    ... python tools/depth_runs.py --layers --grow    # the last run alone, with the others kept

All entries of all P_k and Q_k are free. They start at gradient descent with steps of 0.4 plus a
normal number of size 0.05 in every entry. Prompts as in chapter 8: d = 5, n = 20, no noise. Two
passes of Adam, the step size of each falling linearly to zero.

The passes matter at three layers: one pass of 8,000 steps from the same start ended at 0.06, and
starts that are random throughout did not get below the loss of two layers. Four layers from the
common start end above three. So a fifth run grows them: a first layer of gradient descent, with
random numbers of size 0.005, in front of the trained three, and two shorter passes.
"""

import argparse
import json
import time
from pathlib import Path

import torch
from torch.func import functional_call

from icgd.regression.data import LinearTask, normal, sample_prompts
from icgd.regression.transformer import LinearTransformer, gradient_descent
from icgd.training import descend

TARGET = Path(__file__).resolve().parents[1] / "data" / "depth_runs.json"
D, N, BATCH, STEP, SCALE = 5, 20, 512, 0.4, 0.05
PASSES = ((4000, 0.004, 5), (6000, 0.002, 6))  # steps, first step size, seed
GROWN_SCALE, GROWN_PASSES = 0.005, ((3000, 0.002, 5), (5000, 0.001, 6))


def train(model, start, steps, rate, generator):
    """The trajectory of (P, Q) from `start`, a new batch of prompts at every step."""
    task = LinearTask(D, 0.0)

    def loss(P, Q):
        prompts = sample_prompts(task, BATCH, N, generator=generator)
        predictions = functional_call(model, {"P": P, "Q": Q}, (prompts,))
        return (predictions - prompts.y_query).square().mean()

    return descend(
        loss,
        start,
        steps=steps,
        step_size=lambda step: rate * (1 - step / steps) + 1e-7,
        optimizer=torch.optim.Adam,
    )


def start(layers, generator, scale=SCALE):
    """Gradient descent, P and Q of one size, and a random number in every entry."""
    model = gradient_descent(D, [STEP] * layers)
    parts = {"P": model.P.detach() * STEP**0.5, "Q": model.Q.detach() / STEP**0.5}
    return {
        name: weights + scale * normal(*weights.shape, generator=generator)
        for name, weights in parts.items()
    }


def train_stack(layers, begin=start, passes=PASSES):
    """What the table keeps of a run from `begin(layers, generator)` through all passes."""
    began, weights, losses = time.process_time(), None, []
    for steps, rate, seed in passes:
        generator = torch.Generator().manual_seed(seed)
        weights = begin(layers, generator) if weights is None else weights
        run = train(LinearTransformer(D, layers), weights, steps, rate, generator)
        weights = run.final
        losses += [float(f"{loss:.4g}") for loss in run.losses]
    seconds = time.process_time() - began
    print(layers, f"{sum(losses[-20:]) / 20:.4g} at the end, {seconds:.0f} s", flush=True)
    return {"seconds": round(seconds), "losses": losses} | {
        name: [[[round(v, 5) for v in row] for row in layer] for layer in part.tolist()]
        for name, part in weights.items()
    }


def grow(shallow):
    """The start of a stack with one more layer in front of a run of the table."""
    first = start(1, torch.Generator().manual_seed(GROWN_PASSES[0][2]), GROWN_SCALE)
    old = {name: torch.tensor(shallow[name], dtype=torch.float64) for name in first}
    return {name: torch.cat([first[name], old[name]]) for name in first}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, nargs="*", default=[1, 2, 3, 4])
    parser.add_argument("--grow", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--target", type=Path, default=TARGET)
    options = parser.parse_args()
    torch.set_num_threads(1)
    about = "Stacks of linear attention layers trained on fresh prompts by tools/depth_runs.py."
    table = {"about": about, "d": D, "n": N, "noise_var": 0.0, "runs": {}, "grown": {}}
    if options.target.exists():  # runs that are not remade stay
        table |= json.loads(options.target.read_text(encoding="utf-8"))
    for layers in options.layers:
        table["runs"][str(layers)] = train_stack(layers)
    if options.grow:
        first = grow(table["runs"]["3"])
        table["grown"]["4"] = train_stack(4, lambda layers, generator: first, GROWN_PASSES)
    text = json.dumps(table, separators=(", ", ": ")).replace("]], [[", "]],\n[[")
    options.target.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
