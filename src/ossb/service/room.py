"""How much of requests' bodies is in memory at once: of all callers, and of each token."""

from collections import Counter

MOST = 64 * 1024 * 1024
MOST_OF_ONE = 16 * 1024 * 1024


class Room:
    """Bytes that are held, by token; for the event loop's thread."""

    def __init__(self) -> None:
        self._held: Counter[str] = Counter()

    def take(self, id_: str, size: int) -> bool:
        """Hold so many bytes more, if there is room."""
        fits = not id_ or self._held[id_] + size <= MOST_OF_ONE
        if not fits or self._held.total() + size > MOST:
            return False
        self._held[id_] += size
        return True

    def give(self, id_: str, size: int) -> None:
        """Hold them no more."""
        self._held[id_] -= size
        if not self._held[id_]:
            del self._held[id_]
