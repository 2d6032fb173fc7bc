"""Kernels that talk through files in a folder of their own, not through network ports.

Two kernels started at the same moment can be given the same port. ``use_sockets()`` rules that out
for every kernel that this process starts from then on; with ``-p kernels`` pytest calls it. Windows
has no such sockets in zmq: there nothing changes.
"""

import atexit
import os
import shutil
import tempfile

from jupyter_client.manager import KernelManager


def use_sockets():
    if os.name == "nt":
        return
    # Not the usual places: their names can be too long for the address of a socket.
    folder = tempfile.mkdtemp(prefix="icgd-", dir="/tmp")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["JUPYTER_RUNTIME_DIR"] = folder
    start = KernelManager.__init__

    def initialise(self, *args, **kwargs):
        start(self, *args, **{"transport": "ipc", **kwargs})

    KernelManager.__init__ = initialise


def pytest_configure(config):
    use_sockets()
