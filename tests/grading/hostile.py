"""Notebooks that cheat, break or never end: each with the reason its row must give.

All their answers are wrong and worth no point, unless ``points`` says what honest part they keep.
"""

import json
import textwrap
from dataclasses import dataclass

import nbformat
import trial

WRONG = """
import numpy as np
def gradient(X, y, w):
    return np.full(4, 7.0)
step_size = 2.0
"""
HONEST = trial.SOLUTIONS["q1"] + "\n" + trial.SOLUTIONS["q2"]  # worth 5
WIRE = """
import os, struct, json
descriptors = [int(d) for d in os.listdir("/proc/self/fd") if int(d) > 2]
def shout(message):
    for d in descriptors:
        try:
            os.write(d, message)
        except OSError:
            pass
def frame(value):
    header = json.dumps({"value": value, "arrays": []}).encode()
    return struct.pack(">I", len(header)) + header
"""


@dataclass(frozen=True)
class Attack:
    """What is handed in, and what its row must say."""

    content: bytes
    reason: str = ""  # a regular expression
    points: float = 0
    status: str = "graded"


def attack(source: str, reason: str = "^$", points: float = 0, base: str = WRONG) -> Attack:
    """The wrong answers, then a cell with ``source``."""
    cells = [base, textwrap.dedent(source).strip()]
    return Attack(nbformat.writes(trial.notebook(cells)).encode(), reason, points)


def raw(content: bytes, reason: str) -> Attack:
    """A file that is no notebook."""
    return Attack(content, reason, status="unreadable")


def cells(value) -> bytes:
    """A file with these cells, whatever they are."""
    return json.dumps({"cells": value, "nbformat": 4, "nbformat_minor": 5}).encode()


STOPPED = "code cell 2 was stopped after . s and was left out"
ENDED = "code cell 2 ended its process and was left out"
FORGED = "code cell 2 wrote into the grader's pipe and was left out"

