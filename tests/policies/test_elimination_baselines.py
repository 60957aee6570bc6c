"""Successive elimination, sequential halving, LinGapE and greedy: literal transcriptions."""

import math

import numpy as np
import pytest

from ossb import bound
from ossb.errors import InputError
from ossb.instances import from_dict
from ossb.policies import policy
from ossb.tally import decide, empty_tally, observe
from policies.contract import World, decisions

ARMS = from_dict(
    {"structure": "classical", "observation": "bernoulli", "theta": [0.2, 0.5, 0.8, 0.4, 0.3]}
)
FEATURES = np.array([[1.0, 0.0], [0.0, 1.0], [0.8, 0.5], [0.3, 0.3]])
LINEAR = from_dict(
    {"structure": "linear", "sigma": 0.5, "arms": FEATURES.tolist(), "phi": [0.7, 0.4]}
)


def test_successive_elimination_plays_what_is_left_in_turns():
    world, active, K, delta = World(ARMS, 3), set(range(5)), 5, 0.1
    played = decisions(ARMS, "successive-elimination", 2500, 3, delta=delta)
    for arm in played:
        n, m = world.n, world.means
        told = [x for x in sorted(active) if n[x] > 0]
        if told:
            b = max(told, key=lambda x: (m[x], -x))
            alpha = {x: math.sqrt(math.log(4 * K * n[x] ** 2 / delta) / n[x]) for x in told}
            active -= {x for x in told if x != b and m[b] - m[x] >= alpha[x] + alpha[b]}
        assert arm == min(active, key=lambda x: (n[x], x))
        world.play(arm)
    assert len(active) < 4


def test_sequential_halving_halves():
    """A budget of 300 over three rounds: five arms, three, two."""
    world, played = World(ARMS, 5), decisions(ARMS, "sequential-halving", 320, 5, horizon=300)
    place, left = 0, list(range(5))
    for _ in range(3):
        each = 300 // (3 * len(left))
        for _ in range(each * len(left)):
            assert played[place] in left
            place += 1
            world.play(played[place - 1])
        since = played[place - each * len(left) : place]
        assert [since.count(x) for x in left] == [each] * len(left)
        ranked = sorted(left, key=lambda x: (-world.means[x], x))
        left = sorted(ranked[: math.ceil(len(left) / 2)])
    assert len(left) == 1
    assert set(played[place:]) == set(left)


def test_one_play_of_each_at_least():
    assert sorted(decisions(ARMS, "sequential-halving", 5, 1, horizon=1)) == [0, 1, 2, 3, 4]


def test_lingape_narrows_the_gap_in_doubt():
    """Its rule with numpy's inverses, one for each arm that might be played."""
    record, world, delta = policy("lingape", LINEAR, delta=0.1), World(LINEAR, 2), 0.1
    tally, memory, rng = empty_tally(4, 4), record.start(), np.random.default_rng(1)
    prior = 4.0 * (2 / 4) * FEATURES.T @ FEATURES
    for t in range(200):
        arm = record.select(tally, memory, rng).arm
        if t > 3:
            n, m = world.n.astype(float), world.means
            A = FEATURES.T @ (n[:, None] * FEATURES)
            inverse = np.linalg.inv(A)
            theta = inverse @ (FEATURES.T @ (n * m))
            i = int(np.argmax(FEATURES @ theta))
            apart = FEATURES - FEATURES[i]
            grown = np.linalg.slogdet(A + prior)[1] - np.linalg.slogdet(prior)[1]
            C = 0.5 * math.sqrt(2 * math.log(16 / delta) + grown)
            width = C * np.sqrt(np.maximum(np.einsum("ki,ij,kj->k", apart, inverse, apart), 0.0))
            doubt = apart @ theta + width
            doubt[i] = -np.inf
            u = apart[int(np.argmax(doubt))]
            left = [u @ np.linalg.inv(A + np.outer(x, x)) @ u for x in FEATURES]
            assert left[arm] <= min(left) * (1.0 + 1e-9)
        decide(tally, record.select(tally, memory, rng))
        for component, value in world.play(arm):
            observe(tally, component, value)
        tally.clock[0] += 1


def test_greedy_plays_the_largest_mean():
    world = World(ARMS, 4)
    for t, arm in enumerate(decisions(ARMS, "greedy", 100, 4)):
        assert arm == (t if t < 5 else int(np.argmax(world.means)))
        world.play(arm)


def test_greedy_suffices_where_leaders_tell_all():
    """On a line, d = 1, every arm shows the parameter: C(θ) = 0."""
    keys = {"structure": "linear", "arms": [[1.0], [0.5], [-1.0]], "phi": [0.8]}
    instance = from_dict(keys)
    assert bound(instance).value == 0.0
    assert decisions(instance, "greedy", 300, 1)[200:] == [0] * 100


@pytest.mark.parametrize("name", ["successive-elimination", "lingape"])
def test_delta_is_checked(name):
    with pytest.raises(InputError, match="delta"):
        policy(name, LINEAR if name == "lingape" else ARMS, delta=1.0)


@pytest.mark.parametrize("horizon", [0, 2.5, -3])
def test_the_budget_is_checked(horizon):
    with pytest.raises(InputError, match="horizon"):
        policy("sequential-halving", ARMS, horizon=horizon)
