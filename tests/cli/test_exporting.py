"""Files of decisions."""

import csv
import json

import pytest

from ossb.cli.exporting import COLUMNS, write
from ossb.client import ServiceError

ENTRY = {**dict.fromkeys(COLUMNS, "x"), "arm": 0, "observation": 1.0, "asked": 1.0, "told": 2.0}


def failing():
    yield ENTRY
    raise ServiceError(404, "unknown_campaign", "there is no campaign 'nope'", "name")


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_what_was_there_stays_until_all_is_written(tmp_path, suffix):
    keep = tmp_path / f"keep.{suffix}"
    keep.write_text("precious")
    with pytest.raises(ServiceError):
        write(failing(), str(keep))
    assert keep.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [keep]
    assert write(iter([ENTRY]), str(keep)) == 1
    assert b"precious" not in keep.read_bytes()


def test_lines_hold_all_columns(tmp_path):
    out = tmp_path / "rows.jsonl"
    write(iter([ENTRY]), str(out))
    assert json.loads(out.read_text()) == ENTRY


def test_a_spreadsheet_runs_nothing(tmp_path):
    names = ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "＝1", "plain", "a=b"]
    entries = [
        {**dict.fromkeys(COLUMNS), "arm": i, "arm_name": name, "observation": -1.5}
        for i, name in enumerate(names)
    ]
    write(iter(entries), str(tmp_path / "a.csv"))
    with open(tmp_path / "a.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["arm_name"] for row in rows] == [f"'{name}" for name in names[:6]] + names[6:]
    assert {row["observation"] for row in rows} == {"-1.5"}
