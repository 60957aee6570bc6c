"""Observations as users tell them, checked."""

from collections.abc import Sequence
from typing import Any

from ossb.campaigns.state import State
from ossb.errors import InputError
from ossb.fields import number
from ossb.words import counted

LARGEST = 1e50  # in size: products of six of them, divided by a standard deviation, are doubles


def largest(instance: Any) -> float:
    """The largest observation in size that is taken; what is computed from it stays finite."""
    return LARGEST * min(1.0, float(instance.sigma))


class Observations:
    """What the arms of a campaign can show."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._family = state.instance.plain_family
        self._largest = largest(state.instance)
        self._always = state.instance.shows_lists

    def are_lists(self, components: Sequence[int]) -> bool:
        """Whether what an arm that shows some components showed is a list.

        It is where the arm shows several, and on every arm of items that are each observed.
        """
        return self._always or len(components) > 1

    def read(self, place: int, value: Any, field: str) -> Any:
        """What a decision showed, as its event holds it."""
        return self.of(self._state.shown_by(place), value, field)

    def of(self, components: Sequence[int], value: Any, field: str) -> Any:
        """What a play of an arm that shows some components showed."""
        if self.are_lists(components):
            if value is None and not components:
                return []
            if not isinstance(value, list | tuple) or len(value) != len(components):
                what = "item" if self._always else "component that the arm shows"
                must = f"be a list of {counted(len(components), 'number')}, one for each {what}"
                raise InputError(field, must, value)
            return [self._number(entry, f"{field}[{i}]") for i, entry in enumerate(value)]
        if not components:  # a duel of an item with itself
            if value is not None:
                self._number(value, field)
            return None
        return self._number(value, field)

    def _number(self, value: Any, field: str) -> float:
        found = number(value, field) + 0.0  # −0.0 and 0.0 are one observation
        if not self._family.covers(found):
            kind = self._state.instance.observation
            raise InputError(field, f"be a possible {kind} observation", found)
        if abs(found) > self._largest:
            raise InputError(field, f"lie in [{-self._largest:g}, {self._largest:g}]", found)
        return found
