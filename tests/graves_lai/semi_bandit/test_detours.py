import numpy as np
import pytest

from ossb.arm_sets import Paths, indicator, total
from ossb.graves_lai.semi_bandit import detour_search
from ossb.graves_lai.semi_bandit.detour_search import (
    cheapest,
    largest_ratio,
    tangents,
    violated,
)
from ossb.graves_lai.semi_bandit.detours import decompose, heaviest_detour, solve_paths
from ossb.graves_lai.semi_bandit.longest_paths import LongestPaths
from ossb.graves_lai.semi_bandit.solve import solve

DAG = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (2, 4), (3, 4), (1, 5), (6, 3), (0, 4)]


def grid(side):
    edges = []
    for row in range(side):
        for column in range(side):
            node = row * side + column
            edges += [(node, node + 1)] if column + 1 < side else []
            edges += [(node, node + side)] if row + 1 < side else []
    return Paths(edges, 0, side * side - 1)


def graph_of(seed, side=4):
    paths = grid(side)
    phi = np.random.default_rng(seed).uniform(size=paths.n_items)
    leader = paths.maximize(phi)
    return paths, phi, leader, paths.detours(leader, phi)


def single_detours(paths, leader, graph):
    place = {item: k for k, item in enumerate(graph.items.tolist())}
    for arm in paths.arms():
        edges = [place[i] for i in arm if i not in leader]
        if edges and (graph.tail[edges] == 0).sum() == 1:
            yield edges


@pytest.mark.parametrize("paths", [grid(3), grid(4), Paths(DAG, 0, 4)])
@pytest.mark.parametrize("seed", range(3))
def test_flows_equal_listed_paths(paths, seed):
    phi = np.random.default_rng(seed).normal(size=paths.n_items)
    solution = solve_paths(paths, phi)
    arms = np.array([indicator(paths.n_items, arm) for arm in paths.arms()])
    plain = solve(arms, phi)
    assert solution.status == "certified"
    assert solution.gap <= 1e-6
    assert solution.lower <= plain.upper * (1 + 1e-12)
    assert solution.upper >= plain.lower * (1 - 1e-12)
    best = total(phi, solution.leader)
    cost = sum(rate * (best - total(phi, arm)) for arm, rate in solution.support)
    assert cost == pytest.approx(solution.upper, rel=1e-9)
    for arm, parameter in zip(solution.alternatives, solution.confusing, strict=True):
        assert paths.contains(arm)
        assert total(parameter, arm) == pytest.approx(total(parameter, solution.leader))


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("seed", range(6))
def test_a_larger_grid_is_certified(seed, sign):
    paths = grid(12)
    phi = sign * np.random.default_rng(seed).uniform(size=paths.n_items)
    solution = solve_paths(paths, phi)
    assert solution.status == "certified"
    assert solution.gap <= 1e-6


def test_near_ties_and_long_tails_are_certified():
    paths = grid(6)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        solution = solve_paths(paths, rng.normal(size=paths.n_items) ** 3)
        assert solution.status == "certified"
        assert solution.gap <= 1e-6


@pytest.mark.parametrize("sigma", [0.1, 3.0])
def test_variance_scales_the_bound(sigma):
    paths = grid(3)
    phi = np.random.default_rng(9).uniform(size=paths.n_items)
    plain, scaled = solve_paths(paths, phi), solve_paths(paths, phi, sigma)
    assert scaled.upper == pytest.approx(sigma**2 * plain.upper, rel=2e-6)


def test_one_path_only():
    solution = solve_paths(Paths([(0, 1), (1, 2)], 0, 2), np.array([0.1, 0.2]))
    assert (solution.upper, solution.lower) == (0.0, 0.0)


@pytest.mark.parametrize("seed", range(6))
def test_the_search_is_exact(seed):
    paths, _, leader, graph = graph_of(seed)
    sweeps = LongestPaths(graph)
    spread = np.random.default_rng(seed + 100).exponential(size=graph.cost.size)
    exact = max(
        spread[edges].sum() / graph.cost[edges].sum() ** 2
        for edges in single_detours(paths, leader, graph)
    )
    for floor in (1e-9, 0.5 * exact, 0.999 * exact):
        search = largest_ratio(sweeps, spread, tangents(sweeps), floor)
        assert search.complete
        assert search.ratio == pytest.approx(exact)
        worst = list(search.detours[0])
        assert spread[worst].sum() / graph.cost[worst].sum() ** 2 == pytest.approx(exact)
    nothing = largest_ratio(sweeps, spread, tangents(sweeps), 1.001 * exact)
    assert (nothing.ratio, nothing.detours) == (1.001 * exact, [])


