"""A student's notebook as the judge sees it: names whose values and answers come from a worker."""

import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from . import sandbox, wire
from .sandbox import Limits, SandboxError

# A student's function may raise one of these; any other exception arrives as StudentError.
NUMERIC = (ArithmeticError, ZeroDivisionError, ValueError)
EXCEPTIONS: dict[str, type[Exception]] = {
    kind.__name__: kind
    for kind in (*NUMERIC, TypeError, IndexError, KeyError, RuntimeError, NotImplementedError)
}


class StudentError(Exception):
    """The student's code gave no answer."""


class Unreadable(Exception):
    """The submission is not a notebook."""


class Forged(Exception):
    """What came from the worker is no answer to what was asked."""


class Stopped(Exception):
    """The worker is gone; how it went."""


def clean(text: Any, length: int = 200) -> str:
    """A student's text as one line of printable characters, cut to ``length``."""
    line = "".join(c for c in " ".join(str(text).split()) if c.isprintable())
    return line if len(line) <= length else line[: length - 1] + "…"


class Session:
    """Keeps a worker that has executed the notebook's cells, whatever they do.

    A cell that stops its worker is left out from then on; a function that stops ``limits.kills`` of
    them is given up. ``notes`` collects what went wrong.

    Raises:
        Unreadable: the file is not a notebook.
        SandboxError: no worker could be started; ``broken`` then says why, for good.
    """

    def __init__(self, notebook: bytes, command: list[str], limits: Limits):
        self.notebook, self.command, self.limits = notebook, command, limits
        self.notes: list[str] = []
        self.broken = ""
        self.process: subprocess.Popen | None = None
        self._kills: Counter[str] = Counter()
        self._left_out: set[int] = set()
        self._workers = self._requests = 0
        self._deadline = float("inf")
        with suppress(StudentError):  # a notebook that lets no worker live fails its tests
            self._ensure_worker()

    def close(self) -> None:
        """End the worker, and with it all that it has started."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            with suppress(OSError):
                self.process.stdin.close()
            self.process.stdout.close()
            self.process = None

    def get(self, name: str) -> Any:
        """A variable's value; a stand-in for what can be called; None for all else."""
        try:
            answer = self._attempt("get", name)
        except Exception as error:
            text = str(error)
            self._note(text if text.startswith(name) else f"{name}: {text}")
            return None
        if not isinstance(answer, dict):
            return None
        return Remote(self, name) if answer.get("callable") is True else answer.get("value")

    def call(self, name: str, args: tuple, options: dict[str, Any]) -> Any:
        """What the student's function returns, or its exception."""
        return self._attempt("call", name, args=args, options=options)

    def _note(self, text: str) -> None:
        text = clean(text)
        if text not in self.notes:
            self.notes.append(text)

    def _attempt(self, verb: str, name: str, **content: Any) -> Any:
        if self._kills[name] >= self.limits.kills:
            raise StudentError(f"{name} was given up")
        self._ensure_worker()
        try:
            return self._ask(self.limits.call, verb=verb, name=name, **content)
        except Stopped as how:
            self._kills[name] += 1
            self._note(f"{name} {how}")
            raise StudentError(f"{name} {how}") from None

    def _ensure_worker(self) -> None:
        while self.process is None:
            if self.broken:
                raise SandboxError(self.broken)
            if time.monotonic() > self._deadline:
                self._note(f"all of its {self.limits.total:g} s were used up")
                raise StudentError(self.notes[-1])
            if self._workers >= self.limits.workers:
                self._note("it stopped its worker again and again")
                raise StudentError(self.notes[-1])
            self._start()
            with suppress(Stopped):
                self._execute()

    def _start(self) -> None:
        self._workers += 1
        pipe = subprocess.PIPE
        self.process = process = subprocess.Popen(
            self.command, stdin=pipe, stdout=pipe, stderr=pipe, env=sandbox.environment()
        )
        with process.stderr:
            try:
                with self._stopped_after(self.limits.start):
                    wire.receive(process.stdout)
            except (EOFError, OSError, wire.WireError):
                process.kill()
                said = clean(process.stderr.read(4000).decode(errors="replace"))
                self.broken = f"the sandbox does not start: {said or 'it took too long'}"
                self.close()
                raise SandboxError(self.broken) from None
        if self._workers == 1:
            self._deadline = time.monotonic() + self.limits.total

    def _execute(self) -> None:
        try:
            content = np.frombuffer(self.notebook, np.uint8)
            cells = self._ask(self.limits.cell, verb="load", notebook=content)
        except Exception as error:
            self.close()
            raise Unreadable(f"not a notebook: {clean(error)}") from None
        for cell in range(cells if type(cells) is int else 0):
            if cell in self._left_out:
                continue
            try:
                self._ask(self.limits.cell, verb="run", cell=cell)
            except Stopped as how:
                self._left_out.add(cell)
                self._note(f"code cell {cell + 1} {how} and was left out")
                raise
            except Exception as error:
                kind = "" if type(error) is StudentError else f"{type(error).__name__}: "
                self._note(f"code cell {cell + 1}: {kind}{error}")

    def _ask(self, seconds: float, **request: Any) -> Any:
        """One request and its answer. Raises Stopped, or what the student's code raised."""
        self._requests += 1
        seconds = min(seconds, max(self._deadline - time.monotonic(), 0.01))
        with self._stopped_after(seconds) as late:
            try:
                wire.send(self.process.stdin, {"id": self._requests, **request})
                answer = self._receive()
            except (EOFError, OSError, Forged) as error:
                self.close()
                how = str(error) if isinstance(error, Forged) else "ended its process"
                raise Stopped(f"was stopped after {seconds:.0f} s" if late else how) from None
        if "raised" in answer:
            name, text = str(answer["raised"]), str(answer.get("message"))
            if name in EXCEPTIONS:
                raise EXCEPTIONS[name](text)
            raise StudentError(f"{clean(name)}: {text}")
        return answer.get("value")

    def _receive(self) -> dict[str, Any]:
        try:
            answer = wire.receive(self.process.stdout)
        except wire.WireError:
            raise Forged("wrote into the grader's pipe") from None
        if not isinstance(answer, dict) or answer.get("id") != self._requests:
            raise Forged("wrote into the grader's pipe")
        return answer

    @contextmanager
    def _stopped_after(self, seconds: float) -> Iterator[list[bool]]:
        """Kill the worker from outside when its time is up; the list is then not empty."""
        late: list[bool] = []

        def stop(process: subprocess.Popen) -> None:
            late.append(True)
            process.kill()

        timer = threading.Timer(seconds, stop, [self.process])
        timer.start()
        try:
            yield late
        finally:
            timer.cancel()


class Remote:
    """Stands in for a student's function in the tests that the judge runs."""

    def __init__(self, session: Session, name: str):
        self._session, self.__name__ = session, name

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self._session.call(self.__name__, args, options)
