"""Regression with a mode on trees, against a quadratic program and against the definition."""

import math

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ossb.families import Bernoulli, Exponential, Gaussian, Poisson
from ossb.models.isotonic import DEVIANCES, LEVELS, fit_mode, new_fit, settle
from ossb.models.isotonic_line import line_deviances
from ossb.models.modes import best_mode, fit_near

GAUSSIAN = Gaussian(1.0)
NO_LINE = np.zeros(0, np.int64)


def random_tree(rng, n):
    """Edges of a random tree, and the same as starts and neighbours."""
    edges = [(int(rng.integers(x)), x) for x in range(1, n)]
    labels = rng.permutation(n)
    return [(int(labels[a]), int(labels[b])) for a, b in edges]


def listed(edges, n):
    near = [[] for _ in range(n)]
    for a, b in edges:
        near[a].append(b)
        near[b].append(a)
    return np.cumsum([0, *map(len, near)]), np.array([y for arms in near for y in arms], np.int64)


def directed(edges, n, root):
    """(parent, child) pairs away from the root."""
    near = [[] for _ in range(n)]
    for a, b in edges:
        near[a].append(b)
        near[b].append(a)
    pairs, waiting, seen = [], [root], {root}
    while waiting:
        arm = waiting.pop()
        for other in near[arm]:
            if other not in seen:
                seen.add(other)
                pairs.append((arm, other))
                waiting.append(other)
    return pairs


def fitted(family, edges, mode, means, weights):
    starts, neighbours = listed(edges, means.size)
    fit = new_fit(means.size)
    deviance = fit_mode(family, starts, neighbours, mode, means, weights, math.inf, fit)
    settle(fit)
    return deviance, fit.values[LEVELS].copy()


def by_program(edges, mode, means, weights):
    level = cp.Variable(means.size)
    order = [level[child] <= level[parent] for parent, child in directed(edges, means.size, mode)]
    cost = 0.5 * cp.sum(cp.multiply(weights, cp.square(level - means)))
    problem = cp.Problem(cp.Minimize(cost), order)
    problem.solve(solver=cp.CLARABEL)
    return problem.value, level.value


