"""The autoregressive engine beside a straightforward implementation of the paper's loop.

    python tests/benchmarks/autoregression.py            about ten minutes
    python tests/benchmarks/autoregression.py --quick    about a minute: 500 sequences, one repeat
    python tests/benchmarks/autoregression.py --json results.json

Every measurement is a process of its own on one thread: median processor time of the work after the
sequences are drawn, and peak memory of the whole process. d = 5, T = 100, 10,000 Gaussian
sequences unless a row says otherwise. The baseline recomputes every prefix in single precision, as
the paper's code does; everything else is double precision.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

LIBRARY = Path(__file__).resolve().parents[2] / "lib"
BOUNDS = {  # what the course asks of each row: processor seconds, peak megabytes
    "direct step": (None, 1500),
    "pass, Gaussian": (90, 1000),
    "pass, sparse": (3, 1000),
    "200 epochs after the pass": (0.5, None),
    "all runs of Section 6 and Appendix B": (10, None),
    "population build": (2, None),
    "population loss and gradient, d = 40": (0.060, None),
}


def sequences(law, batch, d, T):
    import torch

    from icgd.autoregression import data

    g = torch.Generator().manual_seed(0)
    return data.sample_sequences(law, batch, d, T, generator=g).x


def gaussian(batch, d=5, T=100):
    from icgd.autoregression.data import Gaussian

    return sequences(Gaussian(1.0), batch, d, T)


def model(d=5):
    from icgd.autoregression.models import CausalLinearAttention

    return CausalLinearAttention.diagonal(d, 0.5, 0.7)


def clock(work, repeats=1):
    """Median processor seconds of work()."""
    spent = []
    for _ in range(repeats):
        began = time.process_time()
        work()
        spent.append(time.process_time() - began)
    return statistics.median(spent)


# --- The work: each function returns processor seconds -------------------------------------------


def prefix_step(batch, d=5, T=100):
    """Eq. (1) for every prefix afresh, one gradient of Eq. (2)."""
    import torch

    from icgd.autoregression.data import embed

    E = embed(gaussian(batch, d, T)).to(torch.complex64).mT.contiguous()  # (batch, 3d, T)
    W_KQ, W_PV = (W.detach().to(torch.complex64) for W in model(d).parameters())
    W_KQ.requires_grad_(True)
    W_PV.requires_grad_(True)

    def step():
        for t in range(2, T):
            E_t = E[:, :, :t]
            e_t = E[:, :, t - 1, None]
            f_t = e_t + W_PV @ E_t @ (E_t.mH @ (W_KQ @ e_t)) / (t - 1)
            error = f_t[:, :d, 0] - E[:, d : 2 * d, t]
            # One graph over all prefixes would hold about 20 GB; this gives the same gradients.
            (error.abs().square().sum() / (2 * batch)).backward()

    return clock(step)


def direct_step(batch, d=5, T=100):
    x, layer = gaussian(batch, d, T), model(d)
    return clock(lambda: layer.loss(x).backward(), repeats=3)


def data_pass(batch, d=5, T=100, sparse=False):
    from icgd.autoregression.data import Sparse
    from icgd.autoregression.empirical import EmpiricalLoss

    x = sequences(Sparse(1.0), batch, d, T) if sparse else gaussian(batch, d, T)
    return clock(lambda: EmpiricalLoss(x))


def epochs(batch, d=5, T=100):
    from icgd.autoregression.empirical import EmpiricalLoss
    from icgd.training import descend

    loss = EmpiricalLoss(gaussian(batch, d, T))
    start = tuple(block.detach() for block in model(d).blocks())
    return clock(lambda: descend(loss, start, step_size=1e-4, steps=200), repeats=3)


def all_runs():
    import torch

    from icgd.autoregression import experiments

    def train():
        generator = torch.Generator().manual_seed(1)
        for experiment in experiments.load_experiments().values():
            experiments.train(experiment, generator=generator)

    return clock(train)


def build(d=5, T=100, law="Gaussian"):
    from icgd.autoregression import data
    from icgd.autoregression.population import PopulationLoss

    law = data.Gaussian(1.0) if law == "Gaussian" else data.Ones()
    return clock(lambda: PopulationLoss(law, d=d, T=T))


def evaluate(d=5, T=100, law="Gaussian"):
    import torch

    from icgd.autoregression import data
    from icgd.autoregression.blocks import gaussian_blocks
    from icgd.autoregression.population import PopulationLoss

    law = data.Gaussian(1.0) if law == "Gaussian" else data.Ones()
    loss = PopulationLoss(law, d=d, T=T)
    blocks = gaussian_blocks(d, 0.1, generator=torch.Generator().manual_seed(0))
    A, B = (block.requires_grad_(True) for block in blocks)
    clock(lambda: torch.autograd.grad(loss(A, B), (A, B)), repeats=3)
    return clock(lambda: torch.autograd.grad(loss(A, B), (A, B)), repeats=25)


WORK = {
    f.__name__: f for f in (prefix_step, direct_step, data_pass, epochs, all_runs, build, evaluate)
}


# --- Running it ----------------------------------------------------------------------------------


def measure(work, repeats=1, **arguments):
    """(median processor seconds, peak megabytes) of `work`, each time in a fresh process."""
    single = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "MKL", "OPENBLAS")}
    environment = {**os.environ, **single, "PYTHONPATH": str(LIBRARY), "TQDM_DISABLE": "1"}
    found = []
    for _ in range(repeats):
        command = [sys.executable, __file__, "--work", work, "--arguments", json.dumps(arguments)]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        if done.returncode:
            sys.exit(f"{work} {arguments} failed:\n{done.stderr}")
        found.append(json.loads(done.stdout))
    seconds, peaks = zip(*found, strict=True)
    return statistics.median(seconds), max(peaks)


def report(work, arguments):
    seconds = WORK[work](**arguments)
    unit = (
        1e6 if sys.platform == "darwin" else 1e3
    )  # ru_maxrss: bytes on macOS, kilobytes elsewhere
    peak = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit)
    print(json.dumps([float(f"{seconds:.3g}"), peak]))  # more digits would mean nothing


def table(batch, repeats):
    rows = {
        "straightforward step": measure("prefix_step", batch=batch),
        "direct step": measure("direct_step", repeats, batch=batch),
        "pass, Gaussian": measure("data_pass", batch=batch),
        "pass, sparse": measure("data_pass", repeats, batch=batch, sparse=True),
        "200 epochs after the pass": measure("epochs", repeats, batch=200),
        "all runs of Section 6 and Appendix B": measure("all_runs", repeats),
        "population build": measure("build", repeats),
        "population loss and gradient, d = 40": measure("evaluate", repeats, d=40),
    }
    baseline = rows["straightforward step"][0]
    costs = {  # the same work done the straightforward way
        "direct step": baseline,
        "200 epochs after the pass": 200 * baseline,
        "all runs of Section 6 and Appendix B": 30 * 200 * baseline,
    }
    print(f"{batch} sequences, d = 5, T = 100\n")
    print(f"{'work':40}{'CPU s':>10}{'peak MB':>10}{'ratio':>10}   asked")
    for name, (seconds, peak) in rows.items():
        ratio = f"{costs[name] / seconds:10.0f}" if name in costs else " " * 10
        most, megabytes = BOUNDS.get(name, (None, None))
        asked = [f"at most {most} s"] if most else []
        asked += [f"at most {megabytes} MB"] if megabytes else []
        asked += ["ratio at least 5"] if name == "direct step" else []
        print(f"{name:40}{seconds:10.3f}{peak:10.0f}{ratio}   {', '.join(asked)}")
    return rows


def growth(quick):
    """Processor seconds against one size at a time; the other sizes stay."""
    n = 100 if quick else 500
    scans = {
        "straightforward step, T": ("prefix_step", "T", [25, 50, 100, 200], {"batch": n}),
        "direct step, T": ("direct_step", "T", [25, 50, 100, 200], {"batch": n}),
        "direct step, sequences": ("direct_step", "batch", [n, 2 * n, 4 * n], {}),
        "direct step, d": ("direct_step", "d", [3, 5, 7, 11], {"batch": n}),
        "pass, sequences": ("data_pass", "batch", [n // 2, n, 2 * n], {}),
        "pass, T": ("data_pass", "T", [25, 50, 100], {"batch": n}),
        "pass, d": ("data_pass", "d", [2, 3, 5], {"batch": n}),
        "200 epochs, sequences": ("epochs", "batch", [n // 4, n // 2, n], {}),
        "population build, T": ("build", "T", [10, 100, 1000], {}),
        "loss and gradient, T": ("evaluate", "T", [10, 100, 1000], {}),
        "loss and gradient, d": ("evaluate", "d", [5, 10, 20, 40, 80], {}),
        "same, x_1 = ones": ("evaluate", "d", [5, 10, 20, 40], {"law": "Ones"}),
    }
    print(f"\ngrowth ({n} sequences unless they grow)\n")
    found = {}
    for name, (work, axis, sizes, others) in scans.items():
        times = [measure(work, **{axis: size}, **others)[0] for size in sizes]
        found[name] = {"size": sizes, "seconds": times}
        pairs = "  ".join(f"{s}: {t:.4g}" for s, t in zip(sizes, times, strict=True))
        print(f"{name:28}{pairs}", flush=True)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="500 sequences, one repeat")
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    parser.add_argument("--work", choices=WORK, help=argparse.SUPPRESS)
    parser.add_argument("--arguments", type=json.loads, default={}, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        report(options.work, options.arguments)
        return
    rows = table(500 if options.quick else 10_000, 1 if options.quick else 3)
    figures = {"table": rows, "growth": growth(options.quick)}
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
