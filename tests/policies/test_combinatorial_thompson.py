"""Combinatorial Thompson sampling: its draws, listed arms, and arms behind an oracle."""

import math

import numpy as np
import pytest

from ossb.errors import InputError
from ossb.policies import policy
from ossb.policies.combinatorial_thompson import draw_items
from ossb.simulation import simulate
from ossb.structures.base import bound
from ossb.structures.combinatorial import Combinatorial
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE
from policies.rounds import Literal, played
from structured_instances import SETS, made_up

PHI = [0.55, 0.2, 0.9, 0.4]
BERNOULLI = Combinatorial(feedback="semi_bandit", arms=SETS, phi=PHI, observation="bernoulli")
GAUSSIAN = Combinatorial(feedback="semi_bandit", arms=SETS, phi=PHI, sigma=0.7)
COSTS = Combinatorial(
    feedback="semi_bandit", arms=SETS, phi=PHI, observation="bounded", goal="minimize"
)
TOP = Combinatorial(
    feedback="semi_bandit", arm_set="m_sets", n_items=4, size=2, phi=PHI, observation="bernoulli"
)


def literal(instance, horizon, seed):
    """Draws in the order of the items, from the stream of the policy."""
    world, arms, rounds = Literal(instance, seed), np.array(SETS), []
    rng, sign = np.random.default_rng(seed + 1), instance.sign
    for _ in range(horizon):
        prior = 0.0 if instance.observation == "gaussian" else 0.5 * sign
        leader = int(np.argmax(arms @ np.where(world.counts > 0, world.means, prior)))
        fresh = arms @ (world.counts == 0)
        if instance.observation == "gaussian" and fresh.max() > 0:
            rounds.append((int(np.argmax(fresh)), ESTIMATE))
        else:
            draws = []
            for mean, n in zip(world.means, world.counts, strict=True):
                if instance.observation == "gaussian":
                    draws.append(mean + 0.7 / math.sqrt(n) * rng.standard_normal())
                else:
                    wins = sign * mean * n
                    draws.append(sign * rng.beta(1 + wins, 1 + n - wins))
            arm = int(np.argmax(arms @ draws))
            rounds.append((arm, EXPLOIT if arm == leader else EXPLORE))
        world.play(rounds[-1][0])
    return rounds


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("instance", [GAUSSIAN, COSTS])
def test_rounds_are_those_of_the_algorithm(seed, instance):
    rounds, _ = played("combinatorial-thompson", instance, 150, seed)
    assert rounds == literal(instance, 150, seed)


@pytest.mark.parametrize(("sigma", "sign"), [(0.7, 1.0), (0.0, 1.0), (0.0, -1.0)])
def test_draws_have_the_mean_and_spread_of_the_posterior(sigma, sign):
    tally = made_up(BERNOULLI if sigma == 0.0 else GAUSSIAN, 4)
    tally.means[:] *= sign
    rng, draws = np.random.default_rng(1), np.zeros((4000, 4))
    for row in draws:
        draw_items(sigma, sign, tally, row, rng)
    if sigma > 0.0:
        centre, spread = tally.means, sigma / np.sqrt(tally.counts)
    else:
        a = tally.counts * sign * tally.means + 1
        n = tally.counts + 2
        centre, spread = sign * a / n, np.sqrt(a * (n - a) / (n * n * (n + 1)))
    assert np.abs(draws.mean(axis=0) - centre).max() < 5 * spread.max() / math.sqrt(4000)
    assert draws.std(axis=0) == pytest.approx(spread, rel=0.06)  # 5 × its own deviation, 1/√8000


def test_regret_is_of_the_order_of_the_lower_bound():
    """O(ln T) with matroids (Wang and Chen 2018); here within twice C ln T at 20000."""
    found = simulate(BERNOULLI, ["combinatorial-thompson"], 20000, 60, seed=3).policies[0]
    least = bound(BERNOULLI).value * math.log(20000)
    assert 0.2 * least < found.regret.mean() < 2 * least + 10


def test_arms_behind_an_oracle():
    found = simulate(TOP, ["combinatorial-thompson"], 1000, 5, seed=1).policies[0]
    assert found.arms[0] == TOP.best_arm() == (0, 2)
    assert found.plays[0] > 800
    flat = Combinatorial(feedback="semi_bandit", arm_set="m_sets", n_items=4, size=2, phi=PHI)
    found = simulate(flat, ["combinatorial-thompson"], 400, 2, seed=1).policies[0]
    assert found.plays.sum() == 400
    assert found.phases[ESTIMATE] == 2  # two arms cover the four items


def test_what_does_not_fit_is_refused():
    poisson = Combinatorial(feedback="semi_bandit", arms=SETS, phi=PHI, observation="poisson")
    with pytest.raises(InputError, match="is for gaussian, bernoulli and bounded"):
        policy("combinatorial-thompson", poisson)
    with pytest.raises(InputError, match="needs semi-bandit"):
        policy("combinatorial-thompson", Combinatorial(feedback="bandit", arms=SETS, phi=PHI))
