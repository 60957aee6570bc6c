"""Data from before a campaign: pairs of an arm and an observation, in CSV or Parquet."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ossb.arm_sets.base import Items
from ossb.arm_sets.table import ArmTable
from ossb.campaigns.observations import Observations
from ossb.campaigns.state import State
from ossb.errors import InputError
from ossb.fields import integer
from ossb.tally import Tally, observe
from ossb.words import hint

Row = tuple[Any, Any]  # arm, observation


def add_up(state: State, rows: Sequence[Row]) -> dict[str, Any]:
    """The tally after telling rows one by one, as an event holds it."""
    tally = Tally(*(leaf.copy() for leaf in state.tally))
    observations, sign = Observations(state), state.instance.observed_sign
    table = None if state.table is None else ArmTable(state.table.arms)
    reveals = state.reveals if table is None else table.arms
    known, plays = len(reveals), tally.plays.tolist()
    for i, (arm, observation) in enumerate(rows):
        if table is None:
            position = _position(state.instance, arm, f"rows[{i}].arm")
        else:
            position = table.place(_items(state.instance, arm, f"rows[{i}].arm"))
        value = observations.of(reveals[position], observation, f"rows[{i}].observation")
        values = value if isinstance(value, list) else [value]
        for component, entry in zip(reveals[position], values, strict=False):
            observe(tally, component, sign * entry)
        plays += [0] * (position + 1 - len(plays))
        plays[position] += 1
        tally.clock[0] += 1
    met = {"met": [list(arm) for arm in reveals[known:]]} if len(reveals) > known else {}
    return {
        **met,
        "counts": tally.counts.tolist(),
        "means": tally.means.tolist(),
        "plays": plays[: len(reveals)],
        "clock": int(tally.clock[0]),
    }


def read_rows(path: str | Path) -> list[Row]:
    """The rows of a CSV or Parquet file with the columns ``arm`` and ``observation``.

    An arm is a number, a name, or, in quotes, a list such as ``[0, 2]``; so is an observation.
    """
    import polars

    source = Path(path)
    try:
        if source.suffix == ".parquet":
            table = polars.read_parquet(source)
        else:
            table = polars.read_csv(source, infer_schema_length=None)
    except (OSError, polars.exceptions.PolarsError) as error:
        line = " ".join(str(error).split())
        raise InputError("file", f"be a readable CSV or Parquet file: {line}", str(path)) from None
    for column in ("arm", "observation"):
        if column not in table.columns:
            raise InputError("file", f"have a column {column!r}", ", ".join(table.columns))
    return [
        (_entry(arm), _entry(observation))
        for arm, observation in table.select("arm", "observation").iter_rows()
    ]


def _entry(value: Any) -> Any:
    """A cell: texts that are lists or numbers are read as such."""
    if not isinstance(value, str):
        return value
    import json

    try:
        return json.loads(value)
    except ValueError:
        return value


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


def _position(instance: Any, arm: Any, field: str) -> int:
    """The position of an arm given by number, by name or as a pair."""
    if isinstance(arm, str):
        names = () if instance.kind == "dueling" else instance.arm_names  # a duel is a pair
        if arm not in names:
            near = hint(arm, names)
            raise InputError(field, f"be the number or the name of an arm{near}", arm)
        return int(list(instance.arm_names).index(arm))
    if isinstance(arm, list | tuple):
        pair = tuple(sorted(integer(item, field) for item in arm))
        if instance.kind != "dueling" or pair not in instance.pairs:
            raise InputError(field, "be an arm", list(arm))
        if list(pair) != list(arm):
            raise InputError(field, "be written with the lower number first", list(arm))
        return int(instance.pairs.index(pair))
    position = integer(arm, field)
    if position >= len(instance.showing()):
        raise InputError(field, f"be below {len(instance.showing())}", position)
    return position
