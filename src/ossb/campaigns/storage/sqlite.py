"""A store in one SQLite file: write-ahead log, full synchronisation, one writer, group commit.

Appends from many threads are collected by one writer thread and committed together; each
returns once its commit is on disk.  A lock on a file beside the store keeps a second process
out.  Before and after each commit the files are looked at: what was deleted, replaced or linked
to under a second name takes no more writes, and nothing is acknowledged.

While the store is open, what was written last stands in the log beside the file.  The file says
so, in ``use``: a plain copy of it that came without the log is known by that.
"""

import fcntl
import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ossb.campaigns.events import GENESIS, Event
from ossb.campaigns.storage.base import NO_END, Conflict, Corrupt, Head, InUse, Unavailable
from ossb.campaigns.storage.identity import Identity, check_identity, identity_of
from ossb.campaigns.storage.writer import Append, Writer, runs
from ossb.errors import InputError, OssbError
from ossb.locks import lock_of

SCHEMA = """
CREATE TABLE IF NOT EXISTS format (version INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS events (
    campaign TEXT NOT NULL,
    number INTEGER NOT NULL,
    kind TEXT NOT NULL,
    time REAL NOT NULL,
    body TEXT NOT NULL,
    digest TEXT NOT NULL,
    PRIMARY KEY (campaign, number)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS campaigns (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT UNIQUE NOT NULL,
    last INTEGER NOT NULL,
    digest TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS use (open INTEGER NOT NULL, cut INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS snapshots (
    campaign TEXT PRIMARY KEY, number INTEGER NOT NULL, content BLOB NOT NULL
);
"""
VERSION = 1
TABLES = (("events", "campaign"), ("snapshots", "campaign"), ("campaigns", "name"))
LOOKING = "the store was opened to look only: its file cannot be written here"
PAGE = 2000  # events read at a time
ROOM = 4 * 1024 * 1024  # bytes that a few commits need, with their log
PATIENCE = 1.5  # seconds for which another program may hold the file
PASSING = {  # failures of the machine, not of the file
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_INTERRUPT,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_TOOBIG,
}
BROKEN = (sqlite3.Error, UnicodeDecodeError)  # the latter from messages that quote a damaged file


def is_read_only(path: str) -> bool:
    """Whether a file is there that this process can read, and neither it nor its folder write."""
    folder = os.path.dirname(os.path.realpath(path))
    there = bool(path) and os.path.isfile(path) and os.access(path, os.R_OK)
    return there and not (os.access(path, os.W_OK) and os.access(folder, os.W_OK))


