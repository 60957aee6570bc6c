"""Who does something, and in which request: what events say besides what happened.

A thread that works for somebody else says so; else it is the user that this process runs as.
"""

import os
import threading
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")

_local = threading.local()


class Origin(NamedTuple):
    """Where an event comes from: ``token:ID`` or ``user:NAME``, and the id of a request."""

    by: str
    request: str | None = None


def acting(origin: Origin, make: Callable[..., T], *arguments: Any) -> T:
    """What ``make`` returns, all that it records being of this origin."""
    before = getattr(_local, "origin", None)
    _local.origin = origin
    try:
        return make(*arguments)
    finally:
        _local.origin = before


def origin() -> dict[str, str]:
    """Where what this thread records comes from, as it stands in events."""
    found: Origin | None = getattr(_local, "origin", None)
    if found is None:
        return {"by": user()}
    return {"by": found.by} | ({} if found.request is None else {"request": found.request})


@cache
def user() -> str:
    """The user that this process runs as."""
    number = os.getuid()
    try:
        import pwd

        return f"user:{pwd.getpwuid(number).pw_name}"
    except (ImportError, KeyError):  # one of a container that nobody gave a name
        return f"user:{number}"
