"""Asymptotically optimal information-directed sampling."""

import math

import numpy as np
import pytest

from ossb.errors import InputError
from ossb.policies import policy
from ossb.policies.exploration_data import ask_for, new_exploration_data, take_in
from ossb.policies.ids import mixing_chance
from ossb.simulation import simulate
from ossb.structures.combinatorial import Combinatorial
from ossb.structures.linear import Linear
from ossb.structures.unimodal import Unimodal
from ossb.tally import EXPLOIT, EXPLORE, empty_tally, observe
from policies.linear_transcription import EASY, HARD, OPTIMISM, Data, alternatives
from policies.rounds import played


def literal(instance, horizon, seed, sparing):
    """Algorithm 1, with the greedy arm and one other."""
    world, rng, sigma = Data(instance, seed), np.random.default_rng(seed + 1), instance.sigma
    rounds, s, largest = [], 1, 1e-10
    for t in range(1, horizon + 1):
        draw = rng.random()
        volume = np.linalg.slogdet(world.gram)[1]
        leader, found = alternatives(world.arms, world.theta, world.gram)
        least = min(distance for _, distance in found.values())
        logarithm = math.log(max(t * math.log(t), 1))
        if least >= (sigma * math.sqrt(2 * logarithm + volume) + 1) ** 2:
            rounds.append((leader, EXPLOIT))
            world.play(leader, keep=False)
            continue
        root = sigma * math.sqrt(2 * math.log(s**2) + volume) + 1
        means, bonus = world.arms @ world.theta, root * world.widths
        gaps = np.max(means + bonus) - means
        if sparing:
            bonus = np.where(np.arange(len(means)) == np.argmax(means + bonus), bonus, 0)
        largest = max(largest, 0.5 * least / sigma**2)
        eta = math.log(len(means)) / math.sqrt(largest)
        chances = {z: math.exp(-eta * (far - least) / sigma**2) for z, (_, far) in found.items()}
        gain = sum(
            q / sum(chances.values()) * 0.5 * (np.abs(world.arms @ found[z][0]) + bonus) ** 2
            for z, q in chances.items()
        )
        grid = []
        for z in chances:
            # Ψ is convex in p: its minimum by the vanishing derivative, or an end
            candidates = [0.0, 1.0]
            if gaps[z] > gaps[leader] and gain[z] != gain[leader]:
                p = gaps[leader] / (gaps[z] - gaps[leader]) - 2 * gain[leader] / (
                    gain[z] - gain[leader]
                )
                candidates += [p] if 0 < p < 1 else []
            for p in candidates:
                mixed = (1 - p) * gain[leader] + p * gain[z]
                if mixed > 0:
                    grid.append((((1 - p) * gaps[leader] + p * gaps[z]) ** 2 / mixed, p, z))
        _, p, z = min(grid)
        arm = z if draw < p else leader
        rounds.append((arm, EXPLORE))
        world.play(arm)
        s += 1
    return rounds


@pytest.mark.parametrize("optimism", ["all", "ucb"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("instance", [EASY, HARD])
def test_rounds_are_those_of_the_printed_algorithm(instance, seed, optimism):
    rounds, _ = played("ids", instance, 250, seed, optimism=optimism)
    assert rounds == literal(instance, 250, seed, optimism == "ucb")
    if instance is EASY:
        assert sum(phase == EXPLOIT for _, phase in rounds) > 5


def test_the_chance_minimises_the_information_ratio():
    rng = np.random.default_rng(1)
    grid = np.linspace(0, 1, 2001)
    for _ in range(200):
        gap, gained, other_gained = rng.exponential(size=3)
        other = gap + rng.exponential()
        ratio = ((1 - grid) * gap + grid * other) ** 2 / ((1 - grid) * gained + grid * other_gained)
        p = mixing_chance(gap, other, gained, other_gained)
        ours = ((1 - p) * gap + p * other) ** 2 / ((1 - p) * gained + p * other_gained)
        assert ours <= ratio.min() * (1 + 1e-12)


def test_what_exploitation_shows_is_discarded():
    tally, data = empty_tally(2, 2), new_exploration_data(2)
    for value, explore in [(1.0, True), (5.0, False), (2.0, True), (9.0, False)]:
        ask_for(0, explore, data)
        observe(tally, 0, value)
        take_in(tally, data)
    assert data.explored.counts.tolist() == [2, 0]
    assert data.explored.means[0] == pytest.approx(1.5)


def test_late_answers_count_for_exploration_first_and_lost_ones_not_at_all():
    tally, data = empty_tally(2, 2), new_exploration_data(2)
    for explore in (True, False, True):
        ask_for(1, explore, data)
    tally.pending[1] = 3
    take_in(tally, data)
    assert data.explored.pending.tolist() == [0, 2]
    for value in (1.0, 2.0, 6.0):
        observe(tally, 1, value)
        tally.pending[1] -= 1
    take_in(tally, data)
    assert data.explored.counts[1] == 2
    assert data.explored.means[1] == pytest.approx(3.0)
    ask_for(0, True, data)
    take_in(tally, data)  # nothing is on its way any more
    assert data.explored.pending.tolist() == [0, 0]
    observe(tally, 0, 4.0)  # told without being asked for
    take_in(tally, data)
    assert data.explored.counts[0] == 1
    tally.counts[1] = 1  # observations taken back
    take_in(tally, data)
    assert data.explored.counts[1] == 1


def test_what_it_fits():
    single = Linear(arms=[[1.0, 2.0]], phi=[1, 0])
    assert policy("ids", single).select(
        empty_tally(1, 1), policy("ids", single).start(), np.random.default_rng(0)
    ) == (0, EXPLOIT)
    shown = Combinatorial(feedback="semi_bandit", arms=[[1, 0], [0, 1]], phi=[0.2, 0.5])
    for refused in (shown, Unimodal(theta=[0.1, 0.5, 0.2])):
        with pytest.raises(InputError, match="ids"):
            policy("ids", refused)


@pytest.mark.parametrize(
    ("parameters", "field"), [({"norm": -1.0}, "norm"), ({"optimism": "no"}, "optimism")]
)
def test_parameters_out_of_range_are_refused(parameters, field):
    with pytest.raises(InputError, match=field):
        policy("ids", HARD, **parameters)


def test_regret_is_logarithmic_where_optimism_is_not():
    """C = 8; the last decade costs at most 4 C ln 10 where the tests' own ln det V still counts."""
    found = simulate(OPTIMISM, ["ids"], 100_000, 20, seed=1).policies[0]
    early = found.curves[:, np.searchsorted(found.checkpoints, 10_000)]
    assert 0 < (found.regret - early).mean() < 4 * 8 * math.log(10)
    assert found.plays[0] > 95_000
