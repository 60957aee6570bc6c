"""What the journal says of one memory of a policy: as it was last held, and the asks since.

There is one for the arms that may be played, and one for each of the newest sets of fewer arms.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ossb.campaigns import arrays
from ossb.campaigns.arrays import Memory
from ossb.tally import Tally


class Repeat(NamedTuple):
    """An ask whose event does not hold what it changed: what it takes to make it again."""

    digest: str  # of its event
    decisions: list[list[int]]
    stream: list[str]  # the random stream before it
    tally: list[tuple[np.ndarray, np.ndarray]]  # with its decisions: of each array the places
    # and values that are not those of the repeat before


class Live(NamedTuple):
    """A memory that a policy may go on with."""

    player: Any
    memory: Memory
    bound: Any  # the policy's view of it
    fresh: bool  # whether the journal holds nothing of it


class Mark(NamedTuple):
    """The memory after an event that is to be made again."""

    digest: str
    content: bytes


class Course:
    """A memory as an event last held it, and what has happened to it since.

    Parameters
    ----------
    memory
        Empty where the policy begins with a fresh one.
    """

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.repeats: list[Repeat] = []  # asks since then that changed it
        self.asks = 0  # since then, all of them
        self._then: Tally | None = None  # at the newest of the repeats
        self.live: Live | None = None  # the memory itself, where it is at hand: no part of a fold
        self.mark: Mark | None = None  # it was this after an event: no part either

    def take_up(
        self,
        digest: str,
        content: dict[str, Any],
        tally: Tally,
        stream: list[str],
        live: Live | None,
    ) -> bool:
        """What an ask changed; whether its event holds that.

        Parameters
        ----------
        live
            The memory after it, where that is at hand.
        """
        changed = content.get("memory", [])
        if "whole" in content:
            self.memory = Memory(arrays.unpacked(content["whole"]))
        if isinstance(changed, str) and live is not None:
            self.memory.words[:] = live.memory.words
        elif isinstance(changed, str):
            arrays.differ(self.memory.words, changed)
        else:
            arrays.apply(self.memory, changed)
        self.live = live
        if "whole" in content or changed:
            self.repeats, self.asks, self._then = [], 0, None
            return True
        self.asks += 1
        if "repeat" in content:
            changes = moved(tally, self._then)
            self.repeats.append(Repeat(digest, content["decisions"], stream, changes))
            self._then = Tally(*(leaf.copy() for leaf in tally))
        return False

    def newest_mark(self) -> Mark | None:
        """The memory after the newest event that is to be made again, or one before."""
        if self.repeats and self.live is not None:
            return Mark(self.repeats[-1].digest, self.live.memory.words.tobytes())
        return self.mark

    def packed(self) -> list[Any]:
        """The asks since, as plain data."""
        repeats = [
            [digest, decisions, stream, [[packed(part) for part in change] for change in changes]]
            for digest, decisions, stream, changes in self.repeats
        ]
        return [self.asks, repeats]

    def unpack(self, asks: int, repeats: Sequence[Any], tally: Tally) -> None:
        """Take up the asks since from such data."""
        self.asks = asks
        for digest, decisions, stream, changes in repeats:
            parts = [(seen(places), seen(values)) for places, values in changes]
            self.repeats.append(Repeat(digest, decisions, stream, parts))
            if self._then is None:
                self._then = Tally(*(np.zeros_like(leaf) for leaf in tally))
            move(self._then, parts)


def moved(tally: Tally, before: Tally | None) -> list[tuple[np.ndarray, np.ndarray]]:
    """Where a tally is not that of before, and what it is there."""
    found = []
    for number, leaf in enumerate(tally):
        old = np.zeros_like(leaf) if before is None else before[number]
        places = np.flatnonzero(leaf.view(np.int64) != old.view(np.int64))
        found.append((places.astype(np.int32), leaf[places]))
    return found


def move(tally: Tally, changes: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
    """Make such changes."""
    for leaf, (places, values) in zip(tally, changes, strict=True):
        leaf[places] = values


def packed(array: np.ndarray) -> list[Any]:
    """An array as plain data."""
    return [array.dtype.str, list(array.shape), np.ascontiguousarray(array).tobytes()]


def seen(entry: list[Any]) -> np.ndarray:
    """An array of such data, without a copy of its own: decisions may be millions."""
    dtype, shape, content = entry
    return np.frombuffer(content, dtype=np.dtype(dtype)).reshape(shape)
