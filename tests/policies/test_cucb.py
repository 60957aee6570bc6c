"""CUCB and CombUCB1: listed arms, and arms behind an oracle."""

import itertools
import math

import numpy as np
import pytest

from ossb.errors import InputError
from ossb.policies import policy
from ossb.simulation import simulate
from ossb.structures.classical import Classical
from ossb.structures.combinatorial import Combinatorial
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE
from policies.rounds import Literal, played
from structured_instances import SETS, made_up

PHI = [0.55, 0.2, 0.9, 0.4]
LISTED = Combinatorial(feedback="semi_bandit", arms=SETS, phi=PHI, sigma=0.7)
BOUNDED = Combinatorial(feedback="semi_bandit", arms=SETS, phi=PHI, observation="bounded")
COSTS = Combinatorial(
    feedback="semi_bandit", arms=SETS, phi=PHI, observation="bernoulli", goal="minimize"
)


def literal(instance, horizon, seed, behind, scale):
    world, arms, rounds = Literal(instance, seed), np.array(SETS), []
    for t in range(1, horizon + 1):
        fresh = arms @ (world.counts == 0)
        leader = int(np.argmax(arms @ world.means))
        if fresh.max() > 0:
            arm, phase = int(np.argmax(fresh)), ESTIMATE
        else:
            radius = scale * np.sqrt(3 * math.log(max(t - behind, 1)) / (2 * world.counts))
            arm = int(np.argmax(arms @ (world.means + radius)))
            phase = EXPLOIT if arm == leader else EXPLORE
        rounds.append((arm, phase))
        world.play(arm)
    return rounds


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("version", "behind"), [("cucb", 0), ("combucb1", 1)])
@pytest.mark.parametrize(("instance", "scale"), [(LISTED, 0.7), (BOUNDED, 1.0)])
def test_rounds_are_those_of_the_printed_index(seed, version, behind, instance, scale):
    rounds, _ = played("cucb", instance, 200, seed, version=version)
    assert rounds == literal(instance, 200, seed, behind, scale)


def test_an_arm_set_is_played_as_its_list():
    listed = [[1 if i in c else 0 for i in range(5)] for c in itertools.combinations(range(5), 2)]
    phi = [0.1, 0.5, 0.45, 0.7, 0.3]
    one = Combinatorial(feedback="semi_bandit", arms=listed, phi=phi, observation="bounded")
    two = Combinatorial(
        feedback="semi_bandit", arm_set="m_sets", n_items=5, size=2, phi=phi, observation="bounded"
    )
    records = [policy("cucb", instance) for instance in (one, two)]
    memories = [record.start() for record in records]
    for seed in range(20):
        tally = made_up(one, seed)
        rng = np.random.default_rng(seed)
        arms = [
            record.select(tally, memory, rng)
            for record, memory in zip(records, memories, strict=True)
        ]
        items = tuple(np.flatnonzero(listed[arms[0].arm]).tolist())
        assert memories[1].table.arms[arms[1].arm] == items
        assert arms[0].phase == arms[1].phase


PATHS = Combinatorial(
    feedback="semi_bandit", arm_set="paths", edges=[[0, 1], [0, 2], [1, 3], [2, 3], [1, 2]],
    source=0, target=3, phi=[0.5, 0.3, 0.2, 0.6, 0.4],
)  # fmt: skip


def test_regret_grows_as_its_radius_says():
    """An item short of the second best by δ is seen 1.5 ln t / δ² times, at the cost δ.

    That is far below the published bound of Chen et al. (2013), which has the square of the size
    of an arm besides; uniform play costs more than that bound.
    """
    pairs = [arm for arm in itertools.product([0, 1], repeat=4) if sum(arm) == 2]
    problem = Combinatorial(
        feedback="semi_bandit", arms=pairs, phi=[0.95, 0.9, 0.1, 0.05], observation="bernoulli"
    )
    result = simulate(problem, ["cucb", "cucb:version=combucb1"], 20_000, 20, seed=2)
    published = (6 * 2**2 * math.log(20_000) / 0.8**2 + math.pi**2 / 3 + 1) * 4 * problem.gaps.max()
    assert published < 20_000 * problem.gaps.mean() / 4
    for found in result.policies:
        middle = found.curves[:, np.argmin(np.abs(found.checkpoints - 2000))]
        growth = (found.curves[:, -1] - middle).mean()
        assert 0.7 < growth / (1.5 * math.log(10) * (1 / 0.8 + 1 / 0.85)) < 1.6
        assert found.regret.mean() < published


def test_paths_are_learned_through_the_oracle():
    found = simulate(PATHS, ["cucb"], 1500, 4, seed=1).policies[0]
    assert found.arms[0] == PATHS.best_arm()
    assert found.plays.sum() == 1500


def test_what_does_not_fit_is_refused():
    bandit = Combinatorial(feedback="bandit", arms=SETS, phi=PHI)
    poisson = Combinatorial(feedback="semi_bandit", arms=SETS, phi=PHI, observation="poisson")
    for instance, why in [
        (bandit, "needs semi-bandit"),
        (poisson, "is for gaussian, bernoulli and bounded"),
        (Classical(theta=[0.1, 0.2]), "is not for classical"),
    ]:
        with pytest.raises(InputError, match=why):
            policy("cucb", instance)
    with pytest.raises(InputError, match="version"):
        policy("cucb", LISTED, version="ucb")
    with pytest.raises(InputError, match="scale"):
        policy("cucb", LISTED, scale=0.0)
