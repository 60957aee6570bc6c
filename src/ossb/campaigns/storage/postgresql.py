"""A store in PostgreSQL: several servers on one database, each campaign's events in one order.

The row of a campaign in ``ossb_campaigns`` is locked while its events are appended; who comes
second finds that the campaign has moved on, and is told so.  Nothing waits without end: not for a
lock, not for a statement, not for a server that hangs.
"""

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import nullcontext
from typing import Any

from ossb.campaigns.events import GENESIS, Event
from ossb.campaigns.storage.base import NO_END, Conflict, Head, Unavailable
from ossb.campaigns.storage.writer import Append, Writer, runs
from ossb.errors import InputError, OssbError
from ossb.extras import load

SCHEMA = """
CREATE TABLE IF NOT EXISTS ossb_format (version INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS ossb_campaigns (
    position BIGSERIAL PRIMARY KEY,
    name TEXT UNIQUE NOT NULL,
    last BIGINT NOT NULL,
    digest TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS ossb_events (
    campaign TEXT NOT NULL,
    number BIGINT NOT NULL,
    kind TEXT NOT NULL,
    time DOUBLE PRECISION NOT NULL,
    body TEXT NOT NULL,
    digest TEXT NOT NULL,
    PRIMARY KEY (campaign, number)
);
CREATE TABLE IF NOT EXISTS ossb_snapshots (
    campaign TEXT PRIMARY KEY, number BIGINT NOT NULL, content BYTEA NOT NULL
);
"""
# Columns of a group travel as one text each, which neither side takes long to read: JSON writes
# control characters in another way, so that one of them can stand between the entries.
BETWEEN = "\x1f"
EVENTS = """
INSERT INTO ossb_events
SELECT %s, %s::bigint + place, kind, time, body, digest FROM unnest(
    string_to_array(%s, chr(31)), string_to_array(%s, chr(31))::double precision[],
    string_to_array(%s, chr(31)), string_to_array(%s, chr(31))
) WITH ORDINALITY AS given (kind, time, body, digest, place)
WHERE EXISTS (SELECT 1 FROM moved)
"""
BEGIN = f"""
WITH moved AS (
    INSERT INTO ossb_campaigns (name, last, digest) VALUES (%s, %s, %s)
    ON CONFLICT (name) DO NOTHING RETURNING 1
) {EVENTS}"""
MOVE = f"""
WITH moved AS (
    UPDATE ossb_campaigns SET last = %s, digest = %s
    WHERE name = %s AND last = %s AND digest = %s RETURNING 1
) {EVENTS}"""
VERSION = 1
TABLES = (("ossb_events", "campaign"), ("ossb_snapshots", "campaign"), ("ossb_campaigns", "name"))
LINGER = 0.001  # seconds: a statement costs the interpreter as much as some ten appends
SETUP_LOCK = 6077  # two servers that start at once make the tables one after the other
CONNECT_SECONDS = 2  # the least that PostgreSQL's library takes
SETUP_SECONDS = 30.0
# the server's own limits, in milliseconds; who holds locks and goes away lets them go
LIMITS = {
    "lock_timeout": 1500,
    "statement_timeout": 10_000,
    "idle_in_transaction_session_timeout": 10_000,
}


