import numpy as np
import pytest

from lipschitz_instances import FAMILIES, METRICS, instance, program, smooth_line
from ossb.graves_lai.lipschitz import repair as repair_module
from ossb.graves_lai.lipschitz import solve
from ossb.graves_lai.lipschitz.certificate import certify
from ossb.graves_lai.lipschitz.memory import PIVOTS, PRICES, SPEND
from ossb.graves_lai.lipschitz.repair import repair
from ossb.graves_lai.lipschitz.solution import _laid_out as laid_out


def hold(memory, rows, columns):
    n = memory.active.size
    memory.free[:n] = True
    memory.free[n:] = False
    memory.free[np.asarray(columns, dtype=int)] = False
    memory.free[n + np.asarray(rows, dtype=int)] = True


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("name", ["bernoulli", "gaussian", "exponential"])
def test_any_basis_leads_to_the_optimum(name, metric):
    theta, distances = instance(FAMILIES[name], metric, 14, 4)
    matrix, costs, _ = program(theta, distances, FAMILIES[name])
    value = solve(matrix, costs).upper
    rng = np.random.default_rng(0)
    for size in (0, 1, 6, 13):
        memory = laid_out(matrix, costs)
        arms = rng.choice(13, size, replace=False)  # the diagonal makes such a core regular here
        hold(memory, arms, arms)
        assert repair(memory, 500)
        assert certify(memory) <= 1e-9
        assert memory.vectors[SPEND].sum() == pytest.approx(value, rel=1e-9)


def test_the_basis_of_the_optimum_needs_no_pivot():
    matrix, costs, _ = program(*smooth_line(30, 3), FAMILIES["bernoulli"])
    optimum = solve(matrix, costs)
    memory = laid_out(matrix, costs)
    hold(memory, optimum.rows, optimum.columns)
    assert repair(memory, 0)
    assert memory.state[PIVOTS] == 0
    assert memory.vectors[SPEND] / costs == pytest.approx(optimum.rates, rel=1e-9, abs=1e-9)
    assert memory.vectors[PRICES] == pytest.approx(optimum.weights, rel=1e-9, abs=1e-9)


def test_many_pivots_are_factored_in_between():
    matrix, costs, _ = program(*smooth_line(75, 5), FAMILIES["bernoulli"])
    memory = laid_out(matrix, costs)
    assert repair(memory, 1000)
    assert memory.state[PIVOTS] > 60
    assert certify(memory) <= 1e-9


def test_degenerate_programs_are_repaired():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 16))
        matrix = rng.integers(0, 2, (n, n)).astype(float)
        np.fill_diagonal(matrix, 1.0)
        memory = laid_out(matrix, np.ones(n))
        assert repair(memory, 200)
        assert certify(memory) <= 1e-9
        assert memory.vectors[SPEND].sum() == pytest.approx(solve(matrix, np.ones(n)).upper)


def test_it_gives_up_where_it_must():
    matrix, costs = np.array([[1.0, 1.0], [1.0, 1.0]]), np.array([1.0, 2.0])
    memory = laid_out(matrix, costs)
    hold(memory, [0, 1], [0, 1])
    assert not repair(memory, 10)  # singular
    hold(memory, [0, 1], [0])
    assert not repair(memory, 10)  # not square
    hold(memory, [], [])
    assert not repair(memory, 0)  # no pivots granted
    empty_row = laid_out(np.array([[1.0, 0.0], [0.0, 1.0]]), np.ones(2))
    hold(empty_row, [0], [1])
    assert not repair(empty_row, 10)


def test_it_gives_up_on_a_row_that_nothing_covers():
    memory = laid_out(np.eye(2), np.ones(2))
    memory.squares[:2, 0, 0] = 0.0
    assert not repair(memory, 10)


def test_it_gives_up_where_row_and_column_disagree(monkeypatch):
    monkeypatch.setattr(repair_module, "AGREE", -1.0)
    assert not repair(laid_out(np.eye(2), np.ones(2)), 10)
