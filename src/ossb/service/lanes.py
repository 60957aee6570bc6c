"""Who gets a thread: each campaign and each token a share, and busy ones leave some to others."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from typing import Any

from ossb.service.answers import RETRY_AFTER, Refusal
from ossb.service.threads import Threads

MOST_WAITING = 256  # calls of one token on one campaign
MOST_WAITING_OF_ONE = 512  # calls of one token

Key = tuple[str, str]  # a campaign, and a token or nothing


class Lanes:
    """Work by the name of its campaign and by its token; too much at once waits on the event loop.

    A name that has ``r`` threads gets another only while more than ``r`` are free, and so does a
    token: one that comes new finds a thread unless many are as busy as they may be.

    Parameters
    ----------
    most
        Threads that the work of one name has at once.
    most_of_one
        Threads that the work of one token has at once; half of all by default.
    """

    def __init__(self, threads: Threads, most: int, most_of_one: int | None = None) -> None:
        self._threads, self._most = threads, most
        self._most_of_one = max(1, threads.count // 2) if most_of_one is None else most_of_one
        self._at_work: Counter[str] = Counter()
        self._working: Counter[str] = Counter()  # the same, by token
        # who waits: those who asked first stand first, and names and tokens take turns
        self._waiting: dict[Key, deque[asyncio.Future[None]]] = {}
        self._waiting_of: Counter[str] = Counter()  # by token

    async def run(
        self,
        name: str,
        make: Callable[..., Any],
        *arguments: Any,
        until: float | None = None,
        token: str = "",
        in_line: bool = False,
    ) -> Any:
        """What ``make`` returns or raises; it is told until when that is wanted.

        Parameters
        ----------
        in_line
            Whether it is done after whatever else stands in line of the same name.
        """
        key = name, token
        if not self._may_start(key):
            await self._turn(key)
        else:
            self._begin(key)
        # a thread is at work until it ends, though nobody may wait for it any more
        return await self._threads.run(
            make,
            *arguments,
            until=until,
            ended=lambda: self._end(key),
            line=name if in_line else None,
        )

    async def _turn(self, key: Key) -> None:
        """Wait for a turn; whoever ends enters us as being at work."""
        token = key[1]
        if len(self._waiting.get(key, ())) >= MOST_WAITING:
            raise _busy("this campaign")
        if token and self._waiting_of[token] >= MOST_WAITING_OF_ONE:
            raise _busy("this token")
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(key, deque()).append(turn)
        self._waiting_of[token] += 1
        try:
            await turn
        except BaseException:
            if turn.done() and not turn.cancelled():
                self._end(key)
            else:
                self._forget(key, turn)
            raise
        finally:
            _less(self._waiting_of, token)

    def _may_start(self, key: Key) -> bool:
        name, token = key
        free = self._threads.count - self._at_work.total()
        own = self._at_work[name]
        if own >= self._most or free <= own:
            return False
        own = self._working[token]
        return not token or (own < self._most_of_one and free > own)

    def _begin(self, key: Key) -> None:
        name, token = key
        self._at_work[name] += 1
        self._working[token] += 1

    def _end(self, key: Key) -> None:
        name, token = key
        _less(self._at_work, name)
        _less(self._working, token)
        for waiting in list(self._waiting):
            while waiting in self._waiting and self._may_start(waiting):
                turns = self._waiting.pop(waiting)
                turn = turns.popleft()
                if turns:
                    self._waiting[waiting] = turns  # the last now: they take turns
                if not turn.done():
                    self._begin(waiting)
                    turn.set_result(None)
                    break

    def _forget(self, key: Key, turn: "asyncio.Future[None]") -> None:
        turns = self._waiting.get(key)
        if turns is not None and turn in turns:
            turns.remove(turn)
            if not turns:
                del self._waiting[key]


def _busy(whose: str) -> Refusal:
    message = f"too many calls of {whose} are waiting already"
    return Refusal(503, "busy", message, None, {"Retry-After": RETRY_AFTER})


def _less(counts: Counter[str], key: str) -> None:
    counts[key] -= 1
    if not counts[key]:
        del counts[key]
