"""What ``ossb`` and ``hgl`` repair, and how ``ossb-paper`` fares, over many trials."""

import math

import pytest

from ossb.simulation import simulate
from ossb.structures.base import bound
from ossb.structures.classical import Classical
from ossb.structures.unimodal import Unimodal
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE

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


def test_twelve_unimodal_arms():
    """OSUB was published with 278, OSSB as printed with 1,484."""
    theta = [0.0, 0.1, 0.2, 0.3, 0.4, 0.7, 0.5, 0.5, 0.4, 0.2, 0.2, 0.1]
    assert played(Unimodal(theta=theta), "hgl", 20_000, 400).regret.mean() < 200
