"""One writer for many: appends that wait while a commit is under way go into the next one."""

import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import NamedTuple

from ossb.campaigns.events import Event
from ossb.campaigns.storage.base import Unavailable
from ossb.errors import OssbError

GROUP = 512  # appends in one commit at most
SHARE = 2**18  # characters of one campaign's, but for the first: others do not wait for a flood


class Append(NamedTuple):
    """Events on their way to the disk."""

    name: str
    events: Sequence[Event]
    after: str  # digest of the event they follow
    answer: Future[None]


Commit = Callable[[list[Append]], dict[int, OssbError]]  # what failed, by place in the group


def runs(group: Sequence[Append]) -> list[tuple[list[int], Append]]:
    """Appends that follow one another, put together: their places in the group, and the whole.

    They stand or fall together, as what follows an event that is not written could not be
    written either.
    """
    found: list[tuple[list[int], Append]] = []
    newest: dict[str, int] = {}  # campaign -> its last run
    for place, request in enumerate(group):
        at = newest.get(request.name)
        if at is not None and found[at][1].events[-1].digest == request.after:
            places, whole = found[at]
            found[at] = ([*places, place], whole._replace(events=[*whole.events, *request.events]))
        else:
            newest[request.name] = len(found)
            found.append(([place], request))
    return found


def shared(waiting: Sequence[Append]) -> tuple[list[Append], list[Append]]:
    """Which appends go into one commit, each campaign having its share of it, and which wait."""
    group: list[Append] = []
    left: list[Append] = []
    taken: Counter[str] = Counter()  # characters, by campaign
    for request in waiting:
        if len(group) < GROUP and taken[request.name] < SHARE:
            group.append(request)
            taken[request.name] += 1 + sum(len(event.body) for event in request.events)
        else:
            left.append(request)
            taken[request.name] = SHARE  # what comes later of it waits too
    return group, left


class Writer:
    """A thread that commits appends in groups, those of each campaign in the order they came.

    Where a commit costs much more than an append, and the last group had company, it waits
    ``linger`` seconds for more: who asks alone never waits.
    """

    def __init__(self, commit: Commit, linger: float = 0.0) -> None:
        self._commit = commit
        self._linger = linger
        self._waiting: queue.SimpleQueue[Append | None] = queue.SimpleQueue()
        self._closed = False
        self._closing = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="ossb-writer", daemon=True)
        self._thread.start()

    def append(self, name: str, events: Sequence[Event], after: str) -> Future[None]:
        request = Append(name, list(events), after, Future())
        with self._closing:
            if self._closed:
                request.answer.set_exception(Unavailable("the store is closed"))
            else:
                self._waiting.put(request)
        return request.answer

    def close(self) -> None:
        """Commit what is waiting, and end."""
        with self._closing:
            if self._closed:
                return
            self._closed = True
            self._waiting.put(None)
        self._thread.join()

    def _run(self) -> None:
        ending = False
        group: list[Append] = []
        waiting: list[Append] = []
        while waiting or not ending:
            if not waiting:
                first = self._waiting.get()
                if first is None:
                    return
                if self._linger > 0.0 and len(group) > 1:
                    time.sleep(self._linger)
                waiting.append(first)
            while not ending and not self._waiting.empty():
                following = self._waiting.get()
                if following is None:
                    ending = True
                else:
                    waiting.append(following)
            group, waiting = shared(waiting)
            self._settle(group)

    def _settle(self, group: list[Append]) -> None:
        """Commit a group and answer; whatever happens, nobody waits for ever."""
        failures: dict[int, OssbError]
        try:
            failures = self._commit(group)
        except Exception as error:
            message = f"the store cannot be written: {error}"
            failures = {place: Unavailable(message) for place in range(len(group))}
        for place, request in enumerate(group):
            if place in failures:
                request.answer.set_exception(failures[place])
            else:
                request.answer.set_result(None)
