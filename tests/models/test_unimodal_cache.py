"""What is said to stay true while only the leader is played does."""

import math

import numpy as np
import pytest

from ossb.models.base import SETTLED, WEAKEST
from ossb.models.unimodal_bounds import ratio_as_equals, ratio_beside
from ossb.models.unimodal_cache import (
    FAR,
    LOW,
    SEEN,
    SLACK,
    decide_standing,
    is_standing,
    recall,
    stand,
)
from ossb.structures.unimodal import Unimodal
from ossb.tally import empty_tally

SHAPES = {"line": {}, "tree": {"edges": [[0, 1], [1, 2], [2, 3], [1, 4], [4, 5], [2, 6]]}}
NEAR = 1e-9  # relative: a deviance summed in another order


def standing(model, observation, sign, rng):
    """A tally, a memory that stands at it, and the leader; None where none does."""
    memory, tally = model.start(), empty_tally(7, 7)
    spread = rng.choice([0.02, 0.1, 0.3])
    drawn = 0.5 - 0.1 * np.abs(np.arange(7) - rng.integers(7)) + spread * rng.normal(size=7)
    tally.counts[:] = tally.plays[:] = np.exp(rng.uniform(0.0, 7.0, 7)).astype(int)
    tally.counts[rng.random(7) < 0.1] = 0
    drawn = np.clip(drawn, 0.01, 0.99)
    if observation == "bernoulli":
        drawn = np.where(rng.random(7) < 0.1, drawn.round(), drawn)
    tally.means[:] = np.where(tally.counts > 0, sign * drawn, 0.0)
    leader = model.project(tally, memory)
    is_there = stand(model, leader, float(rng.uniform(0.01, 5.0)), tally, memory)
    return (tally, memory, leader) if is_there else None


@pytest.mark.sampled(of=4)
@pytest.mark.parametrize("observation", ["bernoulli", "exponential", "gaussian", "poisson"])
@pytest.mark.parametrize("goal", ["maximize", "minimize"])
@pytest.mark.parametrize("shape", SHAPES)
def test_bounds_hold_for_every_mean_and_count_that_is_allowed(shape, goal, observation):
    model = Unimodal(n_arms=7, observation=observation, goal=goal, **SHAPES[shape]).model()
    sign = 1.0 if goal == "maximize" else -1.0
    rng = np.random.default_rng(7)
    met = slackened = decided = 0
    for _ in range(400):
        found = standing(model, observation, sign, rng)
        if found is None:
            continue
        tally, memory, leader = found
        low, met = memory.held[LOW], met + 1
        slack = memory.others[SLACK]
        slackened += any(slack[y] < -NEAR for y in range(7))
        for _ in range(4):
            rise = low + abs(rng.normal()) * rng.choice([0.0, 0.01, 0.1])
            tally.means[leader] = min(rise, sign * 0.99 if sign > 0 else -0.01)
            tally.counts[leader] = memory.held[SEEN] + rng.choice([0, 1, 100, 10**6])
            if tally.means[leader] < low:
                continue
            assert is_standing(tally, memory.held, memory.others)
            fresh = model.start()
            assert model.project(tally, fresh) == leader
            assert model.project(tally, memory) == leader
            assert memory.estimate == pytest.approx(fresh.estimate, abs=1e-12)
            model.test(leader, math.inf, tally, fresh)
            weakest, settled = fresh.numbers[WEAKEST], fresh.numbers[SETTLED]
            top, count = tally.means[leader], float(tally.counts[leader])
            far, rest = memory.held[FAR], (tally, memory.estimate, slack)
            least, most = (
                ratio_as_equals(model, leader, top, count, *rest, part) for part in (1.0, 0.0)
            )
            assert min(least, far) <= weakest * (1 + NEAR) + NEAR
            assert weakest <= most * (1 + NEAR) + NEAR
            least, most = (ratio_beside(model, leader, top, *rest, part) for part in (1.0, 0.0))
            assert min(least, far) <= settled * (1 + 1e-6) + 1e-6  # of a count of 10¹⁵
            assert settled <= most * (1 + 1e-6) + 1e-6
            for level in weakest * np.array([0.5, 0.98, 1.02]), settled * np.array([0.9, 1.1]):
                for each in level[np.isfinite(level) & (level <= far)]:
                    if math.isclose(each, weakest) or math.isclose(each, settled):
                        continue
                    if recall(float(each), top, count, memory.held, memory.numbers) or (
                        decide_standing(model, leader, float(each), tally, memory)
                    ):
                        decided += 1
                        assert (memory.numbers[WEAKEST] >= each) == (weakest >= each)
                        if weakest < each:
                            assert (memory.numbers[SETTLED] >= each) == (settled >= each)
    assert met >= 40
    assert slackened >= 5
    assert decided >= 200
