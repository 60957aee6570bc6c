"""Contexts: who asks decides which arms there are, and all of them share one parameter.

Each context has its rows of features: its own, or those of arms that all share, as they are, by
an interaction with the context, or some of them.  Inside, all rows stand in one list, context
after context.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ossb import fields as read
from ossb.errors import InputError

KEYS = ("name", "weight", "arms", "features", "available", "arm_names")
INTERACTIONS = ("product", "effects")


class Layout(NamedTuple):
    """Where the rows of each context stand, and how contexts and arms are called.

    Parameters
    ----------
    starts
        Rows ``starts[z]`` up to ``starts[z + 1]`` are those of context z.
    numbers
        The number of the arm of each row, within its context.
    names, arm_names
        Of contexts, and of the rows.
    weights
        How often each context comes, as shares.
    """

    starts: np.ndarray
    numbers: np.ndarray
    names: tuple[str, ...]
    arm_names: tuple[str, ...]
    weights: np.ndarray

    @property
    def n_contexts(self) -> int:
        return len(self.names)

    def rows(self, context: int) -> range:
        """The rows of a context."""
        return range(int(self.starts[context]), int(self.starts[context + 1]))

    def context_of(self, row: int) -> int:
        """The context that a row belongs to."""
        return int(np.searchsorted(self.starts, row, side="right")) - 1

    def context(self, value: Any, field: str = "context") -> int:
        """The number of a context that a user names, by number or name."""
        if isinstance(value, str):
            if value.isdecimal() and value not in self.names:
                return self.context(int(value), field)
            if value not in self.names:
                known = ", ".join(self.names[:20])
                raise InputError(field, f"be one of {known}", value)
            return self.names.index(value)
        place = read.integer(value, field)
        if place >= self.n_contexts:
            raise InputError(field, f"be below {self.n_contexts}", place)
        return place

    def row(self, arm: Any, field: str = "arm") -> int:
        """The row of an arm, written ``[context, arm]``."""
        if not isinstance(arm, list | tuple) or len(arm) != 2:
            raise InputError(field, "be a pair [context, arm]", arm)
        return self.row_in(self.context(arm[0], f"{field}[0]"), arm[1], f"{field}[1]")

    def row_in(self, context: int, arm: Any, field: str) -> int:
        """The row of an arm of a context, by its number or name."""
        rows = self.rows(context)
        if isinstance(arm, str):
            names = list(self.arm_names[rows.start : rows.stop])
            if arm in names:
                return rows.start + names.index(arm)
            if arm.isdecimal():
                return self.row_in(context, int(arm), field)
            must = f"be the number or the name of an arm of context {self.names[context]}"
            raise InputError(field, must, arm)
        number = read.integer(arm, field)
        found = np.flatnonzero(self.numbers[rows.start : rows.stop] == number)
        if not found.size:
            raise InputError(field, f"be an arm of context {self.names[context]}", number)
        return rows.start + int(found[0])


class Contexts(NamedTuple):
    """Contexts as read: their rows, the layout, and their keys as a file holds them."""

    rows: np.ndarray
    layout: Layout
    plain: list[dict[str, Any]]


def read_contexts(value: Any, arms: Any, interaction: Any, names: Sequence[str]) -> Contexts:
    """The contexts of an instance.

    Parameters
    ----------
    value
        A list of tables; see ``KEYS``.
    arms
        Features of the arms that contexts share, where they do.
    interaction
        How the rows of shared arms come about: ``product`` (of the context's features and the
        arm's), ``effects`` (the arm's features, and again for its context alone), or None, which
        leaves them as they are.
    names
        Of the shared arms.
    """
    shared = None if arms is None else read.matrix(arms, "arms")
    if interaction is not None:
        read.choice(interaction, "interaction", INTERACTIONS)
        if shared is None:
            raise InputError("arms", "be given: an interaction is one of arms that all share")
    if not isinstance(value, list | tuple) or not value:
        raise InputError("contexts", "be a list of at least one table", value)
    titles, weights = read_who(value, KEYS, "contexts")
    entries = [_entry(entry) for entry in value]
    blocks: list[np.ndarray] = []
    numbers: list[int] = []
    called: list[str] = []
    width: int | None = None
    for z, entry in enumerate(entries):
        rows, which = _rows(entry, z, len(entries), shared, interaction, width)
        if width is None and interaction == "product":
            width = len(entry["features"])
        if blocks and rows.shape[1] != blocks[0].shape[1]:
            must = f"have as many features as those of contexts[0], {blocks[0].shape[1]}"
            raise InputError(f"contexts[{z}].arms", must, int(rows.shape[1]))
        own = names
        if "arm_names" in entry:
            own = read.names(entry["arm_names"], f"contexts[{z}].arm_names", len(rows))
            called += list(own)
        else:
            if names and shared is not None and "arms" not in entry:
                read.names(names, "arm_names", len(shared))
            elif names:
                read.names(names, "arm_names", len(rows))
            called += [names[x] if names else str(x) for x in which]
        blocks.append(rows)
        numbers += which
    starts = np.cumsum([0, *map(len, blocks)])
    shares = np.array(weights) / np.sum(weights)
    layout = Layout(starts, np.array(numbers), tuple(titles), tuple(called), shares)
    return Contexts(np.vstack(blocks), layout, entries)


def read_who(
    entries: Sequence[Any], keys: Sequence[str], field: str
) -> tuple[list[str], list[float]]:
    """How contexts or segments are called, by default by their numbers, and their weights."""
    titles: list[str] = []
    weights = []
    for z, entry in enumerate(entries):
        where = f"{field}[{z}]"
        if not isinstance(entry, Mapping):
            raise InputError(where, "be a table of keys", entry)
        read.check_keys(entry, keys, f"a key of {where}")
    for z, entry in enumerate(entries):
        given = entry.get("name")
        title = read.seen(str(z) if given is None else given, f"{field}[{z}].name")
        if title in titles:
            raise InputError(f"{field}[{z}].name", "be distinct", title)
        titles.append(title)
    for z, entry in enumerate(entries):
        given = entry.get("weight")
        weight = read.number(1.0 if given is None else given, f"{field}[{z}].weight")
        if not weight > 0.0:
            raise InputError(f"{field}[{z}].weight", "be positive", weight)
        weights.append(weight)
    return titles, weights


def _entry(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of one context, in plain data."""
    given = {key: entry[key] for key in KEYS if entry.get(key) is not None}
    return {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in given.items()}


