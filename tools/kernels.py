"""Kernels that talk through files in a folder of their own, not through network ports.

Two kernels started at the same moment can be given the same port. ``use_sockets()`` rules that out
for every kernel that this process starts from then on; with ``-p kernels`` pytest calls it. Windows
has no such sockets in zmq: there nothing changes.
"""

import atexit
import os
import shutil
import tempfile
import uuid

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
        # Named from the start: the sockets' names follow from it, and else from the current folder,
        # which for the kernel is another one.
        file = os.path.join(folder, f"kernel-{uuid.uuid4()}.json")
        start(self, *args, **{"transport": "ipc", "connection_file": file, **kwargs})

    KernelManager.__init__ = initialise


def pytest_configure(config):
    use_sockets()
