"""Policies and structures that other packages add, through entry points.

A package says in its ``pyproject.toml``, for instance ::

    [project.entry-points."ossb.policies"]
    round-robin = "its_module:ROUND_ROBIN"

and ``round-robin`` is a policy like those of this package.  Nothing of another package is
imported before its name, or the list of all names, is asked for; one that fails is named and
left out.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from ossb.errors import InputError

Entry = TypeVar("Entry")


class PluginWarning(UserWarning):
    """A package adds something that cannot be used."""


class Registry(Mapping[str, Entry], Generic[Entry]):
    """What this package has by name, and what others add.

    Parameters
    ----------
    group
        The group of entry points that others use.
    own
        What there is without them; their names cannot be taken.
    fault
        Says of a name and what was loaded for it why it cannot be used; None where it can.
    """

    def __init__(
        self,
        group: str,
        own: Mapping[str, Entry],
        fault: Callable[[str, Any], str | None],
    ) -> None:
        self._group, self._own, self._fault = group, own, fault
        self._loaded: dict[str, Entry] = {}
        self._refused: list[tuple[EntryPoint, str]] = []
        self._told: set[str] = set()

    @property
    def own(self) -> Mapping[str, Entry]:
        """What there is without other packages."""
        return self._own

    @cached_property
    def _added(self) -> dict[str, EntryPoint]:
        """Entry points by name; where two packages take one name, the first in order keeps it."""
        added: dict[str, EntryPoint] = {}
        for entry in sorted(entry_points(group=self._group), key=_package):
            if entry.name in self._own:
                self._refused.append((entry, "the name is taken by this package"))
            elif entry.name in added and added[entry.name].value != entry.value:
                keeper = _package(added[entry.name])
                self._refused.append((entry, f"the name is taken by {keeper}"))
            else:
                added.setdefault(entry.name, entry)
        return added

    def __getitem__(self, name: str) -> Entry:
        if name in self._own:
            return self._own[name]
        if name in self._loaded:
            return self._loaded[name]
        if name not in self._added:
            raise KeyError(name)
        return self._load(self._added[name])

    def __contains__(self, name: object) -> bool:
        return name in self._own or name in self._added

    def __iter__(self) -> Iterator[str]:
        """Every name that can be used; what cannot be loaded is warned of, and left out."""
        yield from self._own
        for name, entry in self._added.items():
            try:
                self[name]
            except InputError as error:
                self._warn(entry, error.must)
            else:
                yield name
        for entry, reason in self._refused:
            self._warn(entry, reason)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _load(self, entry: EntryPoint) -> Entry:
        try:
            found = entry.load()
            fault = self._fault(entry.name, found)
        except Exception as error:  # another package's code may fail in any way
            fault = f"{type(error).__name__}: {error}"
        if fault is not None:
            must = f"be usable: {entry.value} of {_package(entry)} is not: {fault}"
            raise InputError(entry.name, must)
        loaded: Entry = found
        self._loaded[entry.name] = loaded
        return loaded

    def _warn(self, entry: EntryPoint, reason: str) -> None:
        message = f"{self._group} {entry.name!r} of {_package(entry)} is left out: {reason}"
        if message not in self._told:
            self._told.add(message)
            warnings.warn(message, PluginWarning, stacklevel=4)


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else ""
