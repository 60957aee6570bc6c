"""Decisions in files: CSV, Parquet, or JSON lines."""

import csv
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from ossb.errors import InputError
from ossb.extras import load
from ossb.files import replacing

COLUMNS = ("id", "arm", "arm_name", "phase", "status", "observation", "asked", "told")

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # how one begins


def write(entries: Iterator[dict[str, Any]], out: str) -> int:
    """Write decisions; returns how many.  Lists are written as JSON texts in tables.

    A file that is there stays until all is written.
    """
    kind = Path(out).suffix
    if out != "-" and kind not in (".csv", ".parquet", ".jsonl"):
        raise InputError("out", "end in .csv, .parquet or .jsonl", out)
    try:
        if out == "-":
            return _lines(entries, sys.stdout)
        with replacing(out) as aside:
            if kind == ".parquet":
                return _parquet(entries, aside)
            with open(aside, "w", encoding="utf-8", newline="") as file:
                return _csv(entries, file) if kind == ".csv" else _lines(entries, file)
    except OSError as error:
        raise InputError("out", f"be a file that can be written: {error.strerror}", out) from None


def _lines(entries: Iterator[dict[str, Any]], file: TextIO) -> int:
    count = 0
    for entry in entries:
        file.write(json.dumps(entry, ensure_ascii=False) + "\n")
        count += 1
    return count


def _csv(entries: Iterator[dict[str, Any]], file: TextIO) -> int:
    writer = csv.DictWriter(file, COLUMNS)
    writer.writeheader()
    count = 0
    for entry in entries:
        writer.writerow({key: _harmless(_cell(value)) for key, value in entry.items()})
        count += 1
    return count


def _parquet(entries: Iterator[dict[str, Any]], out: Path) -> int:
    polars = load("polars", "out")

    rows = [{key: _cell(value) for key, value in entry.items()} for entry in entries]
    lists = any(isinstance(row["arm"], str) for row in rows)
    texts = any(isinstance(row["observation"], str) for row in rows)
    schema: dict[str, Any] = dict.fromkeys(COLUMNS, polars.String)
    schema["arm"] = polars.String if lists else polars.Int64
    schema["observation"] = polars.String if texts else polars.Float64
    schema["asked"] = schema["told"] = polars.Float64
    polars.DataFrame(rows, schema=schema).write_parquet(out)
    return len(rows)


def _harmless(value: Any) -> Any:
    """A text that a spreadsheet would run as a formula, with a quote before it."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def _cell(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, list) else value
