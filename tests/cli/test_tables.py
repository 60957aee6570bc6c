"""Tables that are drawn quickly are the ones that rich draws."""

import io

import pytest
from rich.console import Console

from ossb.cli import tables

CASES = {
    "numbers": (("arm", "gap Δ", "share"), [("39", "0.600263", "52.0%"), ("7", "1e-09", "")]),
    "names of double width": (("arm", "gap"), [("東京", "1"), ("[red]x[/red]", "22")]),
    "accents apart": (("arm", "gap"), [("e\u0301te\u0301", "1")]),
    "nothing": (("arm", "gap"), [("nothing needs exploring", "")]),
    "as wide as there is room": (("arm", "gap"), [("x" * 50, "1" * 23)]),
    "too wide": (("arm", "gap"), [("x" * 50, "1" * 24)]),
    "much too wide": (("arm", "gap"), [("word " * 30, "1")]),
    "lines": (("arm", "gap"), [("one\ntwo", "1")]),
    "tabs": (("arm", "gap"), [("one\ttwo", "1")]),
}


def printed(case, terminal):
    console = Console(file=io.StringIO(), width=80, force_terminal=terminal, color_system=None)
    tables.Paper(console).print_table(*case)
    return console.file.getvalue()


@pytest.mark.parametrize("name", CASES)
def test_drawn_and_printed_are_the_same(name, monkeypatch):
    drawn = printed(CASES[name], terminal=False)
    monkeypatch.setattr(tables, "drawn_table", lambda *_: None)
    assert drawn == printed(CASES[name], terminal=False)


def test_what_needs_care_is_left_to_rich():
    width = {name: tables.drawn_table(*case, 80) for name, case in CASES.items()}
    assert [name for name, drawn in width.items() if drawn is None] == [
        "too wide", "much too wide", "lines", "tabs"
    ]  # fmt: skip


def test_terminals_are_left_to_rich(monkeypatch):
    monkeypatch.setattr(tables, "drawn_table", lambda *_: pytest.fail("a terminal has colours"))
    assert "arm" in printed(CASES["numbers"], terminal=True)
