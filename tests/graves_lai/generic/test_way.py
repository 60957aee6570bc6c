"""Compiled code is taken where it pays."""

import numpy as np
import pytest

from ossb.graves_lai.generic import way as way_module
from ossb.graves_lai.generic.course import POINT, course_of
from ossb.graves_lai.generic.path import follow
from ossb.graves_lai.generic.way import AHEAD, MANY, SOON, WORTH, Way


def programs(columns):
    one = np.ones((1, columns, columns))
    return course_of(
        np.zeros(columns), one[0, :1], one[0, :1], one, -one, one[0, :1], np.eye(columns)[None]
    )


@pytest.fixture
def ways(monkeypatch):
    """Names of the ways that were gone; nothing is compiled, nor cached."""
    gone = []
    monkeypatch.setattr(follow, "function", lambda *arguments: gone.append("interpreted"))
    monkeypatch.setitem(follow.__dict__, "compiled", lambda *arguments: gone.append("compiled"))
    monkeypatch.setattr(type(follow), "is_compiled", lambda self, *arguments: False)
    return gone


def size_of(columns):
    return 2 * columns**3


def test_small_programs_are_interpreted_until_there_were_many(ways):
    way = Way()
    assert AHEAD * size_of(2) < SOON
    for _ in range(WORTH // size_of(2) + 2):
        way.go(0, 1.0, 1e-6, programs(2))
    assert ways == ["interpreted"] * (len(ways) - 1) + ["compiled"]


def test_large_programs_are_compiled_at_once(ways):
    columns = 20
    assert AHEAD * size_of(columns) > MANY
    Way().go(0, 1.0, 1e-6, programs(columns))
    assert ways == ["compiled"]


def test_what_is_cached_is_taken_soon(ways, monkeypatch):
    monkeypatch.setattr(type(follow), "is_compiled", lambda self, *arguments: True)
    way, columns = Way(), 9
    assert SOON < AHEAD * size_of(columns) < MANY
    way.go(0, 1.0, 1e-6, programs(2))
    way.go(0, 1.0, 1e-6, programs(columns))
    assert ways == ["interpreted", "compiled"]


def test_nobody_waits_where_others_compile(ways):
    way = Way()
    with way.aside():
        way.go(0, 1.0, 1e-6, programs(20))
        way.spent = 10 * WORTH
        way.go(0, 1.0, 1e-6, programs(20))
    way.go(0, 1.0, 1e-6, programs(20))
    assert ways == ["interpreted", "interpreted", "compiled"]


def test_to_compile_is_to_be_ready():
    way = Way()
    way.compile()
    assert way.compiled
    assert way.is_cached()
    arguments = way_module._example()
    way.go(*arguments)
    assert arguments[-1].by_column[0, POINT, 0] == pytest.approx(0.0, abs=1e-3)
