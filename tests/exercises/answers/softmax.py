"""Right answers and plausible wrong ones: the last sections of chapter 8."""

import numpy as np
from scipy.integrate import quad
from scipy.stats import chi2, norm

from icgd import exercises as ex
from icgd.regression import theory


def of_the_largest(n, power):
    """E max^power by the density of the largest of n."""
    return quad(lambda x: x**power * n * norm.pdf(x) * norm.cdf(x) ** (n - 1), -9, 9)[0]


def hard(n, s, c=None):
    label, product = of_the_largest(n, 2) + s, (2 / np.pi) ** 0.5 * of_the_largest(n, 1)
    c = product / label if c is None else c
    return 1 + s + c**2 * label - 2 * c * product


def hard_closed(n, s):
    """The same for n up to 3 in closed form."""
    if n > 3:
        return hard(n, s)
    first = (0, np.pi**-0.5, 1.5 * np.pi**-0.5)[n - 1]
    second = (1, 1, 1 + 3**0.5 / (2 * np.pi))[n - 1]
    return 1 + s - 2 / np.pi * first**2 / (second + s)


def ridge_risk(n, s):
    return s + s * quad(lambda S: chi2.pdf(S, n) / (S + s), 0, np.inf)[0]


CASES = {
    ex.check_hard_head: (
        [(hard,), (hard_closed,)],
        {
            "c = 1": ((lambda n, s: hard(n, s, c=1.0),), "whatever the query"),
            "c = 1/2, and 0 for one": ((lambda n, s: hard(n, s, c=0.5 * (n > 1)),), "goes lower"),
            "label without noise": ((lambda n, s: s + hard(n, 0.0),), "does better"),
            "the limit": ((lambda n, s: 1 + s - 2 / np.pi * (n > 1),), "does better"),
        },
    ),
    ex.check_distance: (
        [(lambda n, s: theory.minimum_loss(n, 1, s) - ridge_risk(n, s),)],
        {
            "the risk itself": ((lambda n, s: theory.minimum_loss(n, 1, s),), "multiple of x"),
            "from least squares": (
                (lambda n, s: theory.minimum_loss(n, 1, s) - s - s / max(n - 2, 1),),
                "multiple of x",
            ),
            "noise forgotten": (
                (lambda n, s: theory.minimum_loss(n, 1, s) - ridge_risk(n, s) + s,),
                "multiple of x",
            ),
        },
    ),
}
