"""Progress: a bar with rate, time left and current cell on a terminal, lines elsewhere."""

import io
import sys
import time
from types import SimpleNamespace

import pytest

from ossb.cli import progress as module
from ossb.cli.progress import CellProgress, RoundProgress

CELL = SimpleNamespace(label="ucb1:proxy=2.0", group="one")


class Terminal(io.StringIO):
    def isatty(self):
        return True


def terminal(monkeypatch):
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "xterm-256color")
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    return screen


@pytest.fixture
def clock(monkeypatch):
    """A clock that is set by hand."""
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    return now


def test_cells_on_a_terminal(monkeypatch):
    screen = terminal(monkeypatch)
    with CellProgress() as progress:
        progress.say("compiling")
        progress(CELL, 3, 12)
        time.sleep(0.01)
        progress(CELL, 4, 12)
        progress._bar.refresh()
    shown = screen.getvalue()
    assert "compiling" in shown
    assert "4/12" in shown
    assert "ucb1:proxy=2.0 on one" in shown
    assert "cells/s" in shown


def test_cells_elsewhere(capsys, clock):
    with CellProgress() as progress:
        progress.say("compiling")
        clock[0] += 60.0  # compiling does not count
        progress(CELL, 5, 12)
        clock[0] += 4.0
        progress(CELL, 7, 12)
        clock[0] += 7.0
        progress(CELL, 8, 12)
        progress(CELL, 12, 12)
    assert capsys.readouterr().err.splitlines() == [
        "compiling",
        "7/12 cells, 0.50 cells/s, 10 s left: ucb1:proxy=2.0 on one",
        "12/12 cells, 0.64 cells/s, 0 s left: ucb1:proxy=2.0 on one",
    ]


def test_a_single_cell(capsys, clock):
    CellProgress()(CELL, 1, 1)
    assert capsys.readouterr().err == "1/1 cells, 0.00 cells/s, 0 s left: ucb1:proxy=2.0 on one\n"


def test_rounds_on_a_terminal(monkeypatch):
    screen = terminal(monkeypatch)
    with RoundProgress(100) as progress:
        progress("hgl", 40)
        progress.say("compiling")
        progress._bar.refresh()
    assert "40%" in screen.getvalue()
    assert "compiling" in screen.getvalue()


def test_rounds_elsewhere(capsys, clock):
    with RoundProgress(100) as progress:
        progress("hgl", 10)
        clock[0] += 20.0
        progress("hgl", 40)
        progress.say("done soon")
    assert capsys.readouterr().err.splitlines() == [
        "hgl: 50%, 2 rounds/s, 20 s left",
        "done soon",
    ]
