"""What is said of likelihood ratios without a regression is no less than they are."""

import math

import numpy as np
import pytest

from ossb.models.base import SETTLED, WEAKEST
from ossb.models.unimodal_bounds import ratio_as_equals, ratio_beside
from ossb.structures.unimodal import Unimodal
from ossb.tally import empty_tally

SHAPES = {"line": {}, "tree": {"edges": [[0, 1], [1, 2], [2, 3], [1, 4], [4, 5], [2, 6]]}}


@pytest.mark.parametrize("observation", ["bernoulli", "exponential", "gaussian", "poisson"])
@pytest.mark.parametrize("goal", ["maximize", "minimize"])
@pytest.mark.parametrize("shape", SHAPES)
def test_ratios_are_no_less_and_often_the_same(shape, goal, observation):
    model = Unimodal(n_arms=7, observation=observation, goal=goal, **SHAPES[shape]).model()
    sign = 1.0 if goal == "maximize" else -1.0
    rng = np.random.default_rng(4)
    met = {WEAKEST: 0, SETTLED: 0}
    for _ in range(300):
        memory, tally = model.start(), empty_tally(7, 7)
        tally.counts[:] = tally.plays[:] = rng.integers(0, 60, 7)
        drawn = rng.uniform(0.05, 0.95, 7)
        if observation == "bernoulli":
            drawn = np.where(rng.random(7) < 0.3, drawn.round(), drawn)  # means of 0 and 1 too
        tally.means[:] = np.where(tally.counts > 0, sign * drawn, 0.0)
        leader = model.project(tally, memory)
        model.test(leader, math.inf, tally, memory)
        top, count, none = tally.means[leader], float(tally.counts[leader]), np.zeros(7)
        rest = tally, memory.estimate, none, 0.0
        for place, ratio in (
            (WEAKEST, ratio_as_equals(model, leader, top, count, *rest)),
            (SETTLED, ratio_beside(model, leader, top, *rest)),
        ):
            exact = memory.numbers[place]
            assert ratio >= exact * (1.0 - 1e-7) - 1e-7
            met[place] += ratio < math.inf and math.isclose(ratio, exact, rel_tol=1e-6)
    assert min(met.values()) >= 20  # the bound is not idle
