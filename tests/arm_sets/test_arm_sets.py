import contextlib
import itertools

import numpy as np
import pytest

from ossb.arm_sets import (
    ARM_SETS,
    Matchings,
    MSets,
    Paths,
    SpanningTrees,
    indicator,
    total,
)
from ossb.errors import InputError

# the edge (1, 5) leads nowhere, (6, 3) comes from nowhere
DAG = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (2, 4), (3, 4), (1, 5), (6, 3), (0, 4)]
BIPARTITE = [(0, 0), (0, 1), (1, 1), (1, 2), (2, 0), (2, 2), (2, 3), (0, 3)]
GRAPH = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (3, 4)]
SETS = {
    "m_sets": MSets(6, 3),
    "paths": Paths(DAG, 0, 4),
    "matchings": Matchings(3, 4, BIPARTITE),
    "perfect": Matchings(3, 3, BIPARTITE[:6]),
    "spanning_trees": SpanningTrees(5, GRAPH),
}
each_set = pytest.mark.parametrize("arm_set", SETS.values(), ids=SETS)


def grid(side):
    """Edges of a square grid that lead right or down."""
    edges = []
    for row in range(side):
        for column in range(side):
            node = row * side + column
            edges += [(node, node + 1)] if column + 1 < side else []
            edges += [(node, node + side)] if row + 1 < side else []
    return edges


def best_of(arms, weights):
    return max((total(weights, arm) for arm in arms), default=None)


def test_number_of_arms():
    counts = {name: len(list(arm_set.arms())) for name, arm_set in SETS.items()}
    assert counts == {"m_sets": 20, "paths": 6, "matchings": 8, "perfect": 2, "spanning_trees": 8}
    assert len(list(Paths(grid(4), 0, 15).arms())) == 20


@pytest.mark.parametrize("seed", range(12))
def test_listing_against_all_subsets(seed):
    rng = np.random.default_rng(seed)
    pairs = [pair for pair in itertools.combinations(range(5), 2) if rng.random() < 0.75]
    crossed = [pair for pair in itertools.product(range(3), range(4)) if rng.random() < 0.7]
    made = []
    for make in (
        lambda: SpanningTrees(5, pairs),
        lambda: Paths(pairs, 0, 4),
        lambda: Matchings(3, 4, crossed),
    ):
        with contextlib.suppress(InputError):  # not connected, no path, no matching
            made.append(make())
    assert made
    for arm_set in made:
        subsets = (
            subset
            for size in range(arm_set.n_items + 1)
            for subset in itertools.combinations(range(arm_set.n_items), size)
        )
        arms = list(arm_set.arms())
        assert sorted(arms) == sorted(filter(arm_set.contains, subsets))
        if isinstance(arm_set, SpanningTrees):
            assert arms == sorted(arms)
        if not isinstance(arm_set, Matchings):
            assert not arm_set.exceeds(len(arms))
            assert len(arms) == 1 or arm_set.exceeds(len(arms) - 1)


def ladder(length):
    """Left node k may have k or k + 1, the last one only its own: a single matching."""
    return [(k, k + step) for k in range(length) for step in (0, 1)][:-1]


@pytest.mark.parametrize(
    ("arm_set", "count"),
    [
        # a path of 60 nodes that each have a dead end beside them, which has two ways on
        (Paths([*[(k, k + 1) for k in range(60)], *[(k, k + 61) for k in range(60)],
                *[(k + 61, k + 62) for k in range(59)]], 0, 60), 1),
        (Matchings(40, 40, ladder(40)), 1),
        (Matchings(41, 41, [*ladder(40), (40, 40), *[(k, 40) for k in range(40)]]), None),
        (Matchings(1100, 1100, ladder(1100)), 1),
        (SpanningTrees(40, [(k, k + 1) for k in range(39)]), 1),
    ],
)  # fmt: skip
def test_no_dead_end_is_searched(arm_set, count):
    arms = list(itertools.islice(arm_set.arms(), 500))
    assert all(arm_set.contains(arm) for arm in arms[:10])
    assert count is None or len(arms) == count


