"""Stores that are cut, flipped, filled, failed and killed, and what must be true afterwards."""

import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

from ossb.campaigns import Campaign, Corrupt, Unavailable, Unknown, open_storage
from ossb.campaigns.storage import sqlite as sqlite_storage
from ossb.errors import InputError

INSTANCE = {"structure": "classical", "observation": "bernoulli", "n_arms": 3}


def opened(path, **options):
    return Campaign.open(f"sqlite:///{path}", "c", instance=INSTANCE, policy="ucb1", **options)


def build(path, rounds):
    """A store with its write-ahead log, as it lies on disk while it is in use, and its events."""
    original = path.parent / "original.db"
    with opened(original) as campaign:
        for _ in range(rounds):
            (decision,) = campaign.ask()
            campaign.tell(decision.id, 1)
        for tail in ("", "-wal"):
            shutil.copyfile(f"{original}{tail}", f"{path}{tail}")
        return list(campaign.events())


def damage_log(folder, places, seed=0, rounds=40):
    """Cut or flip the write-ahead log at many places: a prefix of the commits remains.

    Returns how many places were tried, and how many different prefixes were found.
    """
    rng = random.Random(seed)
    source, target = folder / "source.db", folder / "target.db"
    events = build(source, rounds)
    log = Path(f"{source}-wal").read_bytes()
    prefixes = set()
    for number in range(places):
        at = rng.randrange(len(log))
        if rng.random() < 0.5:
            damaged = log[:at]
        else:
            damaged = log[:at] + bytes([log[at] ^ (1 << rng.randrange(8))]) + log[at + 1 :]
        shutil.copyfile(source, target)
        Path(f"{target}-shm").unlink(missing_ok=True)
        Path(f"{target}-wal").write_bytes(damaged)
        store = open_storage(f"sqlite:///{target}")
        found = list(store.read("c"))
        assert found == events[: len(found)], at
        prefixes.add(len(found))
        if found:
            campaign = Campaign(store, "c")
            assert campaign.check() == campaign.number == len(found)
            if number % 8 == 0:
                campaign.ask()
        store.close()
    return places, len(prefixes)


def keys_between_pages(content):
    """Where numbers of events of campaign "c" stand in the pages that lead a search."""
    size = int.from_bytes(content[16:18], "big")
    pages = [page for page in range(size, len(content), size) if content[page] == 2]
    return [
        at + 1
        for page in pages
        for at in range(page, page + size - 5)
        if content[at : at + 1] == b"c" and content[at + 2 : at + 6] in (b"told", b"aske")
    ]


def flip_file(
    folder, places, seed=0, rounds=40, where=lambda content: range(len(content)), bit=None
):
    """Flip bits of the main file: all events are as written, or the store says what is not.

    Returns how many flips were found, how many hit what no event needs, and how many of those
    found stand in an event that can still be read and was named.
    """
    rng = random.Random(seed)
    original, target = folder / "original.db", folder / "target.db"
    with opened(original) as campaign:
        for _ in range(rounds):
            (decision,) = campaign.ask()
            campaign.tell(decision.id, 1)
        events = list(campaign.events())
    content = original.read_bytes()
    offsets = where(content)
    found = harmless = named = 0
    for _ in range(places):
        at = rng.choice(offsets)
        mask = 1 << (rng.randrange(8) if bit is None else bit)
        flipped = content[:at] + bytes([content[at] ^ mask]) + content[at + 1 :]
        for tail in ("-wal", "-shm"):
            Path(f"{target}{tail}").unlink(missing_ok=True)
        target.write_bytes(flipped)
        damage = None
        try:
            campaign = Campaign.open(f"sqlite:///{target}", "c")
        except (Corrupt, InputError, Unknown, Unavailable) as error:
            damage = error
        if damage is not None:
            found += 1
            bad = first_bad(target, events)
            if bad is not None and isinstance(damage, Corrupt):
                assert f"event {bad} " in str(damage), (at, bad, str(damage))
                named += 1
            continue
        with campaign:
            assert list(campaign.events()) == events, at
        harmless += 1
    return found, harmless, named


def first_bad(path, events):
    """The first event that SQLite itself reads otherwise than it was written; None if none."""
    query = "SELECT number, kind, time, body, digest FROM events ORDER BY campaign, number"
    connection = sqlite3.connect(path)
    try:
        rows = connection.execute(query).fetchall()
    except (sqlite3.Error, UnicodeDecodeError):
        return None
    finally:
        connection.close()
    for event, row in zip(events, rows, strict=False):
        if tuple(event) != row:
            return event.number
    return len(rows) + 1 if len(rows) < len(events) else None


class Worker:
    """Asks and tells, and remembers what was acknowledged; retries what was not."""

    def __init__(self, campaign):
        self.campaign = campaign
        self.acknowledged = {}
        self.refused = 0
        self._asks = 0
        self._open = None

    def step(self):
        """One ask or tell; whether it was acknowledged."""
        try:
            if self._open is None:
                (self._open,) = self.campaign.ask(key=f"ask {self._asks}")
                self._asks += 1
            else:
                self.campaign.tell(self._open.id, 1)
                self.acknowledged[self._open.id] = 1.0
                self._open = None
        except Unavailable:
            self.refused += 1
            return False
        return True


