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


@contextmanager
def wanted(until: float, abandoned: Callable[[], bool]) -> Iterator[None]:
    """What this thread does is wanted until a moment of the monotonic clock, or until abandoned."""
    before = getattr(_local, "limit", None)
    _local.limit = (until, abandoned)
    try:
        yield
    finally:
        _local.limit = before


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
