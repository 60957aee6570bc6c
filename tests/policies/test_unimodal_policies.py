"""OSUB, IMED-UB and LSE: unimodal arms."""

import math

import numpy as np
import pytest

from ossb.errors import InputError
from ossb.policies import policy
from ossb.policies.lse import SECTION
from ossb.simulation import simulate
from ossb.structures.base import bound
from ossb.structures.classical import Classical
from ossb.structures.unimodal import Unimodal
from ossb.tally import empty_tally
from policies.contract import (
    World,
    decisions,
    untold,
    upper_by_bisection,
)

TWELVE = Unimodal(theta=[0, 0.1, 0.2, 0.3, 0.4, 0.7, 0.5, 0.5, 0.4, 0.2, 0.2, 0.1])
CASES = {  # continuous observations: ties would be settled by roundings
    "line": Unimodal(theta=[0.1, 0.4, 0.9, 0.6, 0.2]),
    "star": Unimodal(
        theta=[0.8, 0.2, 0.3, 0.5], edges=[[0, 1], [0, 2], [0, 3]], observation="bounded"
    ),
    "ring": Unimodal(
        theta=[4.0, 3.0, 2.0, 3.5],
        edges=[[0, 1], [1, 2], [2, 3], [3, 0]],
        observation="exponential",
    ),
    "minimized": Unimodal(theta=[3.0, 1.0, 2.0], observation="exponential", goal="minimize"),
}


def leader_of(world, least_played):
    """Of the arms seen, the one of the largest mean."""
    seen = [x for x in range(len(world.n)) if world.n[x] > 0]
    if not seen:
        return 0
    return max(seen, key=lambda x: (world.means[x], -world.n[x] if least_played else 0, -x))


def literal_osub(instance, horizon, seed, c, sweep):
    world, arms, led = World(instance, seed), [], [0] * instance.n_arms
    gamma = max(len(near) for near in instance.neighbours)
    for t in range(horizon):
        if sweep and t < instance.n_arms:
            arm = t
        else:
            leader = leader_of(world, False)
            led[leader] += 1
            count = led[leader]
            if (count - 1) % (gamma + 1) == 0:
                arm = leader
            else:
                level = max(math.log(count) + c * math.log(math.log(count)), 0)
                index = {}
                for k in (leader, *instance.neighbours[leader]):
                    if world.n[k] == 0:
                        index[k] = instance.family.highest()
                    else:
                        most = level / world.n[k]
                        index[k] = upper_by_bisection(instance.family, world.means[k], most)
                arm = max(index, key=lambda k: index[k])
        world.play(arm)
        arms.append(arm)
    return arms


def literal_imed_ub(instance, horizon, seed, sweep):
    world, arms = World(instance, seed), []
    for t in range(horizon):
        if sweep and t < instance.n_arms:
            arm = t
        else:
            leader = leader_of(world, True)
            index = {}
            for k in (leader, *instance.neighbours[leader]):
                if world.n[k] == 0:
                    index[k] = -math.inf
                else:
                    divergence = instance.family.kl(world.means[k], world.means[leader])
                    index[k] = world.n[k] * divergence + math.log(world.n[k])
            arm = min(index, key=lambda k: index[k])
        world.play(arm)
        arms.append(arm)
    return arms


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("sweep", [True, False])
@pytest.mark.parametrize("c", [0.0, 3.0])
def test_osub_decides_as_written(case, sweep, c):
    for seed in range(2):
        ours = decisions(CASES[case], "osub", 150, seed, c=c, sweep=sweep)
        assert ours == literal_osub(CASES[case], 150, seed, c, sweep)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("sweep", [True, False])
def test_imed_ub_decides_as_written(case, sweep):
    for seed in range(3):
        ours = decisions(CASES[case], "imed-ub", 200, seed, sweep=sweep)
        assert ours == literal_imed_ub(CASES[case], 200, seed, sweep)


def test_a_ring_is_no_line():
    with pytest.raises(InputError, match="needs arms in a line"):
        policy("lse", Unimodal(n_arms=3, edges=[[0, 1], [1, 2], [2, 0]]))


