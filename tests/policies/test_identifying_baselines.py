"""LUCB, KL-LUCB and uniform sampling: literal transcriptions, and tests that end with them."""

import math

import numpy as np
import pytest

from ossb.errors import InputError
from ossb.instances import from_dict
from ossb.policies import policy
from ossb.simulation.simulate import simulate
from ossb.tally import decide, empty_tally, observe
from policies.contract import upper_by_bisection

ARMS = from_dict({"structure": "classical", "observation": "bernoulli", "theta": [0.3, 0.5, 0.8]})


def printed(name, step, n, m, delta):
    """The leader and its challenger in a step, as in the papers."""
    K, ends = len(n), []
    for count, mean in zip(n, m, strict=True):
        if name == "lucb":
            rate = math.log(5 * K * step**4 / (4 * delta))
            ends.append(mean + math.sqrt(rate / (2 * count)))
        else:
            rate = math.log(405.5 * K * step**1.1 / delta)
            ends.append(upper_by_bisection(ARMS.family, mean, rate / count))
    leader = int(np.argmax(m))
    others = [x for x in range(K) if x != leader]
    return leader, {x for x in others if ends[x] > max(ends[y] for y in others) - 1e-9}


@pytest.mark.parametrize("name", ["lucb", "kl-lucb"])
def test_they_play_the_leader_and_the_largest_upper_end(name):
    record, rng = policy(name, ARMS, delta=0.1), np.random.default_rng(2)
    tally, memory, step, second = empty_tally(3, 3), record.start(), 0, None
    for t in range(300):
        decision = record.select(tally, memory, rng)
        if t < 3:
            assert decision.arm == t
        elif second is None:
            step += 1
            leader, second = printed(name, step, tally.counts.tolist(), tally.means.tolist(), 0.1)
            assert decision.arm == leader
        else:
            assert decision.arm in second
            second = None
        decide(tally, decision)
        observe(tally, decision.arm, float(rng.random() < ARMS.theta[decision.arm]))
        tally.clock[0] += 1


def test_uniform_plays_all_alike():
    result = simulate(ARMS, "uniform", 300, 2)["uniform"]
    assert result.plays.tolist() == [100.0, 100.0, 100.0]


def test_top_two_ends_sooner():
    names = ["top-two", "kl-lucb", "lucb", "uniform"]
    result = simulate(ARMS, names, 20_000, 60, 1, until=0.05)
    rounds = {one.policy: one.stops.rounds.mean() for one in result.policies}
    assert min(rounds, key=rounds.get) == "top-two"
    assert all(not one.stops.wrong.any() for one in result.policies)


def test_delta_is_checked():
    with pytest.raises(InputError, match="delta"):
        policy("kl-lucb", ARMS, delta=0.0)
