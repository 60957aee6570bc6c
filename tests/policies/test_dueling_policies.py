"""RMED1, RMED2, double Thompson sampling and RUCB: duels."""

import math
from collections import Counter

import numpy as np
import pytest

from ossb.errors import InputError
from ossb.families.bernoulli import bernoulli_kl
from ossb.policies import policy
from ossb.simulation import simulate
from ossb.structures.base import bound
from ossb.structures.classical import Classical
from ossb.structures.dueling import Dueling
from ossb.tally import empty_tally
from policies.contract import (
    World,
    decisions,
    untold,
)

ORDERED = [[0.5, 0.7, 0.8], [0.3, 0.5, 0.6], [0.2, 0.4, 0.5]]
CYCLE = [[0.5, 0.6, 0.6, 0.6], [0.4, 0.5, 0.9, 0.1], [0.4, 0.1, 0.5, 0.9], [0.4, 0.9, 0.1, 0.5]]
CASES = {
    "ordered": Dueling(preferences=ORDERED),
    "minimized": Dueling(preferences=ORDERED, goal="minimize"),
    "cycle": Dueling(preferences=CYCLE),
}
NAMES = ["rmed1", "rmed2", "double-thompson", "rucb"]


def matrices(instance, counts, means):
    """Shares of duels won and numbers of duels, as the papers write them."""
    wins, duels = np.full((instance.n_items,) * 2, 0.5), np.zeros((instance.n_items,) * 2)
    pairs = [(i, j) for i, j in instance.pairs if i < j]
    for (i, j), n, mean in zip(pairs, counts, means, strict=True):
        if n > 0:
            wins[i, j] = mean if instance.sign > 0 else mean + 1.0
            wins[j, i], duels[i, j], duels[j, i] = 1.0 - wins[i, j], n, n
    return wins, duels


def evidence(wins, duels):
    """I of every item."""
    total = np.zeros(len(wins))
    for i in range(len(wins)):
        for j in range(i + 1, len(wins)):
            if wins[i, j] != 0.5:
                loser = i if wins[i, j] < 0.5 else j
                total[loser] += duels[i, j] * bernoulli_kl(wins[i, j], 0.5)
    return total


def second_item(first, leader, wins, duels, own_duels, t, second):
    others = [j for j in range(len(wins)) if j != first]
    beaten_by = [j for j in others if wins[first, j] <= 0.5]
    if second:
        price = {
            j: (wins[leader, first] + wins[leader, j] - 1.0) / bernoulli_kl(wins[first, j], 0.5)
            for j in others
            if wins[first, j] < 0.5
        }
        if price and t >= 3:
            best = min(price, key=lambda j: price[j])
            met = own_duels[first] if leader == first else duels[first, leader]
            if met >= duels[first, best] / math.log(math.log(t)):
                return best
    if leader in beaten_by or not beaten_by:
        return leader
    return min(others, key=lambda j: wins[first, j])


def literal_rmed(instance, horizon, seed, second, slack, alpha=3.0):
    """Algorithm 1 with the lists of the paper."""
    world, arms, k = World(instance, seed), [], instance.n_items
    own_duels = [0] * k

    def draw(i, j):
        arms.append(instance.pairs.index((min(i, j), max(i, j))))
        world.play(arms[-1])
        if i == j:
            own_duels[i] += 1

    pairs = [(i, j) for i in range(k) for j in range(i + 1, k)]
    for i, j in pairs:
        draw(i, j)
    current, remaining, following = set(range(k)), set(range(k)), set()
    while len(arms) < horizon:
        while second:
            t = max(len(arms) + 1, 3)
            scarce = [
                pair
                for pair, n in zip(pairs, world.n, strict=True)
                if n < alpha * math.log(math.log(t))
            ]
            if not scarce:
                break
            draw(*scarce[0])
        for first in sorted(current):
            wins, duels = matrices(instance, world.n, world.means)
            leader = int(np.argmin(evidence(wins, duels)))
            opponent = second_item(first, leader, wins, duels, own_duels, len(arms) + 1, second)
            draw(first, opponent)
            remaining = remaining - {first}
            total = evidence(*matrices(instance, world.n, world.means))
            for j in set(range(k)) - remaining:
                if total[j] - total.min() <= math.log(len(arms)) + slack:
                    following.add(j)
        current, remaining, following = set(following), set(following), set()
    return arms[:horizon]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", ["rmed1", "rmed2"])
