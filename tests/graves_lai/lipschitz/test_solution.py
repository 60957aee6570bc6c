import numpy as np
import pytest

import golden
from lipschitz_instances import FAMILIES, METRICS, instance, program, smooth_line
from ossb.errors import InputError
from ossb.families import family_named
from ossb.graves_lai.linprog import solve_lp
from ossb.graves_lai.lipschitz import certified, solve
from ossb.graves_lai.lipschitz import solution as solution_module


def reference(matrix, costs):
    return solve_lp(np.ones(costs.size), matrix / costs, row_lower=1.0).value


def assert_optimal(matrix, costs, gap=1e-9, **options):
    solution = solve(matrix, costs, **options)
    assert solution.lower <= solution.upper
    assert solution.gap <= gap
    assert (matrix @ solution.rates).min() >= 1 - 1e-12
    assert (matrix.T @ solution.weights / costs).max() <= 1 + 1e-12
    return solution


@pytest.mark.parametrize(("data", "expected"), golden.parameters("lipschitz"))
def test_golden_values(data, expected):
    points = np.array(data["points"], dtype=float).reshape(len(data["theta"]), -1)
    distances = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    distances *= data["lipschitz_constant"]
    family = family_named(data["observation"])
    matrix, costs, _ = program(np.array(data["theta"]), distances, family)
    solution = assert_optimal(matrix, costs)
    assert solution.upper == pytest.approx(expected["value"], rel=1e-5)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("name", FAMILIES)
def test_equals_highs(name, metric):
    for seed, n in enumerate((3, 8, 15, 25)):
        theta, distances = instance(FAMILIES[name], metric, n, seed)
        matrix, costs, _ = program(theta, distances, FAMILIES[name])
        solution = assert_optimal(matrix, costs)
        assert solution.upper == pytest.approx(reference(matrix, costs), rel=1e-7)


def test_one_row_is_solved_by_its_own_arm():
    solution = solve(np.array([[0.25]]), np.array([0.5]))
    assert solution.rates == pytest.approx([4.0])
    assert solution.upper == solution.lower == 2.0


def test_no_rows_cost_nothing():
    solution = solve(np.zeros((0, 0)), np.zeros(0))
    assert solution.upper == solution.lower == solution.gap == 0.0
    assert solution.rates.size == 0


@pytest.mark.parametrize("n", [4, 9, 16, 33])
def test_degenerate_by_symmetry(n):
    # equal gaps on a ring: every ratio test is a tie
    ring = np.abs(np.arange(n)[:, None] - np.arange(n)[None])
    matrix = np.maximum(0.0, 3.0 - np.minimum(ring, n - ring)) ** 2
    solution = assert_optimal(matrix, np.ones(n))
    assert solution.upper == pytest.approx(reference(matrix, np.ones(n)), rel=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_degenerate_by_duplication(seed):
    rng = np.random.default_rng(seed)
    matrix = rng.integers(0, 3, (6, 6)) + 3.0 * np.eye(6)
    copies = rng.integers(0, 6, 18)
    copied, costs = matrix[np.ix_(copies, copies)], np.ones(18)
    solution = assert_optimal(copied, costs)
    kept = np.unique(copies)
    plain = solve(matrix[np.ix_(kept, kept)], np.ones(kept.size))
    assert solution.upper == pytest.approx(plain.upper, rel=1e-9)


def test_integer_ties_end_and_agree():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 14))
        matrix = rng.integers(0, 2, (n, n)).astype(float)
        np.fill_diagonal(matrix, 1.0)
        solution = assert_optimal(matrix, np.ones(n))
        assert solution.upper == pytest.approx(reference(matrix, np.ones(n)), rel=1e-8)


