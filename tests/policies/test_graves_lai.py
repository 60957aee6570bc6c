"""The policy after Graves and Lai: planned experiments and sequential tests."""

import math

import numpy as np
import pytest

from ossb.errors import InputError
from ossb.policies import policy
from ossb.simulation import simulate
from ossb.structures.classical import Classical
from ossb.structures.combinatorial import Combinatorial
from ossb.structures.linear import Linear
from ossb.structures.polytope import Polytope
from ossb.structures.unimodal import Unimodal
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE
from policies.rounds import Literal, played
from structured_instances import INSTANCES

GAUSSIAN = Classical(theta=[0.0, 1.0, 0.4, 0.6], sigma=0.5)
OPTIMISM = Linear(arms=[[1, 0], [0, 1], [0.9, 0.2]], phi=[1, 0])
LINE = Unimodal(theta=[0.1, 0.4, 0.9, 0.6, 0.2])


def literal(instance, horizon, seed, gamma, growth):
    """Unrelated Gaussian arms: c = 2σ²/Δ² and explicit likelihood ratios."""
    world, variance, rounds = Literal(instance, seed), instance.sigma**2, []
    end, planned, rates = 1, None, None
    for t in range(1, horizon + 1):
        while t >= end:
            end, planned = max(int(growth * end), end + 1), None
        n, means, log = world.counts, world.means, math.log(end)
        if n.min() < math.sqrt(log):
            rounds.append((int(np.argmin(n)), ESTIMATE))
            world.play(rounds[-1][0])
            continue
        leader = int(np.argmax(means))
        others = np.arange(len(means)) != leader
        gaps = (means[leader] - means)[others]
        known = gaps**2 * n[others] / (2 * variance)
        unknown = gaps**2 / (2 * variance * (1 / n[others] + 1 / n[leader]))
        level = (1 + gamma) * log
        if unknown.min() >= level:
            rounds.append((leader, EXPLOIT))
            world.play(leader)
            continue
        if planned != leader or (n[others] >= rates[others] * level).all():
            planned, rates = leader, np.zeros(len(means))
            rates[others] = 2 * variance / gaps**2
        ratios = np.full(len(means), math.inf)
        ratios[others] = n[others] / rates[others]
        due = int(np.argmin(ratios))
        arm = leader if n[leader] < n[due] or known.min() >= level else due
        rounds.append((arm, EXPLORE))
        world.play(arm)
    return rounds


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("gamma", "growth"), [(0.0, 2.0), (0.3, 1.5)])
def test_rounds_are_those_of_a_literal_transcription(seed, gamma, growth):
    rounds, _ = played("graves-lai", GAUSSIAN, 400, seed, gamma=gamma, growth=growth)
    assert rounds == literal(GAUSSIAN, 400, seed, gamma, growth)
    assert {phase for _, phase in rounds} == {EXPLOIT, ESTIMATE, EXPLORE}


CASES = {"gaussian": GAUSSIAN, "linear": OPTIMISM, "unimodal": LINE, **INSTANCES}


def test_a_polytope_too():
    """Its model is not compiled; each arm is seen before the estimate is asked for."""
    instance = Polytope(A=[[0, -1, 1]], b=[-0.5], theta=[0.7, 0.6, 0.05], observation="bernoulli")
    rounds, tally = played("graves-lai", instance, 20, 1)
    assert {arm for arm, phase in rounds[:3] if phase == ESTIMATE} == {0, 1, 2}
    assert (tally.counts > 0).all()
    assert any(phase == EXPLORE for _, phase in rounds)


def test_what_it_fits():
    behind = Combinatorial(
        feedback="semi_bandit", arm_set="m_sets", n_items=5, size=2, phi=[0.1, 0.5, 0.45, 0.7, 0.3]
    )
    with pytest.raises(InputError, match="needs its arms listed"):
        policy("graves-lai", behind)


@pytest.mark.parametrize(
    ("parameters", "field"),
    [({"gamma": -1.0}, "gamma"), ({"growth": 1.0}, "growth"), ({"growth": 1e30}, "growth")],
)
def test_parameters_out_of_range_are_refused(parameters, field):
    with pytest.raises(InputError, match=field):
        policy("graves-lai", GAUSSIAN, **parameters)


@pytest.mark.parametrize(
    ("instance", "constant"),
    [
        pytest.param(OPTIMISM, 8.0, marks=pytest.mark.sampled(of=2, by=0)),
        pytest.param(LINE, 2 / 0.3 + 2 / 0.5, marks=pytest.mark.sampled(of=2, by=1)),
    ],
)
def test_the_last_decade_costs_what_the_bound_says(instance, constant):
    """C ln 10 in the limit; within a factor of 2 after five decades."""
    found = simulate(instance, ["graves-lai"], 100_000, 20, seed=1).policies[0]
    early = found.curves[:, np.searchsorted(found.checkpoints, 10_000)]
    cost = (found.regret - early).mean() / (constant * math.log(10))
    assert 0.5 < cost < 2
