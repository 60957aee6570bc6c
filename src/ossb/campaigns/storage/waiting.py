"""Connections to PostgreSQL on which no wait is endless.

A server that hangs (stopped, or cut off by a network that drops what is sent) neither answers nor
closes the connection, and its own time limits do not apply: only the caller can end the waiting.
"""

import time
from collections.abc import Generator
from typing import Any

import psycopg

PATIENCE = 2.0  # seconds in which nothing comes from the server


class BoundedConnection(psycopg.Connection[Any]):
    """A connection that is given up, and closed, once the server is silent for ``patience``."""

    patience = PATIENCE

    def wait(self, gen: Any, *arguments: Any, **keywords: Any) -> Any:
        try:
            return super().wait(_impatient(gen, self.patience), *arguments, **keywords)
        except _Silent as silent:
            self.close()  # an answer that comes later must not be taken for another's
            raise psycopg.OperationalError(str(silent)) from None


class _Silent(Exception):
    """The server has not been heard of for too long."""


def _impatient(steps: Generator[Any, Any, Any], seconds: float) -> Generator[Any, Any, Any]:
    """Steps of a connection, ended where nothing is ready for so many seconds."""
    heard = time.monotonic()
    try:
        wanted = next(steps)
        while True:
            ready = yield wanted
            if ready:
                heard = time.monotonic()
            elif time.monotonic() - heard >= seconds:
                steps.close()
                raise _Silent(f"no answer for {seconds:g} seconds")
            wanted = steps.send(ready)
    except StopIteration as ended:
        return ended.value
