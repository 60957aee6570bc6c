"""The prior of values in [0, 1] lies where the other arms are, and at most in the middle."""

import numpy as np
import pytest

from ossb.models.level import level_for, pool_arms
from ossb.policies import policy
from ossb.simulation import simulate
from ossb.structures.classical import Classical
from ossb.structures.unimodal import Unimodal
from ossb.tally import decide, empty_tally, observe


def tally_of(means, counts):
    tally = empty_tally(len(means), len(means))
    tally.means[:], tally.counts[:], tally.plays[:] = means, counts, counts
    tally.clock[0] = int(np.sum(counts))
    return tally


def levels(means, counts, middle=0.5):
    tally = tally_of(means, counts)
    pool = pool_arms(tally, 2.0, middle)
    return [level_for(x, tally, pool, middle) for x in range(len(means))]


def test_nothing_shown_is_the_middle():
    assert levels([0.0, 0.0, 0.0], [0, 0, 0]) == [0.5, 0.5, 0.5]


def test_an_arm_has_no_say_in_its_own_level():
    assert levels([0.0], [1000]) == pytest.approx([0.5])
    few, many = levels([0.0, 0.1], [3, 40]), levels([0.0, 0.1], [3000, 40])
    assert few[0] == pytest.approx(many[0], rel=1e-12)
    assert few[0] == pytest.approx((1 + 40 * 8 / 48 * 0.1) / (2 + 40 * 8 / 48))
    assert many[1] < few[1]


def test_many_observations_of_others_count_as_eight_each():
    assert levels([0.0, 0.0, 0.0], [5, 10**9, 10**9])[0] == pytest.approx(1 / 18)


def test_frequent_successes_raise_no_level():
    assert levels([0.9, 1.0, 0.2], [50, 50, 50])[2] == 0.5
    assert levels([0.9, 1.0, 0.2], [50, 50, 50])[0] < 0.62


def test_costs_are_mirrored():
    rng = np.random.default_rng(1)
    for _ in range(100):
        means, counts = rng.random(4), rng.integers(0, 60, 4)
        rewards = np.array(levels(means, counts))
        costs = np.array(levels(means - 1.0, counts, -0.5))  # 1 − y as a cost, negated
        assert costs == pytest.approx(rewards - 1.0, abs=1e-12)


@pytest.mark.parametrize("kind", [Classical, Unimodal])
def test_least_failures_are_played_like_most_successes(kind):
    """Maximising y and minimising 1 − y: the same arms, but for ties of rounding."""
    chances, drawn = [0.05, 0.1, 0.2, 0.15], np.random.default_rng(2).random((500, 4))
    played = []
    for goal in ("maximize", "minimize"):
        record = policy("hgl", kind(n_arms=4, observation="bernoulli", goal=goal))
        memory, tally, arms = record.start(), empty_tally(4, 4), []
        for _ in range(500):
            decision = record.select(tally, memory, np.random.default_rng(0))
            decide(tally, decision)
            arm = int(decision.arm)
            success = float(drawn[tally.counts[arm], arm] < chances[arm])
            observe(tally, arm, success if goal == "maximize" else success - 1.0)
            tally.clock[0] += 1
            arms.append(arm)
        played.append(arms)
    assert played[0] == played[1]


def test_rare_successes_are_not_taken_for_frequent_ones_to_come():
    record = policy("hgl", Classical(n_arms=10, observation="bernoulli"))
    memory = record.start()
    record.model.weigh(tally_of([0.0] * 10, [8] * 10), memory.model)
    assert memory.model.rewards == pytest.approx(2 * (1 / 38) / 10)  # one in ten from a half


def test_prices_that_few_pay_are_not_all_tried_at_length():
    """The regret of 2,000 visitors; it was 0.70 when every arm began at a half."""
    theta = [0.012 * p / 15 * np.exp(-p / 6) for p in range(1, 16)]
    instance = Unimodal(theta=theta, observation="bernoulli")
    regret = simulate(instance, ["hgl"], horizon=2000, trials=20, seed=1)["hgl"].regret
    assert regret.mean() < 0.62
