"""A store that forgets, for tests."""

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future

from ossb.campaigns.events import Event
from ossb.campaigns.storage.base import Conflict


class MemoryStorage:
    """Journals in lists."""

    def __init__(self) -> None:
        self._journals: dict[str, list[Event]] = {}
        self._snapshots: dict[str, tuple[int, bytes]] = {}
        self._lock = threading.Lock()

    def names(self) -> list[str]:
        return list(self._journals)

    def read(self, name: str, after: int = 0) -> Iterator[Event]:
        yield from list(self._journals.get(name, ()))[after:]

    def append(self, name: str, events: Sequence[Event]) -> Future[None]:
        answer: Future[None] = Future()
        with self._lock:
            journal = self._journals.setdefault(name, [])
            if not events or events[0].number != len(journal) + 1:
                answer.set_exception(Conflict(name))
            else:
                journal.extend(events)
                answer.set_result(None)
        return answer

    def snapshot(self, name: str) -> tuple[int, bytes] | None:
        return self._snapshots.get(name)

    def keep_snapshot(self, name: str, number: int, content: bytes) -> None:
        self._snapshots[name] = (number, content)

    def close(self) -> None:
        return None
