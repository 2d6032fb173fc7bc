"""Train one to three linear attention layers on sequences; writes data/sequence_layers.json.

    TQDM_DISABLE=1 OMP_NUM_THREADS=1 python tools/train_sequence_layers.py     # about 3 CPU-minutes

Every weight is free and starts at random. Four starts each, the best of which on the training
sequences is kept: d = 2, T = 10, 1,000 sequences with x_1 on the complex sphere, W either MO's
diagonal of phases or uniform over all unitary matrices.
"""

import json
from functools import partial
from pathlib import Path

import torch

from icgd.autoregression.processes import Haar, Phases, Sphere, relative_errors, sample_process
from icgd.autoregression.sequence_transformer import SequenceTransformer
from icgd.training import descend

TARGET = Path(__file__).resolve().parents[1] / "data" / "sequence_layers.json"
D, T, SEQUENCES, STEPS = 2, 10, 1000, 40
LAWS = {"diagonal": Phases(), "general": Haar()}
LBFGS = partial(torch.optim.LBFGS, max_iter=10, history_size=30, line_search_fn="strong_wolfe")


def train(x, layers, seed):
    """The trajectory of one training from random weights of standard deviation 0.1."""
    g = torch.Generator().manual_seed(seed)
    model = SequenceTransformer(D, layers).initialise(0.1, generator=g)

    def loss(P, Q):
        y = torch.func.functional_call(model, {"P": P, "Q": Q}, (x[:, :-1],))
        return relative_errors(y, x).mean()

    start = {"P": model.P.detach(), "Q": model.Q.detach()}
    return descend(loss, start, step_size=1.0, steps=STEPS, optimizer=LBFGS)


def main():
    torch.set_num_threads(1)
    found = {"d": D, "T": T, "sequences": SEQUENCES, "runs": []}
    for name, law in LAWS.items():
        g = torch.Generator().manual_seed(0)
        x = sample_process(Sphere(D**0.5, "complex"), law, SEQUENCES, D, T, generator=g).x
        for layers in (1, 2, 3):
            runs = [train(x, layers, seed) for seed in (1, 2, 3, 4)]
            best = min(runs, key=lambda run: run.losses[-1])
            print(name, layers, [round(float(run.losses[-1]), 4) for run in runs], flush=True)
            weights = {
                key: [[[float(f"{v:.7g}") for v in row] for row in m] for m in value.tolist()]
                for key, value in best.final.items()
            }
            losses = [float(f"{run.losses[-1]:.5g}") for run in runs]
            found["runs"].append(
                {"process": name, "layers": layers, "losses": losses, "weights": weights}
            )
    TARGET.write_text(json.dumps(found) + "\n", "utf-8")


if __name__ == "__main__":
    main()
