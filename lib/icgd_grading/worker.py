"""The untrusted side: runs a student's notebook inside the sandbox and answers calls.

Everything here may be patched by the notebook; nothing it says is believed beyond being the
student's answer. It needs no otter: the notebook's own ``grader.check`` does nothing here.
"""

import builtins
import json
import os
import sys
import types
from typing import Any, BinaryIO

from . import wire


def main() -> None:
    """Say that the sandbox stands, then answer the judge's requests until it hangs up."""
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):  # what the notebook prints goes nowhere; what it reads is empty
        os.dup2(nowhere, descriptor)
    _limit(*map(int, sys.argv[1:]))
    wire.send(sink, {"ready": os.getpid()})
    notebook = Notebook()
    while True:
        request = wire.receive(source, trusted=True)
        answer(sink, request["id"], lambda request=request: notebook.answer(**request))


def _limit(memory: int, file: int, processes: int) -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    sizes = {"AS": memory, "FSIZE": file, "NPROC": processes, "NOFILE": 128, "CORE": 0}
    for name, size in sizes.items():
        try:
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (size, size))
        except (OSError, ValueError):  # macOS refuses some; the sandboxed case is tested
            continue


def answer(sink: BinaryIO, number: int, work: Any) -> None:
    """Send the result of ``work``, or the exception it ended with."""
    try:
        wire.send(sink, {"id": number, "value": work()})
    except BrokenPipeError:
        sys.exit()
    except BaseException as error:
        try:
            name, text = type(error).__name__, str(error)[:2000]
        except BaseException:
            name, text = "Exception", "without a readable message"
        wire.send(sink, {"id": number, "raised": name, "message": text})


class _Quiet:
    """In place of otter's Notebook and of IPython's shell: any method does nothing."""

    def __init__(self, *args: Any, **options: Any):
        pass

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **options: None


class Notebook:
    """The cells of one notebook and the names they have defined."""

    def __init__(self):
        module = sys.modules["__main__"] = types.ModuleType("__main__")
        self.names = module.__dict__
        self.names.update(display=print, get_ipython=_Quiet)
        otter = sys.modules["otter"] = types.ModuleType("otter")
        otter.Notebook = _Quiet
        builtins.input = lambda prompt="": ""

    def answer(self, id: int, verb: str, **content: Any) -> Any:
        """Carry out one request; the verb names the method."""
        return {"load": self.load, "run": self.run, "get": self.get, "call": self.call}[verb](
            **content
        )

    def load(self, notebook: Any) -> int:
        """Parse the file; returns how many code cells it has."""
        content = json.loads(notebook.tobytes())
        self.cells = [
            "".join(cell["source"]) for cell in content["cells"] if cell["cell_type"] == "code"
        ]
        return len(self.cells)

    def run(self, cell: int) -> None:
        """Execute one code cell, counted from 0."""
        source = self.cells[cell]
        try:
            code = compile(source, f"<cell {cell + 1}>", "exec")
        except SyntaxError:
            from IPython.core.inputtransformer2 import TransformerManager  # %magic and !command

            source = TransformerManager().transform_cell(source)
            code = compile(source, f"<cell {cell + 1}>", "exec")
        exec(code, self.names)

    def get(self, name: str) -> dict[str, Any]:
        """A variable's value; of what can be called, only that it can."""
        value = self.names.get(name)
        return {"callable": True} if callable(value) else {"value": value}

    def call(self, name: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """What the student's function returns."""
        return self.names[name](*args, **options)


if __name__ == "__main__":
    main()
