"""Arms of a set that is not listed, numbered as they are met."""

from collections.abc import Iterable, Sequence

from ossb.arm_sets.base import Items


class ArmTable:
    """The arms met so far, numbered in the order they came."""

    def __init__(self, arms: Iterable[Items] = ()) -> None:
        self.arms: list[Items] = []
        self._places: dict[Items, int] = {}
        for arm in arms:
            self.place(arm)

    def place(self, arm: Items) -> int:
        """The number of an arm; a new one is added."""
        if arm not in self._places:
            self._places[arm] = len(self.arms)
            self.arms.append(arm)
        return self._places[arm]


class RenamedTable:
    """A table as it looks from a set on fewer items, which have numbers of their own.

    Parameters
    ----------
    table
        The arms by all items.
    names
        What all items call each of the fewer ones.
    """

    def __init__(self, table: ArmTable, names: Sequence[int]) -> None:
        self._table, self._names = table, names

    def place(self, arm: Items) -> int:
        """The number of an arm in the whole table; a new one is added."""
        return self._table.place(tuple(self._names[item] for item in arm))
