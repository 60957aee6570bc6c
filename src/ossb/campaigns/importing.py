"""Data from before a campaign, added up: pairs of an arm and an observation."""

from collections.abc import Sequence
from typing import Any

from ossb.arm_sets.base import Items
from ossb.arm_sets.table import ArmTable
from ossb.campaigns.observations import Observations
from ossb.campaigns.rows import Row, entry
from ossb.campaigns.state import State
from ossb.errors import InputError
from ossb.fields import integer
from ossb.tally import Tally, observe
from ossb.words import hint


class Intake:
    """Rows added to a copy of a campaign's tally, part by part, as telling them one by one would.

    One that has met a bad row is of no more use.
    """

    def __init__(self, state: State) -> None:
        self.after = state.number  # what is added up stands after this event
        self.rows = 0
        self._state = state
        self._tally = Tally(*(leaf.copy() for leaf in state.tally))
        self._plays: list[int] = self._tally.plays.tolist()
        self._observations, self._sign = Observations(state), state.instance.observed_sign
        self._table = None if state.table is None else ArmTable(state.table.arms)
        self._reveals = state.reveals if self._table is None else self._table.arms
        self._known = len(self._reveals)
        self._arms = _Arms(state.instance, self._table)

    def add(self, rows: Sequence[Row]) -> None:
        """Add the next rows; errors name a row by its place among all."""
        for i, (arm, observation) in enumerate(rows, self.rows):
            place = self._arms.place(arm, f"rows[{i}].arm")
            shown = self._reveals[place]
            value = self._observations.of(shown, observation, f"rows[{i}].observation")
            values = [] if value is None else value if isinstance(value, list) else [value]
            for component, seen in zip(shown, values, strict=True):
                observe(self._tally, component, self._sign * seen)
            self._plays += [0] * (place + 1 - len(self._plays))
            self._plays[place] += 1
            self._state.count_round(self._tally, place, 1)
        self.rows += len(rows)

    def content(self) -> dict[str, Any]:
        """The tally after all rows, as an event holds it."""
        new = self._reveals[self._known :]
        clock = self._tally.clock.tolist()
        return {
            **({"met": [list(arm) for arm in new]} if new else {}),
            "rows": self.rows,
            "counts": self._tally.counts.tolist(),
            "means": self._tally.means.tolist(),
            "plays": self._plays[: len(self._reveals)],
            "clock": clock if len(clock) > 1 else clock[0],  # of segments that of each too
        }


class _Arms:
    """Which arm a row means: a text that is an arm's name is that arm, whatever else it may be."""

    def __init__(self, instance: Any, table: ArmTable | None) -> None:
        self._instance, self._table = instance, table
        self._count = 0 if table is not None else len(instance.showing())
        listed = table is None and not instance.has_pairs  # whose names are those of items
        self._names: dict[str, int] = {}
        for place, name in enumerate(instance.arm_names if listed else ()):
            self._names.setdefault(name, place)
        self._like_numbers = any(isinstance(entry(name), int) for name in self._names)

    def place(self, arm: Any, field: str) -> int:
        if isinstance(arm, str):
            if arm in self._names:
                return self._names[arm]
            arm = self._read(arm, field)
        if self._table is not None:
            return self._table.place(_items(self._instance, arm, field))
        if self._instance.has_contexts:
            return int(self._instance.layout.row(arm, field))
        if isinstance(arm, list | tuple):
            return _pair(self._instance, arm, field)
        position = integer(arm, field)
        if position >= self._count:
            raise InputError(field, f"be below {self._count}", position)
        return position

    def _read(self, text: str, field: str) -> Any:
        """What a text that is no arm's name means."""
        found = entry(text)
        if isinstance(found, str):
            near = hint(text, self._names)
            raise InputError(field, f"be the number or the name of an arm{near}", text)
        if self._like_numbers:
            must = "be the name of an arm: where names look like numbers, only names are taken"
            raise InputError(field, must, text)
        return found


def _items(instance: Any, arm: Any, field: str) -> Items:
    """An arm of a set that is not listed, given as the sorted list of its items."""
    if not isinstance(arm, list | tuple):
        raise InputError(field, "be the list of its items", arm)
    items = tuple(integer(item, field) for item in arm)
    if not instance.implicit_set.contains(tuple(sorted(items))):
        raise InputError(field, f"be one of {instance.arm_set}", list(arm))
    if list(items) != sorted(items):
        raise InputError(field, "be written in increasing order", list(arm))
    return items


def _pair(instance: Any, arm: Sequence[Any], field: str) -> int:
    """The position of a duel."""
    pair = tuple(sorted(integer(item, field) for item in arm))
    if not instance.has_pairs or pair not in instance.pairs:
        raise InputError(field, "be an arm", list(arm))
    if list(pair) != list(arm):
        raise InputError(field, "be written with the lower number first", list(arm))
    return int(instance.pairs.index(pair))
