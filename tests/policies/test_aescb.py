"""AESCB, and the budgeted linear maximisation under it."""

import copy
import itertools
import math

import numpy as np
import pytest

from ossb.arm_sets import SpanningTrees, total
from ossb.errors import InputError
from ossb.policies import policy
from ossb.policies.budgeted import within_budgets
from ossb.simulation import simulate
from ossb.structures.combinatorial import Combinatorial
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE
from policies.oracle_instances import SHAPES, instance, rounds, told
from policies.rounds import Literal


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("shape", ["m_sets", "paths"])
def test_no_arm_within_a_budget_is_worth_more_than_what_is_found(shape, seed):
    arm_set = instance(shape, 0).implicit_set
    rng = np.random.default_rng(seed)
    means, values = rng.normal(size=arm_set.n_items), rng.exponential(size=arm_set.n_items)
    step, levels = 0.3, 12
    found = within_budgets(arm_set, means, values, step, levels)
    assert all(arm_set.contains(arm) for arm in found)
    top = total(means, arm_set.maximize(means))
    rounding = arm_set.n_items * step
    for arm in arm_set.arms():
        gap = top - total(means, arm)
        if gap > levels * step:
            continue
        rivals = [x for x in found if top - total(means, x) <= gap + rounding]
        assert max(total(values, x) for x in rivals) >= total(values, arm) - 1e-12


def test_fine_budgets_are_exact():
    arm_set = instance("paths", 0).implicit_set
    rng = np.random.default_rng(3)
    means, values = rng.normal(size=12), rng.exponential(size=12)
    found = within_budgets(arm_set, means, values, 1e-3, 6000)
    top = total(means, arm_set.maximize(means))
    pareto = [
        arm
        for arm in arm_set.arms()
        if not any(
            total(means, x) >= total(means, arm) and total(values, x) > total(values, arm)
            for x in arm_set.arms()
        )
        and top - total(means, arm) < 6
    ]
    assert set(pareto) <= set(found)


def test_spanning_trees_have_no_such_program():
    trees = SpanningTrees(3, [[0, 1], [1, 2], [0, 2]])
    assert within_budgets(trees, np.ones(3), np.ones(3), 0.1, 5) is None


@pytest.mark.parametrize("shape", SHAPES)
def test_the_arm_played_has_nearly_the_largest_index(shape):
    problem = instance(shape, 1)
    record = policy("aescb", problem, levels=50)
    arms = list(record.arm_set.arms())
    for seed in range(25):
        rng = np.random.default_rng(seed)
        means = rng.normal(size=record.arm_set.n_items)
        doubts = rng.exponential(size=means.size) * 10 ** rng.uniform(-2, 1)
        index = {arm: total(means, arm) + math.sqrt(total(doubts, arm)) for arm in arms}
        found = record.most_optimistic(means, doubts)
        reach = math.sqrt(max(total(doubts, arm) for arm in arms))
        # both the items taken and those dropped are rounded
        assert index[found] >= max(index.values()) - 2 * record.size * reach / 50


def literal(problem, arms, horizon, seed, sigma):
    """ESCB-2 over all arms, one by one."""
    arms = list(arms)
    table = np.zeros((len(arms), problem.components.size))
    for row, arm in zip(table, arms, strict=True):
        row[list(arm)] = 1.0
    world, decisions = Literal(problem, seed), []
    for t in range(1, horizon + 1):
        fresh = table @ (world.counts == 0)
        if fresh.max() > 0:
            decisions.append((arms[int(np.argmax(fresh))], ESTIMATE))
        else:
            spread = np.sqrt(2 * sigma**2 * math.log(t) * (table @ (1 / world.counts)))
            best = int(np.argmax(table @ world.means + spread))
            leader = int(np.argmax(table @ world.means))
            decisions.append((arms[best], EXPLOIT if best == leader else EXPLORE))
        world.show(decisions[-1][0])
    return decisions


@pytest.mark.parametrize("seed", range(2))
def test_rounds_are_those_of_escb(seed):
    problem = instance("m_sets", 2, sigma=0.5)
    record = policy("aescb", problem, levels=1000)
    decisions, _ = rounds(record, problem, 120, seed)
    assert decisions == literal(problem, record.arm_set.arms(), 120, seed, 0.5)


def test_a_decision_leaves_the_tally():
    problem = instance("paths", 3)
    record, tally = policy("aescb", problem), told(problem, 1)
    before = copy.deepcopy(tally)
    record.select(tally, record.start(), np.random.default_rng(0))
    assert all((old == new).all() for old, new in zip(before, tally, strict=True))


@pytest.mark.parametrize("shape", SHAPES)
def test_the_best_arm_is_found(shape):
    problem = instance(shape, 7, sigma=0.3)
    found = simulate(problem, ["aescb"], 700, 2, seed=1).policies[0]
    assert found.arms[0] == problem.best_arm()
    assert found.plays[0] > 0.6 * 700


def test_regret_is_that_of_escb():
    """It approximates the index of ESCB, which needs listed arms, up to a factor near 1."""
    keys = {"feedback": "semi_bandit", "phi": [0.9, 0.7, 0.3, 0.1], "sigma": 0.5}
    pairs = [arm for arm in itertools.product([0, 1], repeat=4) if sum(arm) == 2]
    implicit = Combinatorial(arm_set="m_sets", n_items=4, size=2, **keys)
    ours = simulate(implicit, ["aescb"], 1500, 10, seed=3).policies[0].regret
    listed = Combinatorial(arms=pairs, **keys)
    exact = simulate(listed, ["escb:version=2"], 1500, 200, seed=3).policies[0].regret
    error = math.sqrt(ours.var() / ours.size + exact.var() / exact.size)
    assert abs(ours.mean() - exact.mean()) < 0.1 * exact.mean() + 3 * error


def test_values_in_the_unit_interval_have_a_proxy_of_a_quarter():
    problem = Combinatorial(
        feedback="semi_bandit", arm_set="m_sets", n_items=4, size=2, phi=[0.1, 0.5, 0.9, 0.3],
        observation="bernoulli",
    )  # fmt: skip
    assert policy("aescb", problem).proxy == 0.25
    assert simulate(problem, ["aescb:c=4"], 60, 1).policies[0].plays.sum() == 60


def test_what_does_not_fit_is_refused():
    listed = Combinatorial(feedback="semi_bandit", arms=[[1, 0], [0, 1]], phi=[0.1, 0.2])
    with pytest.raises(InputError, match="given by an arm_set"):
        policy("aescb", listed)
    for parameters, field in [
        ({"levels": 0}, "levels"),
        ({"levels": 10**12}, "levels"),
        ({"c": -1.0}, "c"),
        ({"c": 1e308}, "c"),
    ]:
        with pytest.raises(InputError, match=f"`{field}` must"):
            policy("aescb", instance("m_sets", 0), **parameters)


def test_there_are_fewer_budgets_for_many_items():
    """The table of the dynamic program has a place for each item, size and budget."""
    many = Combinatorial(feedback="semi_bandit", arm_set="m_sets", n_items=4000, size=2000)
    assert policy("aescb", many).levels == 200
    with pytest.raises(InputError, match="`levels` must be at most 200 for 4000 items, got 201"):
        policy("aescb", many, levels=201)
    assert policy("aescb", instance("m_sets", 0), levels=100_000).levels == 100_000
