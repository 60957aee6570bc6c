"""Files of data from before a campaign, CSV or Parquet: an arm and an observation in each row."""

import csv
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from ossb.errors import InputError
from ossb.extras import load
from ossb.words import counted

Row = tuple[Any, Any]  # arm, observation
COLUMNS = ("arm", "observation")
CONTEXT = "context"  # a column that may stand beside them


def read_rows(path: str | Path) -> list[Row]:
    """The rows of a file with the columns ``arm`` and ``observation``; ``-`` reads CSV from stdin.

    An arm is a name, a number, or, in quotes, a list such as ``[0, 2]``: which of them is for the
    campaign to say, so numbers come as they are written.  So may an observation be a list.  Where
    there is a column ``context`` too, an arm is the pair of both.
    """
    if Path(path).suffix == ".parquet":
        return _parquet(path)
    return _csv(path)


def entry(value: Any) -> Any:
    """A cell: texts that are lists or numbers are read as such."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _csv(path: str | Path) -> list[Row]:
    try:
        if str(path) == "-":
            return _read(sys.stdin)
        with open(path, newline="", encoding="utf-8-sig") as file:
            return _read(file)
    except (OSError, ValueError, csv.Error) as error:
        if isinstance(error, InputError):
            raise
        raise _unreadable(path, error) from None


def _read(file: TextIO) -> list[Row]:
    reader = csv.reader(file, strict=True)
    columns = next(reader, [])
    places = [_place(column, columns) for column in _wanted(columns)]
    rows = []
    for row in reader:
        if not row:
            continue  # an empty line
        if len(row) != len(columns):
            said = f"{counted(len(row), 'cell')} in line {reader.line_num}"
            raise InputError("file", f"have {len(columns)} cells in every line", said)
        *who, observation = (row[place] or None for place in places)
        rows.append((_arm(who), entry(observation)))
    return rows


def _parquet(path: str | Path) -> list[Row]:
    polars = load("polars", "file")
    try:
        table = polars.read_parquet(path)
    except (OSError, ValueError, polars.exceptions.PolarsError) as error:
        raise _unreadable(path, error) from None
    wanted = _wanted(table.columns)
    for column in wanted:
        _place(column, table.columns)
    return [
        (_arm(who), entry(observation)) for *who, observation in table.select(*wanted).iter_rows()
    ]


def _wanted(columns: Sequence[str]) -> list[str]:
    """The columns that are read: who asked comes before the arm."""
    return [CONTEXT] * (CONTEXT in columns) + list(COLUMNS)


def _arm(cells: Sequence[Any]) -> Any:
    """An arm as a campaign reads it, by itself or after its context."""
    texts = [str(cell) if isinstance(cell, int | float) else cell for cell in cells]
    return texts if len(texts) > 1 else texts[0]


def _place(column: str, columns: Sequence[str]) -> int:
    if column not in columns:
        raise InputError("file", f"have a column {column!r}", ", ".join(columns))
    return columns.index(column)


def _unreadable(path: str | Path, error: Exception) -> InputError:
    line = " ".join(str(error).split())
    return InputError("file", f"be a readable CSV or Parquet file: {line}", str(path))
