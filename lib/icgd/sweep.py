"""A table over a grid of settings: one call a cell, on as many workers as there are.

    table = sweep(cell, {"n": [5, 10], "d": [2, 3]}, seed=0, workers=2, path="table.jsonl")

A cell is known by its coordinates, such as {"n": 5, "d": 2}, and by nothing else: its random
numbers follow from them, so neither the order of the work nor the number of workers nor the rest of
the grid changes the table. With a `path`, every finished cell is a line of that file at once, and a
sweep that was stopped goes on from there.
"""

import hashlib
import inspect
import itertools
import json
import numbers
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path

import numpy as np
import torch
from joblib import Parallel, delayed, parallel_config
from threadpoolctl import ThreadpoolController
from tqdm.auto import tqdm

from icgd import validation

#: One value for each axis. Its JSON text, with sorted names, is the cell's identity.
Coordinates = dict[str, int | float | str | bool]
Values = dict[str, float]


class SweepError(RuntimeError):
    """Some cells raised. The others are in `table`, the failed ones in `failures`.

    table: columns as `sweep` returns them, without the failed cells.
    failures: a list of (coordinates, traceback) pairs.
    """

    def __init__(self, failures: list[tuple[Coordinates, str]], table: dict[str, np.ndarray]):
        self.failures, self.table = failures, table
        named = "; ".join(
            f"{coordinates}: {text.strip().splitlines()[-1]}" for coordinates, text in failures[:5]
        )
        more = f" and {len(failures) - 5} more" if len(failures) > 5 else ""
        super().__init__(
            f"every cell must return its values, {len(failures)} raised: {named}{more}. "
            f"The others are kept; repair the cell and sweep again.\n\n{failures[0][1]}"
        )


def sweep(
    cell: Callable[..., Mapping[str, float]],
    axes: Mapping[str, Sequence],
    *,
    seed: int = 0,
    workers: int = 1,
    client=None,
    path: str | Path | None = None,
) -> dict[str, np.ndarray]:
    """Call `cell` at every point of a grid and return the table, a column a name.

    Args:
        cell: called as cell(**coordinates); returns {name: number}, the same names in every cell.
            If it takes an argument `generator`, it is given a torch generator of its own. In a
            script it must be importable (define it in a module), or workers cannot find it.
        axes: the values of each coordinate: numbers, strings or booleans.
        seed: a second table of independent random numbers has another seed.
        workers: processes on this machine (joblib); 1 works in this process.
        client: a `dask.distributed.Client`; then its cluster does the work.
        path: a file of finished cells, made or continued. It belongs to one cell function and one
            seed. Changes in the function's code are not noticed: take a new path then.
    Returns:
        Columns of length cells, in the order of itertools.product over the axes, so that
        table[name].reshape([len(v) for v in axes.values()]) is the grid.
    Raises:
        SweepError: some cells raised; all the others were done first.

    >>> table = sweep(lambda n, d: {"ratio": n / d}, {"n": [1, 3], "d": [2, 4]})
    >>> table["ratio"]
    array([0.5 , 0.25, 1.5 , 0.75])
    """
    grid = _grid(axes)
    seed = validation.int_at_least("seed", seed, 0)
    workers = validation.positive_int("workers", workers)
    file = None if path is None else _Finished(Path(path), f"{_name(cell)}, seed {seed}")
    done = {} if file is None else file.read()
    missing = [coordinates for coordinates in grid if _text(coordinates) not in done]
    failures = []
    with tqdm(total=len(grid), initial=len(grid) - len(missing), desc="sweep", delay=2.0) as bar:
        for coordinates, values, problem in _run_all(cell, missing, seed, workers, client):
            bar.update()
            if problem:
                failures.append((coordinates, problem))
                continue
            done[_text(coordinates)] = values
            if file is not None:
                file.append(coordinates, values)
    table = _columns([c for c in grid if _text(c) in done], done)
    if failures:
        raise SweepError(sorted(failures, key=lambda failure: _text(failure[0])), table)
    return table


def cell_seed(coordinates: Coordinates, seed: int = 0) -> int:
    """The seed of a cell's generator, below 2^63: from its coordinates and the sweep's seed alone.

    numpy's SeedSequence mixes the SHA-256 digest of the coordinates' JSON text with `seed`, so that
    cells that differ in one digit have independent streams.
    """
    digest = hashlib.sha256(_text(coordinates).encode()).digest()
    sequence = np.random.SeedSequence([seed, int.from_bytes(digest, "big")])
    return int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(1))


