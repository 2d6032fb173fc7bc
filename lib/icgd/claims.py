"""Claims: statements of the course, each with evidence that can fail.

A claim names a result, says it in one sentence, points to the place in the book that derives it,
and owns one evidence function. The evidence returns what theory predicts, what was measured, and
how far apart the two may be. A claim also owns at least one *counterpart*: the same comparison with
a hypothesis dropped, which must not pass. Evidence functions live in `icgd.evidence`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

Kind = Literal["algebra", "exact", "sampled", "trained"]

#: What each kind of evidence means, in the words of the claims page.
KINDS: dict[str, str] = {
    "algebra": "an identity, computed on arbitrary inputs in float64",
    "exact": "population quantities computed without sampling",
    "sampled": "an average over random draws, within k standard errors",
    "trained": "the outcome of an optimisation with a stated stopping rule",
}


class ClaimError(AssertionError):
    """The evidence contradicts the claim, or a counterpart that must fail passed."""


@dataclass(frozen=True)
class Evidence:
    """A prediction beside a measurement.

    predicted, measured: numbers or arrays of one shape.
    tolerance: the largest `error` that counts as agreement. For sampled evidence give
        `standard_error` instead; then the tolerance is `k` of them.
    relative: divide the error by max |predicted|.
    """

    predicted: Any  # whatever numpy can turn into an array; arrays once built
    measured: Any
    tolerance: float | None = None
    relative: bool = False
    standard_error: float | None = None
    k: float = 4.0

    def __post_init__(self):
        for name in ("predicted", "measured"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=float))
        if self.predicted.shape != self.measured.shape:
            raise ValueError(
                "predicted and measured must have one shape, got "
                f"{self.predicted.shape} and {self.measured.shape}; compare like with like."
            )
        if self.predicted.size == 0:
            raise ValueError("evidence must compare at least one number, got an empty array.")
        if (self.tolerance is None) == (self.standard_error is None):
            raise ValueError("evidence needs exactly one of tolerance and standard_error.")
        if self.standard_error is not None:
            object.__setattr__(self, "tolerance", self.k * self.standard_error)
        if not (np.isfinite(self.tolerance) and self.tolerance > 0):
            raise ValueError(f"a tolerance must be positive and finite, got {self.tolerance}.")
        if self.relative and not np.any(self.predicted):
            raise ValueError(
                "a relative error needs a prediction other than 0; drop relative=True."
            )

    @property
    def error(self) -> float:
        """max |measured - predicted|, over max |predicted| when `relative`; NaN counts as inf."""
        with np.errstate(invalid="ignore"):  # inf - inf
            error = float(np.max(np.abs(self.measured - self.predicted)))
        if self.relative:
            error /= float(np.max(np.abs(self.predicted)))
        return float("inf") if np.isnan(error) else error

    @property
    def holds(self) -> bool:
        return self.error <= self.tolerance


@dataclass(frozen=True)
class Claim:
    """One statement with its evidence. Made by the decorator `claim`."""

    id: str
    kind: Kind
    statement: str
    anchor: str
    evidence: Callable[[], Evidence]
    counterparts: dict[str, Callable[[], Evidence]] = field(default_factory=dict)

    def fails_without(self, hypothesis: str):
        """Decorator: the same comparison with `hypothesis` dropped, which must not pass."""

        def register(evidence: Callable[[], Evidence]):
            if hypothesis in self.counterparts:
                raise ValueError(f"{self.id} drops {hypothesis!r} twice; rename one.")
            self.counterparts[hypothesis] = evidence
            return evidence

        return register


_REGISTRY: dict[str, Claim] = {}


def registry() -> dict[str, Claim]:
    """All claims by id, in the order they were stated. Filled by `import icgd.evidence`."""
    return dict(_REGISTRY)


def claim(id: str, *, kind: Kind, anchor: str, statement: str):
    """Decorator that turns an evidence function into a registered `Claim`.

    anchor: "chapter-file#label", the place in the book that derives the statement.
    """
    if kind not in KINDS:
        raise ValueError(f"kind of {id} must be one of {', '.join(KINDS)}, got {kind!r}.")
    if anchor.count("#") != 1 or not all(anchor.split("#")):
        raise ValueError(f"anchor of {id} must read 'chapter-file#label', got {anchor!r}.")

    def register(evidence: Callable[[], Evidence]) -> Claim:
        if id in _REGISTRY:
            raise ValueError(f"claim ids must be unique, got {id} twice; rename one.")
        _REGISTRY[id] = Claim(id, kind, statement, anchor, evidence)
        return _REGISTRY[id]

    return register


@dataclass(frozen=True)
class Verdict:
    """What `verify` found: a claim, its evidence, and the evidence of each counterpart."""

    claim: Claim
    evidence: Evidence
    counterparts: dict[str, Evidence]

    @property
    def failure(self) -> str | None:
        """Why the claim fails, in one sentence, or None when it stands."""
        if not self.evidence.holds:
            return (
                f"{self.claim.id} fails: error {self.evidence.error:.3g} exceeds the tolerance "
                f"{self.evidence.tolerance:.3g} (predicted {number(self.evidence.predicted)}, "
                f"measured {number(self.evidence.measured)})"
            )
        if not self.counterparts:
            return f"{self.claim.id} has no counterpart: a check that cannot fail shows nothing"
        for hypothesis, evidence in self.counterparts.items():
            if evidence.holds:
                return f"{self.claim.id} passes without '{hypothesis}': its check shows nothing"
            if not np.isfinite(evidence.error):
                return f"{self.claim.id} without '{hypothesis}' gives no finite error to fail by"
        return None

    def __str__(self):
        size = self.evidence.predicted.size
        entries = f" (largest of {size} entries)" if size > 1 else ""
        lines = [
            f"{self.claim.id} holds ({self.claim.kind})",
            f"  predicted {number(self.evidence.predicted)}, measured "
            f"{number(self.evidence.measured)}{entries}, tolerance {tolerance(self.evidence)}",
        ]
        for hypothesis, evidence in self.counterparts.items():
            lines.append(f"  without {hypothesis}: fails, error {evidence.error:.2g}")
        return "\n".join(lines)


def verify(id: str) -> Verdict:
    """Run the evidence of claim `id` and of its counterparts; judge nothing yet."""
    if id not in _REGISTRY:
        raise KeyError(
            f"no claim is called {id!r}; import icgd.evidence, then see icgd.claims.registry()."
        )
    item = _REGISTRY[id]
    dropped = {name: evidence() for name, evidence in item.counterparts.items()}
    return Verdict(item, item.evidence(), dropped)


def check(*ids: str) -> None:
    """Verify claims and print one line each; raise `ClaimError` at the first that fails."""
    for id in ids:
        verdict = verify(id)
        if verdict.failure:
            raise ClaimError(verdict.failure)
        print(verdict)


def number(value: np.ndarray) -> str:
    """Up to four digits of a number, or of the entry of an array that is largest in size.

    Rounding residue prints as 0: its digits differ from machine to machine.
    """
    flat = np.ravel(value)
    entry = float(flat[np.argmax(np.abs(flat))])
    return "0" if abs(entry) < 1e-9 else f"{entry:.4g}"


def tolerance(evidence: Evidence) -> str:
    """The tolerance with what it is relative to, or how many standard errors it is."""
    if evidence.standard_error is not None:
        return f"{evidence.tolerance:.2g} = {evidence.k:g} standard errors"
    return f"{evidence.tolerance:.0e}" + (" relative" if evidence.relative else "")
