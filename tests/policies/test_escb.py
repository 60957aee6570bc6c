"""ESCB-1 and ESCB-2."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import brentq

from ossb.errors import InputError
from ossb.policies import policy
from ossb.policies.escb import dual_index
from ossb.simulation import simulate
from ossb.structures.base import bound
from ossb.structures.combinatorial import Combinatorial
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE
from policies.rounds import Literal, played
from structured_instances import SETS, made_up

PHI = [0.55, 0.2, 0.9, 0.4]
WIDER = [[1, 1, 0, 0], [1, 0, 1, 1], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]]
GAUSSIAN = Combinatorial(feedback="semi_bandit", arms=WIDER, phi=PHI, sigma=0.7)
BOUNDED = Combinatorial(feedback="semi_bandit", arms=WIDER, phi=PHI, observation="bounded")
BERNOULLI = Combinatorial(feedback="semi_bandit", arms=SETS, phi=PHI, observation="bernoulli")
POISSON = Combinatorial(
    feedback="semi_bandit", arms=SETS, phi=PHI, observation="poisson", goal="minimize"
)


def exact_index(means, counts, level):
    """The largest Σ q with Σ n kl(m, q) = level: each q solves a quadratic in λ."""

    def peaks(log_multiplier):
        w = math.exp(log_multiplier) * counts
        b = 1 - w  # q (1 − q) = w (q − m): q² − b q − w m = 0
        root = np.sqrt(b * b + 4 * w * means)
        return np.where(b > 0, (b + root) / 2, 2 * w * means / (root - b))

    def spent(log_multiplier):
        q = peaks(log_multiplier)
        kl = means * np.log(means / q) + (1 - means) * np.log((1 - means) / (1 - q))
        return (counts * kl).sum() - level

    return peaks(brentq(spent, -25, 20, xtol=1e-13)).sum()


def literal(instance, horizon, seed, version, c):
    world, arms, rounds = Literal(instance, seed), np.array(WIDER), []
    largest = arms.sum(axis=1).max()
    for t in range(1, horizon + 1):
        fresh = arms @ (world.counts == 0)
        leader = int(np.argmax(arms @ world.means))
        if fresh.max() > 0:
            arm, phase = int(np.argmax(fresh)), ESTIMATE
        else:
            f = math.log(t) + c * largest * math.log(max(math.log(t), 1))
            index = []
            for x in arms:
                inside = x > 0
                means, counts = world.means[inside], world.counts[inside]
                if instance.observation == "gaussian":
                    index.append(means.sum() + 0.7 * math.sqrt(2 * f * (1 / counts).sum()))
                elif version == 2:
                    index.append(means.sum() + math.sqrt(f / 2 * (1 / counts).sum()))
                else:
                    index.append(exact_index(means, counts, f))
            arm = int(np.argmax(index))
            phase = EXPLOIT if arm == leader else EXPLORE
        rounds.append((arm, phase))
        world.play(arm)
    return rounds


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("c", [0.0, 4.0])
@pytest.mark.parametrize(
    ("instance", "version"), [(GAUSSIAN, 1), (GAUSSIAN, 2), (BOUNDED, 1), (BOUNDED, 2)]
)
def test_rounds_are_those_of_the_printed_indices(seed, c, instance, version):
    rounds, _ = played("escb", instance, 150, seed, version=version, c=c)
    assert rounds == literal(instance, 150, seed, version, c)


def test_the_first_index_is_the_sharper_one():
    one, two = (policy("escb", BOUNDED, version=version) for version in (1, 2))
    for seed in range(10):
        tally = made_up(BOUNDED, seed)
        level = one.exploration(tally)
        for arm in range(5):
            sharp = one.optimistic(arm, level, -math.inf, tally, one.start())
            inside = np.flatnonzero(WIDER[arm])
            exact = exact_index(tally.means[inside], tally.counts[inside].astype(float), level)
            assert sharp == pytest.approx(exact, rel=1e-9)
            assert sharp <= two.optimistic(arm, level, -math.inf, tally, two.start())


def test_regret_grows_nearly_as_the_bound():
    """With one item apart its index is that of KL-UCB, which attains C(θ) ln T (version 1)."""
    pairs = [arm for arm in itertools.product([0, 1], repeat=4) if sum(arm) == 2]
    problem = Combinatorial(
        feedback="semi_bandit", arms=pairs, phi=[0.95, 0.9, 0.1, 0.05], observation="bernoulli"
    )
    result = simulate(problem, ["escb", "escb:version=2"], 20_000, 20, seed=2)
    for found in result.policies:
        middle = found.curves[:, np.argmin(np.abs(found.checkpoints - 2000))]
        growth = (found.curves[:, -1] - middle).mean()
        assert 0.5 < growth / (bound(problem).value * math.log(10)) < 2.5


def test_means_at_the_end_of_their_range():
    sure = Combinatorial(
        feedback="semi_bandit", arms=SETS, phi=[1.0, 0.0, 1.0, 0.5], observation="bernoulli"
    )
    _, tally = played("escb", sure, 200, 1)
    assert tally.plays[1] > 170


@pytest.mark.parametrize(
    ("observation", "goal", "phi"),
    [
        ("bernoulli", "maximize", [1.0, 0.5]),
        ("bernoulli", "minimize", [0.0, 0.5]),
        ("poisson", "minimize", [0.0, 0.5]),
        ("poisson", "minimize", [0.01, 0.5]),
    ],
)
def test_a_bound_that_falls_to_the_end_is_followed_and_left(observation, goal, phi):
    """Where an item has shown its best value alone, the least bound is that of λ = 0."""
    instance = Combinatorial(
        feedback="semi_bandit", arms=[[1, 0], [0, 1]], phi=phi, observation=observation, goal=goal
    )
    _, tally = played("escb", instance, 1200, 0)
    assert tally.plays[0] > 1100
    record = policy("escb", instance)
    memory = record.start()
    level, seen = 7.0, tally._replace(means=tally.means.copy())
    items = np.array([0])
    for _ in range(300):
        record.optimistic(0, level, -math.inf, seen, memory)
    assert 0.0 < memory.multipliers[0] < math.inf
    seen.means[0] = instance.sign * 0.3
    found = record.optimistic(0, level, -math.inf, seen, memory)
    grid = [
        dual_index(record.family, items, seen, level, multiplier)
        for multiplier in np.geomspace(1e-8, 1e2, 20_001)
    ]
    assert found == pytest.approx(min(grid), rel=1e-6)


def test_the_index_of_counts_that_are_all_0_is_finite():
    """Below λ = 1/N the bound is infinite, and the least one may stand in that corner."""
    instance = Combinatorial(
        feedback="semi_bandit", arms=[[1, 1]], phi=[0.5, 0.5], observation="poisson"
    )
    record, rng = policy("escb", instance), np.random.default_rng(0)
    for _ in range(200):
        tally, memory = made_up(instance, int(rng.integers(1000))), record.start()
        tally.counts[:], tally.means[:] = rng.integers(1, 40, 2), 0.0
        # Σ N q ≤ f: all of it on the item seen less often
        found = record.optimistic(0, 3.0, -math.inf, tally, memory)
        assert found == pytest.approx(3.0 / tally.counts.min(), rel=1e-5)


def test_what_does_not_fit_is_refused():
    oracle = Combinatorial(feedback="semi_bandit", arm_set="m_sets", n_items=4, size=2, phi=PHI)
    for instance, why in [
        (oracle, "needs its arms listed"),
        (Combinatorial(feedback="bandit", arms=SETS, phi=PHI), "needs semi-bandit"),
    ]:
        with pytest.raises(InputError, match=why):
            policy("escb", instance)
    for parameters, field in [({"version": 3}, "version"), ({"c": -1.0}, "c"), ({"c": 1e9}, "c")]:
        with pytest.raises(InputError, match=field):
            policy("escb", BERNOULLI, **parameters)
    with pytest.raises(InputError, match="be 1 for poisson"):
        policy("escb", POISSON, version=2)
