import numpy as np
import pytest

from lipschitz_instances import FAMILIES, METRICS, instance, program, smooth_line
from ossb.graves_lai.lipschitz import rates, solve, start
from ossb.graves_lai.lipschitz.memory import LOWER, PIVOTS, UPPER
from ossb.kernels import kernel


def walk(theta, steps, seed, scale=0.05):
    """Estimates along a run: one mean moves at a time, the best one now and then."""
    rng = np.random.default_rng(seed)
    theta = theta.copy()
    low, high = theta.min() - 0.05, theta.max() + 0.05
    for step in range(steps):
        arm = int(np.argmax(theta)) if step % 4 == 3 else int(rng.integers(theta.size))
        theta[arm] = np.clip(theta[arm] + scale * rng.standard_normal(), low, high)
        yield theta


def assert_right(theta, distances, family, out, gap, tolerance=0.0):
    """Feasible rates whose cost is within the certified gap of an independent optimum."""
    matrix, costs, arms = program(theta, distances, family)
    value = solve(matrix, costs).upper
    assert gap <= max(tolerance, 1e-9)
    assert out[int(np.argmax(theta))] == 0.0
    assert (matrix @ out[arms]).min() >= 1 - 1e-9
    assert value * (1 - 1e-9) <= costs @ out[arms] <= value / (1 - gap) * (1 + 1e-9)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("name", FAMILIES)
def test_a_run_of_estimates_has_the_optimum_every_time(name, metric):
    family = FAMILIES[name]
    theta, distances = instance(family, metric, 11, 7)
    memory, out = start(distances), np.full(11, np.nan)
    for estimate in walk(theta, 16, 1):
        gap = rates(distances, family, estimate, 0.0, memory, out)
        assert_right(estimate, distances, family, out, gap)


@pytest.mark.parametrize("kappa", [1e-3, 0.05, 0.5])
def test_held_rates_are_kept_within_kappa(kappa):
    family = FAMILIES["bernoulli"]
    theta, distances = instance(family, "plane", 14, 3)
    memory, out = start(distances), np.zeros(14)
    solved = 0
    for estimate in walk(theta, 60, 2, scale=0.002):
        before = memory.state[PIVOTS]
        gap = rates(distances, family, estimate, kappa, memory, out)
        solved += memory.state[PIVOTS] > before
        assert_right(estimate, distances, family, out, gap, kappa)
        upper, lower = memory.bounds[UPPER], memory.bounds[LOWER]
        assert gap == max(0.0, (upper - lower) / upper)
    assert solved < 30


def test_an_estimate_that_did_not_move_costs_no_pivot():
    family = FAMILIES["gaussian"]
    theta, distances = smooth_line(25, 4)
    memory, out, again = start(distances), np.zeros(25), np.zeros(25)
    first = rates(distances, family, theta, 0.0, memory, out)
    pivots = memory.state[PIVOTS]
    assert rates(distances, family, theta, 0.0, memory, again) == pytest.approx(first, abs=1e-14)
    assert memory.state[PIVOTS] == pivots
    assert again == pytest.approx(out, rel=1e-12)


def test_small_moves_take_few_pivots():
    family = FAMILIES["bernoulli"]
    theta, distances = smooth_line(60, 1)
    memory, out = start(distances), np.zeros(60)
    rates(distances, family, theta, 0.0, memory, out)
    cold = int(memory.state[PIVOTS])
    for estimate in walk(theta, 12, 3, scale=0.003):
        gap = rates(distances, family, estimate, 0.0, memory, out)
        assert_right(estimate, distances, family, out, gap)
    assert memory.state[PIVOTS] - cold < 12 * cold / 4


def test_equal_estimates_give_finite_rates():
    family = FAMILIES["bernoulli"]
    _, distances = instance(family, "line", 9, 0)
    memory, out = start(distances), np.zeros(9)
    pattern = np.random.default_rng(0).integers(0, 3, 9) / 4.0
    for estimate in (np.full(9, 0.5), np.zeros(9), pattern, np.round(pattern)):
        gap = rates(distances, family, estimate, 0.0, memory, out)
        assert np.isfinite(out).all()
        assert (out >= 0.0).all()
        assert 0.0 <= gap <= 1e-6


def test_points_on_the_best_one_have_no_rate():
    family = FAMILIES["gaussian"]
    points = np.array([0.0, 0.0, 0.5, 1.0])
    distances = np.abs(points[:, None] - points[None])
    memory, out = start(distances), np.zeros(4)
    assert rates(distances, family, np.array([0.6, 0.5, 0.3, 0.1]), 0.0, memory, out) <= 1e-9
    assert out[0] == out[1] == 0.0
    merged = program(np.array([0.6, 0.3, 0.1]), distances[1:, 1:], family)
    assert out[2:] == pytest.approx(solve(*merged[:2]).rates)
    together = np.zeros((3, 3))
    memory = start(together)
    for estimate in ([0.6, 0.5, 0.3], [0.6, 0.5, 0.2]):
        assert rates(together, family, np.array(estimate), 0.0, memory, out[:3]) == 0.0
        assert (out[:3] == 0.0).all()


def test_a_best_mean_at_the_top_needs_no_rates():
    family = FAMILIES["bernoulli"]
    theta, distances = instance(family, "line", 6, 1)
    memory, out = start(distances), np.full(6, np.nan)
    theta[2] = 1.0
    assert rates(distances, family, theta, 0.0, memory, out) == 0.0
    assert (out == 0.0).all()
    theta[2] = 0.95
    assert_right(theta, distances, family, out, rates(distances, family, theta, 0.0, memory, out))


def test_a_best_arm_that_changes_at_the_top_is_not_mistaken_for_the_old_one():
    family = FAMILIES["bernoulli"]
    theta, distances = instance(family, "line", 9, 3)
    memory, out = start(distances), np.zeros(9)
    old, new = np.argsort(theta)[[-1, 0]]
    for level in (theta[new], 1.0, 0.97, 0.96):
        theta[new] = level
        gap = rates(distances, family, theta, 1.0, memory, out)
        if level < 1.0:
            assert_right(theta, distances, family, out, gap, 1.0)
            value = solve(*program(theta, distances, family)[:2]).upper
            assert memory.bounds[LOWER] <= value * (1 + 1e-9)
        else:
            assert (out == 0.0).all()
    assert np.argmax(theta) == new != old


def test_one_arm():
    out = np.ones(1)
    distances = np.zeros((1, 1))
    family = FAMILIES["gaussian"]
    assert rates(distances, family, np.array([0.3]), 0.0, start(distances), out) == 0.0
    assert out[0] == 0.0


@kernel
def total_rates(distances, family, estimates, memory, out):
    """Sum of the first arm's rates along a run, called from compiled code."""
    total = 0.0
    for t in range(estimates.shape[0]):
        total += rates(distances, family, estimates[t], 0.0, memory, out)
        total += out[0]
    return total


def test_interpreted_equals_compiled_and_serves_compiled_code():
    family = FAMILIES["bernoulli"]
    theta, distances = instance(family, "plane", 16, 2)
    estimates = np.array([estimate.copy() for estimate in walk(theta, 25, 5)])
    results = []
    for run in (total_rates, total_rates.compiled):
        memory, out = start(distances), np.zeros(16)
        total = run(distances, family, estimates, memory, out)
        results.append((np.float64(total), out, *memory))
    for one, other in zip(*results, strict=True):
        assert np.array_equal(one, other)
