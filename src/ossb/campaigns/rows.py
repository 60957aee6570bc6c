"""Files of data from before a campaign, CSV or Parquet: an arm and an observation in each row."""

import json
import sys
from pathlib import Path
from typing import Any

from ossb.errors import InputError

Row = tuple[Any, Any]  # arm, observation


def read_rows(path: str | Path) -> list[Row]:
    """The rows of a file with the columns ``arm`` and ``observation``; ``-`` reads CSV from stdin.

    An arm is a name, a number, or, in quotes, a list such as ``[0, 2]``: which of them is for the
    campaign to say, so numbers come as they are written.  So may an observation be a list.
    """
    table = _table(path)
    for column in ("arm", "observation"):
        if column not in table.columns:
            raise InputError("file", f"have a column {column!r}", ", ".join(table.columns))
    return [
        (str(arm) if isinstance(arm, int | float) else arm, entry(observation))
        for arm, observation in table.select("arm", "observation").iter_rows()
    ]


def entry(value: Any) -> Any:
    """A cell: texts that are lists or numbers are read as such."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _table(path: str | Path) -> Any:
    import polars

    try:
        if Path(path).suffix == ".parquet":
            return polars.read_parquet(path)
        source = sys.stdin.read().encode() if str(path) == "-" else Path(path)
        # names such as 15.90 and 007 would not survive being read as numbers
        names = {"arm": polars.String}
        return polars.read_csv(source, infer_schema_length=None, schema_overrides=names)
    except (OSError, ValueError, polars.exceptions.PolarsError) as error:
        line = " ".join(str(error).split())
        raise InputError("file", f"be a readable CSV or Parquet file: {line}", str(path)) from None
