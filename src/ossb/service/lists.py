"""Lists of campaigns, which wait for none of them.

Each campaign's document is worked out in its own lane; what is not finished soon is shown as it
was when last finished, with when that was, and goes on for whoever looks next.
"""

import asyncio
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ossb.service import tasks
from ossb.service.answers import ending

SOON = 0.25  # seconds that a list has
UNSEEN = "it is busy, and was not looked at before"

Document = dict[str, Any]


class Finished(NamedTuple):
    """A document, and when it was finished."""

    moment: float
    document: Document


class Lists:
    """The newest documents of campaigns, by name and kind; for the event loop's thread."""

    def __init__(self) -> None:
        self._finished: dict[tuple[str, str], Finished] = {}
        self._under_way: dict[tuple[str, str], asyncio.Task[Document]] = {}
        self._ended = False

    async def of(
        self,
        kind: str,
        names: Iterable[str],
        look: Callable[[str], Any],
        unseen: Document,
    ) -> list[Document]:
        """A document for each name, by the coroutine ``look``, each with ``as_of``.

        ``unseen`` stands for one that was never finished.
        """
        if self._ended:
            raise ending()
        keys = [(kind, name) for name in names]
        self._drop_others(kind, keys)
        looks = [self._task(key, look) for key in keys]
        if looks:
            await asyncio.wait(looks, timeout=SOON)
        return [self._entry(key, task, unseen) for key, task in zip(keys, looks, strict=True)]

    async def end(self) -> None:
        """End all that goes on for whoever looks next: nobody will."""
        self._ended = True
        await tasks.end(*self._under_way.values())

    def _task(self, key: tuple[str, str], look: Callable[[str], Any]) -> "asyncio.Task[Document]":
        """One for all who want the same at once."""
        found = self._under_way.get(key)
        if found is None:
            found = asyncio.ensure_future(look(key[1]))
            self._under_way[key] = found
            found.add_done_callback(lambda task: self._finish(key, task))
        return found

    def _finish(self, key: tuple[str, str], task: "asyncio.Task[Document]") -> None:
        self._under_way.pop(key, None)
        if not task.cancelled() and task.exception() is None:
            self._finished[key] = Finished(time.time(), task.result())

    def _entry(
        self, key: tuple[str, str], task: "asyncio.Task[Document]", unseen: Document
    ) -> Document:
        if task.done():
            return {**task.result(), "as_of": time.time()}
        finished = self._finished.get(key)
        if finished is None:
            return {**unseen, "name": key[1], "error": UNSEEN, "as_of": None}
        return {**finished.document, "as_of": finished.moment}

    def _drop_others(self, kind: str, keys: list[tuple[str, str]]) -> None:
        """Campaigns that are gone leave nothing behind."""
        if len(self._finished) > 2 * len(keys) + 1000:
            kept = set(keys)
            self._finished = {k: v for k, v in self._finished.items() if k[0] != kind or k in kept}