def _run_all(
    cell: Callable, todo: list[Coordinates], seed: int, workers: int, client
) -> Iterator[tuple[Coordinates, Values | None, str | None]]:
    """(coordinates, values, traceback) of each cell, in the order in which they finish."""
    where = {"backend": "dask", "client": client} if client is not None else {"backend": "loky"}
    with parallel_config(**where, n_jobs=-1 if client is not None else workers):
        yield from Parallel(return_as="generator_unordered")(
            delayed(_run)(cell, coordinates, seed) for coordinates in todo
        )


def _run(cell: Callable, coordinates: Coordinates, seed: int):
    """One cell on one thread: sums are added in the same order on every worker."""
    own = {}
    if "generator" in inspect.signature(cell).parameters:
        own["generator"] = torch.Generator().manual_seed(cell_seed(coordinates, seed))
    try:
        with _threads().limit(limits=1):
            return coordinates, _checked(cell(**coordinates, **own)), None
    except Exception:
        return coordinates, None, traceback.format_exc()


@cache
def _threads() -> ThreadpoolController:
    """The thread pools of this process's libraries; finding them costs more than a small cell."""
    return ThreadpoolController()


def _checked(values: Mapping[str, float]) -> Values:
    if not isinstance(values, Mapping) or not all(
        isinstance(value, numbers.Real) for value in values.values()
    ):
        raise TypeError(
            f"a cell must return a dict of real numbers, got {values!r}; "
            "call .item() on tensors and name each value."
        )
    return {name: float(value) for name, value in values.items()}


def _grid(axes: Mapping[str, Sequence]) -> list[Coordinates]:
    """All coordinates, as plain Python values, each once."""
    if not isinstance(axes, Mapping) or not axes or not all(len(v) for v in axes.values()):
        raise ValueError(
            f"axes must name at least one axis, each with at least one value, got {axes!r}; "
            "pass {'n': [5, 10], 'd': [2]}."
        )
    plain = {
        name: [value.item() if isinstance(value, np.generic) else value for value in values]
        for name, values in axes.items()
    }
    grid = [dict(zip(plain, point, strict=True)) for point in itertools.product(*plain.values())]
    if len({_text(coordinates) for coordinates in grid}) < len(grid):
        raise ValueError(f"the values of an axis must differ, got {plain}; drop the repeated ones.")
    return grid


def _text(coordinates: Coordinates) -> str:
    return json.dumps(coordinates, sort_keys=True)


def _name(cell: Callable) -> str:
    """What identifies a cell function from one session to the next."""
    if isinstance(cell, partial):
        return f"{_name(cell.func)} with {cell.args} and {cell.keywords}"
    return f"{cell.__module__}.{cell.__qualname__}"


def _columns(grid: list[Coordinates], done: dict[str, Values]) -> dict[str, np.ndarray]:
    rows = [{**coordinates, **done[_text(coordinates)]} for coordinates in grid]
    names = list(rows[0]) if rows else []
    if any(list(row) != names for row in rows):
        raise ValueError(
            "all cells must return the same names, none of them an axis, got "
            f"{sorted({tuple(row) for row in rows})}; return NaN where there is no value."
        )
    return {name: np.array([row[name] for row in rows]) for name in names}


class _Finished:
    """A file of finished cells: a line that says whose they are, then one JSON line a cell."""

    def __init__(self, path: Path, owner: str):
        self.path, self.owner = path, owner

    def read(self) -> dict[str, Values]:
        """The finished cells by their text. A line cut off by a kill is removed from the file."""
        text = self.path.read_bytes() if self.path.exists() else b""
        whole = text[: text.rfind(b"\n") + 1]
        if not whole:
            self.path.write_text(json.dumps(self.owner) + "\n", "utf-8")
            return {}
        with self.path.open("r+b") as file:
            file.truncate(len(whole))
        head, *lines = whole.decode().splitlines()
        if head != json.dumps(self.owner):
            raise ValueError(
                f"{self.path} must hold cells of {self.owner}, got {head[:80]}; "
                "give each cell function and seed a path of its own."
            )
        return {_text(line["cell"]): line["values"] for line in map(json.loads, lines)}

    def append(self, coordinates: Coordinates, values: Values) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"cell": coordinates, "values": values}) + "\n")
