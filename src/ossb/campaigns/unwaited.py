"""Answers that rest on a commit which somebody else waits for.

A thread that works for many callers notes what its answer rests on and goes on with the next;
whoever hands the answer out does so once the commit is done.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import NamedTuple, TypeVar

T = TypeVar("T")

_local = threading.local()


class Awaited(NamedTuple):
    """A commit under way that an answer rests on."""

    commit: "Future[None]"
    doubt: Callable[[], None]  # to be called where it failed, in a thread that may wait


def unwaited(make: Callable[..., T], *arguments: object) -> tuple[T, Awaited | None]:
    """What ``make`` returns, and the commit that is still to be waited for, if there is one."""
    noted: list[Awaited] = []
    _local.noted = noted
    try:
        answer = make(*arguments)
    finally:
        _local.noted = None
    return answer, noted[0] if noted else None


def leave(commit: "Future[None]", doubt: Callable[[], None]) -> bool:
    """Leave a commit to whoever hands the answer out; False where this thread waits itself."""
    noted: list[Awaited] | None = getattr(_local, "noted", None)
    if noted is None or noted:  # one is left: all others of the same work were waited for
        return False
    noted.append(Awaited(commit, doubt))
    return True