def test_relabelling_and_duplicating_a_suboptimal_point_change_nothing():
    family = FAMILIES["bernoulli"]
    theta, distances = instance(family, "plane", 12, 5)
    value = solve(*program(theta, distances, family)[:2]).upper
    order = np.random.default_rng(1).permutation(12)
    moved = program(theta[order], distances[np.ix_(order, order)], family)
    assert solve(*moved[:2]).upper == pytest.approx(value, rel=1e-12)
    twin = np.append(np.arange(12), int(np.argmin(theta)))
    doubled = program(theta[twin], distances[np.ix_(twin, twin)], family)
    assert solve(*doubled[:2]).upper == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("closest", [1e-3, 1e-4, 1e-5, 1e-6])
@pytest.mark.parametrize("metric", METRICS)
def test_small_gaps_are_certified(metric, closest):
    for name in ("bernoulli", "gaussian", "exponential"):
        family = FAMILIES[name]
        for seed in range(4):
            theta, distances = instance(family, metric, 20, seed)
            best, second = np.argsort(theta)[[-1, -2]]
            theta = np.minimum(theta, theta[second])
            theta[best] = theta[second] + closest
            matrix, costs, _ = program(theta, distances, family)
            assert_optimal(matrix, costs)


def test_entries_of_every_size_are_certified():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        matrix = 10.0 ** rng.uniform(-12, 3, (20, 20)) * (rng.random((20, 20)) < 0.4)
        np.fill_diagonal(matrix, 10.0 ** rng.uniform(-12, 3, 20))
        assert_optimal(matrix, 10.0 ** rng.uniform(-6, 0, 20), gap=1e-6)


def test_large_programs_do_not_wait_for_a_compiler():
    family = FAMILIES["bernoulli"]
    matrix, costs, _ = program(*smooth_line(90, 2), family)
    quick = assert_optimal(matrix, costs, gap=1e-7)
    assert quick.upper == pytest.approx(solve(matrix, costs, compiled=False).upper, rel=1e-7)


def test_interpreted_equals_compiled():
    family = FAMILIES["bernoulli"]
    for seed in range(5):
        matrix, costs, _ = program(*instance(family, METRICS[seed % 3], 18, seed), family)
        plain, quick = (solve(matrix, costs, compiled=c) for c in (False, True))
        for one, other in zip(plain, quick, strict=True):
            assert np.array_equal(one, other)


def test_anything_can_be_certified_honestly():
    matrix, costs = np.array([[2.0, 0.0], [1.0, 1.0]]), np.array([1.0, 1.0])
    loose = certified(matrix, costs, np.array([3.0, 1.0]), np.array([1.0, 3.0]))
    assert loose.lower <= solve(matrix, costs).lower
    assert loose.upper >= solve(matrix, costs).upper
    empty = certified(matrix, costs, np.zeros(2), np.zeros(2))
    assert empty.lower == 0.0
    assert empty.upper == np.inf


@pytest.mark.parametrize(
    ("matrix", "costs", "message"),
    [
        (np.eye(2), np.ones(3), "`matrix` must have 3 rows and columns"),
        (np.eye(2), np.array([1.0, 0.0]), "`costs` must be positive"),
        (np.array([[1.0, 0.0], [1.0, 0.0]]), np.ones(2), "positive on its diagonal"),
        (np.array([[1.0, np.inf], [1.0, 1.0]]), np.ones(2), "be finite"),
    ],
)
def test_refusals(matrix, costs, message):
    with pytest.raises(InputError, match=message):
        solve(matrix, costs)


def test_what_is_not_tight_is_solved_again(monkeypatch):
    monkeypatch.setattr(solution_module, "OPTIMAL", -1.0)
    monkeypatch.setattr(solution_module, "TRUSTED", -1.0)
    matrix, costs, _ = program(*smooth_line(20, 2), FAMILIES["bernoulli"])
    assert_optimal(matrix, costs, compiled=False)
    monkeypatch.setattr(solution_module, "INTERPRETED", 5)
    assert_optimal(matrix, costs)  # HiGHS first, then compiled
