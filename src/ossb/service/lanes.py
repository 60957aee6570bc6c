"""Who gets a thread: each campaign a few at once, so that a busy one leaves some to the others."""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

from ossb.service.threads import Threads


class Lanes:
    """Work by the name of its campaign; what is too much at once waits on the event loop.

    Parameters
    ----------
    most
        Threads that the work of one name has at once.
    """

    def __init__(self, threads: Threads, most: int) -> None:
        self._threads, self._most = threads, most
        self._gates: dict[str, asyncio.Semaphore] = {}
        self._inside: Counter[str] = Counter()  # at work or waiting: strangers' names are not kept

    async def run(self, name: str, make: Callable[..., Any], *arguments: Any) -> Any:
        """What ``make`` returns or raises."""
        gate = self._gates.setdefault(name, asyncio.Semaphore(self._most))
        self._inside[name] += 1
        try:
            async with gate:
                return await self._threads.run(make, *arguments)
        finally:
            self._inside[name] -= 1
            if not self._inside[name]:
                del self._inside[name], self._gates[name]
