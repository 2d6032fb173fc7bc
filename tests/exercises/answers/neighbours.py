"""Right answers and plausible wrong ones: chapter 15."""

import numpy as np

from icgd import exercises as ex


def cosine(x, *, last=None, real=True):
    x = x[:last]
    value = (x[1:-1].conj() * (x[2:] + x[:-2])).sum() / 2 / (abs(x[1:-1]) ** 2).sum()
    return value.real if real else abs(value)


def update(Phi, R, k, v, gamma, *, faded=True, surprise=True):
    R = R / gamma if faded else R
    gain = R @ k / (1 + k @ R @ k)
    miss = v - Phi @ k if surprise else v
    return Phi + np.outer(miss, gain), R - np.outer(gain, k @ R)


def faded_state(Phi, R, k, v, gamma):
    Phi, R = update(Phi, R, k, v, gamma)
    return gamma * Phi, R


def repulsion(d, t, v, *, same=True):
    return v**2 * sum(min(k, d) + d * same for k in range(1, t))


CASES = {
    ex.check_luck: (
        [(lambda d: 2.0 ** (1 - d),)],
        {
            "both signs apart": ((lambda d: 2.0**-d,), "equally likely"),
            "pairs of coordinates": ((lambda d: 2.0 ** (-d * (d - 1) / 2),), "equally likely"),
            "any sign": ((lambda d: 1 / d,), "equally likely"),
        },
    ),
    ex.check_cosine: (
        [(cosine,)],
        {
            "the first three": ((lambda x: cosine(x, last=3),), "no slope"),
            "the angle": ((lambda x: np.arccos(cosine(x)),), "exactly"),
            "twice": ((lambda x: 2 * cosine(x),), "exactly"),
            "no sign": ((lambda x: cosine(x, real=False),), "exactly"),
        },
    ),
    ex.check_one_product: (
        [(lambda s2, T: 200 / (183 * s2 * T),)],
        {
            "one time": ((lambda s2, T: 50 / (61 * s2 * T),), "exact parabolas"),
            "no noise": ((lambda s2, T: 1 / 3,), "exact parabolas"),
            "no s2": ((lambda s2, T: 200 / (183 * T),), "exact parabolas"),
        },
    ),
    ex.check_forgetting: (
        [(update,)],
        {
            "nothing fades": ((lambda *a: update(*a, faded=False),), "R inverts"),
            "no surprise": ((lambda *a: update(*a, surprise=False),), "no slope"),
            "the state fades": ((faded_state,), "no slope"),
        },
    ),
    ex.check_two_layers: (
        [(lambda m, p, q, c: (1 - q * m * (1 - c * m)) * (1 - p * m),)],
        {
            "two steps": ((lambda m, p, q, c: (1 - q * m) * (1 - p * m),), "written out"),
            "both moved": (
                (lambda m, p, q, c: (1 - q * m * (1 - c * m)) * (1 - p * m * (1 - c * m)),),
                "written out",
            ),
            "order": ((lambda m, p, q, c: (1 - p * m * (1 - c * m)) * (1 - q * m),), "written out"),
        },
    ),
    ex.check_repulsion: (
        [(repulsion,)],
        {
            "independent": ((lambda d, t, v: 2 * d * v**2 * (t - 1),), "joint law"),
            "traces only": ((lambda d, t, v: repulsion(d, t, v, same=False),), "joint law"),
            "no v": ((lambda d, t, v: repulsion(d, t, 1.0),), "joint law"),
        },
    ),
}  # fmt: skip
