import numpy as np
import pytest

from ossb.graves_lai.generic.newton import factorise, solve_factored


@pytest.mark.parametrize("size", [1, 2, 5, 12])
def test_solutions_are_those_of_numpy(size):
    rng = np.random.default_rng(size)
    matrix, swaps = rng.normal(size=(size, size)), np.zeros(size, np.int64)
    matrix[0, 0] = 0.0 if size > 1 else 1.0  # a pivot must be looked for
    vector = rng.normal(size=size)
    expected = np.linalg.solve(matrix, vector)
    factors = matrix.copy()
    assert factorise(factors, swaps, size)
    solve_factored(factors, swaps, vector, size)
    assert vector == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("entry", [0.0, np.nan])
def test_a_singular_matrix_is_refused(entry):
    assert not factorise(np.full((2, 2), entry), np.zeros(2, np.int64), 2)
