"""Sweeps: one table whatever does the work, nothing lost when a sweep is killed or a cell fails."""

import hashlib
import json
from functools import partial

import numpy as np
import pytest
import torch
from joblib import Parallel, delayed
from joblib.externals.loky.process_executor import TerminatedWorkerError

from icgd.sweep import SweepError, cell_seed, sweep

AXES = {"n": [5, 7, 11], "scale": [0.1, 2.0]}


def exact(n, scale):
    return {"product": n * scale, "sum": n + scale}


@pytest.fixture
def noisy():
    """A cell whose digits depend on its random numbers and on the order of its sums.

    It is made here since worker processes cannot import this file.
    """

    def cell(n, scale, generator):
        import torch

        X = torch.randn(101, n + 30, generator=generator, dtype=torch.float64)
        return {"value": (scale * X.T @ X).logdet().item(), "threads": torch.get_num_threads()}

    return cell


def assert_same(left, right):
    assert list(left) == list(right)
    for name in left:
        np.testing.assert_array_equal(left[name], right[name], strict=True)


# --- The table -----------------------------------------------------------------------------------


def test_columns_follow_the_grid():
    table = sweep(exact, AXES)
    assert list(table) == ["n", "scale", "product", "sum"]
    np.testing.assert_array_equal(table["n"], [5, 5, 7, 7, 11, 11])
    grid = table["product"].reshape(3, 2)
    np.testing.assert_array_equal(grid, np.outer(AXES["n"], AXES["scale"]))
    assert table["n"].dtype == int


def test_numpy_values_are_the_same_cells():
    axes = {"n": np.array([5, 7, 11]), "scale": np.array([0.1, 2.0])}
    assert_same(sweep(exact, axes), sweep(exact, AXES))


def test_axes_of_words():
    table = sweep(
        lambda law, flag: {"length": len(law) + flag}, {"law": ["a", "bc"], "flag": [True]}
    )
    np.testing.assert_array_equal(table["length"], [2, 3])
    assert list(table["law"]) == ["a", "bc"]


# --- Randomness belongs to the coordinates -------------------------------------------------------


def test_seed_of_a_cell_is_the_digest_of_its_text():
    text = '{"d": 3, "noise": 0.1}'
    digest = int.from_bytes(hashlib.sha256(text.encode()).digest(), "big")
    state = np.random.SeedSequence([7, digest]).generate_state(1, np.uint64)[0]
    assert cell_seed({"noise": 0.1, "d": 3}, 7) == int(state) // 2
    assert cell_seed({"n": 5}) == 3595980640280050152  # the same on every machine, for ever


def test_seeds_of_neighbours_differ():
    seeds = {cell_seed({"n": n, "d": d}, s) for n in range(30) for d in range(30) for s in range(3)}
    assert len(seeds) == 2700
    assert max(seeds) < 2**63