def test_rmed_decides_as_written(case, name):
    instance = CASES[case]
    slack = 0.3 * instance.n_items**1.01
    for seed in range(4):
        ours = decisions(instance, name, 300, seed)
        assert ours == literal_rmed(instance, 300, seed, name == "rmed2", slack)


def confident(wins, duels, alpha, t):
    """u of both papers, where x/0 is 1."""
    upper = np.full_like(wins, 0.5)
    for i in range(len(wins)):
        for j in range(len(wins)):
            if i != j:
                n = duels[i, j]
                upper[i, j] = wins[i, j] + math.sqrt(alpha * math.log(t) / n) if n else 2.0
    return upper


def at_random(items, rng):
    return items[int(rng.integers(len(items)))]


def literal_double_thompson(wins, duels, t, rng, alpha=0.51):
    """Algorithm 1 of Wu and Liu, every draw made."""
    k, upper = len(wins), confident(wins, duels, alpha, t)
    lower = 1.0 - upper.T
    hopes = [sum(upper[i, j] > 0.5 for j in range(k) if j != i) for i in range(k)]
    candidates = [i for i in range(k) if hopes[i] == max(hopes)]
    theta = np.full((k, k), 0.5)
    for i in range(k):
        for j in range(i + 1, k):
            won = wins[i, j] * duels[i, j]
            theta[i, j] = rng.beta(won + 1, duels[i, j] - won + 1)
            theta[j, i] = 1 - theta[i, j]
    score = {i: sum(theta[i, j] > 0.5 for j in range(k) if j != i) for i in candidates}
    first = at_random([i for i in candidates if score[i] == max(score.values())], rng)
    draws = {}
    for i in range(k):
        won = wins[i, first] * duels[i, first]
        draws[i] = 0.5 if i == first else rng.beta(won + 1, duels[i, first] - won + 1)
    second = max((i for i in range(k) if lower[i, first] <= 0.5), key=lambda i: draws[i])
    return min(first, second), max(first, second)


def literal_rucb(wins, duels, t, rng, winner, alpha=0.51):
    """Algorithm 1 of Zoghi et al."""
    k, upper = len(wins), confident(wins, duels, alpha, t)
    candidates = [i for i in range(k) if (upper[i] >= 0.5).all()]
    if not candidates:
        first = int(rng.integers(k))
    elif len(candidates) == 1:
        first = candidates[0]
    else:
        held = {winner} & set(candidates)
        share = 1 / (2 ** len(held) * (len(candidates) - len(held)))
        chances = [0.5 if i in held else share for i in candidates]
        first = int(rng.choice(candidates, p=chances))
    column = upper[:, first]
    most = [j for j in range(k) if column[j] == column.max()]
    second = at_random([j for j in most if j != first] or [first], rng)
    return min(first, second), max(first, second)


FAIR = ([8, 4, 6], [0.5, 0.75, 0.5])
CLEAR = ([60, 40, 10], [0.7, 0.8, 0.6])
SPARSE = ([5, 0, 3], [0.6, 0.0, 1.0])
LOST = ([500, 500, 500], [0.3, 0.7, 0.3])  # a cycle: nobody beats all others
FOUR = ([30, 9, 12, 6, 5, 4], [0.7, 5 / 9, 0.75, 0.5, 0.8, 0.25])


@pytest.mark.parametrize("name", ["double-thompson", "rucb"])
@pytest.mark.parametrize("shown", [FAIR, CLEAR, SPARSE, LOST, FOUR])
def test_draws_have_the_law_of_the_printed_algorithm(name, shown):
    counts, means = shown
    instance = CASES["ordered"] if len(counts) == 3 else CASES["cycle"]
    tally = empty_tally(len(counts), instance.n_arms)
    tally.counts[:], tally.means[:], tally.clock[0] = counts, means, sum(counts)
    tally.plays[[i != j for i, j in instance.pairs]] = counts
    wins, duels = matrices(instance, counts, means)
    record, trials = policy(name, instance), 4000
    rng, other = np.random.default_rng(1), np.random.default_rng(2)
    ours, theirs, t = Counter(), Counter(), sum(counts) + 1
    for _ in range(trials):
        memory = record.start()
        if name == "rucb":
            memory.winner[0] = 0
            theirs[literal_rucb(wins, duels, t, other, 0)] += 1
        else:
            theirs[literal_double_thompson(wins, duels, t, other)] += 1
        ours[instance.pairs[record.select(tally, memory, rng).arm]] += 1
    for pair in set(ours) | set(theirs):
        share = (ours[pair] + theirs[pair]) / (2 * trials)
        spread = math.sqrt(2 * share * (1 - share) / trials)
        assert abs(ours[pair] - theirs[pair]) / trials <= 4.5 * spread


