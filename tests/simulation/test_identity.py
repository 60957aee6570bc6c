"""What a trial's numbers depend on: not the number of workers, nor what runs beside it."""

import numpy as np
import pytest

from ossb.campaigns.definition import stream
from ossb.simulation import simulate
from ossb.structures.classical import Classical
from ossb.structures.dueling import Dueling
from ossb.structures.lipschitz import Lipschitz
from ossb.structures.polytope import Polytope

INSTANCES = {
    "classical": (Classical(observation="bernoulli", theta=[0.6, 0.5, 0.2]), 500, 6),
    "lipschitz": (
        Lipschitz(
            observation="bernoulli",
            theta=[0.3, 0.5, 0.7, 0.6],
            points=[0.0, 1.0, 2.0, 3.0],
            lipschitz_constant=0.3,
        ),
        300,
        6,
    ),
    "polytope": (
        Polytope(observation="gaussian", A=[[1, -1, 0]], b=[0.6], theta=[0.5, 0.0, 0.1]), 10, 3
    ),
}  # fmt: skip


def same(one, other):
    return (
        np.array_equal(one.curves, other.curves)
        and np.array_equal(one.plays, other.plays)
        and np.array_equal(one.phases, other.phases)
    )


@pytest.mark.parametrize("name", INSTANCES)
@pytest.mark.parametrize("policy", ["hgl", "ossb", "thompson"])
def test_workers_and_company_change_nothing(name, policy):
    instance, horizon, trials = INSTANCES[name]
    if name == "polytope" and policy == "thompson":
        policy = "ucb1"
    alone = simulate(instance, [policy], horizon, trials, seed=4)[policy]
    for workers in (2, 4):
        again = simulate(instance, [policy], horizon, trials, seed=4, workers=workers)[policy]
        assert same(alone, again)
    beside = simulate(instance, ["ucb1", policy], horizon, trials, seed=4)[policy]
    assert same(alone, beside)
    fewer = simulate(instance, [policy], horizon, trials - 1, seed=4)[policy]
    assert np.array_equal(alone.curves[:-1], fewer.curves)


def test_a_whole_number_and_the_same_real_one_are_one_parameter():
    duels = Dueling(preferences=[[0.5, 0.6, 0.7], [0.4, 0.5, 0.6], [0.3, 0.4, 0.5]])
    answers = [
        simulate(duels, entry, 200, 3, seed=1).policies[0]
        for entry in ("double-thompson:alpha=1", {"name": "double-thompson", "alpha": 1.0})
    ]
    assert same(*answers)
    assert stream({"name": "double-thompson", "alpha": 1}) == "double-thompson,alpha=1.0"
    assert stream({"name": "lse", "horizon": 500}) == "lse,horizon=500"
