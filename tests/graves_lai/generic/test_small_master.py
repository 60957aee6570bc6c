"""Pivots on a small inverse against HiGHS."""

import numpy as np
import pytest

from ossb.graves_lai.generic import small_master
from ossb.graves_lai.generic.small_master import SmallMaster
from ossb.graves_lai.linprog import Master


def random_rows(rng, count, size):
    """Rows with many zeros and entries of every size, the largest 1."""
    rows = rng.random((count, size)) * rng.choice([0.0, 1e-6, 1e-2, 1.0], (count, size))
    rows[np.arange(count), rng.integers(size, size=count)] = 1.0
    return rows


@pytest.mark.parametrize("seed", range(20))
def test_rows_that_come_later_are_met_as_by_highs(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 12))
    small, large = SmallMaster(size), Master(np.ones(size))
    every, sides = [], []
    for _ in range(6):
        rows = random_rows(rng, int(rng.integers(1, 9)), size)
        lower = rng.choice([1e-3, 0.3, 1.0], len(rows)) * rng.uniform(0.5, 1.0, len(rows))
        small.add_rows(rows, lower)
        large.add_rows(rows, lower)
        every, sides = [*every, *rows], [*sides, *lower]
        found, known = small.solve(), large.solve()
        assert found.status == known.status == "optimal"
        assert found.value == pytest.approx(known.value, rel=1e-8)
        assert (found.point >= -1e-9).all()
        assert (np.array(every) @ found.point >= np.array(sides) - 1e-9).all()
        assert (found.duals >= 0).all()
        assert (found.duals @ np.array(every) <= 1 + 1e-9).all()
        assert found.duals @ np.array(sides) == pytest.approx(known.value, rel=1e-8)


def test_the_same_row_twice_and_ties_end():
    small = SmallMaster(3)
    rows = np.ones((4, 3))
    small.add_rows(rows, np.ones(4))
    assert small.solve().value == pytest.approx(1.0)
    small.add_rows(np.eye(3), np.full(3, 0.5))
    assert small.solve().value == pytest.approx(1.5)


def test_too_many_pivots_are_told(monkeypatch):
    monkeypatch.setattr(small_master, "PIVOTS", 1)
    small = SmallMaster(3)
    small.add_rows(np.eye(3), np.ones(3))
    found = small.solve()
    assert found.status == "failed"
    assert (found.duals >= 0).all()


def test_rows_that_nothing_meets_are_told():
    small = SmallMaster(2)
    small.add_rows(np.zeros((1, 2)), np.ones(1))
    assert small.solve().status == "failed"
