import numpy as np
import pytest
from scipy.optimize import linprog

from ossb.graves_lai.linprog import Master, solve_lp


def test_a_small_program_and_its_duals():
    solution = solve_lp(np.array([1.0, 2.0]), np.array([[1.0, 1.0], [0.0, 1.0]]), [2.0, 0.5])
    assert solution.status == "optimal"
    assert solution.value == pytest.approx(2.5)
    assert solution.point == pytest.approx([1.5, 0.5])
    assert solution.duals == pytest.approx([1.0, 1.0])


def test_upper_sides_have_multipliers_of_the_other_sign():
    solution = solve_lp(np.array([-1.0]), np.array([[2.0]]), row_upper=3.0)
    assert solution.point == pytest.approx([1.5])
    assert solution.duals == pytest.approx([-0.5])


@pytest.mark.parametrize(
    ("matrix", "row_lower", "status"),
    [([[1.0], [-1.0]], 1.0, "infeasible"), ([[1.0]], 0.0, "unbounded")],
)
def test_status_words(matrix, row_lower, status):
    assert solve_lp(np.array([-1.0]), np.array(matrix), row_lower).status == status


def test_rows_added_keep_the_model_right():
    rng = np.random.default_rng(3)
    costs = rng.uniform(0.5, 1.5, 6)
    master = Master(costs)
    rows = rng.uniform(0.0, 1.0, (12, 6))
    master.add_rows(np.zeros((0, 6)))
    for row in rows:
        master.add_rows(row, 1.0)
        master.solve()
    reference = linprog(costs, -rows, -np.ones(12))
    assert master.n_rows == 12
    assert master.solve().value == pytest.approx(reference.fun)


@pytest.mark.parametrize("size", [1e4, 3e6, 1e9, 1e12, 3e17, 1e100])
def test_the_unit_of_a_row_means_nothing(size):
    """The solver refuses entries from 1e15 on, and then nothing bounds the program."""
    solution = solve_lp(np.array([-1.0, 0.0]), np.array([[size, 1.0]]), row_upper=2.0 * size)
    assert solution.status == "optimal"
    assert solution.point[0] == pytest.approx(2.0)
    assert solution.duals == pytest.approx([-1.0 / size])


def test_multipliers_are_those_of_the_rows_as_they_were_given():
    master = Master(np.array([-1.0]))
    master.add_rows(np.array([[1e200], [1.0], [1e-3]]), upper=[1e200, 3.0, 4e-4])
    assert master.solve().duals == pytest.approx([0.0, 0.0, -1e3])


def test_a_program_with_a_row_that_was_refused_is_not_solved():
    assert solve_lp(np.array([1.0]), np.array([[np.inf]]), 1.0).status == "failed"
