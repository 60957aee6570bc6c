"""Lists of pairs, as tells and rows of data are given."""

from collections.abc import Iterable, Mapping
from typing import Any

from .errors import InputError  # relative: `ossb-client` ships this file under its own name

ROW = ("arm", "observation")  # what a row of data has, where its values have names


def as_rows(rows: Any) -> list[tuple[Any, Any]]:
    """Rows of data: pairs, a table of two columns, columns by name, or rows with names."""
    what = "an arm and an observation"
    if isinstance(rows, Mapping):
        if set(rows) != set(ROW) or len({len(rows[key]) for key in ROW}) > 1:
            raise InputError("rows", "have `arm` and `observation`, columns of one length", rows)
        rows = list(zip(*(_plain(rows[key]) for key in ROW), strict=True))
    rows = _plain(rows)
    if isinstance(rows, list | tuple) and rows and isinstance(rows[0], Mapping):
        for i, row in enumerate(rows):
            if not isinstance(row, Mapping) or set(row) != set(ROW):
                raise InputError(f"rows[{i}]", f"be {what}", row)
        rows = [(row["arm"], row["observation"]) for row in rows]
    if isinstance(rows, list):
        rows = [_plain(row) for row in rows]
    return as_pairs(rows, "rows", what)


def _plain(values: Any) -> Any:
    """An array's numbers; arms in a table of floats are whole numbers again."""
    if not hasattr(values, "tolist"):
        return values
    table = values.tolist()
    if getattr(values, "ndim", 0) == 2 and getattr(values.dtype, "kind", "") == "f":
        return [[int(x) if x.is_integer() else x, *rest] for x, *rest in table]
    return table


def id_of(decision: Any) -> Any:
    """The id of a decision, given by itself or with all that an ask answers."""
    if type(decision) is str:
        return decision
    if isinstance(decision, Mapping):
        return decision.get("id", decision)
    return getattr(decision, "id", decision)


def as_pairs(entries: Any, field: str, what: str) -> list[tuple[Any, Any]]:
    """Entries that are pairs, as they should be."""
    if isinstance(entries, list):
        pairs = entries
    elif isinstance(entries, str | bytes | Mapping) or not isinstance(entries, Iterable):
        raise InputError(field, "be a list of pairs", entries)
    else:
        pairs = list(entries)
    for i, pair in enumerate(pairs):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise InputError(f"{field}[{i}]", f"be {what}", pair)
    return [(first, second) for first, second in pairs]
