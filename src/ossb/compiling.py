"""Compile a kernel into the disk cache: ``python -m ossb.compiling``, told by ``ossb.quick``."""

import fcntl
import importlib
import os
import pickle
import sys
import tempfile

BUSY = 75  # the exit code where another one is compiling: EX_TEMPFAIL


def main(content: bytes) -> int:
    """Compile, unless somebody is compiling already: one of a user's at a time."""
    os.nice(10)
    path = os.path.join(tempfile.gettempdir(), f"ossb-compiling-{os.getuid()}")
    with open(path, "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return BUSY
        import ossb._numba  # noqa: F401  before types are unpickled

        module, name, signature = pickle.loads(content)
        getattr(importlib.import_module(module), name).compiled.compile(signature)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.stdin.buffer.read()))
