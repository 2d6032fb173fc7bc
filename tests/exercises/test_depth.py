"""Right answers pass and plausible wrong ones are told what is wrong: chapter 8."""

import numpy as np
import pytest

from icgd import exercises as ex

#: Found by minimising in fractions; the first c is free.
TIED = {1: (10 / 13, 0.3), 2: (1.49135765, 0.20497109), 3: (2.05080767, 0.21296153)}

#: check: (right answers, wrong answers with what they are told)
CASES = {
    ex.check_one_layer: (
        [lambda n, d, s: n / (n + d + 1 + s)],
        {
            "in the units of chapter 1": (lambda n, d, s: 1 / (n + d + 1 + s), "both sides"),
            "no fourth moment": (lambda n, d, s: n / (n + d + s), "both sides"),
            "least squares": (lambda n, d, s: 1.0, "both sides"),
        },
    ),
    ex.check_momentum: (
        [lambda s, q: (1.0, q, s - 1 - q), lambda s, q: (0.5, 2 * q, 2 * (s - 0.5 - 2 * q))],
        {
            "two plain steps": (lambda s, q: (s / 2, s / 2, 0.0), "is missing"),
            "momentum of the wrong sign": (lambda s, q: (1.0, q, 1 + q - s), "is missing"),
            "complex": (lambda s, q: (np.nan, 1.0, 0.0), "finite"),
        },
    ),
    ex.check_flattest: (
        [lambda c: (1 / (3 * c), 4 / (27 * c))],
        {
            "the zero": (lambda c: (1 / c, 0.0), "sent higher"),
            "only where": (lambda c: (1 / (3 * c), 1 / (3 * c)), "map's value"),
            "outside": (lambda c: (2 / c, 2 / c), "lies between"),
        },
    ),
    ex.check_tied: (
        [TIED.get],
        {
            "one layer's step": (lambda K: (10 / 13, 0.0), "equal layers"),
            "plain steps": (lambda K: ({1: 10 / 13, 2: 0.7425, 3: 0.7156}[K], 0.0), "equal layers"),
            "nearly": (lambda K: (TIED[K][0] + 0.02, TIED[K][1]), "nearby"),
            "a alone": (lambda K: TIED[K][0], "shape"),
        },
    ),
    ex.check_degree: (
        [lambda K: 3**K - 1],
        {
            "of the filter": (lambda K: (3**K - 1) // 2, "power of t"),
            "of the tokens": (lambda K: 3**K, "power of t"),
            "gradient descent": (lambda K: 2 * K, "power of t"),
        },
    ),
}


@pytest.mark.parametrize("check", CASES, ids=lambda check: check.__name__)
def test_right_answers_pass(check, capsys):
    for answer in CASES[check][0]:
        check(answer)
    assert capsys.readouterr().out.count("right (") == len(CASES[check][0])


@pytest.mark.parametrize(
    ("check", "wrong"),
    [(check, wrong) for check, (_, cases) in CASES.items() for wrong in cases],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_wrong_answers_are_told_why(check, wrong):
    answer, told = CASES[check][1][wrong]
    with pytest.raises(ex.NotYet, match=told) as caught:
        check(answer)
    assert ".html#" in str(caught.value)


@pytest.mark.parametrize("check", CASES, ids=lambda check: check.__name__)
def test_one_per_cent_is_noticed(check):
    def larger(*arguments):
        found = CASES[check][0][0](*arguments)
        return tuple(1.01 * part for part in found) if isinstance(found, tuple) else 1.01 * found

    with pytest.raises(ex.NotYet):
        check(larger)
