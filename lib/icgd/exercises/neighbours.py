"""Self-checks for chapter 15, neighbours on the sequence side."""

from collections.abc import Callable

import numpy as np

from icgd.autoregression import augmented, noisy
from icgd.exercises.trial import Trial

CHAPTER = "15-sequence-neighbours.html"


def check_luck(chance: Callable[[int], float]) -> None:
    """chance(d): the probability that random diagonals end at a gradient step."""
    with Trial("ex-15-signs", f"{CHAPTER}#sander-sign-classes") as trial:
        for d in (1, 2, 3, 5, 7):
            signs = augmented.sign_classes(d)
            talk = signs[:, :, None] * signs[:, None, :]  # sigma_j sigma_l in the prediction
            trial.same(
                trial.number(chance, d=d), (talk == 1).all((1, 2)).mean(),
                "all classes are equally likely, and it is the share of those without a flip",
            )  # fmt: skip


def check_cosine(estimate: Callable[[np.ndarray], float]) -> None:
    """estimate(x): cos(phi) from the tokens x, an array (t, 2) with t >= 3, one a row."""
    rng = np.random.default_rng(15)
    with Trial("ex-15-oscillator", f"{CHAPTER}#sander-orthogonal-minimum") as trial:
        for t in (3, 5):
            for phi in (0.7, 2.0):
                x = np.exp(1j * np.outer(np.arange(t), [phi, -phi]))
                found = trial.number(estimate, x=x)
                trial.same(found, np.cos(phi), f"{t} tokens without noise give cos(phi) exactly")
        x = x + 0.3 * (rng.standard_normal(x.shape) + 1j * rng.standard_normal(x.shape))
        c, h = trial.number(estimate, x=x), 1e-4
        misses = [
            np.linalg.norm(x[2:] + x[:-2] - 2 * value * x[1:-1]) ** 2 for value in (c - h, c, c + h)
        ]
        curvature = misses[0] - 2 * misses[1] + misses[2]
        trial.holds(
            bool(abs(misses[2] - misses[0]) < 1e-6 * curvature / h),
            "on noisy tokens the sum of squares has no slope at your estimate",
        )


def check_one_product(product: Callable[[float, int], float]) -> None:
    """product(s2, T): the best p for all t < T at once, leading order in T, v = 1."""
    with Trial("ex-15-one-number", f"{CHAPTER}#equation-eq-nb-phases") as trial:
        for s2 in (0.5, 2.0):
            scaled = [T * _best_product(s2, T) for T in (80, 160)]
            limit = 2 * scaled[1] - scaled[0]
            found = 10**6 * trial.number(product, s2=s2, T=10**6)
            trial.same(found, limit, "T p tends to that of the exact parabolas", rtol=3e-3)


def _best_product(s2: float, T: int) -> float:
    t = np.arange(2, T)
    T1, T2 = np.array([noisy.phase_sums(1, t=int(k), start_var=1.0, noise_var=s2) for k in t]).T
    return (T1 / (t - 1)).sum() / (T2 / (t - 1) ** 2).sum()


def check_forgetting(update: Callable[..., tuple[np.ndarray, np.ndarray]]) -> None:
    """update(Phi, R, k, v, gamma): the next (Phi, R), real arrays (e, d) and (d, d)."""
    rng = np.random.default_rng(16)
    with Trial("ex-15-forgetting", f"{CHAPTER}#mesa-online") as trial:
        for gamma in (1.0, 0.8):
            K, V, z = rng.standard_normal((5, 3)), rng.standard_normal((5, 2)), 0.4
            Phi, R = np.zeros((2, 3)), np.eye(3) / z
            for t in range(1, 6):
                k, v = K[t - 1], V[t - 1]
                shapes = (2, 3), (3, 3)
                Phi, R = trial.arrays(update, *shapes, Phi=Phi, R=R, k=k, v=v, gamma=gamma)
                age = gamma ** np.arange(t - 1, -1, -1.0)
                B = (K[:t].T * age) @ K[:t] + z * gamma**t * np.eye(3)
                trial.same(R @ B, np.eye(3), "R inverts the weighted sum of k k^T and the ridge")
                slope = Phi @ B - (V[:t].T * age) @ K[:t]
                trial.same(1 + slope, np.ones((2, 3)), "the objective has no slope at Phi")


def check_two_layers(factor: Callable[[float, float, float, float], float]) -> None:
    """factor(mu, p1, p2, c): what multiplies the error along an eigenvector of M, value mu."""
    rng = np.random.default_rng(17)
    with Trial("ex-15-keys", f"{CHAPTER}#equation-eq-nb-error") as trial:
        for p1, p2, c in ((0.3, 0.8, 0.2), (0.7, 0.4, -0.5)):
            keys, W = rng.standard_normal((7, 3)), np.linalg.qr(rng.standard_normal((3, 3)))[0]
            values, M = keys @ W.T, keys.T @ keys / 7
            moved = keys - c * keys @ M
            spectrum, vectors = np.linalg.eigh(M)
            for mu, x in zip(spectrum, vectors.T, strict=True):
                y, r = p1 * values.T @ (keys @ x) / 7, x - p1 * M @ x
                y = y + p2 * values.T @ (moved @ r) / 7  # layer by layer, as attention does it
                trial.same(
                    trial.number(factor, mu=mu, p1=p1, p2=p2, c=c), x @ W.T @ (W @ x - y),
                    "two layers, written out, leave this multiple of an eigenvector",
                )  # fmt: skip


def check_repulsion(T1: Callable[[int, int, float], float]) -> None:
    """T1(d, t, v): T_1 without noise for W uniform over the unitary matrices."""
    with Trial("ex-15-haar", f"{CHAPTER}#process-traces") as trial:
        for d, t in ((1, 4), (2, 2), (2, 5), (3, 3)):
            nodes = np.exp(2j * np.pi * np.arange(4 * t + 2 * d) / (4 * t + 2 * d))
            phases = nodes[np.indices((len(nodes),) * d).reshape(d, -1).T]
            j, l = np.triu_indices(d, 1)  # Weyl: the density is prod |lambda_j - lambda_l|^2
            weights = (np.abs(phases[:, j] - phases[:, l]) ** 2).prod(1)
            tau = noisy.traces(phases)
            sums = noisy.step_sums(tau, t=t, start_var=1.3, noise_var=0.0, circular=True)[0]
            trial.same(
                trial.number(T1, d=d, t=t, v=1.3), weights @ sums / weights.sum(),
                "it is the mean over the eigenvalues' joint law",
            )  # fmt: skip
