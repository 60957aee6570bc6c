"""Policies of this package in river's hands."""

import random

import gymnasium
import pytest
from river import bandit, stats

from ossb.adapters.gymnasium import ID
from ossb.adapters.river import RiverPolicy
from ossb.errors import InputError

THETA = [0.1, 0.2, 0.9, 0.3]
BERNOULLI = {"structure": "classical", "observation": "bernoulli", "theta": THETA}


def test_river_takes_it_for_a_policy_of_its_own():
    policy = RiverPolicy("kl-ucb", seed=3)
    assert isinstance(policy, bandit.base.Policy)
    assert policy.pull(["a", "b"]) in ("a", "b")
    policy.update("b", 1)
    assert policy.ranking == ["b"]
    copy = policy.clone()
    assert copy.policy == "kl-ucb"
    assert copy.seed == 3
    assert copy.ranking == []
    assert "Arm ID" in repr(policy)


def test_rivers_evaluation_on_our_environment():
    environment = gymnasium.make(ID, instance=BERNOULLI, horizon=400)
    policies = [
        RiverPolicy("hgl"),
        RiverPolicy({"name": "thompson"}, instance=BERNOULLI),
        bandit.UCB(delta=1, seed=1),
    ]
    rewards = {0: 0.0, 1: 0.0, 2: 0.0}
    best = dict(rewards)
    for step in bandit.evaluate(policies, environment, n_episodes=2, seed=5):
        rewards[step["policy_idx"]] += step["reward"]
        best[step["policy_idx"]] += step["arm"] == 2
    # 2 × 400 rounds: C ln T is below 6 plays an arm, so nine in ten plays are of the best arm
    assert best[0] > 0.9 * 800
    assert best[1] > 0.9 * 800
    assert rewards[0] > rewards[2]


def test_replay_of_a_log():
    rng = random.Random(4)
    log = []
    for _ in range(2000):
        arm = rng.choice("abcd")
        log.append((list("abcd"), None, arm, float(rng.random() < THETA["abcd".index(arm)])))
    policy = RiverPolicy("hgl")
    reward, used = bandit.evaluate_offline(policy, log, reward_stat=stats.Mean())
    assert 350 < used < 650  # a quarter of the log, with five standard errors
    assert policy.ranking[0] == "c"
    assert reward.get() > 0.75


def test_arms_come_and_are_left_out():
    policy = RiverPolicy("ucb1", observation="gaussian")
    policy.update("a", 1.0)
    policy.update("b", 0.0)
    assert policy.pull(["a", "b", "c"]) == "c"
    policy.update("c", 5.0)
    assert policy.pull(["a", "b"]) in ("a", "b")
    for _ in range(20):
        arm = policy.pull(["a", "b", "c"])
        policy.update(arm, {"a": 1.0, "b": 0.0, "c": 5.0}[arm])
    assert policy._counts["c"] > 15


def test_structure_is_used():
    instance = {
        "structure": "linear",
        "arms": [[1.0, 0.0], [0.0, 1.0], [0.9, 0.1]],
        "arm_names": ["east", "north", "almost east"],
        "goal": "minimize",
    }
    policy = RiverPolicy("ossb", instance=instance)
    cost = {"east": 2.0, "north": 1.0, "almost east": 1.9}
    for _ in range(60):
        arm = policy.pull(list(cost))
        policy.update(arm, -cost[arm])  # a reward is minus a cost
    assert policy.ranking[0] == "north"
    assert policy._counts["north"] > 30


def test_burn_in_is_rivers():
    policy = RiverPolicy("hgl", burn_in=2)
    pulls = []
    for _ in range(4):
        pulls.append(policy.pull(["a", "b"]))
        policy.update(pulls[-1], 1)
    assert sorted(pulls) == ["a", "a", "b", "b"]


def test_bad_input_is_refused():
    duels = {"structure": "dueling", "n_items": 3}
    with pytest.raises(InputError, match="`instance` must have arms that each show their reward"):
        RiverPolicy("hgl", instance=duels)
    policy = RiverPolicy("hgl", instance=BERNOULLI)
    with pytest.raises(InputError, match="`arm_ids` must be arms of the instance, got x"):
        policy.pull(["x"])
    with pytest.raises(InputError, match="`observation` must be a possible bernoulli"):
        policy.update(0, 0.5)
    assert policy.ranking == []  # nothing was learnt from it
    with pytest.raises(InputError, match="did you mean 'hgl'"):
        RiverPolicy("hgll").pull([0, 1])
