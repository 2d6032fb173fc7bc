"""Averages over the phases by counting (MO, Appendix A.2.2), for every monomial. numpy only.

With x_{i,k} = lambda_k^(i-1) u_k, u = x_1, every term of E|y_t|^2 and E[x_{t+1}^* y_t] is a product
of u's and of powers lambda^n, one power for each *slot*. Uniform phases make the mean of a monomial
of the lambdas 1 if every lambda's exponent vanishes and 0 otherwise. Which exponents add up depends
only on which slots share a coordinate: on the *set partition* of the slots. So for each partition
we count the pairs (i, i') of summation indices for which every block's exponents add up to zero.

A slot's exponent is affine: p i + q i' + r t + s, kept as (p, q, r, s). Six slots have 203
partitions; 31 of them have only even blocks: all that a law symmetric in each coordinate needs.
"""

import math
from collections.abc import Iterator
from functools import cache, lru_cache

import numpy as np

Partition = tuple[tuple[int, ...], ...]
Exponent = tuple[int, int, int, int]


@lru_cache
def partitions(n: int) -> tuple[Partition, ...]:
    """All set partitions of the slots 0, ..., n - 1, blocks in order of their first slot.

    >>> len(partitions(6)), partitions(2)
    (203, (((0, 1),), ((0,), (1,))))
    """

    def grow(blocks: Partition, slot: int) -> Iterator[Partition]:
        if slot == n:
            yield blocks
            return
        for index, block in enumerate(blocks):
            yield from grow((*blocks[:index], (*block, slot), *blocks[index + 1 :]), slot + 1)
        yield from grow((*blocks, (slot,)), slot + 1)

    return tuple(grow((), 0))


def coarsenings(partition: Partition) -> Iterator[tuple[Partition, int]]:
    """Every partition that merges blocks of `partition`, with the Moebius number of the step.

    A sum over *distinct* coordinates for the blocks of pi equals sum_sigma mu(pi, sigma) times the
    sum over *free* coordinates for the blocks of sigma, mu = prod (-1)^(m-1) (m-1)! over blocks of
    sigma that are made of m blocks of pi.
    """
    for merge in partitions(len(partition)):
        blocks = sorted(tuple(sorted(s for b in group for s in partition[b])) for group in merge)
        yield (
            tuple(blocks),
            math.prod((-1) ** (len(g) - 1) * math.factorial(len(g) - 1) for g in merge),
        )


def count(
    exponents: tuple[Exponent, ...], partition: Partition, first: tuple[int, int], t: np.ndarray
) -> np.ndarray:
    """For each t, how many pairs i in [first[0], t], i' in [first[1], t] survive the phases.

    Returns the number of pairs for which the exponents of each block of `partition` add up to zero.
    O(len(t)): the equations are solved, no pair is visited.
    """
    rows = tuple(
        sorted(
            {tuple(sum(e) for e in zip(*[exponents[s] for s in b], strict=True)) for b in partition}
        )
    )
    return _solve(rows, first, tuple(t.tolist()))


@cache
def _solve(
    rows: tuple[Exponent, ...], first: tuple[int, int], times: tuple[int, ...]
) -> np.ndarray:
    t = np.array(times)
    p, q, r, s = np.array(rows).T
    # Each row says p i + q i' = -(r t + s). Eliminate i with a row in which it occurs (p = +-1).
    right = -(r[:, None] * t + s[:, None])
    pivot = np.flatnonzero(p)
    if len(pivot):
        k = pivot[0]
        slope, offset = -q[k] * p[k], right[k] * p[k]  # i = slope i' + offset
        q, right = q - p * q[k] * p[k], right - np.outer(p * p[k], right[k])
    possible = np.all(right[q == 0] == 0, axis=0)
    low, high = np.full_like(t, first[1]), t.copy()  # the range left to i'
    for factor, value in zip(q[q != 0], right[q != 0], strict=True):
        possible &= value % factor == 0
        low, high = np.maximum(low, value // factor), np.minimum(high, value // factor)
    if not len(pivot):
        pairs = np.maximum(high - low + 1, 0) * np.maximum(t - first[0] + 1, 0)
    elif slope == 0:
        pairs = np.maximum(high - low + 1, 0) * ((first[0] <= offset) & (offset <= t))
    else:
        # first <= slope i' + offset <= t bounds i' from both sides; slope is +-1.
        ends = np.sort(np.stack([slope * (first[0] - offset), slope * (t - offset)]), axis=0)
        pairs = np.maximum(np.minimum(high, ends[1]) - np.maximum(low, ends[0]) + 1, 0)
    return np.where(possible, pairs, 0)


def block_sizes(partition: Partition) -> tuple[int, ...]:
    """The sizes of the blocks, largest first: the exponents of the u's in a mixed moment."""
    return tuple(sorted(map(len, partition), reverse=True))
