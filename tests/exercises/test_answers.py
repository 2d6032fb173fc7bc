"""Right answers pass the self-checks, plausible wrong ones are told what is wrong.

The answers lie in `answers`. An answer is the tuple of a check's arguments, and

    CASES[check] = (right answers, {what is wrong: (answer, what its author is told)}).
"""

import runpy
from pathlib import Path

import numpy as np
import pytest
from scipy.special import binom, roots_genlaguerre

from icgd import exercises as ex

FILES = sorted((Path(__file__).parent / "answers").glob("*.py"))
CASES = {
    check: cases for file in FILES for check, cases in runpy.run_path(str(file))["CASES"].items()
}
#: Checks of functions that leave a choice, so that one per cent more may be as right.
FREE = {
    ex.check_blind,
    ex.check_hard_law,
    ex.check_plateau,
    ex.check_positive_exponents,
    ex.check_same_step,
    ex.check_swapped_slots,
}


def name(value):
    return getattr(value, "__name__", value)


def test_every_check_is_tried():
    assert set(CASES) == {getattr(ex, name) for name in ex.__all__ if name.startswith("check_")}
    assert all(len(wrong) >= 3 for _, wrong in CASES.values())


@pytest.mark.parametrize("check", CASES, ids=name)
def test_right_answers_pass(check, capsys):
    right, _ = CASES[check]
    for answer in right:
        check(*answer)
    assert capsys.readouterr().out.count("right (") == len(right)


@pytest.mark.parametrize(
    ("check", "wrong"),
    [(check, wrong) for check, (_, cases) in CASES.items() for wrong in cases],
    ids=name,
)
def test_wrong_answers_are_told_why(check, wrong):
    answer, told = CASES[check][1][wrong]
    with pytest.raises(ex.NotYet, match=told) as caught:
        check(*answer)
    assert ".html#" in str(caught.value)


@pytest.mark.parametrize(
    "check",
    [check for check, (right, _) in CASES.items() if callable(right[0][0]) and check not in FREE],
    ids=name,
)
def test_one_per_cent_is_noticed(check):
    (answer,) = CASES[check][0][0]

    def larger(*arguments):
        found = answer(*arguments)
        return tuple(1.01 * part for part in found) if isinstance(found, tuple) else 1.01 * found

    with pytest.raises(ex.NotYet):
        check(larger)


def test_a_binomial_gives_the_error_of_the_best_sizes():
    """Chapter 12's closed form, for the sizes that the check accepts."""
    (best_sizes,) = CASES[ex.check_step_sizes][0][0]
    z, weights = roots_genlaguerre(40, 0.5)
    for k in (1, 2, 3):
        q = (1 - np.outer(best_sizes(k), 2 * z)).prod(0)
        error = weights @ q**2 / weights.sum()
        assert error == pytest.approx(1 / binom(k + 1.5, k), rel=1e-10)
