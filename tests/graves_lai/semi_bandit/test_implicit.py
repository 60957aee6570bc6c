import itertools

import numpy as np
import pytest

from ossb.arm_sets import Matchings, MSets, Paths, SpanningTrees, indicator, total
from ossb.families import family_named
from ossb.graves_lai.semi_bandit.implicit import solve_implicit
from ossb.graves_lai.semi_bandit.implicit_solution import heaviest_ratio
from ossb.graves_lai.semi_bandit.index import maximize_index
from ossb.graves_lai.semi_bandit.matroid import least_information, solve_matroid
from ossb.graves_lai.semi_bandit.solve import solve

DAG = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (2, 4), (3, 4), (1, 5), (6, 3), (0, 4)]
GRAPH = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (3, 4), (1, 3)]
SETS = {
    "m_sets": MSets(6, 3),
    "paths": Paths(DAG, 0, 4),
    "matchings": Matchings(3, 4, [p for p in itertools.product(range(3), range(4)) if p != (0, 0)]),
    "perfect": Matchings(4, 4, list(itertools.product(range(4), repeat=2))),
    "spanning_trees": SpanningTrees(5, GRAPH),
}
GAUSSIAN = family_named("gaussian", 1.0)
each_set = pytest.mark.parametrize("arm_set", SETS.values(), ids=SETS)


def listed(arm_set):
    return np.array([indicator(arm_set.n_items, arm) for arm in arm_set.arms()])


@each_set
@pytest.mark.parametrize("seed", range(3))
def test_implicit_equals_listed(arm_set, seed):
    phi = np.random.default_rng(seed).normal(size=arm_set.n_items)
    implicit = solve_implicit(arm_set, phi)
    plain = solve(listed(arm_set), phi)
    assert implicit.status == "certified"
    assert implicit.gap <= 1e-6
    assert implicit.lower <= plain.upper * (1 + 1e-12)
    assert implicit.upper >= plain.lower * (1 - 1e-12)
    assert all(arm_set.contains(arm) for arm, _ in implicit.support)
    cost = sum(rate * (total(phi, implicit.leader) - total(phi, a)) for a, rate in implicit.support)
    assert cost == pytest.approx(implicit.upper, rel=1e-9)


@pytest.mark.parametrize("sigma", [0.1, 4.0])
def test_variance_scales_the_bound(sigma):
    phi = np.random.default_rng(7).normal(size=SETS["paths"].n_items)
    plain, scaled = (solve_implicit(SETS["paths"], phi, s) for s in (1.0, sigma))
    assert scaled.upper == pytest.approx(sigma**2 * plain.upper, rel=2e-6)


def test_a_set_of_one_arm():
    solution = solve_implicit(Paths([(0, 1), (1, 2)], 0, 2), np.array([0.1, 0.2]))
    assert (solution.upper, solution.lower, solution.gap) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("name", ["m_sets", "spanning_trees"])
@pytest.mark.parametrize("seed", range(3))
def test_matroids_in_closed_form(name, seed):
    arm_set = SETS[name]
    rng = np.random.default_rng(seed)
    phi = rng.normal(size=arm_set.n_items)
    solution = solve_matroid(arm_set, phi, GAUSSIAN)
    plain = solve(listed(arm_set), phi)
    assert plain.lower * (1 - 1e-12) <= solution.upper <= plain.upper * (1 + 1e-12)
    weights = rng.uniform(0.5, 2.0, arm_set.n_items)
    exact = np.inf
    for arm in arm_set.arms():
        mine = [i for i in arm if i not in solution.leader]
        if mine:
            need = total(phi, solution.leader) - total(phi, arm)
            exact = min(exact, need**2 / (2 * sum(1 / weights[mine])))
    found = least_information(arm_set, phi, solution.leader, weights, GAUSSIAN)
    assert found == pytest.approx(exact)


def test_a_mean_at_the_top_cannot_be_beaten():
    solution = solve_matroid(MSets(3, 1), np.array([1.0, 0.5, 0.2]), family_named("bernoulli", 1.0))
    assert (solution.upper, list(solution.support)) == (0.0, [])
    phi = np.array([1.0, 0.5, 0.2])
    assert least_information(
        MSets(3, 1), phi, (0,), np.ones(3), family_named("bernoulli", 1.0)
    ) == np.inf  # fmt: skip


def test_large_m_sets_are_not_listed():
    phi = np.random.default_rng(0).uniform(size=100)
    solution = solve_matroid(MSets(100, 10), phi, GAUSSIAN)
    ordered = np.sort(phi)[::-1]
    assert solution.upper == pytest.approx((2 / (ordered[9] - ordered[10:])).sum())


@each_set
@pytest.mark.parametrize("seed", range(4))
def test_the_index_is_maximised_exactly(arm_set, seed):
    rng = np.random.default_rng(seed)
    gain = rng.normal(size=arm_set.n_items)
    variance = rng.exponential(size=arm_set.n_items)
    variance[list(arm_set.maximize(gain))] = 0.0
    exact = max(
        total(gain, arm) + np.sqrt(total(variance, arm))
        for arm in arm_set.arms()
        if total(variance, arm) > 0
    )
    best = maximize_index(arm_set, gain, variance, -np.inf)
    assert best.value == pytest.approx(max(exact, total(gain, arm_set.maximize(gain))))
    assert best.bound == pytest.approx(best.value)
    cut_short = maximize_index(arm_set, gain, variance, -np.inf, max_nodes=1)
    assert cut_short.bound >= exact - 1e-12


@each_set
def test_the_heaviest_ratio_is_proved_by_the_oracle(arm_set):
    rng = np.random.default_rng(11)
    phi = rng.normal(size=arm_set.n_items)
    leader = arm_set.maximize(phi)
    pull = rng.uniform(size=arm_set.n_items)
    pull[list(leader)] = 0.0
    exact = max(
        total(pull, arm) / (total(phi, leader) - total(phi, arm))
        for arm in arm_set.arms()
        if arm != leader
    )
    ratio, met = heaviest_ratio(arm_set, phi, leader, pull)
    assert ratio == pytest.approx(exact)
    assert met


def test_a_search_cut_short_is_called_heuristic(monkeypatch):
    from ossb.graves_lai.semi_bandit import implicit

    def hurried(oracle, gain, variance, threshold):
        return maximize_index(oracle, gain, variance, threshold, max_nodes=1)

    monkeypatch.setattr(implicit, "maximize_index", hurried)
    monkeypatch.setattr(implicit, "MAX_ROUNDS", 3)
    arm_set = SETS["perfect"]
    phi = np.random.default_rng(1).normal(size=arm_set.n_items)
    solution = solve_implicit(arm_set, phi)
    assert solution.status == "heuristic"
    assert solution.lower <= solve(listed(arm_set), phi).upper <= solution.upper