def test_what_is_too_many_is_known_without_listing():
    everything = [(i, j) for i in range(30) for j in range(i + 1, 30)]
    assert SpanningTrees(30, everything).exceeds(10**40)  # 30^28 of them
    assert not SpanningTrees(30, everything).exceeds(10**42)
    assert Paths(grid(40), 0, 1599).exceeds(10**9)
    assert MSets(10**6, 10**5).exceeds(10**9)
    assert MSets(40, 3).exceeds(9879)
    assert not MSets(40, 3).exceeds(9880)
    assert not MSets(7, 7).exceeds(1)


@each_set
@pytest.mark.parametrize("seed", range(5))
def test_oracles_against_listing(arm_set, seed):
    weights = np.random.default_rng(seed).normal(size=arm_set.n_items)
    arms = list(arm_set.arms())
    assert len(set(arms)) == len(arms)
    best = arm_set.maximize(weights)
    assert total(weights, best) == pytest.approx(best_of(arms, weights))
    for item in range(arm_set.n_items):
        for forced, found in (
            ([a for a in arms if item in a], arm_set.maximize_with(weights, item)),
            ([a for a in arms if item not in a], arm_set.maximize_without(weights, item)),
        ):
            assert (found is None) == (not forced)
            if found is not None:
                assert found in forced
                assert total(weights, found) == pytest.approx(best_of(forced, weights))
    runner = arm_set.runner_up(weights, best)
    others = [arm for arm in arms if arm != best]
    assert total(weights, runner) == pytest.approx(best_of(others, weights))
    assert runner != best


@each_set
def test_membership(arm_set):
    arms = set(arm_set.arms())
    rng = np.random.default_rng(0)
    size = len(next(iter(arms)))
    for arm in arms:
        assert arm_set.contains(arm)
        assert indicator(arm_set.n_items, arm).sum() == len(arm)
    for _ in range(200):
        items = tuple(sorted(rng.choice(arm_set.n_items, size, replace=False).tolist()))
        assert arm_set.contains(items) == (items in arms)
    first = next(iter(arms))
    assert not arm_set.contains((*first[:-1], arm_set.n_items))
    assert not arm_set.contains((*first, first[0]))
    assert not arm_set.contains(())


@pytest.mark.parametrize("name", ["m_sets", "spanning_trees"])
def test_single_replacements_give_arms(name):
    arm_set = SETS[name]
    best = arm_set.maximize(np.random.default_rng(1).normal(size=arm_set.n_items))
    for item, replaced in arm_set.replaceable(best).items():
        for other in best:
            changed = tuple(sorted((set(best) - {other}) | {item}))
            assert arm_set.contains(changed) == (other in replaced)


@pytest.mark.parametrize("seed", range(4))
def test_detours_of_a_path(seed):
    arm_set = Paths(grid(4), 0, 15) if seed % 2 else SETS["paths"]
    phi = np.random.default_rng(seed).normal(size=arm_set.n_items)
    best = arm_set.maximize(phi)
    graph = arm_set.detours(best, phi)
    assert (graph.head > graph.tail).all()
    assert set(graph.items.tolist()) == {i for arm in arm_set.arms() for i in arm} - set(best)
    place = {item: k for k, item in enumerate(graph.items.tolist())}
    for arm in arm_set.arms():
        arcs = [place[item] for item in arm if item not in best]
        gap = total(phi, best) - total(phi, arm)
        assert graph.cost[arcs].sum() == pytest.approx(gap, abs=1e-12)
        balance = np.bincount(graph.tail[arcs], minlength=graph.n_nodes)
        balance -= np.bincount(graph.head[arcs], minlength=graph.n_nodes)
        assert not balance[1:-1].any()
        if balance[0] == 1:  # a single detour, in the order of its nodes
            detour = graph.items[sorted(arcs, key=lambda k: graph.tail[k])]
            assert arm_set.follow(best, detour.tolist()) == arm


@pytest.mark.parametrize("weight", [np.nan, -np.inf])
def test_weights_without_a_best_path_are_refused(weight):
    """They once made the walk along the best path go round for ever."""
    arm_set, weights = Paths(DAG, 0, 4), np.full(len(DAG), weight)
    with pytest.raises(ArithmeticError, match="no path has a finite weight"):
        arm_set.maximize(weights)
    with pytest.raises(ArithmeticError, match="no path has a finite weight"):
        arm_set.maximize_with(weights, 4)