def _rows(
    entry: dict[str, Any],
    z: int,
    count: int,
    shared: np.ndarray | None,
    interaction: str | None,
    width: int | None,
) -> tuple[np.ndarray, list[int]]:
    """The rows of one context, and the numbers of their arms.

    Parameters
    ----------
    width
        How many features the first context has, of its own.
    """
    where = f"contexts[{z}]"
    if "arms" in entry:
        for key in ("features", "available"):
            if key in entry:
                raise InputError(f"{where}.{key}", "be left out: the context has arms of its own")
        if interaction is not None:
            raise InputError(f"{where}.arms", "be left out: contexts share the arms")
        rows = read.matrix(entry["arms"], f"{where}.arms")
        if not rows.size:
            raise InputError(f"{where}.arms", "hold at least one arm of at least one feature")
        return rows, list(range(len(rows)))
    if shared is None:
        raise InputError(f"{where}.arms", "be given: a list of feature vectors")
    numbers = list(range(len(shared)))
    if "available" in entry:
        numbers = _available(entry["available"], f"{where}.available", len(shared))
    if ("features" in entry) != (interaction == "product"):
        must = "be given" if interaction == "product" else "be left out: no product asks for them"
        raise InputError(f"{where}.features", must)
    rows = shared[numbers]
    if interaction == "product":
        own = read.vector(entry["features"], f"{where}.features", width)
        return (own[None, :, None] * rows[:, None, :]).reshape(len(rows), -1), numbers
    if interaction == "effects":
        width = rows.shape[1]
        wide = np.zeros((len(rows), width * (1 + count)))
        wide[:, :width] = rows
        wide[:, width * (1 + z) : width * (2 + z)] = rows
        return wide, numbers
    return rows, numbers


def _available(value: Any, where: str, n_arms: int) -> list[int]:
    if not isinstance(value, list | tuple) or not value:
        raise InputError(where, "be a list of at least one arm", value)
    numbers = [read.integer(x, f"{where}[{i}]") for i, x in enumerate(value)]
    for i, x in enumerate(numbers):
        if x >= n_arms:
            raise InputError(f"{where}[{i}]", f"be below {n_arms}", x)
        if x in numbers[:i]:
            raise InputError(f"{where}[{i}]", "be distinct", x)
    return sorted(numbers)