def test_a_cell_draws_from_its_own_seed():
    def cell(n, d, generator):
        return {"half": generator.initial_seed() // 2**32}

    table = sweep(cell, {"n": [5, 7], "d": [3]}, seed=2)
    wanted = [cell_seed({"n": n, "d": 3}, 2) // 2**32 for n in (5, 7)]
    np.testing.assert_array_equal(table["half"], wanted)


def test_the_rest_of_the_grid_does_not_matter(noisy):
    whole = sweep(noisy, AXES)
    alone = sweep(noisy, {"scale": [2.0], "n": [11]})
    assert alone["value"][0] == whole["value"][5]


def test_another_seed_is_another_table(noisy):
    assert (sweep(noisy, AXES)["value"] != sweep(noisy, AXES, seed=1)["value"]).all()


# --- Who does the work ---------------------------------------------------------------------------


def test_cells_run_on_one_thread(noisy):
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        np.testing.assert_array_equal(sweep(noisy, AXES)["threads"], 1)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_two_workers_give_the_same_table(noisy):
    assert_same(sweep(noisy, AXES, workers=2), sweep(noisy, AXES))


@pytest.mark.filterwarnings("ignore")  # of the cluster's own libraries
def test_a_dask_cluster_gives_the_same_table(noisy, tmp_path):
    distributed = pytest.importorskip("distributed", reason="needs Dask: pip install .[test]")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": False}
    with (
        distributed.LocalCluster(**options, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        path = tmp_path / "table.jsonl"
        found = sweep(noisy, AXES, client=client, path=path)
        resumed = sweep(noisy, AXES, client=client, path=path)
    assert_same(found, sweep(noisy, AXES))
    assert_same(resumed, found)


# --- Interrupted sweeps --------------------------------------------------------------------------


@pytest.fixture
def counting():
    calls = []

    def cell(n, scale, generator):
        calls.append((n, scale))
        return {"value": torch.rand(1, generator=generator).item() * n * scale}

    cell.calls = calls
    return cell


def test_a_second_call_does_only_what_is_missing(counting, tmp_path):
    path = tmp_path / "table.jsonl"
    sweep(counting, {"n": [5], "scale": [0.1, 2.0]}, path=path)
    table = sweep(counting, AXES, path=path)
    assert counting.calls == [(5, 0.1), (5, 2.0), (7, 0.1), (7, 2.0), (11, 0.1), (11, 2.0)]
    assert_same(table, sweep(counting, AXES))


@pytest.mark.parametrize("kept", [0, 1, 20, 150, 230, 10_000])
def test_a_file_cut_off_anywhere_is_continued(counting, tmp_path, kept):
    path = tmp_path / "table.jsonl"
    whole = sweep(counting, AXES, path=path)
    text = path.read_bytes()
    path.write_bytes(text[:kept])
    complete = max(0, text[:kept].count(b"\n") - 1)
    counting.calls.clear()
    assert_same(sweep(counting, AXES, path=path), whole)
    assert len(counting.calls) == 6 - complete
    assert sorted(path.read_bytes().splitlines()) == sorted(text.splitlines())


def test_a_killed_sweep_loses_no_finished_cell(tmp_path):
    path, calls = tmp_path / "table.jsonl", tmp_path / "calls"

    def cell(n, generator):
        import os

        with calls.open("a") as file:
            file.write(f"{n} ")
        if n == 7 and calls.read_text().split().count("7") == 1:
            os._exit(1)  # the process is gone at once: nothing is closed, nothing written
        return {"value": generator.initial_seed() % 1000 + 1 / (3 + n)}

    # The whole sweep runs in one of the two workers that are there already, and takes it along.
    with pytest.raises(TerminatedWorkerError):
        Parallel(n_jobs=2)([delayed(sweep)(cell, {"n": range(12)}, path=path)])
    assert path.read_bytes().count(b"\n") == 1 + 7
    table = sweep(cell, {"n": range(12)}, path=path)
    assert calls.read_text().split() == [str(n) for n in (*range(8), *range(7, 12))]
    assert_same(table, sweep(cell, {"n": range(12)}))


def test_values_survive_the_file_to_the_last_bit(tmp_path):
    values = {"third": 1 / 3, "none": float("nan"), "large": float("inf"), "tiny": 5e-324}
    path = tmp_path / "table.jsonl"
    for _ in range(2):
        table = sweep(lambda n: values, {"n": [1]}, path=path)
        assert {name: table[name][0] for name in values if name != "none"} == {
            name: value for name, value in values.items() if name != "none"
        }
        assert np.isnan(table["none"][0])


# --- Cells that fail -----------------------------------------------------------------------------


def failing(n, scale):
    if n == 7:
        raise ZeroDivisionError(f"no cell at {n}")
    return exact(n, scale)


def test_a_failed_cell_is_named_and_the_others_are_kept(tmp_path):
    path = tmp_path / "table.jsonl"
    with pytest.raises(
        SweepError, match=r"2 raised: \{'n': 7, 'scale': 0.1\}: Zero.* no cell"
    ) as e:
        sweep(failing, AXES, path=path)
    assert [coordinates for coordinates, _ in e.value.failures] == [
        {"n": 7, "scale": 0.1},
        {"n": 7, "scale": 2.0},
    ]
    assert "in failing" in e.value.failures[0][1]
    np.testing.assert_array_equal(e.value.table["n"], [5, 5, 11, 11])
    assert path.read_bytes().count(b"\n") == 5


def test_all_cells_failing_is_no_table():
    with pytest.raises(SweepError) as caught:
        sweep(failing, {"n": [7], "scale": [0.1]})
    assert caught.value.table == {}


# --- Bad input -----------------------------------------------------------------------------------


@pytest.mark.bad_input
def test_axes_that_are_no_grid():
    for axes in ({}, {"n": []}, [1, 2]):
        with pytest.raises(ValueError, match="axes must name at least one axis"):
            sweep(exact, axes)
    with pytest.raises(ValueError, match="values of an axis must differ"):
        sweep(exact, {"n": [5, 5], "scale": [0.1]})


@pytest.mark.bad_input
def test_cells_that_return_no_numbers():
    with pytest.raises(SweepError, match=r"a cell must return a dict of real numbers, got 3"):
        sweep(lambda n: 3, {"n": [1]})
    with pytest.raises(SweepError, match=r"call .item\(\) on tensors"):
        sweep(lambda n: {"value": torch.zeros(2)}, {"n": [1]})
    with pytest.raises(ValueError, match="all cells must return the same names"):
        sweep(lambda n: {f"value {n}": 1.0}, {"n": [1, 2]})


@pytest.mark.bad_input
def test_files_of_another_sweep(tmp_path):
    path = tmp_path / "table.jsonl"
    sweep(partial(exact, scale=2.0), {"n": [5]}, path=path)
    sweep(partial(exact, scale=2.0), {"n": [5]}, path=path)
    for cell, seed in ((partial(exact, scale=3.0), 0), (partial(exact, scale=2.0), 1)):
        with pytest.raises(ValueError, match=r"must hold cells of .*exact with .*, got"):
            sweep(cell, {"n": [5]}, path=path, seed=seed)
    path.write_text(json.dumps("something else") + "\n", "utf-8")
    with pytest.raises(ValueError, match="a path of its own"):
        sweep(exact, AXES, path=path)


@pytest.mark.bad_input
def test_numbers_of_workers_and_seeds():
    with pytest.raises(ValueError, match="workers must be at least 1, got 0"):
        sweep(exact, AXES, workers=0)
    with pytest.raises(ValueError, match="seed must be at least 0, got -1"):
        sweep(exact, AXES, seed=-1)
