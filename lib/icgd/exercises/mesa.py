"""Self-checks for chapter 11, the optimiser inside."""

from collections.abc import Callable

import numpy as np
import torch

from icgd.autoregression import data, learners
from icgd.autoregression.blocks import place_blocks
from icgd.autoregression.enumeration import all_sequences
from icgd.autoregression.models import predict
from icgd.exercises.sequences import parabola
from icgd.exercises.trial import Trial

CHAPTER = "11-mesa-optimizer.html"


def check_cubes(cube: Callable[..., float]) -> None:
    """cube(V, U, j, k, t): the coefficient of u_k^3 lambda_k^t in (t - 1) y_tj, dense blocks."""
    rng = np.random.default_rng(15)
    with Trial("ex-11-only", "10-gradient-flow.html#equation-eq-flow-prediction") as trial:
        for d, t in ((2, 2), (3, 6)):
            V, U = rng.standard_normal((2, d, d))
            blocks = place_blocks(torch.tensor(U), torch.tensor(V))
            for j, k in np.ndindex(d, d):
                powers = np.exp(0.7j * np.arange(t + 1))
                x = np.zeros((1, t, d), complex)
                x[0, :, k] = 1.3 * powers[:t]  # only coordinate k: nothing but cubes
                y = predict(*blocks, torch.tensor(x))[0, -1, j].item()
                trial.same(
                    trial.number(cube, V=V, U=U, j=j, k=k, t=t),
                    ((t - 1) * y / (1.3**3 * powers[t])).real,
                    "with all other coordinates zero the layer shows this coefficient alone",
                )


def check_wirtinger(size: Callable[[float, int], float]) -> None:
    """size(product, t): the step size if the gradient is (d/dRe + i d/dIm) / 2, at context t."""
    rng = np.random.default_rng(14)
    with Trial("ex-11-wirtinger", f"{CHAPTER}#mo-corollary-4-1") as trial:
        for product, t, d in ((0.3, 4, 2), (1.7, 7, 3)):
            parts = rng.standard_normal((2, t, d))
            context = torch.tensor(parts[0] + 1j * parts[1])
            zero, slope = torch.zeros(d, d, dtype=torch.complex128), np.zeros((d, d), complex)
            for j, k in np.ndindex(d, d):
                for unit in (1.0, 1j):
                    shift = zero.clone()
                    shift[j, k] = unit
                    up, down = (learners.ols_loss(s * shift, context).item() for s in (1, -1))
                    slope[j, k] += unit * (up - down) / 4  # central differences of a quadratic
            found = trial.number(size, product=product, t=t)
            layer = learners.gradient_step(product)(context[None])[0, -1].numpy()
            trial.same(
                -found * slope @ context[-1].numpy(), layer,
                "a step of this size against that derivative makes the layer's prediction",
            )  # fmt: skip


def check_repeated_steps(multiplier: Callable[[float, float, int], float]) -> None:
    """multiplier(u, eta, K): of x_{t+1} in one dimension after K steps of size eta / (t - 1)."""
    with Trial("ex-11-more-steps", f"{CHAPTER}#equation-eq-mesa-gradient") as trial:
        for u, eta, K in ((1.0, 0.4, 1), (0.6, 0.4, 2), (-1.7, 0.2, 5), (0.0, 0.3, 3)):
            found = trial.number(multiplier, u=u, eta=eta, K=K)
            x, W = u * np.exp(0.7j * np.arange(6)), 0.0
            for _ in range(K):
                W -= eta / 4 * ((W * x[:4] - x[1:5]) * x[:4].conj()).sum()
            trial.same(
                found * x[5], W * x[4], "it is what K explicit steps on the in-context loss predict"
            )


def check_trained_short(error: Callable[[int, int, int], float]) -> None:
    """error(d, T, t): relative error at context t of the layer trained at length T, u ~ N(0, I)."""
    with Trial("ex-11-short", f"{CHAPTER}#mo-harmonic-mean") as trial:
        for d, T in ((1, 4), (2, 3), (2, 4)):
            law = data.Gaussian(1.0)
            _, f, g = parabola(law, d, T)
            x, weights = all_sequences(law, d, 4)
            y = learners.gradient_step(f / (2 * g))(x)
            for t in (2, 3):
                miss = (y[:, t - 2] - x[:, t]).abs().square().sum(1)
                trial.same(
                    trial.number(error, d=d, T=T, t=t), (weights @ miss).item() / d,
                    "it is the mean squared miss over the mean squared target, over all sequences, "
                    "with the product that is best at the training length",
                )  # fmt: skip
        long = [trial.number(error, d=5, T=T, t=10**6) for T in (5, 50, 5000)]
        trial.holds(long[0] > long[1] > long[2], "in long contexts, longer training is better")


def check_cross_talk(modulus: Callable[[float, int], float]) -> None:
    """modulus(delta, N): of the mean over n < N of (lambda_1 / lambda_2)^n, angles delta apart."""
    with Trial("ex-11-close", f"{CHAPTER}#equation-eq-mesa-limit") as trial:
        for delta, N in ((0.5, 7), (3.0, 20), (1e-3, 50), (2 * np.pi / 3, 3)):
            trial.same(
                trial.number(modulus, delta=delta, N=N),
                abs(np.exp(1j * delta * np.arange(N)).mean()),
                "it is the modulus of the geometric sum over its N terms",
            )
