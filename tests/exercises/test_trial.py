"""What a self-check says, whatever it is handed."""

import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import nbformat
import numpy as np
import pytest
import torch

import icgd.exercises as ex
from icgd.exercises.trial import Trial

CHAPTERS = Path(__file__).resolve().parents[2] / "chapters"


@pytest.fixture
def trial():
    return Trial("ex-00-test", see="page.html#place")


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (None, "is there a return"),
        ("3", "real numbers"),
        (1 + 2j, "real numbers"),
        (np.ones(2), "one number at x = 1, got shape"),
        (np.array([]), "got shape"),
        (float("nan"), "NaN or infinity"),
        (torch.tensor(torch.inf), "NaN or infinity"),
    ],
)
def test_a_number_is_one_finite_real_number(trial, value, told):
    with pytest.raises(ex.NotYet, match=told):
        trial.number(lambda x: value, x=1)


def test_a_call_instead_of_a_function_is_noticed(trial):
    with pytest.raises(ex.NotYet, match="pass the function itself"):
        trial.number(3.0, x=1)


def test_arrays_are_counted(trial):
    with pytest.raises(ex.NotYet, match="tuple of 2 values, got a float"):
        trial.arrays(lambda: 1.0, (), ())


def test_tensors_with_gradients_are_read(trial):
    assert trial.number(lambda: torch.tensor(2.0, requires_grad=True)) == 2.0


def test_the_message_names_the_input_and_the_place_and_not_the_answer(trial):
    got = trial.number(lambda n, X: 1.5, n=7, X=np.eye(2))
    with pytest.raises(ex.NotYet) as caught:
        trial.same(got, 2.625, "it is what it is")
    text = str(caught.value)
    assert "n = 7" in text
    assert "page.html#place" in text
    assert "2.625" not in text


def test_an_empty_array_equals_nothing(trial):
    with pytest.raises(ex.NotYet):
        trial.same(np.array([]), 1.0, "claim")


def test_a_mistake_in_the_student_s_code_is_shown_as_it_is(trial):
    with pytest.raises(ZeroDivisionError):
        trial.number(lambda x: 1 / 0, x=1)


def test_praise_only_without_an_error(trial, capsys):
    with pytest.raises(ZeroDivisionError), trial:
        1 / 0  # noqa: B018
    assert not capsys.readouterr().out


def checks():
    """(check, its source) for every check of the package."""
    return [(n, inspect.getsource(getattr(ex, n))) for n in ex.__all__ if n.startswith("check_")]


def chapter_sources():
    cells = {
        path.stem: "\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells)
        for path in CHAPTERS.glob("*.ipynb")
    }
    return cells


def test_every_check_points_to_an_exercise_and_a_place_that_exist():
    text = chapter_sources()
    pages = {
        name.rsplit(".", 1)[-1]: getattr(importlib.import_module(name), "CHAPTER", None)
        for _, name, _ in pkgutil.walk_packages(ex.__path__, "icgd.exercises.")
    }
    for name, source in checks():
        module = getattr(ex, name).__module__.rsplit(".", 1)[-1]
        label, see = re.search(r'Trial\("([\w-]+)", f?"([^"]+)"\)', source).groups()
        page, anchor = see.replace("{CHAPTER}", pages[module]).split(".html#")
        place = anchor.removeprefix("equation-")
        found = f"({place})" if place != anchor else f":label: {place}"
        assert found in text[page], f"{name} points to {anchor} on {page}"
        chapter = pages[module].removesuffix(".html")
        assert f":label: {label}\n" in text[chapter], f"{name} belongs to {label}"


def test_each_chapter_has_at_least_two_checks():
    modules = [getattr(ex, name).__module__ for name, _ in checks()]
    assert len(set(modules)) >= 12
    assert min(modules.count(module) for module in modules) >= 2
