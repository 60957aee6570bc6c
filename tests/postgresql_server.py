"""A PostgreSQL server of our own in a temporary folder, for tests and benchmarks."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path

ABSENT = "PostgreSQL's server is not installed (Debian: apt-get install postgresql)"


def binaries():
    """The folder with initdb and postgres, or None."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    on_path = shutil.which("initdb")
    if found:
        return found[-1].parent
    return Path(on_path).parent if on_path else None


class Server:
    """Listens on a socket in its folder only; runs as ``postgres`` where we are root."""

    def __init__(self):
        self._bin = binaries()
        self.folder = Path(tempfile.mkdtemp(prefix="ossb-pg-"))
        self._as = ()
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres", "postgres")
            self._as = ("setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups")
        self._run("initdb", "-D", self._data, "-U", "postgres", "-A", "trust", "--no-sync")
        self.process = None

    @property
    def _data(self):
        return str(self.folder / "data")

    @property
    def url(self):
        return f"postgresql://postgres@/postgres?host={self.folder}"

    def _run(self, name, *arguments):
        subprocess.run(
            [*self._as, str(self._bin / name), *arguments],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=self.folder,
        )

    def start(self):
        options = ("-c", "listen_addresses=", "-c", f"unix_socket_directories={self.folder}")
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                [*self._as, str(self._bin / "postgres"), "-D", self._data, *options],
                stdout=log,
                stderr=log,
                cwd=self.folder,
            )
        self._wait()

    def _wait(self):
        import psycopg

        for _ in range(600):
            if self.process.poll() is not None:
                # a killed server's children may outlive it for a moment, and it refuses to start
                # beside them: two servers on one folder would spoil it
                time.sleep(0.2)
                return self.start()
            try:
                psycopg.connect(self.url, connect_timeout=2).close()
                return None
            except psycopg.Error:
                time.sleep(0.1)
        raise RuntimeError((self.folder / "log").read_text())

    def kill(self):
        """kill −9; over when its children, which may serve for a moment longer, are gone too."""
        import psutil

        children = psutil.Process(self.process.pid).children(recursive=True)
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        for child in psutil.wait_procs(children, timeout=10)[1]:
            child.kill()

    def pause(self):
        """SIGSTOP: it neither answers nor closes a connection, until ``resume``."""
        import psutil

        processes = [psutil.Process(self.process.pid)]
        processes += processes[0].children(recursive=True)
        for process in processes:
            with suppress(psutil.NoSuchProcess):  # a connection of its own that has just ended
                process.suspend()
        self._paused = processes

    def resume(self):
        import psutil

        for process in self._paused:
            with suppress(psutil.NoSuchProcess):
                process.resume()

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)  # at once: nothing here is kept
            self.process.wait(30)
        shutil.rmtree(self.folder, ignore_errors=True)
