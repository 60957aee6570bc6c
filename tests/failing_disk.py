"""A disk that fails on demand, under a real ``ossb serve``: a library loaded before libc.

The n-th write or sync of the store's files fails as the kernel would let it fail, for each n;
what the service answered with 2xx has to be there afterwards, and it has to recover alone.
"""

import errno
import http.client
import json
import mmap
import shutil
import struct
import subprocess
import time
from pathlib import Path

from service_faults import INSTANCE, NAME, compare
from service_process import Server

WRITES, SYNCS, STICKY, HALF, MAIN = 1, 2, 4, 8, 16  # MAIN: of the file that checkpoints write
FAILURES = (WRITES, WRITES | HALF, SYNCS)
PATIENCE = 5000  # asks and tells within which an order has to be reached
FIELDS = struct.Struct("<4q")  # kinds, countdown, errno, failed
ABSENT = "there is no C compiler (Debian: apt-get install gcc)"


def compiler():
    return shutil.which("gcc") or shutil.which("cc")


class Disk:
    """The library, and the page through which it is given orders."""

    def __init__(self, folder):
        self.folder = Path(folder).resolve()
        self.store = self.folder / "store"
        self.store.mkdir()
        library = self.folder / "failing_disk.so"
        source = Path(__file__).with_suffix(".c")
        command = [compiler(), "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"]
        subprocess.run(command, check=True)
        page = self.folder / "page"
        page.write_bytes(bytes(mmap.PAGESIZE))
        with open(page, "r+b") as file:
            self._page = mmap.mmap(file.fileno(), mmap.PAGESIZE)
        self.environment = {
            "LD_PRELOAD": str(library),
            "FAILING_DISK_PAGE": str(page),
            "FAILING_DISK_FOLDER": str(self.store),
        }

    def fail(self, kinds, nth, error=errno.EIO):
        """Let the n-th call of some kinds fail, counted from now."""
        self._page[: FIELDS.size] = FIELDS.pack(0, 0, 0, 0)
        self._page[: FIELDS.size] = FIELDS.pack(kinds, nth, error, 0)

    @property
    def failed(self):
        """How many calls have failed since."""
        return FIELDS.unpack(self._page[: FIELDS.size])[3]

    def mend(self):
        """Let nothing fail; returns how many calls failed."""
        failed = self.failed
        self._page[: FIELDS.size] = FIELDS.pack(0, 0, 0, 0)
        return failed


class Caller:
    """Asks and tells once each, without retries; remembers what was acknowledged."""

    def __init__(self, port):
        self.port = port
        self.asked, self.told, self.telling = [], {}, {}
        self.refused = 0
        self.others = []  # answers that are neither 2xx nor 503 with Retry-After
        self._key = 0
        self._open = None

    @property
    def busy(self):
        """Whether a decision waits to be told."""
        return self._open is not None

    def step(self):
        """One ask or tell, or the one before again if that was refused; whether it was done."""
        if self._open is None:
            answer = self._call("ask", {}, {"Idempotency-Key": f"key {self._key}"})
            if answer is not None:
                self._open = answer["decisions"][0]["id"]
                self._key += 1
                self.asked.append(self._open)
            return answer is not None
        value = float(len(self.told) % 2)
        self.telling[self._open] = value
        if self._call("tell", {"id": self._open, "observation": value}) is None:
            return False
        self.told[self._open], self._open = value, None
        return True

    def recover(self, seconds=20):
        """Until it goes on by itself; returns after how long."""
        started = time.monotonic()
        while time.monotonic() - started < seconds:
            if self.step():
                return time.monotonic() - started
            time.sleep(0.01)
        raise AssertionError("the service did not recover")

    def _call(self, rest, body, headers=()):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            path = f"/v1/campaigns/{NAME}/{rest}"
            connection.request("POST", path, json.dumps(body), dict(headers))
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        if answer.status == 200:
            return json.loads(content)
        if answer.status == 503 and answer.getheader("Retry-After"):
            self.refused += 1
        else:
            self.others.append((answer.status, content[:200]))
        return None


def fail_each(folder, most, main=0, kill_every=0):
    """Let the n-th write fail, then half of it be written, then the n-th sync fail, for each n.

    Parameters
    ----------
    most
        The largest n; the calls counted are those of asks and tells that go on until one fails.
    main
        The largest n among the writes and syncs of the main file, which checkpoints make.
    kill_every
        After every so many failures the server is killed at once, before it could repair
        anything, and started again; 0 for never.
    """
    disk = Disk(folder)
    storage = f"sqlite:///{disk.store / 'campaigns.db'}"
    server = Server(storage, disk.folder / "log", environment=disk.environment).start()
    plan = [(kinds, nth) for nth in range(1, most + 1) for kinds in FAILURES]
    plan += [(kinds | MAIN, nth) for nth in range(1, main + 1) for kinds in FAILURES]
    try:
        caller = Caller(server.port)
        _create(server.port)
        failures, slowest = 0, 0.0
        for kinds, nth in plan:
            disk.fail(kinds, nth)
            for _ in range(PATIENCE):
                if disk.failed:
                    break
                caller.step()
            failures += disk.mend()
            if kill_every and failures % kill_every == 0:
                server.kill()
                server.start()
            slowest = max(slowest, caller.recover())
        while caller.busy:
            caller.recover()
    finally:
        code = server.stop()
    row = {"orders": len(plan), "failures": failures, "slowest": slowest, "exit_code": code}
    return {**_row(storage, caller), **row}


def fill(folder, times, tries=60):
    """The disk is full (ENOSPC for every write), then freed: by a real server."""
    disk = Disk(folder)
    storage = f"sqlite:///{disk.store / 'campaigns.db'}"
    server = Server(storage, disk.folder / "log", environment=disk.environment).start()
    try:
        caller = Caller(server.port)
        _create(server.port)
        failures, slowest = 0, 0.0
        for round_ in range(times):
            for _ in range(tries):
                assert caller.step()
            disk.fail(WRITES | STICKY | (HALF if round_ % 2 else 0), 1 + round_, errno.ENOSPC)
            before = caller.refused
            for _ in range(tries):
                caller.step()
            failures += disk.mend()
            assert caller.refused > before, "the disk was never full"
            slowest = max(slowest, caller.recover())
        while caller.busy:
            caller.recover()
    finally:
        code = server.stop()
    return {**_row(storage, caller), "failures": failures, "slowest": slowest, "exit_code": code}


def _create(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    body = {"name": NAME, "instance": INSTANCE, "policy": {"name": "ucb1"}, "seed": 1}
    connection.request("POST", "/v1/campaigns", json.dumps(body))
    assert connection.getresponse().status == 201
    connection.close()


def _row(storage, caller):
    row = compare(storage, [caller])
    return {**row, "refused": caller.refused, "otherwise": len(caller.others)}
