"""Who gets a thread: each campaign a share, so that busy ones leave some to the others."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from typing import Any

from ossb.service.threads import Threads


class Lanes:
    """Work by the name of its campaign; what is too much at once waits on the event loop.

    A name that has ``r`` threads gets another only while more than ``r`` are free: one that comes
    new finds a thread unless many names are as busy as they may be.

    Parameters
    ----------
    most
        Threads that the work of one name has at once.
    """

    def __init__(self, threads: Threads, most: int) -> None:
        self._threads, self._most = threads, most
        self._at_work: Counter[str] = Counter()
        # who waits, by name: those who asked first stand first, and names take turns
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    async def run(
        self, name: str, make: Callable[..., Any], *arguments: Any, until: float | None = None
    ) -> Any:
        """What ``make`` returns or raises; it is told until when that is wanted."""
        if not self._may_start(name):
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.setdefault(name, deque()).append(turn)
            try:
                await turn  # whoever ends enters us as being at work
            except BaseException:
                if turn.done() and not turn.cancelled():
                    self._end(name)
                else:
                    self._forget(name, turn)
                raise
        else:
            self._at_work[name] += 1
        try:
            return await self._threads.run(make, *arguments, until=until)
        finally:
            self._end(name)

    def _may_start(self, name: str) -> bool:
        free = self._threads.count - self._at_work.total()
        own = self._at_work[name]
        return own < self._most and free > own

    def _end(self, name: str) -> None:
        self._at_work[name] -= 1
        if not self._at_work[name]:
            del self._at_work[name]
        for waiting in list(self._waiting):
            while waiting in self._waiting and self._may_start(waiting):
                turns = self._waiting.pop(waiting)
                turn = turns.popleft()
                if turns:
                    self._waiting[waiting] = turns  # the last now: names take turns
                if not turn.done():
                    self._at_work[waiting] += 1
                    turn.set_result(None)
                    break

    def _forget(self, name: str, turn: "asyncio.Future[None]") -> None:
        turns = self._waiting.get(name)
        if turns is not None and turn in turns:
            turns.remove(turn)
            if not turns:
                del self._waiting[name]
