import itertools

import numpy as np
import pytest

from icgd.autoregression import counting


def test_numbers_of_partitions_are_bell_numbers():
    assert [len(counting.partitions(n)) for n in range(1, 7)] == [1, 2, 5, 15, 52, 203]
    even = [p for p in counting.partitions(6) if all(len(b) % 2 == 0 for b in p)]
    assert len(even) == 31


def test_counting_agrees_with_visiting_every_pair():
    rng = np.random.default_rng(3)
    times = np.arange(2, 9)
    for _ in range(300):
        # k, l have i; l', m' have i'; m, m' have t: the shapes that occur, with random shifts.
        shift = rng.integers(-2, 3, 6)
        columns = [(1, 0, 0), (-1, 0, 0), (0, 0, 1), (0, -1, 0), (0, 1, 0), (0, 0, -1)]
        exponents = tuple((*c, int(s)) for c, s in zip(columns, shift, strict=True))
        partition = counting.partitions(6)[rng.integers(203)]
        first = tuple(int(f) for f in rng.integers(1, 3, 2))
        expected = [
            sum(
                all(
                    sum(np.dot(exponents[s], (i, k, t, 1)) for s in block) == 0
                    for block in partition
                )
                for i, k in itertools.product(range(first[0], t + 1), range(first[1], t + 1))
            )
            for t in times
        ]
        assert counting.count(exponents, partition, first, times).tolist() == expected


def test_moebius_inversion_turns_distinct_into_free_sums():
    rng = np.random.default_rng(5)
    d = 3
    values = rng.standard_normal((d,) * 4)
    for partition in counting.partitions(4):

        def total(blocks, distinct):
            sums = 0.0
            for choice in itertools.product(range(d), repeat=len(blocks)):
                if distinct and len(set(choice)) < len(choice):
                    continue
                index = [0] * 4
                for value, block in zip(choice, blocks, strict=True):
                    for slot in block:
                        index[slot] = value
                sums += values[tuple(index)]
            return sums

        free = sum(mu * total(sigma, False) for sigma, mu in counting.coarsenings(partition))
        assert free == pytest.approx(total(partition, True), abs=1e-12)
