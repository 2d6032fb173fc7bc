"""Claims can fail, and every claim of the regression setting stands."""

import re

import numpy as np
import pytest

import icgd.evidence.regression  # noqa: F401  registers the claims
from icgd import claims
from icgd.claims import ClaimError, Evidence, check, claim, registry, verify

REGRESSION = [id for id in registry() if id.startswith("OS.")]


@pytest.fixture
def make(monkeypatch):
    """make(evidence, *counterparts) registers a claim `T.made` for the length of one test."""
    monkeypatch.setattr(claims, "_REGISTRY", {})

    def build(evidence, *counterparts):
        register = claim("T.made", kind="exact", anchor="page#label", statement="A test.")
        made = register(lambda: evidence)
        for i, counterpart in enumerate(counterparts):
            made.fails_without(f"hypothesis {i}")(lambda found=counterpart: found)
        return made

    return build


GOOD = Evidence(1.0, 1.0, tolerance=0.1)
BAD = Evidence(1.0, 1.2, tolerance=0.1)
NOTHING = Evidence(1.0, float("nan"), tolerance=0.1)


# --- The registered claims -----------------------------------------------------------------------


def test_the_linear_setting_is_claimed():
    wanted = {"Eq33", "Lemma1", "Lemma2", "Lemma3", "Lemma4", "Theorem1"}
    wanted |= {"closed-form-step-size", "minimum-loss", "minimisers"}
    assert {f"OS.{name}" for name in wanted} <= set(REGRESSION)


@pytest.mark.parametrize("id", REGRESSION)
def test_claim_stands_and_prints_only_digits_that_last(id, capsys):
    check(id)
    printed = capsys.readouterr().out
    assert printed.startswith(f"{id} holds ({registry()[id].kind})\n  predicted")
    assert printed.count("  without ") == len(registry()[id].counterparts) >= 1
    printed = re.sub(r"largest of \d+ entries", "", printed)  # a count, the same everywhere
    for number in re.findall(r"-?\d+\.?\d*(?:e[+-]?\d+)?", printed.split("predicted", 1)[1]):
        digits = re.sub(r"e.*|[-.]", "", number).lstrip("0")
        assert len(digits) <= 4, number
        exponent = re.search(r"e-(\d+)", number)
        # Tolerances are stated, powers of ten; anything else this small would be rounding.
        assert not exponent or digits == "1" or int(exponent[1]) < 9, number


@pytest.mark.parametrize("id", REGRESSION)
def test_claim_says_one_sentence_and_where_it_is_derived(id):
    item = registry()[id]
    assert item.statement.endswith(".")
    assert re.fullmatch(r"[\w-]+#[\w-]+", item.anchor)


# --- What makes a claim fail ---------------------------------------------------------------------


def test_evidence_that_is_off_raises(make):
    make(BAD, BAD)
    with pytest.raises(ClaimError, match=r"T.made fails: error 0.2 exceeds the tolerance 0.1"):
        check("T.made")


def test_counterpart_that_passes_raises(make):
    make(GOOD, BAD, GOOD)
    with pytest.raises(ClaimError, match=r"T.made passes without 'hypothesis 1'"):
        check("T.made")


def test_claim_without_counterpart_raises(make):
    make(GOOD)
    with pytest.raises(ClaimError, match=r"T.made has no counterpart: a check that cannot fail"):
        check("T.made")


def test_nan_is_a_failure_on_either_side(make):
    make(NOTHING, BAD)
    with pytest.raises(ClaimError, match=r"T.made fails: error inf"):
        check("T.made")
    claims._REGISTRY.clear()
    make(GOOD, NOTHING)
    with pytest.raises(ClaimError, match=r"T.made without 'hypothesis 0' gives no finite error"):
        check("T.made")


def test_claim_that_stands_prints_a_line_each(make, capsys):
    make(GOOD, BAD)
    check("T.made")
    assert capsys.readouterr().out == (
        "T.made holds (exact)\n  predicted 1, measured 1, tolerance 1e-01\n"
        "  without hypothesis 0: fails, error 0.2\n"
    )


