"""GLPG: its program against the certified bound, and its rounds against the rule."""

import copy
import math

import numpy as np
import pytest

from ossb.arm_sets import total
from ossb.errors import InputError
from ossb.policies import policy
from ossb.policies.glpg_program import Program
from ossb.simulation import simulate
from ossb.structures.base import bound
from ossb.structures.combinatorial import Combinatorial
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE
from policies.oracle_instances import SHAPES, instance, rounds, told
from policies.rounds import Literal


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("shape", SHAPES)
def test_rates_are_feasible_and_nearly_optimal(shape, seed):
    problem = instance(shape, seed, sigma=0.5)
    arm_set, means = problem.implicit_set, problem.components
    plan = Program(arm_set, means, 0.5, 400).solve(120)
    value = bound(problem, 1e-4).value
    assert 0.999 * value < plan.cost < 1.04 * value
    leader, top = set(plan.leader), total(means, plan.leader)
    mixed = np.zeros(means.size)
    for arm, rate in plan.support:
        mixed[list(arm)] += rate
        assert arm_set.contains(arm)
        assert rate > 0
    outside = [i for i in range(means.size) if i not in leader]
    assert plan.rates[outside] == pytest.approx(mixed[outside])
    assert sum(rate * (top - total(means, arm)) for arm, rate in plan.support) == pytest.approx(
        plan.cost
    )
    for arm in arm_set.arms():
        doubt = sum(2 * 0.5**2 / mixed[i] for i in arm if i not in leader)
        assert doubt <= (top - total(means, arm)) ** 2 * 1.02


def test_more_steps_cost_no_more_and_held_rates_are_a_start():
    problem = instance("paths", 3)
    arm_set, means = problem.implicit_set, problem.components
    plans = [Program(arm_set, means, 1.0, 200).solve(steps) for steps in (0, 10, 60)]
    assert plans[0].cost > 1.02 * plans[1].cost
    assert plans[1].cost >= plans[2].cost
    again = Program(arm_set, means, 1.0, 200).solve(0, plans[2])
    assert again.cost == pytest.approx(plans[2].cost)


def test_one_arm_needs_no_rates():
    only = Combinatorial(
        feedback="semi_bandit", arm_set="m_sets", n_items=2, size=2, phi=[0.1, 0.2]
    )
    assert Program(only.implicit_set, only.components, 1.0, 10).solve(5).support == []


def test_equal_means_have_finite_rates():
    problem = instance("m_sets", 0)
    plan = Program(problem.implicit_set, np.full(6, 0.5), 1.0, 50).solve(3)
    assert np.isfinite(plan.rates).all()


def closed_form(means, size):
    """On m-sets: the worst item k of the leader gives way to i at the rate 2σ²/(φ_k − φ_i)²."""
    order = np.argsort(-means, kind="stable")
    leader, worst = order[:size], order[size - 1]
    rates, arms = np.zeros(means.size), {}
    for item in order[size:]:
        rates[item] = 2 * 0.5**2 / (means[worst] - means[item]) ** 2
        arms[int(item)] = tuple(sorted({int(item), *map(int, leader)} - {int(worst)}))
    return tuple(sorted(int(i) for i in leader)), rates, arms


def literal(problem, horizon, seed, epsilon):
    world, decisions, spent, plan, until = Literal(problem, seed), [], 0, None, 0.0
    for t in range(1, horizon + 1):
        missing = world.counts == 0
        means = world.means
        if missing.any():
            arm, phase = tuple(sorted(np.argsort(~missing, kind="stable")[:3].tolist())), ESTIMATE
        else:
            leader = closed_form(means, 3)[0]
            if plan is None or plan[0] != leader or t >= until:
                plan, until = closed_form(means, 3), max(1.1 * t, t + 1)
            _, rates, arms = plan
            least = int(np.argmin(world.counts))
            if (world.counts >= rates * math.log(t)).all():
                arm, phase = leader, EXPLOIT
            elif world.counts[least] <= epsilon * (spent + 1):
                rest = [i for i in np.argsort(-means, kind="stable").tolist() if i != least]
                arm, phase = tuple(sorted([least, *rest[:2]])), ESTIMATE
            else:
                item = min(arms, key=lambda i: world.counts[i] / rates[i])
                arm, phase = arms[item], EXPLORE
        decisions.append((arm, phase))
        spent += phase != EXPLOIT
        world.show(arm)
    return decisions


@pytest.mark.parametrize("seed", range(3))
def test_rounds_are_those_of_the_rule(seed):
    problem = instance("m_sets", 4, sigma=0.5)
    record = policy("glpg", problem, iterations=0, epsilon=0.1)
    decisions, _ = rounds(record, problem, 200, seed)
    assert decisions == literal(problem, 200, seed, 0.1)


def test_a_decision_leaves_the_tally():
    problem = instance("matchings", 3)
    record, tally = policy("glpg", problem), told(problem, 1)
    before = copy.deepcopy(tally)
    record.select(tally, record.start(), np.random.default_rng(0))
    assert all((old == new).all() for old, new in zip(before, tally, strict=True))


@pytest.mark.parametrize("shape", SHAPES)
def test_exploration_ends_in_the_best_arm(shape):
    problem = instance(shape, 7, sigma=0.2)
    result = simulate(problem, ["glpg:iterations=5"], 600, 2, seed=1)
    found, least = result.policies[0], result.bound.value * math.log(600)
    assert found.arms[0] == problem.best_arm()
    assert 0.2 * least < found.regret.mean() < 4 * least + 20


def test_regret_grows_as_the_bound():
    """Asymptotically optimal: over a decade, by about C ln 10."""
    problem = Combinatorial(
        feedback="semi_bandit", arm_set="m_sets", n_items=4, size=2, phi=[0.9, 0.7, 0.3, 0.1],
        sigma=0.5,
    )  # fmt: skip
    result = simulate(problem, ["glpg:iterations=5"], 1500, 12, seed=3)
    found = result.policies[0]
    middle = found.curves[:, np.argmin(np.abs(found.checkpoints - 150))]
    growth = (found.curves[:, -1] - middle).mean()
    assert 0.3 < growth / (result.bound.value * math.log(10)) < 1.5


def test_what_does_not_fit_is_refused():
    listed = Combinatorial(feedback="semi_bandit", arms=[[1, 0], [0, 1]], phi=[0.1, 0.2])
    counted = Combinatorial(
        feedback="semi_bandit", arm_set="m_sets", n_items=3, size=2, phi=[0.1, 0.2, 0.3],
        observation="bernoulli",
    )  # fmt: skip
    for problem, why in [(listed, "given by an arm_set"), (counted, "is for gaussian")]:
        with pytest.raises(InputError, match=why):
            policy("glpg", problem)
    for parameters, field in [
        ({"epsilon": -1.0}, "epsilon"),
        ({"gamma": -1.0}, "gamma"),
        ({"gamma": 1e308}, "gamma"),
        ({"iterations": 10**9}, "iterations"),
    ]:
        with pytest.raises(InputError, match=f"`{field}` must"):
            policy("glpg", instance("m_sets", 0), **parameters)
