"""A store that forgets, for tests."""

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future

from ossb.campaigns.events import GENESIS, Event
from ossb.campaigns.storage.base import NO_END, Conflict, Head, Unavailable

WRITTEN: Future[None] = Future()  # of every append that is kept
WRITTEN.set_result(None)


def _refused(error: Exception) -> Future[None]:
    answer: Future[None] = Future()
    answer.set_exception(error)
    return answer


class MemoryStorage:
    """Journals in lists."""

    shared = False

    def __init__(self) -> None:
        self._journals: dict[str, list[Event]] = {}
        self._snapshots: dict[str, tuple[int, bytes]] = {}
        self._lock = threading.Lock()
        self._closed = False

    def names(self) -> list[str]:
        return list(self._journals)

    def heads(self) -> dict[str, Head]:
        return {name: Head(len(kept), kept[-1].digest) for name, kept in self._journals.items()}

    def last(self, name: str) -> int:
        return len(self._journals.get(name, ()))

    def read(self, name: str, after: int = 0, until: int = NO_END) -> Iterator[Event]:
        yield from list(self._journals.get(name, ()))[after:until]

    def append(self, name: str, events: Sequence[Event], after: str = GENESIS) -> Future[None]:
        answer = WRITTEN
        with self._lock:
            end = self._journals[name][-1].digest if name in self._journals else GENESIS
            if self._closed:
                answer = _refused(Unavailable("the store is closed"))
            elif events[0].number != self.last(name) + 1 or after != end:
                answer = _refused(Conflict(f"campaign {name!r} has moved on"))
            else:
                self._journals.setdefault(name, []).extend(events)
        return answer

    def snapshot(self, name: str) -> tuple[int, bytes] | None:
        return self._snapshots.get(name)

    def keep_snapshot(self, name: str, number: int, content: bytes) -> None:
        with self._lock:
            if number > self._snapshots.get(name, (0, b""))[0]:
                self._snapshots[name] = (number, content)

    def drop(self, names: Sequence[str]) -> None:
        with self._lock:
            for name in names:
                self._journals.pop(name, None)
                self._snapshots.pop(name, None)

    def check_whole(self) -> None:
        pass

    def check_ready(self) -> None:
        pass

    def close(self) -> None:
        self._closed = True