def test_a_search_out_of_room_says_so(monkeypatch):
    monkeypatch.setattr(detour_search, "MAX_LABELS", 5)
    _, _, _, graph = graph_of(0)
    sweeps = LongestPaths(graph)
    assert not largest_ratio(sweeps, np.ones(graph.cost.size), tangents(sweeps), 1e-9).complete


def test_tangents_show_only_violated_detours():
    _, _, _, graph = graph_of(1)
    spread = np.full(graph.cost.size, 0.05)
    sweeps = LongestPaths(graph)
    found = violated(sweeps, spread, tangents(sweeps), 0.0)
    assert found
    for detour in found:
        edges = list(detour)
        assert spread[edges].sum() > graph.cost[edges].sum() ** 2


@pytest.mark.parametrize("seed", range(3))
def test_the_heaviest_detour(seed):
    paths, _, leader, graph = graph_of(seed)
    pull = np.random.default_rng(seed).uniform(size=graph.cost.size)
    exact = max(
        pull[edges].sum() / graph.cost[edges].sum()
        for edges in single_detours(paths, leader, graph)
    )
    assert heaviest_detour(LongestPaths(graph), pull) == pytest.approx(exact)


def test_flows_are_sums_of_detours():
    _, _, _, graph = graph_of(2, side=5)
    flow = np.zeros(graph.cost.size)
    for k, detour in enumerate(cheapest(LongestPaths(graph)), start=1):
        flow[list(detour)] += k
    again = np.zeros(graph.cost.size)
    for detour, rate in decompose(graph, flow):
        again[list(detour)] += rate
    assert again == pytest.approx(flow)


@pytest.mark.parametrize("phi", [[1.0, 1.0, 0.5], [0.2, 0.3, 0.9]])
def test_detours_without_nodes_of_their_own(phi):
    paths = Paths([(0, 1), (1, 2), (0, 2)], 0, 2)
    solution = solve_paths(paths, np.array(phi))
    arms = np.array([indicator(3, arm) for arm in paths.arms()])
    assert solution.upper == pytest.approx(solve(arms, np.array(phi)).upper, rel=2e-6)


SPREAD = {
    "two detours": ([(0, 3), (0, 1), (1, 3), (0, 2), (2, 3)], lambda a, b: [0, 0, -a, 0, -b]),
    "a bridge": (
        [(0, 3), (0, 1), (1, 3), (0, 2), (2, 3), (1, 2)],
        lambda a, b: [0, 0, -a, 0, -b, 0],
    ),
    "one edge": (
        [(0, 1), (1, 3), (0, 3), (0, 2), (2, 3), (1, 4), (4, 3)],
        lambda a, b: [1, 1, 2 - a, 0, 2 - b, 0, 1 - b],
    ),
}


@pytest.mark.parametrize("shape", SPREAD)
@pytest.mark.parametrize("least", [1e-3, 3.2e-6, 1e-6])
@pytest.mark.parametrize("most", [1.0, 100.0])
def test_gaps_that_differ_by_decades(shape, least, most):
    edges, means = SPREAD[shape]
    solution = solve_paths(Paths(edges, 0, 3), np.array(means(least, most), dtype=float))
    assert solution.status == "certified"
    assert solution.gap <= 1e-6


@pytest.mark.parametrize("seed", [225, 265, 283, 334, *range(6)])
def test_small_differences_of_large_means(seed):
    side, edges = 5, []
    for row in range(side):
        for column in range(side):
            node = row * side + column
            edges += [(node, node + 1)] if column + 1 < side else []
            edges += [(node, node + side)] if row + 1 < side else []
            if column + 1 < side and row + 1 < side and (row + column) % 3 == 0:
                edges.append((node, node + side + 1))
    paths = Paths(edges, 0, side * side - 1)
    noise = np.random.default_rng(seed).normal(size=len(edges))
    for phi in (1e4 + noise, 1.0 + 1e-4 * noise):
        solution = solve_paths(paths, phi)
        assert solution.status == "certified"
        assert solution.gap <= 1e-6


@pytest.mark.parametrize("scale", [1e-100, 1e-6, 1e60])
@pytest.mark.parametrize("sigma", [1.0, 1e-50, 1e50])
def test_no_scale_is_too_large_or_too_small(scale, sigma):
    paths = Paths(DAG, 0, 4)
    phi = np.random.default_rng(3).normal(size=paths.n_items)
    plain = solve_paths(paths, phi)
    scaled = solve_paths(paths, scale * phi, sigma)
    assert scaled.gap <= 1e-6
    assert scaled.upper * scale / sigma / sigma == pytest.approx(plain.upper, rel=1e-6)
