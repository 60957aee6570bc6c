"""Work that somebody waits for, and for how long.

Who hands work to a thread says until when its answer is wanted, and by whom; loops that may run
long call ``check`` once in a while, and end there when nobody wants the answer any more, or let
others go first.  Kernels that run interpreted do so at every call, once one thread looks after the
clocks of all and has found some of them over, or at work for long beside others.  Compiled code is
stopped by a number in its work arrays, ``Stop``, which that thread writes.  Solvers that are not
ours are told how long they may take.
"""

import math
import threading
import time
from collections.abc import Callable, Iterator, Sized
from contextlib import contextmanager
from typing import Any, NamedTuple

from ossb.errors import OutOfTime as OutOfTime

EVERY = 0.1  # seconds between looks at the clocks of all
LONG = 0.01  # seconds of work from which on it is long
WORK = 0.002  # seconds that it goes on for then, before it lets others go
CROWD = 3  # of those behind it in line, for whom it lets others go as if they were at it too

_local = threading.local()
_limits: dict[int, "Limit"] = {}  # by thread
_long: set[int] = set()  # threads whose work has turned out to be long
_begun = 0  # works so far: a hint whether others come
_stops: dict[int, list["Stop"]] = {}  # by thread
_watch = threading.Lock()
_watched = False
urgent = False  # whether some thread's time is over, or it is long at work: a hint to ``check``


class Limit(NamedTuple):
    """Until when, and for whom, a thread works, and since when."""

    until: float
    abandoned: Callable[[], bool]
    begun: float


class Stop(NamedTuple):
    """Where a compiled loop looks whether it shall end, and what it finds there if so."""

    array: Any
    place: int
    word: int


@contextmanager
def wanted(until: float, abandoned: Callable[[], bool]) -> Iterator[None]:
    """What this thread does is wanted until a moment of the monotonic clock, or until abandoned."""
    global _begun
    if not _watched:
        _begin_to_watch()
    before, thread = getattr(_local, "limit", None), threading.get_ident()
    if before is None:
        _begun += 1
        _local.others = _begun
        begun = time.monotonic()
        _local.quantum = time.thread_time() + LONG  # of work: who waits for a lock does none
        _local.look = begun + LONG
    else:
        begun = before.begun
    _local.limit = _limits[thread] = Limit(until, abandoned, begun)
    try:
        yield
    finally:
        _local.limit = before
        if before is None:
            _limits.pop(thread, None)
            _long.discard(thread)
        else:
            _limits[thread] = before


def check() -> None:
    """``OutOfTime`` once what this thread does is not wanted any more; else others go first."""
    limit = getattr(_local, "limit", None)
    if limit is None:
        return
    until, abandoned, _ = limit
    if abandoned():
        raise OutOfTime("whoever asked has gone")
    if time.monotonic() > until:
        raise OutOfTime("there is not enough time for this: ask for less at once, or again later")
    breathe()


def breathe() -> None:
    """Let other threads go first once in a while, where long work and others are wanted at once.

    Threads take turns at the interpreter by themselves, but whoever has waited for a lock, a disk
    or a client needs several turns, and is behind work that never waits at each of them.
    """
    behind = min(len(getattr(_local, "behind", ())), CROWD)
    if (len(_limits) < 2 and not behind) or getattr(_local, "limit", None) is None:
        return
    if time.monotonic() > _local.look and time.thread_time() > _local.quantum:
        _long.add(threading.get_ident())
        if behind or len(_limits) > len(_long) or _begun > _local.others:  # else all are as long
            # together they leave half of the time to the others, however many they are
            time.sleep(WORK * (2 * (len(_long) + behind) - 1))
        _local.others = _begun
        _local.quantum = time.thread_time() + WORK
        _local.look = time.monotonic() + WORK  # sooner it cannot have worked for as long


@contextmanager
def in_line(behind: Sized) -> Iterator[None]:
    """What this thread does holds up others, which stand in line behind it."""
    _local.behind = behind
    try:
        yield
    finally:
        _local.behind = ()


def left() -> float:
    """Seconds until what this thread does is not wanted any more; infinite without a limit."""
    limit = getattr(_local, "limit", None)
    return math.inf if limit is None else float(limit.until - time.monotonic())


def is_limited() -> bool:
    """Whether somebody waits for what this thread does, and for so long only."""
    return getattr(_local, "limit", None) is not None


@contextmanager
def stopping(stops: list[Stop]) -> Iterator[None]:
    """Compiled loops that look there end with this thread's time; ``OutOfTime`` if they did.

    What they were at is of no more use then.
    """
    if not stops or not is_limited():
        yield
        return
    thread = threading.get_ident()
    _stops[thread] = stops
    try:
        yield
    finally:
        _stops.pop(thread, None)
    check()


@contextmanager
def no_longer(seconds: float) -> Iterator[None]:
    """Give this thread at most so many seconds, and no more than it has."""
    limit = getattr(_local, "limit", None)
    abandoned = _never if limit is None else limit.abandoned
    with wanted(time.monotonic() + min(seconds, left()), abandoned):
        yield


def _never() -> bool:
    return False


class holding:
    """Hold a lock; who waits for it looks whether that is still wanted."""

    __slots__ = ("_lock",)  # made for each ask and tell

    def __init__(self, lock: Any) -> None:
        self._lock = lock

    def __enter__(self) -> None:
        if is_limited():
            while not self._lock.acquire(timeout=EVERY):
                check()
        else:
            self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def _begin_to_watch() -> None:
    global _watched
    with _watch:
        if not _watched:
            threading.Thread(target=_look_after, name="ossb-deadlines", daemon=True).start()
            _watched = True


def _look_after() -> None:
    global urgent
    while True:
        time.sleep(EVERY)
        now = time.monotonic()
        limits = list(_limits.items())
        late = [thread for thread, limit in limits if limit.until < now or limit.abandoned()]
        long = len(limits) > 1 and any(now - limit.begun > EVERY for _, limit in limits)
        urgent = bool(late) or long
        for thread in late:
            for stop in _stops.get(thread, ()):
                stop.array[stop.place] = stop.word
