"""How a self-check speaks: which property fails, at which input, and what to reread.

A check calls the student's function at random and at special inputs and tests what any right answer
must satisfy: exact values of special cases, invariances, brute force at small sizes. It never holds
the model solution, and it never prints the value it expected.
"""

from collections.abc import Callable

import numpy as np
import torch

#: Two float64 computations of one number agree to this, unless a check says otherwise.
TOLERANCE = 1e-9


class NotYet(AssertionError):
    """The answer is not right yet; the message says what fails and where to look."""


class Trial:
    """One exercise under test: `with Trial("ex-01-...", see="chapter.html#label") as trial: ...`.

    Leaving the block without an error prints one line of praise. Functions are called with
    positional arguments; the names given here are for the message.

    >>> with Trial("ex-00-double", see="welcome.html") as trial:
    ...     trial.same(trial.number(lambda x: 2 * x, x=3.5), 7.0, "twice the number")
    ex-00-double: right (1 property tested)
    """

    def __init__(self, exercise: str, see: str):
        self.exercise, self.see = exercise, see
        self.at, self.tested = "", 0

    def __enter__(self) -> "Trial":
        return self

    def __exit__(self, kind, *rest) -> None:
        if kind is None:
            what = "property" if self.tested == 1 else "properties"
            print(f"{self.exercise}: right ({self.tested} {what} tested)")

    def call(self, answer: Callable, **arguments):
        """What the student's function returns at these arguments."""
        if not callable(answer):
            raise NotYet(f"{self.exercise}: pass the function itself, not {answer!r}.")
        shown = [f"{k} = {v:g}" for k, v in arguments.items() if isinstance(v, int | float)]
        self.at = f" at {', '.join(shown)}" if shown else ""
        return answer(*arguments.values())

    def number(self, answer: Callable, **arguments) -> float:
        """One finite real number."""
        return float(self._finite(self.call(answer, **arguments), ()))

    def array(self, answer: Callable, shape: tuple[int, ...], **arguments) -> np.ndarray:
        """One finite real array of this shape."""
        return self._finite(self.call(answer, **arguments), shape)

    def arrays(self, answer: Callable, *shapes: tuple[int, ...], **arguments) -> list[np.ndarray]:
        """Several of them, returned as a tuple."""
        found = self.call(answer, **arguments)
        if not isinstance(found, list | tuple) or len(found) != len(shapes):
            raise self._not_yet(f"return a tuple of {len(shapes)} values, got {_kind(found)}")
        return [self._finite(*pair) for pair in zip(found, shapes, strict=True)]

    def same(self, got, want, claim: str, *, rtol: float = TOLERANCE) -> None:
        """Require got = want up to rounding, where `claim` says in words why it must be so."""
        scale = float(np.max(np.abs(want), initial=0.0))
        close = np.allclose(got, want, rtol=rtol, atol=rtol * scale + 1e-14)
        self.holds(np.shape(got) == np.shape(want) and close, claim)

    def holds(self, truth: bool | np.bool, claim: str) -> None:
        """Require a statement."""
        self.tested += 1
        if not truth:
            raise self._not_yet(f"this should hold{self.at} and does not: {claim}")

    def _finite(self, value, shape: tuple[int, ...]) -> np.ndarray:
        if isinstance(value, torch.Tensor):
            value = value.detach().numpy()
        try:
            if value is None or isinstance(value, str):  # numpy would take these for numbers
                raise TypeError
            array = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            raise self._not_yet(f"return real numbers{self.at}, got {_kind(value)}") from None
        if array.shape != shape:
            wanted = f"an array of shape {shape}" if shape else "one number"
            raise self._not_yet(f"return {wanted}{self.at}, got shape {array.shape}")
        if not np.isfinite(array).all():
            raise self._not_yet(f"the result must be finite{self.at}, got NaN or infinity")
        return array

    def _not_yet(self, message: str) -> NotYet:
        return NotYet(f"{self.exercise}: {message}. Reread {self.see}.")


def quiz(trial: Trial, answers: dict[str, str], key: dict[str, str], why: dict[str, str]) -> None:
    """Compare {step: hypothesis} with the key. For a wrong pair, `why` asks a question back."""
    options = sorted(key.values())
    for step, right in key.items():
        if step not in answers:
            raise trial._not_yet(f"say which hypothesis the step {step!r} uses, one of {options}")
        if answers[step] not in options:
            raise trial._not_yet(f"{answers[step]!r} is not one of the hypotheses {options}")
        trial.holds(answers[step] == right, f"{step!r} uses {answers[step]!r}. {why[step]}")


def _kind(value) -> str:
    return "nothing (is there a return?)" if value is None else f"a {type(value).__name__}"
