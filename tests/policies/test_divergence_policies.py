"""DMED, IMED and the index of Burnetas and Katehakis: independent arms."""

import math

import numpy as np
import pytest

from ossb.errors import InputError
from ossb.families import Exponential
from ossb.policies import policy
from ossb.policies.kl_ucb import upper_mean
from ossb.simulation import simulate
from ossb.structures.base import bound
from ossb.structures.classical import Classical
from ossb.structures.dueling import Dueling
from ossb.structures.generalized_linear import GeneralizedLinear
from ossb.structures.unimodal import Unimodal
from policies.contract import (
    World,
    decisions,
    untold,
    upper_by_bisection,
)

BERNOULLI = Classical(theta=[0.5, 0.6, 0.7], observation="bernoulli")
CASES = {
    "bernoulli": BERNOULLI,
    "gaussian": Classical(theta=[0.0, 1.0, 0.4], sigma=0.5),
    "poisson": Classical(theta=[3.0, 2.0, 1.0], observation="poisson", goal="minimize"),
    "exponential": Classical(theta=[1.0, 2.0, 0.5], observation="exponential"),
    "bounded": Classical(theta=[0.2, 0.3, 0.6, 0.5], observation="bounded", goal="minimize"),
}
NAMES = ["dmed", "imed", "burnetas-katehakis"]


def literal_imed(instance, horizon, seed):
    world, arms = World(instance, seed), []
    for t in range(horizon):
        if t < instance.n_arms:
            arm = t
        else:
            top = max(world.means)
            arm = min(
                range(instance.n_arms),
                key=lambda x: (
                    world.n[x] * instance.family.kl(world.means[x], top) + math.log(world.n[x]),
                    -world.means[x],  # ties, which the paper leaves open, go to the larger mean
                ),
            )
        world.play(arm)
        arms.append(arm)
    return arms


def literal_dmed(instance, horizon, seed, threshold):
    """The lists of the paper, with its steps 1.1, 1.2 and 2."""
    world, arms, everything = World(instance, seed), [], range(instance.n_arms)
    for arm in everything:
        world.play(arm)
        arms.append(arm)
    current, remaining, following = list(everything), set(everything), set()
    while len(arms) < horizon:
        for i in sorted(current):
            world.play(i)
            arms.append(i)
            n, remaining = len(arms), remaining - {i}
            for j in set(everything) - remaining:
                level = math.log(n) - (math.log(world.n[j]) if threshold == "ratio" else 0)
                if world.n[j] * instance.family.kl(world.means[j], max(world.means)) <= level:
                    following.add(j)
        current, remaining, following = list(following), set(following), set()
    return arms[:horizon]


def literal_index(instance, horizon, seed):
    """sup {q: N kl(mean, q) < ln n} by bisection."""
    world, arms = World(instance, seed), []
    for n in range(horizon):
        arm = n
        if n >= instance.n_arms:
            levels = math.log(n) / world.n
            index = [
                upper_by_bisection(instance.family, *at)
                for at in zip(world.means, levels, strict=True)
            ]
            arm = int(np.argmax(index))
        world.play(arm)
        arms.append(arm)
    return arms


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", range(3))
def test_imed_decides_as_written(case, seed):
    ours = decisions(CASES[case], "imed", 200, seed)
    assert ours == literal_imed(CASES[case], 200, seed)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("threshold", ["ratio", "time"])
def test_dmed_decides_as_written(case, threshold):
    for seed in range(3):
        ours = decisions(CASES[case], "dmed", 200, seed, threshold=threshold)
        assert ours == literal_dmed(CASES[case], 200, seed, threshold)


@pytest.mark.parametrize("case", ["gaussian", "poisson", "exponential", "bounded"])
def test_the_index_is_the_one_by_bisection(case):
    """Bernoulli arms are left out: they tie, and roundings decide."""
    for seed in range(2):
        ours = decisions(CASES[case], "burnetas-katehakis", 120, seed)
        assert ours == literal_index(CASES[case], 120, seed)


def test_each_arm_comes_first_as_often_as_wished():
    arms = decisions(BERNOULLI, "burnetas-katehakis", 12, 0, first=4)
    assert sorted(arms) == [0] * 4 + [1] * 4 + [2] * 4


@pytest.mark.parametrize("name", NAMES)
def test_plays_that_are_not_told_spread(name):
    assert sorted(untold(CASES["gaussian"], name, 3)) == [0, 1, 2]
    assert set(untold(CASES["poisson"], name, 30)) == {0, 1, 2}


def test_imed_counts_what_is_on_its_way():
    """With nothing told, ln N is all there is: plays stay level."""
    assert np.bincount(untold(CASES["exponential"], "imed", 30)).tolist() == [10, 10, 10]


@pytest.mark.parametrize(
    ("name", "parameters", "field"),
    [
        ("dmed", {"threshold": "never"}, "threshold"),
        ("burnetas-katehakis", {"c": -1.0}, "c"),
        ("burnetas-katehakis", {"first": 0}, "first"),
    ],
)
def test_parameters_out_of_range_are_refused(name, parameters, field):
    with pytest.raises(InputError, match=field):
        policy(name, BERNOULLI, **parameters)


@pytest.mark.parametrize("name", NAMES)
def test_they_need_arms_that_show_their_reward(name):
    policy(name, Unimodal(theta=[0.1, 0.5, 0.2]))
    with pytest.raises(InputError, match=r"these do: .*rmed1"):
        policy(name, Dueling(n_items=3))
    arms = [[1.0, 0.0], [0.0, 1.0]]
    with pytest.raises(InputError, match="show their own reward"):
        policy(name, GeneralizedLinear(arms=arms, link="log", observes="index", phi=[1, 0]))


@pytest.mark.parametrize(
    ("name", "trials", "most"),
    [("dmed", 200, 1.4), ("imed", 200, 1.4), ("burnetas-katehakis", 80, 2.0)],
)
def test_regret_follows_lai_and_robbins(name, trials, most):
    """All attain C: the slope of mean regret in ln t over the last decade is near it.

    Optimistic indices come down to it from above, slowly.
    """
    constant = bound(BERNOULLI).value
    found = simulate(BERNOULLI, [name], 20_000, trials, seed=4).policies[0]
    mean = found.curves.mean(axis=0)
    decade = int(np.searchsorted(found.checkpoints, 2000))
    slope = (mean[-1] - mean[decade]) / math.log(20_000 / found.checkpoints[decade])
    assert 0.6 * constant < slope < most * constant
    assert mean[-1] < most * constant * math.log(20_000)


def test_the_index_of_waiting_times_has_their_unit():
    """To the last bit: however small the unit, the root is sought until it is found."""
    for mean in (0.3, 1.0, 7.0):
        for level in (1e-3, 0.1, 2.0):
            index = upper_mean(Exponential(), mean, level, -math.inf)
            for unit in (2.0**-60, 2.0**60):
                assert upper_mean(Exponential(), unit * mean, level, -math.inf) == unit * index
