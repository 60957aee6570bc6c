"""What was once wrong at some scale is right: every row of the page, with fewer rounds and runs."""

import importlib.util
import sys

import pytest

from docs_pages import ROOT

sys.path.append(str(ROOT / "benchmarks"))  # where its families of observations are
SPEC = importlib.util.spec_from_file_location(
    "reproductions_of_ossb", ROOT / "benchmarks" / "reproductions.py"
)
reproductions = importlib.util.module_from_spec(SPEC)
sys.modules[SPEC.name] = reproductions  # records look for their module
SPEC.loader.exec_module(reproductions)
PAGE = ROOT / "docs" / "right-at-every-scale.md"


@pytest.mark.parametrize("row", reproductions.REPRODUCED, ids=lambda row: row.tried)
def test_it_is_right_now(row):
    is_right, now = row.answer(True)
    assert is_right, now


def test_the_page_is_what_the_command_writes():
    rows = PAGE.read_text("utf-8").removeprefix(reproductions.page({})).splitlines()
    shown = [tuple(row.strip("| ").split(" | ")[:3]) for row in rows]
    assert shown == [(row.part, row.tried, row.before) for row in reproductions.REPRODUCED]
    assert not any("**wrong**" in row for row in rows)


def test_a_wrong_answer_is_shown_as_one():
    row = reproductions.REPRODUCED[0]
    assert "**wrong**: 7 / 8 |" in reproductions.page({row.tried: (False, "7 | 8")})


def test_a_page_keeps_the_rows_that_are_not_asked_for():
    first, second = reproductions.REPRODUCED[:2]
    begun = reproductions.page({first.tried: (True, "7"), second.tried: (True, "8")})
    again = reproductions.page({second.tried: (True, "9")}, begun)
    assert again == begun.replace("| 8 |", "| 9 |")
