"""``ossb serve`` in a process of its own, to be killed."""

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

SCRIPT = Path(sys.executable).with_name("ossb")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A server on a port of its own, that can be started again and again."""

    def __init__(
        self, storage, log, port=None, level="warning", environment=None, options=(), before=()
    ):
        self.before = list(before)  # a command that starts another
        self.storage, self.log, self.level, self.options = storage, log, level, options
        self.environment = environment or {}
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = None

    def start(self, wait=True):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [*self.before, SCRIPT, "serve", "--storage", self.storage, "--port", str(self.port)]
                + ["--log-level", self.level, *self.options],
                stderr=log,
                env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
                | self.environment,
            )
        if wait:
            self.wait()
        return self

    def wait(self, seconds=60):
        """Until it answers; returns after how many seconds."""
        started = time.monotonic()
        while time.monotonic() - started < seconds:
            if self.process.poll() is not None:
                break
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
                connection.request("GET", "/healthz")
                connection.getresponse().read()
                connection.close()
                return time.monotonic() - started
            except OSError:
                time.sleep(0.02)
        raise RuntimeError(Path(self.log).read_text())

    def kill(self):
        """kill −9."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        """End gracefully; returns the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)