@pytest.mark.parametrize("seed", range(12))
def test_least_squares_on_trees_is_the_quadratic_program(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    edges = random_tree(rng, n)
    means, weights = rng.normal(size=n), rng.integers(1, 9, n).astype(float)
    mode = int(rng.integers(n))
    deviance, level = fitted(GAUSSIAN, edges, mode, means, weights)
    expected, means_expected = by_program(edges, mode, means, weights)
    assert deviance == pytest.approx(expected, abs=1e-6)
    assert level == pytest.approx(means_expected, abs=1e-4)


@given(st.integers(0, 10**6), st.sampled_from(["gaussian", "bernoulli", "poisson", "exponential"]))
def test_means_fall_away_and_pooling_costs_add_up_to_the_deviance(seed, name):
    rng = np.random.default_rng(seed)
    family = {
        "gaussian": Gaussian(0.7),
        "bernoulli": Bernoulli(),
        "poisson": Poisson(),
        "exponential": Exponential(),
    }[name]
    n = int(rng.integers(1, 12))
    edges = random_tree(rng, n)
    means = rng.uniform(0.05, 0.95, n)
    weights = rng.integers(1, 30, n).astype(float)
    mode = int(rng.integers(n))
    deviance, level = fitted(family, edges, mode, means, weights)
    for parent, child in directed(edges, n, mode):
        assert level[child] <= level[parent]
    total = sum(w * family.kl(m, v) for w, m, v in zip(weights, means, level, strict=True))
    assert deviance == pytest.approx(total, rel=1e-9, abs=1e-12)
    assert (weights * level).sum() == pytest.approx((weights * means).sum())  # blocks are means


def test_no_other_bernoulli_means_with_that_mode_have_a_smaller_deviance():
    rng = np.random.default_rng(4)
    family, edges, n = Bernoulli(), [(0, 1), (1, 2), (2, 3), (3, 4)], 5
    means, weights = rng.uniform(0.1, 0.9, n), rng.integers(1, 20, n).astype(float)
    deviance, _ = fitted(family, edges, 1, means, weights)
    for _ in range(300):
        trial = np.sort(rng.uniform(0.01, 0.99, n))[[2, 4, 3, 1, 0]]
        cost = sum(w * family.kl(m, v) for w, m, v in zip(weights, means, trial, strict=True))
        assert cost >= deviance - 1e-12


def test_an_arm_of_no_weight_changes_nothing_but_takes_a_mean_that_fits():
    means, weights = np.array([0.2, 9.0, 0.8, 0.4]), np.array([3.0, 0.0, 2.0, 5.0])
    line = [(0, 1), (1, 2), (2, 3)]
    deviance, level = fitted(GAUSSIAN, line, 0, means, weights)
    without, expected = fitted(GAUSSIAN, [(0, 1), (1, 2)], 0, means[[0, 2, 3]], weights[[0, 2, 3]])
    assert deviance == pytest.approx(without)
    assert level[[0, 2, 3]] == pytest.approx(expected)
    assert level[0] >= level[1] >= level[2]
    _, level = fitted(GAUSSIAN, line, 1, means, np.zeros(4))
    assert (level == 0).all()
    _, level = fitted(GAUSSIAN, line, 2, means, np.array([1.0, 0.0, 1.0, 0.0]))
    assert level[3] == level[2] == 0.8


@pytest.mark.parametrize("seed", range(8))
def test_the_best_mode_is_the_best_of_all_modes(seed):
    rng = np.random.default_rng(100 + seed)
    n = int(rng.integers(2, 10))
    edges = random_tree(rng, n)
    means, weights = rng.normal(size=n), rng.integers(1, 9, n).astype(float)
    starts, neighbours = listed(edges, n)
    fit = new_fit(n)
    mode, least = best_mode(GAUSSIAN, starts, neighbours, NO_LINE, means, weights, fit)
    costs = [fitted(GAUSSIAN, edges, x, means, weights)[0] for x in range(n)]
    assert least == pytest.approx(min(costs))
    assert costs[mode] == pytest.approx(min(costs))
    assert fit.values[LEVELS, mode] == fit.values[LEVELS].max()


def test_it_gives_up_beyond_the_limit():
    means, weights = np.array([0.0, 1.0, 0.0, 1.0, 0.0, 1.0]), np.full(6, 10.0)
    starts, neighbours = listed([(x, x + 1) for x in range(5)], 6)
    whole = fit_mode(GAUSSIAN, starts, neighbours, 0, means, weights, math.inf, new_fit(6))
    part = fit_mode(GAUSSIAN, starts, neighbours, 0, means, weights, 0.1 * whole, new_fit(6))
    assert 0.1 * whole < part <= whole


def test_compiled_fits_are_the_interpreted_ones_bit_for_bit():
    rng = np.random.default_rng(8)
    edges = random_tree(rng, 9)
    starts, neighbours = listed(edges, 9)
    for _ in range(20):
        means, weights = rng.normal(size=9), rng.integers(0, 9, 9).astype(float)
        one, two = new_fit(9), new_fit(9)
        ours = best_mode(GAUSSIAN, starts, neighbours, NO_LINE, means, weights, one)
        theirs = best_mode.compiled(GAUSSIAN, starts, neighbours, NO_LINE, means, weights, two)
        assert ours == theirs
        assert (one.values[LEVELS] == two.values[LEVELS]).all()


def test_the_highest_mean_is_not_always_the_mode():
    means, weights = np.array([1.0, -5.0, 0.9, 0.95, 0.9]), np.array([1.0, 10.0, 50.0, 50.0, 50.0])
    starts, neighbours = listed([(x, x + 1) for x in range(4)], 5)
    mode, _ = best_mode(GAUSSIAN, starts, neighbours, NO_LINE, means, weights, new_fit(5))
    assert mode == 3
    flat = np.array([1.2, 0.0, 1.1, 1.1, 0.3])  # modes 2 and 3 pool alike: the lower index
    mode, _ = best_mode(GAUSSIAN, starts, neighbours, NO_LINE, flat, weights, new_fit(5))
    assert mode == 2


def test_modes_across_a_deep_valley_are_skipped_and_rightly_so():
    rng = np.random.default_rng(11)
    starts, neighbours = listed([(x, x + 1) for x in range(9)], 10)
    line = [(x, x + 1) for x in range(9)]
    for _ in range(60):
        means, weights = rng.normal(size=10), rng.integers(1, 200, 10).astype(float)
        mode, least = best_mode(GAUSSIAN, starts, neighbours, NO_LINE, means, weights, new_fit(10))
        costs = [fitted(GAUSSIAN, line, x, means, weights)[0] for x in range(10)]
        assert least == pytest.approx(min(costs))
        assert costs[mode] == pytest.approx(min(costs))


@given(st.integers(0, 10**6), st.sampled_from([Gaussian(0.7), Bernoulli(), Exponential()]))
def test_all_modes_of_a_line_at_once_are_each_of_them_alone(seed, family):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 15))
    path = rng.permutation(n)
    edges = list(zip(path[:-1].tolist(), path[1:].tolist(), strict=True))
    means = rng.uniform(0.05, 0.95, n)
    weights = rng.integers(0, 30, n).astype(float)
    fit = new_fit(n)
    centre, margin = int(rng.integers(0, n)), float(rng.exponential(3.0))
    line_deviances(family, path, centre, math.inf, -math.inf, means, weights, fit)
    alone = [fitted(family, edges, mode, means, weights)[0] for mode in range(n)]
    assert fit.values[DEVIANCES] == pytest.approx(alone, rel=1e-9, abs=1e-12)
    least = line_deviances(family, path, centre, margin, -math.inf, means, weights, fit)
    assert least == fit.values[DEVIANCES, path[centre]]
    for mode in range(n):
        near = pytest.approx(alone[mode], rel=1e-9, abs=1e-12)
        skipped = fit.values[DEVIANCES, mode] == math.inf and alone[mode] > least + margin
        assert skipped or fit.values[DEVIANCES, mode] == near
    starts, neighbours = listed(edges, n)
    quick, plain = new_fit(n), new_fit(n)
    mode, deviance = best_mode(family, starts, neighbours, path, means, weights, quick)
    same, expected = best_mode(family, starts, neighbours, NO_LINE, means, weights, plain)
    assert (mode, deviance) == (same, pytest.approx(expected, rel=1e-9, abs=1e-12))
    assert quick.values[LEVELS] == pytest.approx(plain.values[LEVELS], rel=1e-9, abs=1e-12)
    limit = least + margin
    for mode in range(n):
        given_ = (family, starts, neighbours)
        deviance = fit_near(*given_, path, mode, means, weights, limit, quick)
        expected = fit_near(*given_, NO_LINE, mode, means, weights, limit, plain)
        if abs(alone[mode] - limit) < 1e-9 * (1.0 + limit):
            continue
        assert (deviance <= limit) == (expected <= limit) == (alone[mode] <= limit)
        if deviance <= limit:
            assert deviance == pytest.approx(expected, rel=1e-9, abs=1e-12)
            assert quick.values[LEVELS] == pytest.approx(plain.values[LEVELS], rel=1e-9, abs=1e-12)


@given(st.integers(0, 10**6), st.sampled_from([Gaussian(0.7), Bernoulli()]))
def test_what_is_left_from_the_last_round_changes_nothing(seed, family):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 12))
    path, means = rng.permutation(n), rng.uniform(0.05, 0.95, n)
    weights, kept = np.ones(n), new_fit(n)
    for _ in range(25):
        arm = int(rng.integers(0, n))
        means[arm], weights[arm] = rng.uniform(0.05, 0.95), rng.integers(0, 30)
        centre, margin = int(rng.integers(0, n)), float(rng.exponential(3.0))
        for level in (-math.inf, margin):
            fresh = new_fit(n)
            line_deviances(family, path, centre, margin, level, means, weights, kept)
            line_deviances(family, path, centre, margin, level, means, weights, fresh)
            assert (kept.values[DEVIANCES] == fresh.values[DEVIANCES]).all()
        found = best_mode(family, *listed([], n), path, means, weights, kept)
        assert found == best_mode(family, *listed([], n), path, means, weights, fresh)
        assert (kept.values[LEVELS] == fresh.values[LEVELS]).all()
