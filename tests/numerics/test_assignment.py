"""Assignments against scipy's."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from ossb.numerics.assignment import assign, heaviest


@pytest.mark.parametrize("seed", range(60))
def test_no_assignment_is_heavier(seed):
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(1, 9))
    shape = (rows, rows + int(rng.integers(0, 4)))
    unit = 10.0 ** rng.integers(-9, 9)
    weights = unit * (rng.normal(size=shape) if seed % 3 else rng.integers(-2, 3, shape))
    weights[rng.random(shape) < rng.choice([0.0, 0.3, 0.6])] = -np.inf
    columns = heaviest(weights)
    try:
        best = weights[linear_sum_assignment(weights, maximize=True)].sum()
    except ValueError:
        assert columns is None
        return
    assert len(set(columns.tolist())) == rows
    assert weights[np.arange(rows), columns].sum() == pytest.approx(
        best, rel=1e-12, abs=1e-12 * unit
    )


def test_more_rows_than_columns_have_none():
    assert heaviest(np.zeros((3, 2))) is None


def test_compiled_is_bit_for_bit_the_same():
    weights = np.random.default_rng(4).normal(size=(6, 8))
    found = []
    for run in (assign.function, assign.compiled):
        heights, prices, owner = np.zeros(6), np.zeros(9), np.full(9, -1)
        work = (np.empty(9), np.empty(9, dtype=np.int64), np.empty(9, dtype=np.bool_))
        assert run(weights, heights, prices, owner, *work)
        found.append((heights.tobytes(), prices.tobytes(), owner.tobytes()))
    assert found[0] == found[1]