def test_one_arm_only():
    assert MSets(2, 2).runner_up(np.ones(2), (0, 1)) is None
    assert Paths([(0, 1)], 0, 1).runner_up(np.ones(1), (0,)) is None
    assert SpanningTrees(2, [(0, 1)]).maximize_without(np.ones(1), 0) is None


def test_names_of_the_kinds():
    assert set(ARM_SETS) == {"m_sets", "paths", "matchings", "spanning_trees"}


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: MSets(0, 1), "n_items"),
        (lambda: MSets(3, 4), "size"),
        (lambda: Paths([(0, 1), (1, 2), (2, 0)], 0, 2), "edges"),
        (lambda: Paths([(0, 0)], 0, 0), "edges[0]"),
        (lambda: Paths([(0, 1), (0, 1)], 0, 1), "edges[1]"),
        (lambda: Paths([(0, 1), (2, 1)], 0, 2), "target"),
        (lambda: Paths([(0, 1)], 0, 0), "target"),
        (lambda: Paths([(0, 1)], 5, 1), "source"),
        (lambda: Paths([(0, 10**12)], 0, 10**12), "edges"),
        (lambda: Matchings(3, 2, [(0, 0)]), "n_left"),
        (lambda: Matchings(2, 2, [(0, 0), (1, 0)]), "edges"),
        (lambda: Matchings(1, 2, [(1, 0)]), "edges[0][0]"),
        (lambda: Matchings(1, 2, [(0, 2)]), "edges[0][1]"),
        (lambda: Matchings(1, 2, [(0, 0), (0, 0)]), "edges[1]"),
        (lambda: SpanningTrees(3, [(0, 1)]), "edges"),
        (lambda: SpanningTrees(2, [(0, 0)]), "edges[0]"),
        (lambda: SpanningTrees(2, [(0, 1), (1, 0)]), "edges[1]"),
    ],
)
def test_refusals(make, field):
    with pytest.raises(InputError) as error:
        make()
    assert error.value.field == field


def test_spanning_trees_are_listed_without_trying_subsets() -> None:
    edges = [(0, 1), (1, 2), (0, 2)]
    for k in range(5):
        a = 3 + 2 * k
        edges += [(a - 1, a), (a, a + 1), (a - 1, a + 1)]
    edges += [(node, node + 1) for node in range(12, 47)]
    trees = list(SpanningTrees(48, edges).arms())
    assert len(trees) == len(set(trees)) == 3**6
    assert trees == sorted(trees)


def many_sets(seed):
    rng = np.random.default_rng(seed)
    pairs = [pair for pair in itertools.combinations(range(8), 2) if rng.random() < 0.6]
    crossed = [pair for pair in itertools.product(range(4), range(6)) if rng.random() < 0.7]
    square = [pair for pair in itertools.product(range(5), range(5)) if rng.random() < 0.7]
    for make in (
        lambda: MSets(6, 1 + seed % 6),
        lambda: Paths(grid(4), 0, 15),
        lambda: Paths(pairs, 0, 7),
        lambda: SpanningTrees(8, pairs),
        lambda: Matchings(4, 6, crossed),
        lambda: Matchings(5, 5, square),
    ):
        with contextlib.suppress(InputError):  # not connected, no path, no matching
            yield make()


@pytest.mark.parametrize("seed", range(12))
def test_rivals_are_those_that_the_oracle_finds_item_by_item(seed):
    for arm_set in many_sets(seed):
        weights = np.random.default_rng(seed).normal(size=arm_set.n_items)
        best = arm_set.maximize(weights)
        rivals = arm_set.rivals(weights, best)
        stretches = itertools.pairwise(rivals.starts.tolist())
        found = [frozenset(rivals.items[a:b].tolist()) for a, b in stretches]
        expected = set()
        for item in range(arm_set.n_items):
            flip = arm_set.maximize_without if item in best else arm_set.maximize_with
            other = flip(weights, item)
            expected |= {frozenset(set(best) ^ set(other))} if other is not None else set()
        assert len(found) == len(set(found))
        assert set(found) == expected


@each_set
def test_rivals_of_level_arms_are_arms(arm_set):
    best = arm_set.maximize(np.zeros(arm_set.n_items))
    rivals = arm_set.rivals(np.zeros(arm_set.n_items), best)
    for a, b in itertools.pairwise(rivals.starts.tolist()):
        assert arm_set.contains(tuple(sorted(set(best) ^ set(rivals.items[a:b].tolist()))))
