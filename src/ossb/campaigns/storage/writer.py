"""One writer for many: appends that wait while a commit is under way go into the next one."""

import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import NamedTuple

from ossb.campaigns.events import Event
from ossb.errors import OssbError

GROUP = 512  # appends in one commit at most


class Append(NamedTuple):
    """Events on their way to the disk."""

    name: str
    events: Sequence[Event]
    answer: Future[None]


Commit = Callable[[list[Append]], dict[int, OssbError]]  # what failed, by place in the group


class Writer:
    """A thread that commits appends in groups, in the order they came."""

    def __init__(self, commit: Commit) -> None:
        self._commit = commit
        self._waiting: queue.SimpleQueue[Append | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="ossb-writer", daemon=True)
        self._thread.start()

    def append(self, name: str, events: Sequence[Event]) -> Future[None]:
        request = Append(name, events, Future())
        self._waiting.put(request)
        return request.answer

    def close(self) -> None:
        """Commit what is waiting, and end."""
        self._waiting.put(None)
        self._thread.join()

    def _run(self) -> None:
        ending = False
        while not ending:
            first = self._waiting.get()
            if first is None:
                return
            group = [first]
            while len(group) < GROUP and not self._waiting.empty():
                following = self._waiting.get()
                if following is None:
                    ending = True
                    break
                group.append(following)
            failures = self._commit(group)
            for place, request in enumerate(group):
                if place in failures:
                    request.answer.set_exception(failures[place])
                else:
                    request.answer.set_result(None)
