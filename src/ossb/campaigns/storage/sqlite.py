"""A store in one SQLite file: write-ahead log, full synchronisation, one writer, group commit.

Appends from many threads are collected by one writer thread and committed together; each
returns once its commit is on disk.  A lock on a file beside the store keeps a second process
out.
"""

import fcntl
import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path

from ossb.campaigns.events import Event
from ossb.campaigns.storage.base import Conflict, InUse, Unavailable
from ossb.campaigns.storage.writer import Append, Writer
from ossb.errors import InputError, OssbError

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
    position INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE NOT NULL, last INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS snapshots (
    campaign TEXT PRIMARY KEY, number INTEGER NOT NULL, content BLOB NOT NULL
);
"""
VERSION = 1


class SQLiteStorage:
    """Journals in a SQLite file."""

    def __init__(self, path: str) -> None:
        if not path:
            raise InputError("storage", "name a file, as in sqlite:///campaigns.db", path)
        self._path = Path(path)
        self._lock = self._take_lock()
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []
        try:
            self._prepare()
        except BaseException:
            os.close(self._lock)
            raise
        self._writer = Writer(self._commit)

    def _take_lock(self) -> int:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(f"{self._path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise InputError("storage", f"be a file that can be written: {error}") from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            raise InUse(f"{self._path} is in use by another process") from None
        return handle

    def _prepare(self) -> None:
        try:
            connection = self._connection()
            connection.executescript(SCHEMA)
            row = connection.execute("SELECT version FROM format").fetchone()
            if row is None:
                connection.execute("INSERT INTO format VALUES (?)", (VERSION,))
                connection.commit()
            elif row[0] != VERSION:
                raise InputError("storage", f"have format {VERSION}", row[0])
        except sqlite3.DatabaseError as error:
            raise InputError("storage", f"be a SQLite store: {error}", str(self._path)) from None

    def _connection(self) -> sqlite3.Connection:
        """The connection of the calling thread."""
        found: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if found is None:
            found = sqlite3.connect(self._path, timeout=30, check_same_thread=False)
            found.execute("PRAGMA journal_mode = WAL")
            found.execute("PRAGMA synchronous = FULL")
            self._local.connection = found
            self._connections.append(found)
        return found

    def names(self) -> list[str]:
        rows = self._connection().execute("SELECT name FROM campaigns ORDER BY position")
        return [row[0] for row in rows]

    def read(self, name: str, after: int = 0) -> Iterator[Event]:
        rows = self._connection().execute(
            "SELECT number, kind, time, body, digest FROM events "
            "WHERE campaign = ? AND number > ? ORDER BY number",
            (name, after),
        )
        for row in rows:
            yield Event(*row)

    def append(self, name: str, events: Sequence[Event]) -> Future[None]:
        return self._writer.append(name, events)

    def snapshot(self, name: str) -> tuple[int, bytes] | None:
        row = (
            self._connection()
            .execute("SELECT number, content FROM snapshots WHERE campaign = ?", (name,))
            .fetchone()
        )
        return None if row is None else (int(row[0]), bytes(row[1]))

    def keep_snapshot(self, name: str, number: int, content: bytes) -> None:
        connection = self._connection()
        with connection:
            connection.execute(
                "INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?)", (name, number, content)
            )

    def close(self) -> None:
        self._writer.close()
        for connection in self._connections:
            connection.close()
        os.close(self._lock)

    def _commit(self, group: list[Append]) -> dict[int, OssbError]:
        connection = self._connection()
        failures: dict[int, OssbError] = {}
        try:
            connection.execute("BEGIN IMMEDIATE")
            for place, request in enumerate(group):
                try:
                    self._insert(connection, request)
                except Conflict as conflict:
                    failures[place] = conflict
            connection.commit()
        except sqlite3.Error as error:
            if connection.in_transaction:
                connection.rollback()
            message = f"the store cannot be written: {error}"
            return {place: Unavailable(message) for place in range(len(group))}
        return failures

    @staticmethod
    def _insert(connection: sqlite3.Connection, request: Append) -> None:
        row = connection.execute(
            "SELECT last FROM campaigns WHERE name = ?", (request.name,)
        ).fetchone()
        last = 0 if row is None else int(row[0])
        if request.events[0].number != last + 1:
            raise Conflict(request.name)
        connection.executemany(
            "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)",
            [(request.name, *event) for event in request.events],
        )
        newest = request.events[-1].number
        if row is None:
            connection.execute(
                "INSERT INTO campaigns (name, last) VALUES (?, ?)", (request.name, newest)
            )
        else:
            connection.execute(
                "UPDATE campaigns SET last = ? WHERE name = ?", (newest, request.name)
            )
