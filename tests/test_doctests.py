"""Examples in docstrings are run."""

import doctest
import importlib
import pkgutil

import pytest

import icgd

MODULES = [module.name for module in pkgutil.walk_packages(icgd.__path__, "icgd.")]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert not failed


def test_closed_forms_show_an_example():
    theory = importlib.import_module("icgd.regression.theory")
    shown = {
        test.name.rsplit(".", 1)[-1]
        for test in doctest.DocTestFinder().find(theory)
        if test.examples
    }
    assert {"step_size", "minimum_loss", "one_step_risk", "ridge_risk"} <= shown