ATTACKS = {
    # --- that never end -------------------------------------------------------------------------
    "loop": attack("while True: pass", STOPPED, 5, HONEST),
    "loop-without-alarms": attack(
        """
        import signal
        signal.alarm(0)
        signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals))
        for s in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(s, signal.SIG_IGN)
        while True:
            try:
                while True: pass
            except BaseException: pass
        """,
        STOPPED,
    ),
    "loop-in-function": attack(
        "def gradient(X, y, w):\n    while True: pass",
        "^gradient was stopped after 1 s$",
        2,
        HONEST,
    ),
    "loop-when-converted": attack(
        """
        class Endless(list):
            def __iter__(self):
                while True: yield 0
        def gradient(X, y, w): return Endless()
        """,
        "gradient",
    ),
    "sleep": attack("import time\ntime.sleep(10**6)", STOPPED),
    "stop-itself": attack("import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)", STOPPED),
    "non-daemon-threads": attack(
        """
        import threading, time
        def run():
            while True: time.sleep(0.01)
        try:
            for _ in range(1000): threading.Thread(target=run).start()
        except RuntimeError: pass
        """,
    ),
    "wait-for-input": attack("input('password: ')\nimport sys\nsys.stdin.read()"),
    "half-a-message": attack(
        WIRE + "shout(struct.pack('>I', 100) + b'{')\nwhile True: pass", STOPPED
    ),
    # --- that use up the machine ----------------------------------------------------------------
    "memory": attack("hoard = []\nwhile True: hoard.append(bytearray(10**9))", "Memory|stopped"),
    "memory-of-children": attack(
        """
        import os
        for _ in range(6):
            if os.fork() == 0:
                x = bytearray(10**8)
                while True: pass
        while True: pass
        """,
        STOPPED,
    ),
    "output": attack("import os\nwhile True: os.write(1, b'x' * 10**6)", STOPPED),
    "output-printed": attack("while True: print('x' * 10**6)", STOPPED),
    "fork-bomb": attack(
        """
        import os
        while True:
            try: os.fork()
            except OSError: pass
        """,
        "code cell 2",
    ),
    "fill-the-disk": attack(
        """
        import os
        def fill(folder):
            taken = 0
            for n in range(100):
                try:
                    with open(f'{folder}/{n}', 'wb') as f:
                        for _ in range(15): taken += f.write(bytes(10**6))
                except OSError: break
            return taken / 1e6
        for folder in ('/tmp', '/dev/shm', '/', '/dev', '/etc', '/usr', '/proc', '/root', '/work'):
            taken = fill(folder)
            assert taken < (60 if folder in ('/tmp', '/dev/shm') else 1), (folder, taken)
        """
    ),
    "one-large-file": attack(
        "with open('/tmp/x', 'wb') as f:\n    f.write(bytes(10**8))",
        "ended its process|File too large",
    ),
    "huge-answer": attack("def gradient(X, y, w): return np.zeros(10**8)"),
    "deep-answer": attack(
        """
        def gradient(X, y, w):
            x = []
            for _ in range(10**5): x = [x]
            return x
        """
    ),
    "circular-answer": attack("def gradient(X, y, w):\n    x = []\n    x.append(x)\n    return x"),
    "answer-that-broadcasts": attack("def gradient(X, y, w): return np.zeros((10**6, 1))"),
    "endless-cells": Attack(
        cells(
            [{"cell_type": "code", "source": WRONG}] + 3000 * [{"cell_type": "code", "source": ""}]
        )
    ),
    # --- that end or damage the process ---------------------------------------------------------
    "exit-now": attack("import os\nos._exit(0)", ENDED, 5, HONEST),
    "exit-in-function": attack(
        "import os\ndef gradient(X, y, w): os._exit(0)", "^gradient ended its process$", 2, HONEST
    ),
    "exit-later": attack(
        """
        import os, threading
        threading.Timer(0.05, os._exit, [0]).start()
        """,
        "ended its process|again and again|^$",
    ),
    "exit-politely": attack(
        "import sys\nsys.exit('all tests passed')", "SystemExit: all tests passed"
    ),
    "interrupt": attack("def gradient(X, y, w): raise KeyboardInterrupt"),
    "kill-the-parent": attack(
        """
        import os, signal
        parent = os.getppid()
        for s in (signal.SIGTERM, signal.SIGKILL):
            for p in (parent, 0, -1, 1, *range(2, 400)):
                if p != os.getpid():
                    try: os.kill(p, s)
                    except OSError: pass
        """,
        "^$|" + ENDED,
    ),
    "segfault": attack("import ctypes\nctypes.string_at(0)", ENDED),
    "deep-recursion": attack(
        "import sys\nsys.setrecursionlimit(10**9)\ndef f(): return f()\nf()",
        "code cell 2",
    ),
    "close-descriptors": attack("import os\nos.closerange(0, 100)", ENDED),
    "bytes-to-descriptors": attack(WIRE + "shout(os.urandom(10**5))", FORGED),
    "fork-and-answer-twice": attack("import os\nos.fork()", "^$|wrote into the grader's pipe"),
    # --- that lie to the grader -----------------------------------------------------------------
    "forged-answers": attack(
        WIRE
        + """
for n in range(1, 40):
    shout(frame({"dict": [["id", n], ["value", 0.5], ["score", 8], ["passed", True]]}))
""",
        FORGED,
    ),
    "forged-tags": attack(
        WIRE + "shout(frame({'pickle': 'gASVJgAAAAAAAACMBXBvc2l4lIwGc3lzdGVtlJOU'}))", FORGED
    ),
    "forged-shape": attack(
        WIRE
        + """
header = json.dumps({"value": {"array": 0}, "arrays": [["float64", [2**40, 2**40]]]}).encode()
shout(struct.pack(">I", len(header)) + header)
""",
        FORGED,
    ),
    "forged-results": attack(
        """
        import json, os, pickle
        class Run:
            def __reduce__(self): return os.system, ('touch /tmp/icgd-forged',)
        results = {'score': 8, 'tests': [{'name': 'q1', 'score': 3, 'max_score': 3}]}
        for folder in ('.', '/tmp', '..', '/autograder/results'):
            for name, data in (('results.json', json.dumps(results).encode()),
                               ('results.pkl', pickle.dumps(Run())), ('.OTTER_LOG', b'x')):
                try:
                    os.makedirs(folder, exist_ok=True)
                    open(os.path.join(folder, name), 'wb').write(data)
                except OSError: pass
        """
    ),
    "pickle-bomb-answer": attack(
        """
        import os
        class Bomb:
            def __reduce__(self): return os._exit, (0,)
        def gradient(X, y, w): return np.array([Bomb()], dtype=object)
        step_size = Bomb()
        """,
        "step_size: .*Bomb is not plain data",
    ),
    "patched-numpy": attack(
        """
        import numpy.testing, math
        yes = lambda *a, **k: True
        np.allclose = np.isclose = np.array_equal = np.all = yes
        np.testing.assert_allclose = np.testing.assert_array_equal = yes
        math.isclose = yes
        """
    ),
    "patched-builtins": attack(
        """
        import builtins
        real = builtins.isinstance
        builtins.all = builtins.any = lambda *a: True
        builtins.abs = lambda x: 0
        builtins.compile = lambda *a, **k: (lambda: None).__code__
        builtins.exec = builtins.eval = lambda *a, **k: None
        builtins.AssertionError = builtins.Warning
        builtins.__import__ = lambda *a, **k: None
        """,
        "^$|step_size|gradient",
    ),
    "patched-grader": attack(
        """
        import sys
        import icgd_grading.wire, icgd_grading.worker
        try:
            import icgd_grading.judge
            icgd_grading.judge.judge = lambda *a, **k: {'status': 'graded'}
        except Exception: pass
        icgd_grading.wire._encode = lambda value, arrays: {'passed': True}
        class Grader:
            def check(self, *a, **k): return 'q1 results: All test cases passed!'
            check_all = check
        grader = sys.modules['otter'].Notebook = Grader()
        """,
        ".",
    ),
    "poisoned-modules": attack(
        """
        import sys
        class Finder:
            def find_spec(self, *a): raise SystemExit
        sys.meta_path.insert(0, Finder())
        for name in list(sys.modules):
            if name.startswith(('numpy.', 'icgd', 'json')): sys.modules[name] = None
        """,
        ".*",
    ),
    "traced": attack(
        """
        import sys
        def trace(frame, event, argument):
            for name in ('expected', 'passed'):
                if name in frame.f_locals: frame.f_locals[name] = True
            return trace
        sys.settrace(trace); sys.setprofile(lambda *a: None)
        """
    ),
    "frames": attack(
        """
        import sys, gc
        def gradient(X, y, w):
            frame = sys._getframe()
            while frame:
                for name in ('expected', 'g'):
                    if name in frame.f_locals: return frame.f_locals[name]
                frame = frame.f_back
            for thing in gc.get_objects():
                if isinstance(thing, dict) and 'expected' in thing: return thing['expected']
            raise LookupError
        """
    ),
    "equal-to-everything": attack(
        """
        class Yes:
            shape, dtype, ndim = (3,), np.dtype(float), 1
            def __eq__(self, other): return True
            __ne__ = __lt__ = __gt__ = __le__ = __ge__ = __eq__
            def __array__(self, *a, **k): return np.zeros(3)
            def __array_function__(self, *a, **k): return True
            def __array_ufunc__(self, *a, **k): return True
            def __float__(self): return 0.5
            def __bool__(self): return True
            __array_priority__ = 1e9
            __hash__ = None
        def gradient(X, y, w): return Yes()
        step_size = Yes()
        """,
        "step_size: .*Yes is not plain data",
    ),
    "array-that-lies": attack(
        """
        class Yes(np.ndarray):
            shape = property(lambda self: (3,), lambda self, value: None)
            def __eq__(self, other): return True
            def __array_function__(self, *a, **k): return True
            def __array_ufunc__(self, *a, **k): return True
        def gradient(X, y, w): return np.full(4, 7.0).view(Yes)
        """,
    ),
    "number-that-lies": attack(
        """
        class Yes(float):
            def __lt__(self, other): return True
            __gt__ = __eq__ = __ne__ = __lt__
            def __float__(self): return 2.0
        step_size = Yes(2.0)
        """
    ),
    "changes-its-arguments": attack(
        """
        def gradient(X, y, w):
            X[:] = 0; y[:] = 0; w[:] = 0
            return w
        """,
        points=1,  # the right shape
    ),
    "error-that-bites": attack(
        """
        class Bite(Exception):
            def __str__(self): raise SystemExit
        def gradient(X, y, w): raise Bite
        raise Bite
        """,
        "without a readable message",
    ),
    "markup": attack("raise ValueError('<script>alert(1)</script>')", "<script>"),
    # --- that look or reach outside -------------------------------------------------------------
    "read-hidden-tests": attack(
        """
        import glob, os
        seen = []
        for folder, folders, files in os.walk('/'):
            folders[:] = [f for f in folders if f not in ('proc', 'site-packages', 'usr')]
            seen += [os.path.join(folder, f) for f in files if f in ('q1.py', 'trial.ipynb')
                     or 'autograder' in f or f.endswith('.ipynb')]
        assert not seen, seen
        """
    ),
    "edit-everything": attack(
        """
        import os, sys, site, pathlib, numpy
        targets = [pathlib.Path(p) for p in (numpy.__file__, sys.executable, '/etc/x')]
        targets += [pathlib.Path(p) / 'evil.pth' for p in sys.path if os.path.isdir(p)]
        for target in targets:
            try: target.open('a').write('import os')
            except OSError: continue
            raise RuntimeError(f'wrote {target}')
        """
    ),
    "delete-everything": attack(
        """
        import os, shutil
        for name in os.listdir('/'):
            if name != 'proc': shutil.rmtree('/' + name, ignore_errors=True)
        """,
        "^$|gradient|step_size|stopped",  # nothing goes, but trying takes its time
    ),
    "sockets": attack(
        """
        import socket
        for address in (('127.0.0.1', 48763), ('1.1.1.1', 53), ('localhost', 48763)):
            try: socket.create_connection(address, timeout=0.3)
            except OSError: continue
            raise RuntimeError(f'reached {address}')
        """
    ),
    "other-processes": attack(
        """
        import os
        others = [p for p in os.listdir('/proc') if p.isdigit()]
        assert len(others) <= 3, others
        for p in others:
            environment = open(f'/proc/{p}/environ').read()
            assert 'ICGD_SECRET' not in environment
        """,
        "^$|PermissionError",
    ),
    "new-namespaces": attack(
        """
        import ctypes, os
        libc = ctypes.CDLL(None, use_errno=True)
        for flag in (0x10000000, 0x00020000, 0x40000000):
            assert libc.unshare(flag) == -1, hex(flag)
        assert libc.mount(b'none', b'/tmp', b'tmpfs', 0, None) == -1
        assert os.getuid() != 0
        """
    ),
    "raise-limits": attack(
        """
        import resource
        for name in ('AS', 'NPROC', 'FSIZE'):
            try: resource.setrlimit(getattr(resource, 'RLIMIT_' + name), (-1, -1))
            except (OSError, ValueError): continue
            raise RuntimeError(name)
        """
    ),
    # --- that are not notebooks -----------------------------------------------------------------
    "sixty-megabytes": raw(
        cells([{"cell_type": "code", "source": "#" * 60_000_000}]), "larger than 10 MB"
    ),
    "not-json": raw(b"def gradient(X, y, w): return 0\n", "not a notebook"),
    "empty": raw(b"", "not a notebook"),
    "binary": raw(bytes(range(256)) * 100, "not a notebook"),
    "no-cells": raw(b"{}", "not a notebook: .*cells"),
    "cells-are-a-number": raw(cells(5), "not a notebook"),
    "source-is-a-number": raw(cells([{"cell_type": "code", "source": 3}]), "not a notebook"),
    "deep-json": raw(b"[" * 1_000_000, "not a notebook"),
    "utf-16": Attack(
        json.dumps({"cells": [{"cell_type": "code", "source": HONEST}]}).encode("utf-16"), "^$", 5
    ),
    "lone-surrogate": attack("raise ValueError('\\ud800')", "ValueError", 5, HONEST),
    "syntax-error": Attack(
        nbformat.writes(trial.notebook(["def gradient(X, y, w) return", "step_size ="])).encode(),
        "code cell 1: SyntaxError.*code cell 2: SyntaxError",
    ),
    "magic": attack("%matplotlib inline\n!rm -rf /\nget_ipython().system('ls')", "^$", 5, HONEST),
}
