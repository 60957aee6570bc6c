"""How sure the leader of a set is, against all its arms one by one."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from ossb.arm_sets import Matchings, MSets, Paths, SpanningTrees
from ossb.families import family_named
from ossb.graves_lai.semi_bandit import evidence
from ossb.graves_lai.semi_bandit.evidence import least_evidence

SQUARE = [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]]
DIAMONDS = [
    [0, 1], [0, 2], [1, 3], [2, 3], [1, 2], [3, 4], [3, 5], [4, 6], [5, 6], [4, 5], [0, 6],
]  # fmt: skip
SETS = {
    "m_sets": MSets(6, 2),
    "spanning_trees": SpanningTrees(4, SQUARE),
    "paths": Paths(DIAMONDS, 0, 6),
    "matchings": Matchings(3, 4, [[i, j] for i in range(3) for j in range(4)]),
}


def by_listing(arms, counts, means, sigma=1.0):
    """Δ²/2V over all arms that are not the leader."""
    leader = set(arms.maximize(means))
    ratios = []
    for arm in arms.arms():
        apart = sorted(leader.symmetric_difference(arm))
        if apart:
            gap = means[sorted(leader)].sum() - means[list(arm)].sum()
            ratios.append(gap**2 / (2.0 * (sigma**2 / counts[apart]).sum()))
    return min(ratios)


@pytest.mark.parametrize("label", SETS)
@pytest.mark.parametrize("seed", range(12))
def test_gaussian_items(label, seed):
    rng, arms = np.random.default_rng(seed), SETS[label]
    means, counts = rng.normal(size=arms.n_items), rng.integers(1, 400, arms.n_items)
    found = least_evidence(arms, family_named("gaussian", 0.7), counts, means)
    assert found == pytest.approx(by_listing(arms, counts, means, 0.7), rel=1e-8)


@pytest.mark.parametrize("label", ["paths", "matchings"])
def test_a_search_cut_short_bounds_from_below(label, monkeypatch):
    arms = SETS[label]
    monkeypatch.setattr(evidence, "MOST_NODES", 1)
    for seed in range(30):
        rng = np.random.default_rng(seed)
        means, counts = rng.normal(size=arms.n_items), rng.integers(1, 400, arms.n_items)
        exact = by_listing(arms, counts, means)
        found = least_evidence(arms, family_named("gaussian", 1.0), counts, means)
        assert 0.0 < found <= exact * (1.0 + 1e-9)


@pytest.mark.parametrize("observation", ["bernoulli", "poisson", "exponential"])
@pytest.mark.parametrize("label", ["m_sets", "spanning_trees"])
def test_other_items_on_matroids(label, observation):
    """Against a general solver, arm by arm."""
    arms, family = SETS[label], family_named(observation)
    rng = np.random.default_rng(3)
    means, counts = rng.uniform(0.2, 0.8, arms.n_items), rng.integers(5, 60, arms.n_items)
    leader = set(arms.maximize(means))
    least = math.inf
    for arm in arms.arms():
        won, lost = sorted(set(arm) - leader), sorted(leader - set(arm))
        if not won:
            continue
        moved = [*won, *lost]
        signs = np.array([1.0] * len(won) + [-1.0] * len(lost))

        def cost(at, moved=moved):
            pairs = zip(moved, at, strict=True)
            return sum(counts[i] * family.kl(float(means[i]), float(x)) for i, x in pairs)

        answer = minimize(
            cost,
            means[moved],
            bounds=[(0.01, 0.99)] * len(moved),
            constraints={"type": "ineq", "fun": lambda at, signs=signs: signs @ at},
        )
        least = min(least, answer.fun)
    assert least_evidence(arms, family, counts, means) == pytest.approx(least, rel=1e-3)


@pytest.mark.parametrize("label", SETS)
def test_what_was_never_seen_leaves_all_open(label):
    arms = SETS[label]
    means, counts = np.linspace(0.0, 1.0, arms.n_items), np.full(arms.n_items, 10)
    for item in range(arms.n_items):
        some = counts.copy()
        some[item] = 0
        assert least_evidence(arms, family_named("gaussian", 1.0), some, means) == 0.0


def test_a_tie_is_no_evidence_and_a_lone_arm_is_sure():
    family = family_named("gaussian", 1.0)
    for arms in SETS.values():
        counts = np.full(arms.n_items, 50)
        assert least_evidence(arms, family, counts, np.zeros(arms.n_items)) == 0.0
    line = Paths([[0, 1], [1, 2]], 0, 2)
    assert least_evidence(line, family, np.array([3, 3]), np.array([0.1, 0.2])) == math.inf
    assert least_evidence(MSets(2, 2), family, np.array([3, 3]), np.array([0.1, 0.2])) == math.inf
