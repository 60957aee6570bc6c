"""A test with a level says which side of it the ratios are on, whatever the memory held before."""

import math

import numpy as np
import pytest

from ossb.models.base import SETTLED, WEAKEST
from ossb.structures.classical import Classical
from ossb.structures.lipschitz import Lipschitz
from ossb.structures.polytope import Polytope
from ossb.structures.unimodal import Unimodal
from ossb.tally import empty_tally, observe
from structured_instances import INSTANCES as STRUCTURED

MEANS = [0.3, 0.45, 0.6, 0.7, 0.55, 0.5, 0.2]
PLACES = [0.0, 0.4, 1.0, 1.3, 2.0, 2.2, 3.0]
INSTANCES = {
    **STRUCTURED,
    "classical": Classical(observation="bernoulli", theta=MEANS),
    "line": Unimodal(observation="bernoulli", theta=MEANS),
    "tree": Unimodal(
        observation="gaussian",
        theta=MEANS,
        edges=[[0, 1], [1, 3], [2, 3], [3, 4], [4, 5], [4, 6]],
    ),
    "steep line": Lipschitz(
        observation="bernoulli", theta=MEANS, points=PLACES, lipschitz_constant=0.8
    ),
    "exponential line": Lipschitz(
        observation="exponential", theta=MEANS, points=PLACES, lipschitz_constant=0.8
    ),
    "polytope": Polytope(
        observation="gaussian", A=[[1, -1, 0], [0, 1, -1]], b=[0.4, 0.6], theta=[0.2, 0.0, -0.5]
    ),
}


def sides(model, tally, memory, leader, level):
    model.test(leader, level, tally, memory)
    weakest = memory.numbers[WEAKEST] >= level
    return weakest, weakest or memory.numbers[SETTLED] >= level


@pytest.mark.parametrize("name", INSTANCES)
def test_sides_are_those_of_the_exact_ratios(name):
    instance, rng = INSTANCES[name], np.random.default_rng(5)
    model, reveals = instance.model(), instance.showing()
    tally = empty_tally(instance.components.size, instance.n_arms)
    kept = model.start()
    for component, mean in enumerate(instance.components):  # away from the ends of the mean space
        tally.counts[component], tally.means[component] = 2, mean
    for round in range(20 if name == "polytope" else 150):
        arm = int(rng.integers(0, instance.n_arms if round < 30 else 3))
        for component in reveals[arm]:
            mean = float(instance.components[component])
            observe(tally, component, instance.family.sample(mean, rng))
        tally.plays[arm] += 1
        tally.clock[0] += 1
        fresh = model.start()
        leader = model.project(tally, fresh)
        assert model.project(tally, kept) == leader
        assert kept.estimate == pytest.approx(fresh.estimate, rel=1e-5, abs=1e-5)
        model.test(leader, math.inf, tally, fresh)
        weakest, settled = fresh.numbers[WEAKEST], fresh.numbers[SETTLED]
        for level in {weakest, settled} - {math.inf}:
            for factor in (0.6, 0.99, 1.01, 1.5):
                if level > 1e-6 and math.isfinite(level):
                    exact = weakest >= factor * level, max(weakest, settled) >= factor * level
                    assert sides(model, tally, kept, leader, factor * level) == exact
