"""Regret grows like C(θ) ln t, and plays like c(x, θ) ln t; benchmarks/slope.py has them all."""

import math

import numpy as np
import pytest

from ossb.simulation import simulate
from ossb.structures.classical import Classical
from ossb.structures.dueling import Dueling
from ossb.structures.linear import Linear
from ossb.structures.unimodal import Unimodal

HORIZON, TRIALS = 100_000, 60
INSTANCES = {
    "classical": Classical(observation="bernoulli", theta=[0.9, 0.5, 0.3]),
    "linear": Linear(arms=[[1, 0], [0, 1], [0.5, 0.8]], phi=[1.0, 0.0]),
    "unimodal": Unimodal(observation="bernoulli", theta=[0.2, 0.5, 0.85, 0.5, 0.3]),
    "dueling": Dueling(preferences=[[0.5, 0.8, 0.9], [0.2, 0.5, 0.7], [0.1, 0.3, 0.5]]),
}


@pytest.mark.parametrize("name", INSTANCES)
@pytest.mark.parametrize("policy", ["ossb", "hgl"])
def test_the_last_decade_rises_as_the_bound_does(name, policy):
    answer = simulate(INSTANCES[name], [policy], HORIZON, TRIALS, seed=2)
    result, bound = answer.policies[0], answer.bound
    at = result.checkpoints
    before = int(np.argmin(np.abs(at - HORIZON / 10)))
    rise = (result.curves[:, -1] - result.curves[:, before]) / math.log(HORIZON / at[before])
    slopes = rise / bound.value
    error = slopes.std(ddof=1) / math.sqrt(TRIALS)
    assert error < 0.2
    assert 0.7 - 3 * error <= slopes.mean() <= 1.3 + 3 * error
    needed = bound.rates > 0
    ratios = result.plays[needed] / (bound.rates[needed] * math.log(HORIZON))
    assert ((ratios > 0.25) & (ratios < 1.5)).all()
    assert result.plays[needed].sum() < 0.01 * HORIZON
