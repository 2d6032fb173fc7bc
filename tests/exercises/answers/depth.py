"""Right answers and plausible wrong ones: chapter 8."""

import numpy as np

from icgd import exercises as ex

#: Found by minimising in fractions; the first c is free.
TIED = {1: (10 / 13, 0.3), 2: (1.49135765, 0.20497109), 3: (2.05080767, 0.21296153)}
#: The best constant step without c.
PLAIN = {1: 10 / 13, 2: 0.7425, 3: 0.7156}

CASES = {
    ex.check_one_layer: (
        [(lambda n, d, s: n / (n + d + 1 + s),)],
        {
            "in the units of chapter 1": ((lambda n, d, s: 1 / (n + d + 1 + s),), "both sides"),
            "no fourth moment": ((lambda n, d, s: n / (n + d + s),), "both sides"),
            "least squares": ((lambda n, d, s: 1.0,), "both sides"),
        },
    ),
    ex.check_momentum: (
        [
            (lambda s, q: (1.0, q, s - 1 - q),),
            (lambda s, q: (0.5, 2 * q, 2 * (s - 0.5 - 2 * q)),),
        ],
        {
            "two plain steps": ((lambda s, q: (s / 2, s / 2, 0.0),), "is missing"),
            "momentum of the wrong sign": ((lambda s, q: (1.0, q, 1 + q - s),), "is missing"),
            "complex": ((lambda s, q: (np.nan, 1.0, 0.0),), "finite"),
        },
    ),
    ex.check_flattest: (
        [(lambda c: (1 / (3 * c), 4 / (27 * c)),)],
        {
            "the zero": ((lambda c: (1 / c, 0.0),), "sent higher"),
            "only where": ((lambda c: (1 / (3 * c), 1 / (3 * c)),), "map's value"),
            "outside": ((lambda c: (2 / c, 2 / c),), "lies between"),
        },
    ),
    ex.check_tied: (
        [(TIED.get,)],
        {
            "one layer's step": ((lambda K: (10 / 13, 0.0),), "equal layers"),
            "plain steps": ((lambda K: (PLAIN[K], 0.0),), "equal layers"),
            "nearly": ((lambda K: (TIED[K][0] + 0.02, TIED[K][1]),), "nearby"),
            "a alone": ((lambda K: TIED[K][0],), "shape"),
        },
    ),
    ex.check_degree: (
        [(lambda K: 3**K - 1,)],
        {
            "of the filter": ((lambda K: (3**K - 1) // 2,), "power of t"),
            "of the tokens": ((lambda K: 3**K,), "power of t"),
            "gradient descent": ((lambda K: 2 * K,), "power of t"),
        },
    ),
}
