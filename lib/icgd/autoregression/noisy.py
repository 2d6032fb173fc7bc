"""One gradient step on x_{t+1} = W x_t + e_t, x_1 ~ N(0, v I), e_t ~ N(0, s2 I). numpy only.

Everything is Gaussian given W, with E[x_i x_j^*] = c_min(i,j) W^(i-j), c_i = v + (i - 1) s2. The
loss of y_t = eta sum_{i<t} x_{i+1} (x_i^* x_t) is d c_{t+1} - 2 eta T1 + eta^2 T2, where

    T1 = sum_i E[(x_{t+1}^* x_{i+1}) (x_i^* x_t)],
    T2 = sum_ij E[(x_t^* x_j) (x_{j+1}^* x_{i+1}) (x_i^* x_t)].

A mean of such a product of *bonds* (x_a^* x_b) is a sum over the pairings of its tokens (Wick,
Isserlis). Bonds and pairs together form loops, and each loop is the trace of a power of W: only the
traces tau_q = tr W^q matter.
"""

from collections.abc import Callable, Iterator

import numpy as np
from jaxtyping import Complex

from icgd import validation

#: q (any shape of whole numbers) -> tr W^q, of that shape or with axes of a batch in front.
Traces = Callable[[np.ndarray], np.ndarray]


def traces(eigenvalues: Complex[np.ndarray, "*batch d"]) -> Traces:
    """q -> tr W^q = sum_k lambda_k^q for W with these eigenvalues.

    >>> traces(np.array([1.0, -1.0]))(np.arange(3)).real
    array([2., 0., 2.])
    """
    eigenvalues = np.asarray(eigenvalues)
    if not np.allclose(np.abs(eigenvalues), 1, rtol=0, atol=1e-9):
        raise ValueError(
            "eigenvalues must have modulus 1, got moduli up to "
            f"{np.abs(eigenvalues).max():.6g}; W must be unitary or orthogonal."
        )
    batch = eigenvalues.shape[:-1]

    def tau(q: np.ndarray) -> np.ndarray:
        q = np.asarray(q)
        powers = eigenvalues.reshape(*batch, -1, *[1] * q.ndim) ** q
        return powers.sum(axis=len(batch))

    return tau


def pairings(slots: tuple[int, ...]) -> Iterator[tuple[tuple[int, int], ...]]:
    """All ways to pair up the slots: 3 for four of them, 15 for six."""
    if not slots:
        yield ()
        return
    first, *rest = slots
    for k, partner in enumerate(rest):
        for others in pairings((*rest[:k], *rest[k + 1 :])):
            yield ((first, partner), *others)


def bond_mean(
    bonds: tuple[tuple[int | np.ndarray, int | np.ndarray], ...],
    tau: Traces,
    *,
    start_var: float,
    noise_var: float,
    circular: bool,
) -> np.ndarray:
    """E[prod_k x_{a_k}^* x_{b_k}] over bonds (a_k, b_k) of times, numbers or arrays that broadcast.

    circular: complex Gaussians with E[x x^T] = 0, whose pairs join a starred token with an
        unstarred one; otherwise real ones, W orthogonal, and all pairs count.
    """
    times = [np.asarray(time) for bond in bonds for time in bond]  # even slots carry the star
    total = 0.0
    for pairing in pairings(tuple(range(len(times)))):
        if circular and any((s - r) % 2 == 0 for s, r in pairing):
            continue
        partner = {s: r for pair in pairing for s, r in (pair, pair[::-1])}
        term = 1.0
        for s, r in pairing:  # c_min(i, j)
            term = term * (start_var + (np.minimum(times[s], times[r]) - 1) * noise_var)
        todo = set(range(len(times)))
        while todo:
            slot = first = min(todo)
            power = 0
            while True:  # cross a bond, then follow a pair
                across = slot ^ 1
                todo -= {slot, across}
                slot = partner[across]
                power = power + times[across] - times[slot]
                if slot == first:
                    break
            term = term * tau(power)
        total = total + term
    return total


def step_sums(
    tau: Traces, *, t: int, start_var: float, noise_var: float, circular: bool
) -> tuple[np.ndarray | np.float64, np.ndarray | np.float64]:
    """(T1, T2) for the matrices W with these traces, in the module's notation: one number each, or
    arrays of the shape of the batch of `traces`.
    """
    t = validation.int_at_least("the context length t", t, 2)
    _check(start_var, noise_var)
    law = {"start_var": start_var, "noise_var": noise_var, "circular": circular}
    i, j = np.arange(1, t)[:, None], np.arange(1, t)[None, :]
    first = bond_mean(((t + 1, i + 1), (i, t)), tau, **law)
    second = bond_mean(((t, j), (j + 1, i + 1), (i, t)), tau, **law)
    return first.real.sum((-2, -1)), second.real.sum((-2, -1))


def phase_sums(d: int, *, t: int, start_var: float, noise_var: float) -> tuple[float, float]:
    """(T1, T2), circular, averaged over d independent uniform phases of W: no sampling, O(t^2).

    T1 = d sum_i c_i (c_{i+1} + c_t) and, with m = min(i, j) and D_ij = d if i = j, else 1,

        T2 = d sum_ij [c_i c_j (D c_{m+1} + c_{i+1} + c_{j+1} + c_t)
                       + c_{i+1} c_{j+1} c_m + D c_t c_m c_{m+1}].
    """
    d = validation.positive_int("the dimension d", d)
    t = validation.int_at_least("the context length t", t, 2)
    _check(start_var, noise_var)
    c = start_var + (np.arange(t + 1) - 1) * noise_var  # c[i] is c_i; c[0] is not used
    i, j = np.arange(1, t)[:, None], np.arange(1, t)[None, :]
    m, D = np.minimum(i, j), np.where(i == j, d, 1)
    first = c[i] * (c[i + 1] + c[t])
    second = c[i] * c[j] * (D * c[m + 1] + c[i + 1] + c[j + 1] + c[t])
    second = second + c[i + 1] * c[j + 1] * c[m] + D * c[t] * c[m] * c[m + 1]
    return float(d * first.sum()), float(d * second.sum())


def best_step(T1: float, T2: float, size: float) -> tuple[float, float]:
    """(eta, relative loss) at the minimum of size - 2 eta T1 + eta^2 T2: (T1 / T2, 1 - T1^2 /
    (T2 size)); size = E|x_{t+1}|^2 = d c_{t+1}.
    """
    size, T2 = validation.positive("size", size), validation.positive("T2", T2)
    return T1 / T2, 1 - T1**2 / (T2 * size)


def _check(start_var: float, noise_var: float) -> None:
    validation.positive("start_var", start_var)
    validation.non_negative("noise_var", noise_var)
