"""How fast the exact loss is, and how fast it trains: a table of medians, with ratios.

    python tests/benchmarks/regression.py            about two minutes
    python tests/benchmarks/regression.py --quick    a few seconds, fewer repeats

Training starts from random weights of size 0.03 at n = 20, d = 10, noise variance 0.5 and runs
until the loss is within 1e-10, relative, of its closed-form minimum. Larger weights need smaller
steps: at 0.1 the curvature at the start is above that at the minimum, and these steps diverge.
The baseline minimises the same loss estimated from fresh prompts, for a fixed number of steps: it
shows what the exact loss saves. The last column is the largest entry of C - step_size I, where C
X^T y is the learned predictor; the flow shows its time instead of steps.
"""

import argparse
import statistics
import time
from functools import partial

import numpy as np
import torch

from icgd.regression import models, theory
from icgd.regression.data import LinearTask, normal, sample_prompts
from icgd.regression.population import population_loss
from icgd.training import descend, flow

N, D, NOISE = 20, 10, 0.5
MOMENTUM = partial(torch.optim.SGD, momentum=0.9)
RELATIVE = 1e-10


def start(seed):
    g = torch.Generator().manual_seed(seed)
    return 0.03 * normal(D, D + 1, generator=g), 0.03 * normal(D + 1, generator=g)


def exact(A, w):
    return population_loss(A, w, n=N, noise_var=NOISE)


class Sampled:
    """The loss on a fresh batch of prompts at every call."""

    def __init__(self, batch, seed):
        self.task, self.batch = LinearTask(D, NOISE), batch
        self.generator = torch.Generator().manual_seed(seed)

    def __call__(self, A, w):
        prompts = sample_prompts(self.task, self.batch, N, generator=self.generator)
        return ((models.reduced_prediction(A, w, prompts) - prompts.y_query) ** 2).mean()


def descent(seed, optimizer, step_size):
    # 1e-5 on the gradient leaves the loss within 1e-10 of the minimum; `measure` checks it.
    return descend(
        exact, start(seed), step_size=step_size, steps=100_000, optimizer=optimizer,
        gradient_tolerance=1e-5, record_every=100_000,
    )  # fmt: skip


def gradient_flow(seed):
    return flow(exact, start(seed), [0.0, 5.0], rtol=1e-6, atol=1e-9)


def sampled_descent(seed, steps, batch):
    return descend(
        Sampled(batch, seed), start(seed), step_size=lambda k: 5e-3 / (1 + 9 * k / steps),
        steps=steps, optimizer=torch.optim.Adam, record_every=steps,
    )  # fmt: skip


def measure(train, seeds):
    """Medians over the seeds of (seconds, steps, relative excess, largest error of C)."""
    minimum, wanted = theory.minimum_loss(N, D, NOISE), theory.step_size(N, D, NOISE) * np.eye(D)
    rows = []
    for seed in seeds:
        began = time.perf_counter()
        run = train(seed)
        seconds = time.perf_counter() - began
        A, w = run.final
        excess = exact(A, w).item() / minimum - 1
        error = np.abs(models.odd_part(A, w).numpy() - wanted).max()
        rows.append((seconds, run.times[-1], excess, error))
    return [statistics.median(column) for column in zip(*rows, strict=True)]


def training_table(repeats, sampled_steps):
    print(f"Training from random weights, n = {N}, d = {D}, noise {NOISE}, {repeats} starts")
    print(f"{'':34}{'seconds':>9}{'ratio':>8}{'steps':>8}{'excess':>10}{'error of C':>12}")
    runs = {
        "exact loss, momentum 0.9": lambda s: descent(s, MOMENTUM, 5e-4),
        "exact loss, plain descent": lambda s: descent(s, torch.optim.SGD, 5e-4),
        "exact loss, flow to time 5": gradient_flow,
        f"sampled loss (512), Adam {sampled_steps}": lambda s: sampled_descent(
            s, sampled_steps, 512
        ),
    }
    runs["exact loss, momentum 0.9"](99)  # warm-up
    baseline = None
    for name, train in reversed(runs.items()):
        seeds = range(1 if baseline is None else repeats)
        seconds, steps, excess, error = measure(train, seeds)
        baseline = baseline or seconds
        ok = "" if excess <= RELATIVE else "  above 1e-10"
        ratio = seconds / baseline
        print(f"{name:34}{seconds:9.2f}{ratio:8.3f}{steps:8.0f}{excess:10.0e}{error:12.0e}{ok}")


def seconds_a_call(call, repeats):
    call()
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def loss_and_gradient(loss, d):
    g = torch.Generator().manual_seed(0)
    A, w = (normal(*shape, generator=g).requires_grad_() for shape in ((d, d + 1), (d + 1,)))

    def call():
        loss(A, w).backward()
        A.grad = w.grad = None

    return call


def cost_table(repeats):
    print("\nOne loss and its gradient; the baseline is 512 sampled prompts")
    print(f"{'n':>12}{'d':>6}{'exact, us':>12}{'sampled, us':>14}{'ratio':>8}")
    for n, d in [(2, 10), (20, 10), (200, 10), (10**9, 10), (20, 3), (20, 30), (20, 100)]:
        loss = partial(population_loss, n=n, noise_var=NOISE)
        seconds = seconds_a_call(loss_and_gradient(loss, d), repeats)
        if n > 1000:  # no machine holds that many examples
            print(f"{n:12}{d:6}{1e6 * seconds:12.0f}{'-':>14}{'-':>8}")
            continue
        task, g = LinearTask(d, NOISE), torch.Generator().manual_seed(0)

        def sampled(A, w, n=n, task=task, g=g):
            prompts = sample_prompts(task, 512, n, generator=g)
            return ((models.reduced_prediction(A, w, prompts) - prompts.y_query) ** 2).mean()

        base = seconds_a_call(loss_and_gradient(sampled, d), max(3, repeats // 20))
        print(f"{n:12}{d:6}{1e6 * seconds:12.0f}{1e6 * base:14.0f}{seconds / base:8.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer repeats, a shorter baseline")
    quick = parser.parse_args().quick
    torch.set_num_threads(1)
    training_table(repeats=3 if quick else 11, sampled_steps=300 if quick else 5000)
    cost_table(repeats=50 if quick else 400)
