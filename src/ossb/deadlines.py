"""Work that somebody waits for, and for how long.

Who hands work to a thread says until when its answer is wanted, and by whom; loops that may run
long call ``check`` once in a while, and end there when nobody wants the answer any more.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ossb.errors import OutOfTime as OutOfTime

_local = threading.local()
_at_work: set[int] = set()  # threads whose work somebody waits for


@contextmanager
def wanted(until: float, abandoned: Callable[[], bool]) -> Iterator[None]:
    """What this thread does is wanted until a moment of the monotonic clock, or until abandoned."""
    before = getattr(_local, "limit", None)
    _local.limit = (until, abandoned)
    _local.until = time.monotonic() + WORK
    _at_work.add(threading.get_ident())
    try:
        yield
    finally:
        _local.limit = before
        if before is None:
            _at_work.discard(threading.get_ident())


def check() -> None:
    """``OutOfTime`` once what this thread does is not wanted any more."""
    limit = getattr(_local, "limit", None)
    if limit is None:
        return
    until, abandoned = limit
    if abandoned():
        raise OutOfTime("whoever asked has gone")
    if time.monotonic() > until:
        raise OutOfTime("there is not enough time for this: ask for less at once, or again later")


WORK, REST = 0.002, 0.002  # seconds that long work goes on for, and lets others go before it


def breathe() -> None:
    """Let other threads go first once in a while, where long work and others are wanted at once.

    Threads take turns at the interpreter by themselves, but whoever has waited for a lock, a disk
    or a client needs several turns, and is behind work that never waits at each of them.
    """
    if len(_at_work) < 2 or getattr(_local, "limit", None) is None:
        return
    now = time.monotonic()
    if now > _local.until:
        time.sleep(REST)
        _local.until = time.monotonic() + WORK
