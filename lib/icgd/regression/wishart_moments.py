"""Moments of a sample covariance in whole numbers: E of products of traces of powers. No sampling.

X is (n, d) with independent standard normal entries, W = X^T X. By parts in every entry,
E[X_ij g(X)] = E[dg / dX_ij], applied to tr W^p = sum_ij X_ij (X W^(p-1))_ij gives (chapter 8)

    E[tr W^p T] = (n + p - 1) E[tr W^(p-1) T] + sum_{a=1}^{p-1} E[tr W^a tr W^(p-1-a) T]
                  + sum_q 2 q E[tr W^(p-1+q) T / tr W^q],

for T a product of traces tr W^q and tr W^0 = d. Each term on the right has one factor W less.
"""

from fractions import Fraction
from functools import cache

from icgd import validation


def trace_moment(powers: tuple[int, ...], n: int, d: int) -> int:
    """E[prod_p tr W^p] over the listed powers.

    The cost grows fast with their sum: 50 takes a tenth of a second, 80 some seconds.

    >>> trace_moment((2,), 7, 3)  # n d (n + d + 1)
    231
    """
    validation.positive_int("n", n)
    validation.positive_int("d", d)
    for p in powers:
        validation.int_at_least("a power", p, 0)
    return _moment(tuple(sorted(powers)), n, d)


def mean_moments(order: int, n: int, d: int) -> list[Fraction]:
    """[E tr H^p for p = 0, ..., order] of the mean H = X^T X / n.

    >>> [str(m) for m in mean_moments(2, 20, 5)]
    ['5', '5', '13/2']
    """
    order = validation.int_at_least("order", order, 0)
    return [Fraction(trace_moment((p,), n, d), n**p) for p in range(order + 1)]


@cache
def _moment(powers: tuple[int, ...], n: int, d: int) -> int:
    """`trace_moment` of increasing powers."""
    if not powers:
        return 1
    if powers[0] == 0:
        return d * _moment(powers[1:], n, d)
    p, rest = powers[0], powers[1:]

    def mean(*more: int, others: tuple[int, ...] = rest) -> int:
        return _moment(tuple(sorted((*more, *others))), n, d)

    total = (n + p - 1) * mean(p - 1)
    total += sum(mean(a, p - 1 - a) for a in range(1, p))
    for i, q in enumerate(rest):
        total += 2 * q * mean(p - 1 + q, others=rest[:i] + rest[i + 1 :])
    return total