class PostgreSQLStorage:
    """Journals in a PostgreSQL database."""

    shared = True

    def __init__(self, url: str) -> None:
        self._psycopg: Any = load("psycopg", "storage")
        from ossb.campaigns.storage.waiting import BoundedConnection

        self._connect = BoundedConnection.connect
        self._url = url
        self._local = threading.local()
        self._connections: list[Any] = []
        self._closed = False
        try:
            self._prepare()
        except BaseException:
            self._let_go()
            raise
        self._writer = Writer(self._commit, LINGER)

    def _connection(self) -> Any:
        """The connection of the calling thread, made anew where it was lost."""
        if self._closed:
            raise Unavailable("the store is closed")
        found = getattr(self._local, "connection", None)
        if found is None or found.closed or found.broken:
            if found is not None:
                found.close()
                self._connections.remove(found)
                self._local.connection = None
            try:
                found = self._connect(self._url, connect_timeout=CONNECT_SECONDS, autocommit=True)
                limits = "; ".join(f"SET {name} TO {limit}" for name, limit in LIMITS.items())
                found.execute(f"SET synchronous_commit TO on; {limits}")
            except self._psycopg.Error as error:
                raise Unavailable(f"PostgreSQL cannot be reached: {_line(error)}") from None
            self._local.connection = found
            self._connections.append(found)
        return found

    def _prepare(self) -> None:
        connection = self._connection()
        patience, connection.patience = connection.patience, SETUP_SECONDS
        try:
            with connection.transaction():
                connection.execute("SET LOCAL client_min_messages TO warning")
                connection.execute(f"SET LOCAL lock_timeout TO {int(1e3 * SETUP_SECONDS)}")
                connection.execute(f"SET LOCAL statement_timeout TO {int(1e3 * SETUP_SECONDS)}")
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (SETUP_LOCK,))
                connection.execute(SCHEMA)
                row = connection.execute("SELECT version FROM ossb_format").fetchone()
                if row is None:
                    connection.execute("INSERT INTO ossb_format VALUES (%s)", (VERSION,))
                elif row[0] != VERSION:
                    raise InputError("storage", f"have format {VERSION}", row[0])
        except self._psycopg.Error as error:
            raise Unavailable(f"PostgreSQL cannot be written: {_line(error)}") from None
        finally:
            connection.patience = patience

    def _rows(self, query: str, values: tuple[Any, ...] = ()) -> list[Any]:
        try:
            rows: list[Any] = self._connection().execute(query, values).fetchall()
        except self._psycopg.Error as error:
            raise Unavailable(f"PostgreSQL cannot be read: {_line(error)}") from None
        return rows

    def names(self) -> list[str]:
        return [row[0] for row in self._rows("SELECT name FROM ossb_campaigns ORDER BY position")]

    def heads(self) -> dict[str, Head]:
        rows = self._rows("SELECT name, last, digest FROM ossb_campaigns ORDER BY position")
        return {name: Head(int(last), digest) for name, last, digest in rows}

    def last(self, name: str) -> int:
        rows = self._rows("SELECT last FROM ossb_campaigns WHERE name = %s", (name,))
        return int(rows[0][0]) if rows else 0

    def read(self, name: str, after: int = 0, until: int = NO_END) -> Iterator[Event]:
        page = 2_000
        while True:
            rows = self._rows(
                "SELECT number, kind, time, body, digest FROM ossb_events "
                "WHERE campaign = %s AND number > %s AND number <= %s ORDER BY number LIMIT %s",
                (name, after, until, page),
            )
            for row in rows:
                yield Event(*row)
            if len(rows) < page:
                return
            after = rows[-1][0]

    def append(self, name: str, events: Sequence[Event], after: str = GENESIS) -> Future[None]:
        return self._writer.append(name, events, after)

    def snapshot(self, name: str) -> tuple[int, bytes] | None:
        rows = self._rows("SELECT number, content FROM ossb_snapshots WHERE campaign = %s", (name,))
        return (int(rows[0][0]), bytes(rows[0][1])) if rows else None

    def keep_snapshot(self, name: str, number: int, content: bytes) -> None:
        try:
            self._connection().execute(
                "INSERT INTO ossb_snapshots VALUES (%s, %s, %s) ON CONFLICT (campaign) "
                "DO UPDATE SET number = EXCLUDED.number, content = EXCLUDED.content "
                "WHERE ossb_snapshots.number < EXCLUDED.number",
                (name, number, content),
            )
        except self._psycopg.Error as error:
            raise Unavailable(f"PostgreSQL cannot be written: {_line(error)}") from None

    def drop(self, names: Sequence[str]) -> None:
        try:
            connection = self._connection()
            with connection.transaction():
                for table, column in TABLES:
                    given = (list(names),)
                    connection.execute(f"DELETE FROM {table} WHERE {column} = ANY(%s)", given)
        except self._psycopg.Error as error:
            raise Unavailable(f"PostgreSQL cannot be written: {_line(error)}") from None

    def check_whole(self) -> None:
        pass  # a database is not copied file by file

    def check_ready(self) -> None:
        ((standby, read_only),) = self._rows(
            "SELECT pg_is_in_recovery(), current_setting('transaction_read_only') = 'on'"
        )
        if standby or read_only:
            raise Unavailable("PostgreSQL takes no writes: it is a standby, or set to read only")

    def close(self) -> None:
        self._writer.close()
        self._let_go()

    def _let_go(self) -> None:
        self._closed = True
        for connection in self._connections:
            connection.close()
        self._connections.clear()

    def _commit(self, group: list[Append]) -> dict[int, OssbError]:
        failures: dict[int, OssbError] = {}
        # rows are locked by name, so that two servers never wait for one another
        whole = sorted(runs(group), key=lambda run: run[1].name)
        try:
            connection = self._connection()
            # one statement is a transaction by itself, and one answer to wait for
            with connection.transaction() if len(whole) > 1 else nullcontext():
                for places, request in whole:
                    if not self._insert(connection, request):
                        conflict = Conflict(f"campaign {request.name!r} has moved on")
                        failures.update(dict.fromkeys(places, conflict))
        except (self._psycopg.Error, Unavailable) as error:
            message = f"PostgreSQL cannot be written: {_line(error)}"
            return {place: Unavailable(message) for place in range(len(group))}
        return failures

    @staticmethod
    def _insert(connection: Any, request: Append) -> bool:
        """Move the campaign on and append, both or neither; whether it was where we thought."""
        first, newest = request.events[0], request.events[-1]
        _, kinds, times, bodies, digests = zip(*request.events, strict=True)
        columns = (kinds, map(repr, times), bodies, digests)
        content = (request.name, first.number - 1, *map(BETWEEN.join, columns))
        if first.number == 1:
            begun = (request.name, newest.number, newest.digest)
            made = connection.execute(BEGIN, (*begun, *content))
        else:
            moved = (newest.number, newest.digest, request.name, first.number - 1, request.after)
            made = connection.execute(MOVE, (*moved, *content))
        return bool(made.rowcount == len(request.events))


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())
