"""Non-negative least squares: the conditions of optimality, and against scipy's."""

import numpy as np
import pytest
from scipy.optimize import nnls

from ossb.numerics.least_squares import nonnegative


@pytest.mark.parametrize("seed", range(60))
def test_no_point_is_nearer(seed):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 25, size=2))
    table = rng.normal(size=shape) if seed % 2 else (rng.random(shape) < 0.3).astype(float)
    if seed % 3 == 0:
        table = table * 10.0 ** rng.integers(-8, 8, shape[1])
    if seed % 5 == 0:
        table[:, 0] = table[:, -1]  # a column twice
    target = rng.normal(size=shape[0]) * 10.0 ** rng.integers(-5, 5)
    found = nonnegative(table, target)
    lengths = np.linalg.norm(table, axis=0)
    _, least = nnls(table / np.where(lengths > 0, lengths, 1.0), target, maxiter=1000)
    assert (found >= 0).all()
    assert np.linalg.norm(table @ found - target) <= least + 1e-11 * np.linalg.norm(target)


def test_nothing_to_reach():
    assert not nonnegative(np.ones((3, 2)), np.zeros(3)).any()
    assert not nonnegative(np.zeros((3, 2)), np.ones(3)).any()