def test_rucb_keeps_its_winner_while_it_is_a_candidate():
    record = policy("rucb", CASES["ordered"])
    memory, tally = record.start(), empty_tally(3, 6)
    tally.counts[:], tally.means[:], tally.clock[0] = [900, 900, 900], [0.7, 0.8, 0.6], 2700
    tally.plays[[1, 2, 4]] = 900
    assert record.select(tally, memory, np.random.default_rng(0)).arm == 0
    assert memory.winner[0] == 0
    tally.means[:] = [0.3, 0.7, 0.3]
    record.select(tally, memory, np.random.default_rng(0))
    assert memory.winner[0] == -1


@pytest.mark.parametrize("name", ["rmed1", "rmed2"])
def test_every_pair_comes_first_even_if_nothing_is_told(name):
    arms = untold(CASES["cycle"], name, 6)
    assert sorted(arms) == [x for x, (i, j) in enumerate(CASES["cycle"].pairs) if i < j]


@pytest.mark.parametrize(
    ("name", "parameters", "field"),
    [
        ("rmed1", {"scale": -1.0}, "scale"),
        ("rmed1", {"power": -1.0}, "power"),
        ("rmed1", {"power": 10**6}, "power"),
        ("rmed2", {"power": 1e308}, "power"),
        ("rmed2", {"alpha": 0.0}, "alpha"),
        ("double-thompson", {"alpha": 0.0}, "alpha"),
        ("rucb", {"alpha": -0.5}, "alpha"),
    ],
)
def test_parameters_out_of_range_are_refused(name, parameters, field):
    with pytest.raises(InputError, match=field):
        policy(name, CASES["ordered"], **parameters)


def test_a_whole_power_is_a_power():
    assert policy("rmed1", CASES["ordered"], power=10).slack == pytest.approx(0.3 * 3.0**10)
    assert policy("rmed2", CASES["ordered"], scale=0, power=2).slack == 0.0


@pytest.mark.parametrize("name", NAMES)
def test_they_are_for_duels(name):
    with pytest.raises(InputError, match="is not for classical structures"):
        policy(name, Classical(theta=[0.1, 0.5]))


@pytest.mark.parametrize("name", NAMES)
def test_one_item_is_its_own_opponent(name):
    found = simulate(Dueling(preferences=[[0.5]]), [name], 20, 1, compiled=False).policies[0]
    assert found.plays.tolist() == [20]


def test_rmed2_is_optimal_where_rmed1_is_not():
    """In a cycle an item is best refuted by the one that beats it most, not by the winner."""
    instance = CASES["cycle"]
    first, second = simulate(instance, ["rmed1", "rmed2"], 20_000, 60, seed=1).policies
    price = bound(instance).value * math.log(20_000)
    assert second.regret.mean() < 2 * price
    assert first.regret.mean() > 2 * second.regret.mean()


@pytest.mark.parametrize(
    ("name", "most"), [("rmed1", 2.0), ("double-thompson", 1.5), ("rucb", 6.0)]
)
def test_regret_against_the_winner_alone(name, most):
    """Proofs refute each item by its duels with the winner: Σ ½ Δ_j ln T / kl(p_jw, ½)."""
    found = simulate(CASES["ordered"], [name], 20_000, 60, seed=1).policies[0]
    price = sum(0.5 * (p - 0.5) / bernoulli_kl(1 - p, 0.5) for p in ORDERED[0][1:])
    assert found.regret.mean() < most * price * math.log(20_000)
    decade = int(np.searchsorted(found.checkpoints, 2000))
    later = found.curves[:, -1].mean() - found.curves[:, decade].mean()
    assert later < most * price * math.log(10)
    assert found.plays[0] > 0.95 * 20_000