def test_lse_searches_by_golden_sections():
    """Seven arms, their peak at 4: the search goes 2 | 4, then 4 | 5, then 3 | 4."""
    instance = Unimodal(theta=[0.0, 1.0, 2.0, 3.0, 9.0, 4.0, 1.0], sigma=0.1)
    record = policy("lse", instance, slope=1.0, horizon=1000)
    memory, tally, seen = record.start(), empty_tally(7, 7), []
    assert int(SECTION * 6) == 2
    for _ in range(60):
        arm = record.select(tally, memory, np.random.default_rng(0)).arm
        tally.plays[arm] += 1
        tally.counts[arm] += 1
        tally.means[arm] = instance.theta[arm]
        tally.clock[0] += 1
        if not seen or seen[-1] != arm:
            seen.append(int(arm))
    assert seen == [2, 4, 5, 3, 4]
    tally.clock[0] = 1000  # past the plan: the search begins again, for a horizon of a million
    record.select(tally, memory, np.random.default_rng(0))
    assert memory.plan[0] == 1e6


def test_lse_plays_as_often_as_it_says():
    instance = Unimodal(theta=[0.2, 0.8], observation="bernoulli")
    found = simulate(instance, ["lse:slope=0.5,horizon=500"], 500, 40, seed=2).policies[0]
    pulls = math.ceil(4 * 0.25 * math.log(500) / 0.25)
    assert found.plays.tolist() == [pulls, 500 - pulls]


def test_lse_drops_the_best_arm_as_rarely_as_it_says():
    """At most one wrong comparison in T, four comparisons a trial: none expected in 60 trials."""
    theta = [0.0, 0.1, 0.2, 0.3, 0.4, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1]
    instance = Unimodal(theta=theta, sigma=0.1)
    found = simulate(instance, ["lse:slope=0.1,horizon=2000"], 2000, 60, seed=2).policies[0]
    last = found.curves[:, -1] - found.curves[:, -2]
    assert (last == 0).all()
    assert found.plays[5] > 1500


@pytest.mark.parametrize("name", ["osub", "imed-ub"])
def test_what_is_on_its_way_counts_as_played(name):
    assert sorted(untold(TWELVE, name, 12)) == list(range(12))
    assert untold(TWELVE, name, 2, sweep=False) == [0, 1]


def test_lse_alternates_while_nothing_is_told():
    assert untold(CASES["line"], "lse", 6) == [1, 3, 1, 3, 1, 3]


@pytest.mark.parametrize(
    ("name", "parameters", "field"),
    [
        ("osub", {"c": -1.0}, "c"),
        ("osub", {"sweep": 1}, "sweep"),
        ("imed-ub", {"sweep": "no"}, "sweep"),
        ("lse", {"slope": 0.0}, "slope"),
        ("lse", {"horizon": 1}, "horizon"),
    ],
)
def test_parameters_out_of_range_are_refused(name, parameters, field):
    with pytest.raises(InputError, match=field):
        policy(name, TWELVE, **parameters)


@pytest.mark.parametrize("name", ["osub", "imed-ub", "lse"])
def test_they_are_for_unimodal_arms(name):
    with pytest.raises(InputError, match="is not for classical structures"):
        policy(name, Classical(theta=[0.1, 0.5]))


def test_lse_needs_bounded_tails():
    with pytest.raises(InputError, match="gaussian, bernoulli and bounded"):
        policy("lse", Unimodal(theta=[3.0, 1.0], observation="poisson"))


def test_osub_on_the_twelve_arms():
    """Reported elsewhere: 278.  The tail is long: 200 trials have a standard error of about 40."""
    regret = simulate(TWELVE, ["osub"], 20_000, 200, seed=3).policies[0].regret
    assert abs(regret.mean() - 278) < 4 * regret.std() / math.sqrt(200)
    assert regret.std() / math.sqrt(200) < 60


@pytest.mark.parametrize(("name", "most"), [("osub", 2.0), ("imed-ub", 1.5)])
def test_regret_is_that_of_the_neighbours_of_the_best_arm(name, most):
    """C ln T counts two arms of seven; KL-UCB and IMED on all of them have more."""
    theta = [0.1, 0.3, 0.5, 0.9, 0.5, 0.3, 0.1]
    instance = Unimodal(theta=theta, sigma=0.5)
    found = simulate(instance, [name, "imed"], 5_000, 200, seed=3).policies
    assert found[0].regret.mean() < most * bound(instance).value * math.log(5_000)
    assert found[0].regret.mean() < found[1].regret.mean()
    assert found[0].plays[[0, 1, 5, 6]].max() < 0.5 * found[0].plays[[2, 4]].min()