def assert_exactly_once(campaign, acknowledged, asked):
    """Everything acknowledged is there once, and nothing that was never asked."""
    history = campaign.history()
    told = {entry["id"]: entry["observation"] for entry in history if entry["status"] == "told"}
    assert acknowledged.items() <= told.items()
    assert len(told) - len(acknowledged) <= 1  # on disk, but the answer was lost
    assert len(history) == asked
    assert campaign.describe()["rounds"] == len(told)
    assert campaign.check() == campaign.number


def failing_connection(counter, fail_at, after):
    """A connection whose n-th writing statement fails: before it was done, or after."""

    class Faulty(sqlite3.Connection):
        def execute(self, statement, *values):
            writes = statement.split()[0] in ("BEGIN", "INSERT", "UPDATE", "COMMIT")
            if writes:
                counter[0] += 1
            if writes and counter[0] == fail_at and not after:
                raise failure()
            answer = super().execute(statement, *values)
            if writes and counter[0] == fail_at and after:
                raise failure()
            return answer

    def failure():
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorcode = sqlite3.SQLITE_IOERR
        return error

    return Faulty


def fail_statement(folder, fail_at, after, steps=12):
    """Let one statement fail; whether it was reached."""
    sqlite = sqlite_storage.sqlite3
    plain, counter = sqlite.connect, [-(10**9)]
    factory = failing_connection(counter, fail_at, after)
    path = folder / f"{fail_at}-{after}.db"
    sqlite.connect = lambda *a, **k: plain(*a, **k, factory=factory)
    try:
        campaign = opened(path)
        counter[0] = 0
        worker = Worker(campaign)
        for _ in range(steps):
            worker.step()
        while worker._open is not None:
            worker.step()
        assert_exactly_once(campaign, worker.acknowledged, worker._asks)
        reached = counter[0] >= fail_at  # or else it fails as the store is closed, and harms nobody
        campaign.disconnect()
    finally:
        sqlite.connect = plain
    with opened(path) as campaign:
        assert_exactly_once(campaign, worker.acknowledged, worker._asks)
    return reached, worker.refused


def fill_disk(path):
    """Run in a process of its own: files cannot grow, then they can."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    campaign = opened(path)
    worker = Worker(campaign)
    for _ in range(20):
        assert worker.step()
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    size = max(os.path.getsize(path), os.path.getsize(f"{path}-wal"))
    for room in (100, 20_000, 50_000):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + room, hard))
        before = worker.refused
        for _ in range(400):
            worker.step()
        assert worker.refused > before, "the disk was never full"
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        for _ in range(10):
            assert worker.step()
        size = max(os.path.getsize(path), os.path.getsize(f"{path}-wal"))
    while worker._open is not None:
        worker.step()
    assert_exactly_once(campaign, worker.acknowledged, worker._asks)
    campaign.disconnect()
    with opened(path) as campaign:
        assert_exactly_once(campaign, worker.acknowledged, worker._asks)
    print(f"{len(worker.acknowledged)} acknowledged, {worker.refused} refused")


def loop(path):
    """Run in a process of its own, until killed: every line printed is an acknowledged tell."""
    campaign = opened(path)
    print("ready", flush=True)
    while True:
        (decision,) = campaign.ask()
        campaign.tell(decision.id, 1)
        print(decision.id, flush=True)


def run_aside(function, path, **options):
    program = f"import store_faults; store_faults.{function}({str(path)!r})"
    return subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=Path(__file__).parent,
        stdout=subprocess.PIPE,
        text=True,
        **options,
    )


def kill_loops(folder, kills, seed=0):
    """kill −9 a process in ask-and-tell loops, many times over: returns what was acknowledged."""
    rng, path = random.Random(seed), folder / "killed.db"
    acknowledged, slowest = set(), 0.0
    for _ in range(kills):
        process = run_aside("loop", path)
        with process:
            process.stdout.readline()
            time.sleep(rng.uniform(0.02, 0.3))
            process.kill()
            lines = process.stdout.read().split("\n")
        acknowledged |= set(filter(None, lines[:-1]))
        started = time.perf_counter()
        with opened(path) as campaign:
            slowest = max(slowest, time.perf_counter() - started)
            history = campaign.history()
            told = {entry["id"] for entry in history if entry["status"] == "told"}
            assert acknowledged <= told
            assert campaign.describe()["rounds"] == len(told)
            assert campaign.check() == campaign.number
            counts = campaign.describe()["decisions"]
            assert sum(counts.values()) == len(history)
            assert counts["pending"] <= kills
    return len(acknowledged), slowest


def kill_postgresql(server, url, kills, steps=6):
    """kill −9 the database server under a worker that retries: returns what was acknowledged."""
    campaign = Campaign.open(url, "c", instance=INSTANCE, policy="ucb1")
    worker = Worker(campaign)
    for _ in range(kills):
        for _ in range(steps):
            assert worker.step()
        server.kill()
        refused = worker.refused
        assert not worker.step()
        assert worker.refused == refused + 1
        server.start()
        for _ in range(100):
            if worker.step():
                break
            time.sleep(0.1)
        else:
            raise AssertionError("the store did not come back")
    while worker._open is not None:
        assert worker.step()
    assert_exactly_once(campaign, worker.acknowledged, worker._asks)
    campaign.disconnect()
    with Campaign.open(url, "c") as campaign:
        assert_exactly_once(campaign, worker.acknowledged, worker._asks)
    return len(worker.acknowledged), worker.refused
