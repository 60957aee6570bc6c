"""Duels as policies see them: closed forms, the leader, ties, and goals that minimise."""

import itertools
import math

import numpy as np
import pytest

from ossb.families.bernoulli import bernoulli_kl
from ossb.models.base import NU, SETTLED, WEAKEST
from ossb.models.dueling import smoothed_information
from ossb.simulation import simulate
from ossb.structures.dueling import Dueling
from ossb.tally import empty_tally, observe
from structured_instances import INSTANCES, PREFERENCES, made_up

INSTANCE = INSTANCES["dueling"]


def matrices(tally, n):
    """Means and counts of the duels, as matrices."""
    means, counts = np.full((n, n), 0.5), np.zeros((n, n))
    for c, (i, k) in enumerate(itertools.combinations(range(n), 2)):
        means[i, k], means[k, i] = tally.means[c], 1 - tally.means[c]
        counts[i, k] = counts[k, i] = tally.counts[c]
    return means, counts


def losses(means, counts):
    """I of every item, by its definition."""
    n = len(means)
    return [
        sum(
            counts[i, k] * bernoulli_kl(float(means[i, k]), 0.5)
            for k in range(n)
            if means[i, k] < 0.5
        )
        for i in range(n)
    ]


@pytest.mark.parametrize("seed", range(12))
def test_leader_and_likelihood_ratio_by_definition(seed):
    model = INSTANCE.model()
    memory, tally = model.start(), made_up(INSTANCE, seed)
    means, counts = matrices(tally, 4)
    cost = losses(means, counts)
    leader = INSTANCE.arm_at(model.project(tally, memory))[0]
    winners = [i for i in range(4) if all(means[i, k] > 0.5 for k in range(4) if k != i)]
    assert leader == (winners[0] if winners else int(np.argmin(cost)))
    model.test(INSTANCE.position((leader, leader)), math.inf, tally, memory)
    expected = min(cost[i] - cost[leader] for i in range(4) if i != leader)
    assert memory.numbers[WEAKEST] == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert memory.numbers[SETTLED] == memory.numbers[WEAKEST]


def test_projection_raises_the_leaders_losses_to_a_half():
    cyclic = Dueling(n_items=3)
    model = cyclic.model()
    memory, tally = model.start(), empty_tally(3, 6)
    for component, wins, duels in ((0, 6, 10), (1, 4, 10), (2, 8, 10)):
        for k in range(duels):
            observe(tally, component, 1.0 if k < wins else 0.0)
    leader = cyclic.arm_at(model.project(tally, memory))
    assert leader == (0, 0)  # 0 beats 1, 2 beats 0 narrowly, 1 beats 2 clearly
    assert memory.estimate.tolist() == pytest.approx([0.6, 0.5, 0.8])
    assert model.plug_in(tally, memory) == model.diagonal(0)
    assert memory.estimate.tolist() == pytest.approx([0.6, 0.4, 0.8])


def test_smoothed_information_is_the_mean_of_the_quadratic_one():
    draws = np.linspace(-9, 9, 200_001)
    density = np.exp(-0.5 * draws**2) / math.sqrt(2 * math.pi)
    for mean, count in ((0.5, 3.0), (0.45, 10.0), (0.6, 5.0), (0.55, 40.0)):
        short = (0.5 - mean) + draws * 0.5 / math.sqrt(count)
        losing = np.where(short > 0, 2 * short**2, 0.0)
        expected = float((losing * density).sum() * (draws[1] - draws[0]))
        assert smoothed_information(mean, count) == pytest.approx(expected, rel=1e-4)
    assert smoothed_information(0.2, 100.0) == bernoulli_kl(0.2, 0.5)
    assert smoothed_information(0.9, 100.0) == 0.0


def test_a_new_duel_is_worth_most_where_nothing_is_known():
    model = INSTANCE.model()
    memory = model.start()
    leader = model.weigh(empty_tally(6, 10), memory)
    assert leader == 0
    gains = [memory.gain[INSTANCE.position(pair)] for pair in INSTANCE.pairs]
    assert min(g for g, (i, j) in zip(gains, INSTANCE.pairs, strict=True) if i != j) > 0
    assert all(g == 0 for g, (i, j) in zip(gains, INSTANCE.pairs, strict=True) if i == j)
    assert 0 < memory.numbers[NU] <= 1


def test_pairs_components_and_gaps():
    assert INSTANCE.reveals() == [[], [0], [1], [2], [], [3], [4], [], [5], []]
    assert INSTANCE.components.tolist() == pytest.approx([0.6, 0.7, 0.55, 0.3, 0.6, 0.8])
    assert INSTANCE.gaps[INSTANCE.position((1, 2))] == pytest.approx(0.5 * (0.6 + 0.7 - 1))
    assert INSTANCE.rewards.max() == 0


def test_minimising_mirrors_the_duels():
    plain = Dueling(preferences=PREFERENCES)
    mirrored = Dueling(preferences=np.array(PREFERENCES).T, goal="minimize")
    assert mirrored.components == pytest.approx(plain.components - 1)
    models = plain.model(), mirrored.model()
    memories = models[0].start(), models[1].start()
    tally = made_up(plain, 3)
    other = tally._replace(means=tally.means - 1.0)
    for method in ("plug_in", "project", "weigh"):
        leaders = [
            getattr(model, method)(told, memory)
            for model, told, memory in zip(models, (tally, other), memories, strict=True)
        ]
        assert leaders[0] == leaders[1]
        assert memories[0].gain == pytest.approx(memories[1].gain, rel=1e-9)
        assert memories[0].rewards == pytest.approx(memories[1].rewards, abs=1e-12)


def test_simulations_exploit_the_winner():
    long = simulate(INSTANCE, ["hgl"], 4000, 40, seed=5)
    assert int(np.argmax(long["hgl"].plays)) == INSTANCE.position((0, 0))
    assert np.median(long["hgl"].regret) < long.bound.value * math.log(4000)


def test_an_exact_tie_is_duelled_again():
    instance = Dueling(n_items=2)
    model = instance.model()
    memory, tally, out = model.start(), empty_tally(1, 3), np.zeros(3)
    for value in (1.0, 0.0):
        observe(tally, 0, value)
    leader = model.plug_in(tally, memory)
    model.rates(leader, 0.0, memory, out)
    assert leader == 0
    assert out.tolist() == pytest.approx([0.0, 1e24, 0.0])
