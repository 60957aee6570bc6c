"""Which connections stay where there are as many as there may be: those of callers who are known.

Whoever comes new gets in, and the oldest that has said nothing, or not who it is, goes: strangers
that hold connections open shut nobody out but one another.
"""

from collections.abc import Callable
from typing import Any


class Connections:
    """The connections of one server, by what is known of them; for the event loop's thread.

    Parameters
    ----------
    most
        How many there may be.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        # each with how it is closed, the oldest first
        self._strangers: dict[Any, Callable[[], None]] = {}
        self._idle: dict[Any, Callable[[], None]] = {}  # known, between two requests
        self._busy: dict[Any, Callable[[], None]] = {}  # known, and being answered

    def __len__(self) -> int:
        return len(self._strangers) + len(self._idle) + len(self._busy)

    def enter(self, connection: Any, close: Callable[[], None]) -> bool:
        """Take a new one in, in the place of another if need be; False if there is no place."""
        if len(self) >= self.most:
            waiting = self._strangers or self._idle
            if not waiting:
                return False
            waiting.pop(next(iter(waiting)))()
        self._strangers[connection] = close
        return True

    def know(self, connection: Any) -> None:
        """Note that a connection's request came from somebody who may call."""
        close = self._leave(connection)
        if close is not None:
            self._busy[connection] = close

    def rest(self, connection: Any) -> None:
        """Note that a connection has been answered."""
        if connection in self._busy:
            self._idle[connection] = self._busy.pop(connection)

    def leave(self, connection: Any) -> None:
        """Note that a connection has been closed."""
        self._leave(connection)

    def _leave(self, connection: Any) -> Callable[[], None] | None:
        for kind in (self._strangers, self._idle, self._busy):
            if connection in kind:
                return kind.pop(connection)
        return None