def test_evidence_that_raises_is_not_swallowed(make):
    made = make(GOOD)

    @made.fails_without("a working computer")
    def _broken():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        check("T.made")


def test_check_stops_at_the_first_failure(make, capsys):
    make(BAD, BAD)
    with pytest.raises(ClaimError):
        check("T.made", "T.unknown")
    assert capsys.readouterr().out == ""


# --- Evidence ------------------------------------------------------------------------------------


def test_error_is_the_largest_entry():
    evidence = Evidence([1.0, -4.0, 2.0], [1.1, -4.3, 2.0], tolerance=0.2)
    assert evidence.error == pytest.approx(0.3)
    assert not evidence.holds
    relative = Evidence([1.0, -4.0, 2.0], [1.1, -4.3, 2.0], tolerance=0.2, relative=True)
    assert relative.error == pytest.approx(0.3 / 4)
    assert relative.holds


def test_sampled_evidence_counts_standard_errors():
    assert Evidence(1.0, 1.39, standard_error=0.1).holds
    assert not Evidence(1.0, 1.41, standard_error=0.1).holds
    assert Evidence(1.0, 1.05, standard_error=0.1, k=1.0).tolerance == pytest.approx(0.1)
    printed = claims.tolerance(Evidence(1.0, 1.0, standard_error=0.1, k=3.0))
    assert printed == "0.3 = 3 standard errors"


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_values_that_are_not_finite_never_hold(bad):
    for relative in (False, True):
        assert not Evidence([1.0, 2.0], [1.0, bad], tolerance=1e9, relative=relative).holds
        assert not Evidence([1.0, bad], [1.0, 2.0], tolerance=1e9, relative=relative).holds
        assert not Evidence([1.0, bad], [1.0, bad], tolerance=1e9, relative=relative).holds


def test_numbers_hide_rounding():
    assert claims.number(np.array(3.14159)) == "3.142"
    assert claims.number(np.array([1e-13, -3e-12])) == "0"
    assert claims.number(np.array([0.25, -2.0, 1.0])) == "-2"


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Evidence([1, 2], [1, 2, 3], tolerance=1), r"one shape, got \(2,\) and \(3,\)"),
        (lambda: Evidence([1, 2], 1, tolerance=1), r"must have one shape"),
        (lambda: Evidence([], [], tolerance=1), r"must compare at least one number"),
        (lambda: Evidence(1, 1), r"exactly one of tolerance and standard_error"),
        (lambda: Evidence(1, 1, tolerance=1, standard_error=1), r"exactly one of"),
        (lambda: Evidence(1, 1, tolerance=0.0), r"tolerance must be positive and finite"),
        (lambda: Evidence(1, 1, tolerance=float("inf")), r"tolerance must be positive and finite"),
        (lambda: Evidence(1, 1, standard_error=float("nan")), r"must be positive and finite"),
        (lambda: Evidence(0.0, 1, tolerance=1, relative=True), r"prediction other than 0; drop"),
    ],
)
def test_evidence_that_compares_nothing(build, message):
    with pytest.raises(ValueError, match=message):
        build()


@pytest.mark.bad_input
def test_claims_that_cannot_be_registered(make):
    make(GOOD, BAD)
    with pytest.raises(ValueError, match=r"claim ids must be unique, got T.made twice; rename"):
        make(GOOD)
    with pytest.raises(ValueError, match=r"T.made drops 'hypothesis 0' twice; rename one"):
        registry()["T.made"].fails_without("hypothesis 0")(lambda: BAD)
    with pytest.raises(ValueError, match=r"kind of T.x must be one of algebra, exact.*'guess'"):
        claim("T.x", kind="guess", anchor="page#label", statement="")
    for anchor in ("page", "page#", "#label", "a#b#c"):
        with pytest.raises(ValueError, match=r"anchor of T.x must read 'chapter-file#label'"):
            claim("T.x", kind="exact", anchor=anchor, statement="")


@pytest.mark.bad_input
def test_unknown_claim_is_named():
    with pytest.raises(KeyError, match=r"no claim is called 'OS.Theorem99'; import icgd.evidence"):
        verify("OS.Theorem99")


def test_registry_is_a_copy():
    registry().clear()
    assert registry()