class SQLiteStorage:
    """Journals in a SQLite file."""

    shared = False

    def __init__(self, path: str, read_only: bool = False) -> None:
        if not path:
            raise InputError("storage", "name a file, as in sqlite:///campaigns.db", path)
        self._path = Path(os.path.realpath(path))  # a link may point elsewhere tomorrow
        self._read_only = read_only
        self._lock = -1 if read_only else self._take_lock()
        self.announce("")
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._files: tuple[Identity, ...] = ()
        self._has_log = Path(f"{self._path}-wal").exists()
        try:
            self._look_at_format() if read_only else self._prepare()
        except BaseException:
            self._let_go()
            raise
        self._writer = Writer(self._refuse if read_only else self._commit)

    def _take_lock(self) -> int:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(lock_of(self._path), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise InputError("storage", f"be a file that can be written: {error}") from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            url = os.pread(handle, 1000, 0).decode("utf-8", "replace")
            os.close(handle)
            raise InUse(f"{self._path} is in use by another process", url) from None
        return handle

    def announce(self, url: str) -> None:
        """Say in the lock's file where the store is served, so that others may call there."""
        if self._lock < 0:
            return
        with suppress(OSError):  # the disk may be full: then nobody is told
            os.ftruncate(self._lock, 0)
            os.pwrite(self._lock, url.encode(), 0)

    def _prepare(self) -> None:
        try:  # what is told may be revenue: a new file is its owner's alone, its log likewise
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        except OSError as error:
            raise Unavailable(f"the store cannot be used now: {error}") from None
        try:
            connection = self._connection()
            connection.executescript(SCHEMA)
            if connection.execute("SELECT version FROM format").fetchone() is None:
                connection.execute("INSERT INTO format VALUES (?)", (VERSION,))
            self._look_at_format()
            self._mark(opened=True)
            # open connections keep the log, in which all that was written last stands
            self._files = tuple(map(identity_of, (self._path, Path(f"{self._path}-wal"))))
        except BROKEN as error:
            raise self._failure(error) from None

    def _look_at_format(self) -> None:
        row = self._rows("SELECT version FROM format")
        if row != [(VERSION,)]:
            raise InputError("storage", f"have format {VERSION}", row[0][0] if row else "none")
        self._cut = self._is_cut()

    def _mark(self, opened: bool) -> None:
        """Write into the file itself, past its log, whether there is a log to be had with it."""
        connection = self._connection()
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("DELETE FROM use")
        connection.execute("INSERT INTO use VALUES (?, ?)", (opened, self._cut))
        connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def _is_cut(self) -> bool:
        """Whether the file is a copy that came without the log it had when it was copied."""
        if not self._rows("SELECT 1 FROM sqlite_master WHERE name = 'use'"):
            return False  # of an earlier version
        rows = self._rows("SELECT open, cut FROM use")
        return bool(rows) and bool(rows[0][1] or (rows[0][0] and not self._has_log))

    def _connection(self) -> sqlite3.Connection:
        """The connection of the calling thread."""
        found: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if found is None:
            self._check_files()
            found = self._connected()
            try:
                self._check_files()
                if not self._read_only:
                    found.execute("PRAGMA journal_mode = WAL")
                    found.execute("PRAGMA synchronous = FULL")
            except (*BROKEN, Unavailable):
                found.close()
                raise
            self._local.connection = found
            self._connections.append(found)
        return found

    def _connected(self) -> sqlite3.Connection:
        options: dict[str, Any] = {"timeout": PATIENCE, "isolation_level": None}
        options["check_same_thread"] = False
        if not self._read_only:
            return sqlite3.connect(self._path, **options)
        url = f"file:{quote(str(self._path))}?mode=ro"
        if not self._has_log:  # and on a read-only disk none can be made
            with suppress(sqlite3.Error):
                found = sqlite3.connect(url, uri=True, **options)
                found.execute("SELECT 1 FROM format").fetchall()
                return found
            url += "&immutable=1"
        return sqlite3.connect(url, uri=True, **options)

    def _check_files(self) -> None:
        for known in self._files:
            check_identity(known)

    def _failure(self, error: Exception) -> OssbError:
        """What a failure of SQLite means."""
        code = getattr(error, "sqlite_errorcode", None)
        if isinstance(error, sqlite3.ProgrammingError):
            return Unavailable("the store is closed")
        if code is not None and code & 0xFF in PASSING:
            return Unavailable(f"the store cannot be used now: {error}")
        if code is not None and code & 0xFF == sqlite3.SQLITE_NOTADB:
            return InputError("storage", f"be a SQLite store: {error}", str(self._path))
        return Corrupt(f"the store {self._path} is damaged: {error}")

    def _rows(self, query: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        try:
            return self._connection().execute(query, values).fetchall()
        except BROKEN as error:
            raise self._failure(error) from None

    def names(self) -> list[str]:
        return [row[0] for row in self._rows("SELECT name FROM campaigns ORDER BY position")]

    def heads(self) -> dict[str, Head]:
        rows = self._rows("SELECT name, last, digest FROM campaigns ORDER BY position")
        return {name: Head(self._whole(last), digest) for name, last, digest in rows}

    def last(self, name: str) -> int:
        for row in self._rows("SELECT last FROM campaigns WHERE name = ?", (name,)):
            return self._whole(row[0])
        return 0

    def read(self, name: str, after: int = 0, until: int = NO_END) -> Iterator[Event]:
        query = (
            "SELECT number, kind, time, body, digest FROM events "
            "WHERE campaign = ? AND number > ? AND number <= ? ORDER BY number LIMIT ?"
        )
        while True:  # by pages: a reader that dawdles must not hold the log back
            try:
                end = min(until, self.last(name))  # before the rows: more may come meanwhile
                rows = self._rows(query, (name, after, until, PAGE))
            except Corrupt:
                yield from self._salvaged(name, after, until)
                raise
            found = rows[0][0] == after + 1 if rows else after >= end
            if not found:  # a damaged key has led the search astray
                yield from self._salvaged(name, after, until)
                return
            for row in rows:
                yield Event(*row)
            if len(rows) < PAGE:
                return
            after = rows[-1][0]

    def _salvaged(self, name: str, after: int, until: int) -> Iterator[Event]:
        """What stands before the damage, found without a search that may stumble over it."""
        query = (
            "SELECT campaign, number, kind, time, body, digest FROM events "
            "ORDER BY campaign, number"
        )
        with suppress(*BROKEN):
            for campaign, number, *rest in self._connection().execute(query):
                if campaign == name and isinstance(number, int) and after < number <= until:
                    yield Event(number, *rest)

    def append(self, name: str, events: Sequence[Event], after: str = GENESIS) -> Future[None]:
        return self._writer.append(name, events, after)

    def snapshot(self, name: str) -> tuple[int, bytes] | None:
        query = "SELECT number, content FROM snapshots WHERE campaign = ?"
        for row in self._rows(query, (name,)):
            return self._whole(row[0]), bytes(row[1])
        return None

    def keep_snapshot(self, name: str, number: int, content: bytes) -> None:
        query = (
            "INSERT INTO snapshots VALUES (?, ?, ?) ON CONFLICT (campaign) DO UPDATE SET "
            "number = excluded.number, content = excluded.content "
            "WHERE snapshots.number < excluded.number"
        )
        self._rows(query, (name, number, content))

    def drop(self, names: Sequence[str]) -> None:
        if self._read_only:
            raise Unavailable(LOOKING)
        try:
            connection = self._connection()
            connection.execute("BEGIN IMMEDIATE")
            for table, column in TABLES:
                rows = [(name,) for name in names]
                connection.executemany(f"DELETE FROM {table} WHERE {column} = ?", rows)
            connection.execute("COMMIT")
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except BROKEN as error:
            with suppress(sqlite3.Error):
                self._connection().execute("ROLLBACK")
            raise self._failure(error) from None

    def check_whole(self) -> None:
        if self._cut:
            raise Corrupt(
                f"the store {self._path} is a plain copy of one that was in use: what was written "
                "last is missing (copy with `ossb storage backup`)"
            )

    def check_ready(self) -> None:
        if self._read_only:
            raise Unavailable(LOOKING)
        self._check_files()
        self.last("")
        try:
            disk = os.statvfs(self._path.parent)
        except OSError as error:
            raise Unavailable(f"the store's folder cannot be read: {error.strerror}") from None
        free = disk.f_bavail * disk.f_frsize
        if free < ROOM:
            raise Unavailable(f"the disk of the store is full: {free} bytes are free")

    def close(self) -> None:
        self._writer.close()
        if self._lock < 0 or self._marked_closed():
            self._let_go()
            return
        # The file still says that it has a log: the log stays while a connection does.
        os.close(self._lock)
        self._lock = -1

    def _marked_closed(self) -> bool:
        for _ in range(2):
            try:
                self._check_files()
                self._mark(opened=False)
                return True
            except (*BROKEN, Unavailable):  # a full disk, say
                connection = getattr(self._local, "connection", None)
                if connection is not None:
                    self._roll_back(connection)
        return False

    def _let_go(self) -> None:
        for connection in self._connections:
            connection.close()
        self._connections.clear()
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    @staticmethod
    def _refuse(group: list[Append]) -> dict[int, OssbError]:
        return {place: Unavailable(LOOKING) for place in range(len(group))}

    def _commit(self, group: list[Append]) -> dict[int, OssbError]:
        failures: dict[int, OssbError] = {}
        try:
            connection = self._connection()
            try:
                connection.execute("BEGIN IMMEDIATE")
                for places, request in runs(group):
                    try:
                        self._insert(connection, request)
                    except Conflict as conflict:
                        failures.update(dict.fromkeys(places, conflict))
                self._check_files()
                connection.execute("COMMIT")
                self._check_files()  # else it may be lost, and is not acknowledged
            except BaseException:
                if connection.in_transaction:
                    self._roll_back(connection)
                raise
        except (*BROKEN, Corrupt, Unavailable) as error:
            failure = error if isinstance(error, OssbError) else self._failure(error)
            return dict.fromkeys(range(len(group)), failure)
        return failures

    def _roll_back(self, connection: sqlite3.Connection) -> None:
        try:
            connection.execute("ROLLBACK")
        except sqlite3.Error:  # a connection stuck in a transaction would fail for ever
            self._local.connection = None
            self._connections.remove(connection)
            connection.close()

    def _whole(self, value: Any) -> int:
        if not isinstance(value, int):
            raise Corrupt(f"the store {self._path} is damaged: {value!r} is no number of an event")
        return value

    def _insert(self, connection: sqlite3.Connection, request: Append) -> None:
        row = connection.execute(
            "SELECT last, digest FROM campaigns WHERE name = ?", (request.name,)
        ).fetchone()
        last, end = (0, GENESIS) if row is None else (self._whole(row[0]), row[1])
        if request.events[0].number != last + 1 or request.after != end:
            raise Conflict(f"campaign {request.name!r} has moved on")
        connection.executemany(
            "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)",
            [(request.name, *event) for event in request.events],
        )
        newest = request.events[-1]
        if row is None:
            connection.execute(
                "INSERT INTO campaigns (name, last, digest) VALUES (?, ?, ?)",
                (request.name, newest.number, newest.digest),
            )
        else:
            connection.execute(
                "UPDATE campaigns SET last = ?, digest = ? WHERE name = ?",
                (newest.number, newest.digest, request.name),
            )
