"""Where a worker runs: bubblewrap's namespaces on Linux, or nothing but a process of its own.

Inside the sandbox a worker sees the Python environment and the system's libraries, read-only, and a
small folder in memory. It has no network, no other process, no capabilities, no more than its
limits, and no part of the repository but the library. When the process is killed from outside,
the kernel ends everything that it has started.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

NOBODY = 65534


class SandboxError(Exception):
    """The sandbox cannot be used; what to do about it."""


@dataclass(frozen=True)
class Limits:
    """What one submission may use: seconds of wall-clock time, bytes, processes, tries."""

    call: float = 10  # one call of a function
    cell: float = 20  # one cell
    total: float = 120  # everything from the worker's first start
    start: float = 60  # until a worker says that it stands; not the student's doing
    notebook: int = 10 << 20
    memory: int = 3 << 30  # address space, a process
    file: int = 20 << 20
    folder: int = 50 << 20  # the folder in memory
    processes: int = 24
    kills: int = 2  # a function that has stopped this many workers is given up
    workers: int = 10


LIMITS = Limits()


def worker_command(limits: Limits, *, sandboxed: bool = True, private: Iterable[Path] = ()) -> list:
    """The command that starts a worker.

    Raises:
        SandboxError: there is no bubblewrap, or the worker would see a path in ``private``.
    """
    python = [sys.executable, "-I", "-m", "icgd_grading.worker"]
    python += [str(number) for number in (limits.memory, limits.file, limits.processes)]
    if not sandboxed:
        return python
    if not sys.platform.startswith("linux") or not shutil.which("bwrap"):
        raise SandboxError(
            "There is no sandbox here: grading needs Linux (or WSL2, or a virtual machine) with "
            "bubblewrap. On Debian and Ubuntu: sudo apt install bubblewrap"
        )
    view = _view(private)
    inside = [
        *("bwrap", "--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL"),
        *("--die-with-parent", "--new-session", "--clearenv", *_environment()),
        *("--size", str(limits.folder), "--tmpfs", "/tmp", *view),
        *("--proc", "/proc", "--dev", "/dev"),
        *("--size", str(limits.folder), "--tmpfs", "/dev/shm"),
        *("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp", "--", *python),
    ]
    if os.getuid() == 0:
        # The kernel does not hold root to its process limit, and root's files may be closed to
        # others: make a view that anyone may read, become nobody in it, and go on as anyone does.
        inside = [
            *("bwrap", "--unshare-pid", "--die-with-parent", "--cap-drop", "ALL"),
            *("--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--tmpfs", "/tmp", *view),
            *("--bind", "/proc", "/proc", "--dev", "/dev", "--"),
            *("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--"),
            *inside,
        ]
    return [*_scope(limits), *inside]


def environment() -> dict[str, str]:
    """The variables of a worker: none of the grader's own."""
    threads = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    places = {name: "/tmp" for name in ("HOME", "MPLCONFIGDIR", "IPYTHONDIR")}
    return {
        **dict.fromkeys(threads, "1"),
        **places,
        "PATH": "/usr/bin:/bin",
        "USER": "student",
        "MPLBACKEND": "Agg",
        "PYTHONHASHSEED": "0",
        "TQDM_DISABLE": "1",
    }


def _environment() -> list[str]:
    return [part for item in environment().items() for part in ("--setenv", *item)]


def _view(private: Iterable[Path]) -> list[str]:
    """bubblewrap's arguments for the part of the file system that a worker may read."""
    ask = "import json, sys; print(json.dumps([sys.prefix, sys.base_prefix, *sys.path]))"
    told = subprocess.run([sys.executable, "-I", "-c", ask], capture_output=True, check=True)
    folders: list[Path] = [Path("/usr")]
    for folder in sorted({Path(name) for name in json.loads(told.stdout)}):
        if folder.exists() and not any(folder.is_relative_to(seen) for seen in folders):
            folders.append(folder)
    for path in private:
        for folder in folders:
            if path.resolve().is_relative_to(folder.resolve()):
                raise SandboxError(
                    f"{path} lies inside {folder}, which students' code may read. "
                    "Move the course to another folder."
                )
    arguments: list[str] = []
    for folder in folders:
        for parent in list(folder.parents)[-2::-1]:
            arguments += ["--perms", "0755", "--dir", str(parent)]
        arguments += ["--ro-bind", str(folder), str(folder)]
    for name in ("/bin", "/sbin", "/lib", "/lib32", "/lib64"):
        if os.path.islink(name):
            arguments += ["--symlink", os.readlink(name), name]
        elif os.path.isdir(name):
            arguments += ["--ro-bind", name, name]
    arguments += ["--perms", "0755", "--dir", "/etc"]
    for name in ("/etc/ld.so.cache", "/etc/alternatives"):
        arguments += ["--ro-bind-try", name, name]
    return arguments


def _scope(limits: Limits) -> list[str]:
    """systemd bounds the memory of all of a worker's processes together, where it runs."""
    kind = [] if os.getuid() == 0 else ["--user"]
    scope = ["systemd-run", *kind, "--scope", "--quiet", "--collect"]
    scope += ["-p", f"MemoryMax={limits.memory}", "-p", "MemorySwapMax=0"]
    try:
        probe = subprocess.run([*scope, "true"], capture_output=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return scope if probe.returncode == 0 else []
