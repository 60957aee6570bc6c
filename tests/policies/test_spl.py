"""Saddle-point learners."""

import math

import numpy as np
import pytest

from ossb.errors import InputError
from ossb.policies import policy
from ossb.policies.spl import hedge, mix_loss
from ossb.simulation import simulate
from ossb.structures.combinatorial import Combinatorial
from ossb.structures.unimodal import Unimodal
from ossb.tally import EXPLOIT, EXPLORE
from policies.linear_transcription import EASY, HARD, OPTIMISM, Data, alternatives, level
from policies.rounds import played


class AdaHedge:
    """De Rooij et al. (2014), with the learning rate ln K over the mixability gaps."""

    def __init__(self, n):
        self.losses, self.gaps = np.zeros(n), 0.01

    def shares(self):
        weights = np.exp(
            -math.log(self.losses.size) / self.gaps * (self.losses - self.losses.min())
        )
        return weights / weights.sum()

    def incur(self, losses):
        rate, shares = math.log(losses.size) / self.gaps, self.shares()
        least = losses.min()
        mixed = least - math.log(shares @ np.exp(-rate * (losses - least))) / rate
        self.gaps += max(shares @ losses - mixed, 0.0)
        self.losses += losses


def literal(instance, horizon, seed, over_arms):
    world, sigma, rounds = Data(instance, seed), instance.sigma, []
    arms = world.arms
    n, d = arms.shape
    due, tracked, explored, largest = np.zeros(n), np.zeros(n), 0, 1e-10
    learners = None, None
    for t in range(1, horizon + 1):
        theta = world.theta
        leader, found = alternatives(arms, theta, world.gram)
        nearest = min(distance for _, distance in found.values())
        if nearest > sigma**2 * level(math.log(t), t, d, 1.0):
            rounds.append((leader, EXPLOIT))
            world.play(leader)
            continue
        explored += 1
        bonus = sigma * math.sqrt(level(2 * math.log(explored), t, d, 1.0)) * world.widths
        gaps = np.max(arms @ theta + bonus) - arms @ theta
        if over_arms:
            if learners[0] != leader:
                learners = leader, AdaHedge(n)
            shares = learners[1].shares() / gaps
            shares /= shares.sum()
            due += shares
            design = (arms.T * shares) @ arms
            design += 1e-9 * np.trace(design) / d * np.eye(d)
            _, answers = alternatives(arms, theta, design)
            difference = min(answers.values(), key=lambda pair: pair[1])[0]
            learners[1].incur(-((np.abs(arms @ difference) + bonus) ** 2) / (2 * sigma**2 * gaps))
            arm = int(np.argmax(due - tracked))
            tracked[arm] += 1
        else:
            largest = max(largest, 0.5 * nearest / sigma**2)
            eta = math.log(n) / math.sqrt(largest)
            chances = {
                z: math.exp(-eta * (far - nearest) / sigma**2) for z, (_, far) in found.items()
            }
            gain = sum(q * (np.abs(arms @ found[z][0]) + bonus) ** 2 for z, q in chances.items())
            arm = int(np.argmax(gain / gaps))
        rounds.append((arm, EXPLORE))
        world.play(arm)
    return rounds


@pytest.mark.parametrize("learner", ["arms", "alternatives"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("instance", [EASY, HARD])
def test_rounds_are_those_of_a_literal_transcription(instance, seed, learner):
    rounds, _ = played("spl", instance, 250, seed, learner=learner)
    assert rounds == literal(instance, 250, seed, learner == "arms")
    if instance is EASY:
        assert any(phase == EXPLOIT for _, phase in rounds)


def test_hedging_is_never_worse_than_its_mix_loss_says():
    """Mix losses add up to at most the least loss plus ln K over the rate."""
    rng, losses, total = np.random.default_rng(0), np.zeros(6), 0.0
    for _ in range(100):
        before = mix_loss(losses, 0.7)
        losses += rng.normal(size=6)
        total += mix_loss(losses, 0.7) - before
    assert total <= losses.min() + math.log(6) / 0.7
    shares = np.zeros(6)
    hedge(losses, 0.7, shares)
    weights = np.exp(-0.7 * losses)
    assert shares == pytest.approx(weights / weights.sum())


def test_what_it_fits():
    shown = Combinatorial(feedback="semi_bandit", arms=[[1, 0], [0, 1]], phi=[0.2, 0.5])
    for refused in (shown, Unimodal(theta=[0.1, 0.5, 0.2])):
        with pytest.raises(InputError, match="spl"):
            policy("spl", refused)


@pytest.mark.parametrize(
    ("parameters", "field"), [({"c": -1.0}, "c"), ({"learner": "no"}, "learner")]
)
def test_parameters_out_of_range_are_refused(parameters, field):
    with pytest.raises(InputError, match=field):
        policy("spl", HARD, **parameters)


@pytest.mark.parametrize("learner", ["arms", "alternatives"])
def test_regret_is_logarithmic_where_optimism_is_not(learner):
    """C = 8: the last of five decades costs C ln 10 in the limit, and here at most twice that."""
    found = simulate(OPTIMISM, [f"spl:learner={learner}"], 100_000, 20, seed=1).policies[0]
    early = found.curves[:, np.searchsorted(found.checkpoints, 10_000)]
    assert 0 < (found.regret - early).mean() < 2 * 8 * math.log(10)
    assert found.plays[0] > 95_000
