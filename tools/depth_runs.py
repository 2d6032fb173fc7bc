"""Train stacks of one to four linear attention layers on fresh prompts: data/depth_runs.json.

    TQDM_DISABLE=1 OMP_NUM_THREADS=1 python tools/depth_runs.py            # about 6 CPU-minutes

All entries of all P_k and Q_k are free. They start at gradient descent with steps of 0.4 plus a
normal number of size 0.05 in every entry. (From small random weights alone one and two layers end
at the same place, but three did not get below the loss of two in 10,000 steps.) Prompts as in
chapter 8: d = 5, n = 20, no noise. Adam, its step size falling linearly to zero.
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
D, N, BATCH, STEP, SCALE, RATE = 5, 20, 512, 0.4, 0.05, 0.004


def train(model, start, steps, generator):
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
        step_size=lambda step: RATE * (1 - step / steps) + 1e-7,
        optimizer=torch.optim.Adam,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, nargs="*", default=[1, 2, 3])
    parser.add_argument("--seed", type=int, default=5, help="of starts and prompts")
    parser.add_argument("--steps", type=int, default=8000, help="for each number of layers")
    parser.add_argument("--target", type=Path, default=TARGET)
    options = parser.parse_args()
    torch.set_num_threads(1)
    runs = {}
    for layers in options.layers:
        began, generator = time.process_time(), torch.Generator().manual_seed(options.seed)
        model = gradient_descent(D, [STEP] * layers)
        with torch.no_grad():
            model.P *= STEP**0.5  # P and Q of one size
            model.Q /= STEP**0.5
            start = {
                name: weights + SCALE * normal(*weights.shape, generator=generator)
                for name, weights in (("P", model.P), ("Q", model.Q))
            }
        run = train(LinearTransformer(D, layers), start, options.steps, generator)
        seconds = time.process_time() - began
        runs[str(layers)] = {
            "seconds": round(seconds),
            "steps": run.times.tolist(),
            "losses": [float(f"{loss:.4g}") for loss in run.losses],
            **{
                name: [[[round(v, 5) for v in row] for row in layer] for layer in weights.tolist()]
                for name, weights in run.final.items()
            },
        }
        print(layers, f"{run.losses[-20:].mean():.4g} at the end, {seconds:.0f} s", flush=True)
        about = "Stacks of linear attention layers trained on fresh prompts by tools/depth_runs.py."
        table = {"about": about, "d": D, "n": N, "noise_var": 0.0, "runs": runs}
        text = json.dumps(table, separators=(", ", ": ")).replace("]], [[", "]],\n[[")
        options.target.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
