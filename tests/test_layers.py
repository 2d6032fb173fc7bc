"""Imports in lib/icgd point down only, so that theory and measurement agree independently."""

import ast
from pathlib import Path

import pytest

LIBRARY = Path(__file__).resolve().parents[1] / "lib"
SETTINGS = ("icgd.regression", "icgd.autoregression")


def module_name(path):
    parts = path.relative_to(LIBRARY).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted((LIBRARY / "icgd").rglob("*.py"))}


def imports(name):
    """Every module that a module's source names in an import, at any depth of the code."""
    path, found = MODULES[name], set()
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*base, *([node.module] if node.module else [])])
            found |= {source} | {f"{source}.{alias.name}" for alias in node.names}
    return found


def reached(name):
    """The library's modules that importing ``name`` needs, directly or not, packages aside."""
    todo, seen = [name], set()
    while todo:
        for found in imports(todo.pop()) & MODULES.keys() - seen:
            if MODULES[found].name != "__init__.py":
                seen.add(found)
                todo.append(found)
    return seen


def is_in(name, package):
    return name == package or name.startswith(package + ".")


def in_package(names, *packages):
    return sorted(name for name in names if any(is_in(name, package) for package in packages))


def matching(test):
    return [name for name in MODULES if test(name)]


def test_library_is_found():
    assert "icgd.claims" in MODULES
    assert "icgd.regression.theory" in MODULES


#: Closed forms beside `theory`: held to the same rule.
CLOSED_FORMS = (
    "icgd.autoregression.augmented",
    "icgd.autoregression.full_one",
    "icgd.autoregression.noisy",
    "icgd.autoregression.observed",
    "icgd.regression.depth",
    "icgd.regression.dynamics",
    "icgd.regression.filters",
    "icgd.regression.limits",
    "icgd.regression.random_covariance",
    "icgd.regression.shift",
    "icgd.regression.wishart",
    "icgd.regression.wishart_moments",
)


@pytest.mark.parametrize(
    "name", matching(lambda name: name.endswith(".theory") or name in CLOSED_FORMS)
)
def test_theory_stands_alone(name):
    assert not in_package(imports(name), "torch")
    measured = {n for n in reached(name) if n.rsplit(".", 1)[-1] in ("models", "population")}
    assert not measured, "agreement with theory is evidence only if theory does not use them"


@pytest.mark.parametrize(
    "name",
    ["icgd.training", "icgd.claims", "icgd.figures", "icgd.sweep", "icgd.attention"],
)
def test_tools_know_no_paper(name):
    if name in MODULES:
        assert not in_package(reached(name), *SETTINGS, "icgd.evidence")


@pytest.mark.parametrize(("one", "other"), [SETTINGS, SETTINGS[::-1]])
def test_settings_do_not_import_each_other(one, other):
    for name in matching(lambda name: is_in(name, one)):
        above = ("icgd.evidence", "icgd.figures", "icgd.explorers", "icgd.exercises")
        assert not in_package(imports(name), other, *above), name


@pytest.mark.parametrize("name", matching(lambda name: not is_in(name, "icgd.exercises")))
def test_nothing_rests_on_the_exercises(name):
    assert not in_package(imports(name), "icgd.exercises")


@pytest.mark.parametrize("name", matching(lambda name: name != "icgd.explorers"))
def test_only_explorers_imports_widgets(name):
    assert not in_package(imports(name), "ipywidgets")


@pytest.mark.parametrize("name", MODULES)
def test_nothing_imports_the_tests_or_chapters(name):
    assert not in_package(imports(name), "tests", "chapters")
