"""What ``ossb`` and ``hgl`` repair, and how ``ossb-paper`` fares, over many trials."""

import math

import numpy as np
import pytest

from ossb.models.base import WEAKEST
from ossb.policies import policy
from ossb.simulation import simulate
from ossb.simulation.environment import environment_of
from ossb.structures.base import bound
from ossb.structures.classical import Classical
from ossb.structures.unimodal import Unimodal
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE, decide, empty_tally, observe

THREE = Classical(observation="bernoulli", theta=[0.5, 0.6, 0.7])


def played(instance, name, horizon, trials):
    return simulate(instance, [name], horizon, trials, seed=2).policies[0]


def test_the_printed_algorithm_exploits_explores_and_estimates():
    result = played(THREE, "ossb-paper:epsilon=0.1", 4_000, 400)
    assert all(result.phases[phase] > 10 for phase in (EXPLOIT, ESTIMATE, EXPLORE))
    # with ε = 0.01 arms that were unlucky at first are left alone too long, and the algorithm as it
    # is printed has 131 to 158, by seed, where this limit is 111.5
    assert result.regret.mean() < 2 * bound(THREE).value * math.log(4_000)


def test_smaller_forced_shares_cost_the_printed_algorithm_more():
    few, more = (
        played(THREE, f"ossb-paper:epsilon={epsilon}", 4_000, 400).regret.mean()
        for epsilon in (0.01, 0.1)
    )
    assert more < few < 4 * bound(THREE).value * math.log(4_000)


@pytest.mark.parametrize("name", ["hgl", "ossb"])
def test_no_run_of_an_easy_problem_locks(name):
    """The printed rule with ε = 0 has runs of 1,999 here."""
    easy = Classical(observation="bernoulli", theta=[0.9, 0.5])
    regret = played(easy, name, 5_000, 1_000).regret
    assert regret.mean() < 10
    assert regret.max() <= 100


def test_plays_of_the_leader_are_no_exploration():
    """Forced plays grow with the rounds not exploited: there ln t of them would be too many."""
    three = Classical(theta=[1.0, 0.0, 0.5])
    record = policy("ossb", three)
    environment, noise = environment_of(three), np.random.default_rng(4)
    tally, memory = empty_tally(3, 3), record.start()
    waiting = 0
    for clock in range(3_000):
        decision = record.select(tally, memory, noise)
        if decision.phase == EXPLORE:
            assert decision.arm != np.argmax(tally.means)
        elif decision.phase == EXPLOIT:
            waiting += memory.model.numbers[WEAKEST] < math.log(clock + 1.0)
        decide(tally, decision)
        value = three.family.sample(float(environment.means[decision.arm]), noise)
        observe(tally, decision.arm, value)
        tally.clock[0] += 1
    assert waiting > 10


def test_twelve_unimodal_arms():
    """OSUB is reported with 278, OSSB as printed with 1,484."""
    theta = [0.0, 0.1, 0.2, 0.3, 0.4, 0.7, 0.5, 0.5, 0.4, 0.2, 0.2, 0.1]
    assert played(Unimodal(theta=theta), "hgl", 20_000, 400).regret.mean() < 200
