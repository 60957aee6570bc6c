"""A policy in memory: the same decisions as everywhere else, and nothing learnt from bad input."""

import copy

import numpy as np
import pytest

from ossb.adapters.learner import Learner
from ossb.errors import InputError
from ossb.instances import from_dict
from ossb.policies import OWN
from ossb.policies import policy as make_policy
from structured_instances import INSTANCES


def played(learner, rounds, seed=0):
    """The arms that a learner plays on the true instance."""
    instance, rng = learner.instance, np.random.default_rng(seed)
    arms = []
    for _ in range(rounds):
        arm = learner.choose()
        means = [float(instance.components[c]) for c in learner.shown[arm]]
        learner.learn(arm, *(instance.observed_family.sample(mean, rng) for mean in means))
        arms.append(arm)
    return arms


@pytest.mark.parametrize("kind", INSTANCES)
def test_every_kind_of_arm_is_played(kind):
    learner = Learner(INSTANCES[kind], "hgl", seed=3)
    arms = played(learner, 40)
    assert arms == played(Learner(INSTANCES[kind], "hgl", seed=3), 40)
    assert learner.tally.clock[0] == learner.tally.phases.sum() == 40
    assert learner.tally.plays.tolist() == np.bincount(arms, minlength=len(learner.shown)).tolist()
    assert not learner.tally.pending.any()


def test_compiled_steps_decide_the_same():
    instance = {"structure": "classical", "theta": [0.2, 0.5, 0.4], "observation": "bernoulli"}
    plain, compiled = (
        played(Learner(instance, "ucb1", compiled=compiled), 60) for compiled in (False, True)
    )
    assert plain == compiled


@pytest.mark.parametrize("observation", ["bernoulli", "gaussian", "bounded"])
@pytest.mark.parametrize("name", [kind.name for kind in OWN.values() if kind.by_numbers])
def test_steps_on_numbers_of_pythons_decide_as_those_on_arrays(name, observation):
    """All the same, zeros and ones, or spread out, with asks that are not told yet too."""
    keys = {"structure": "classical", "n_arms": 5, "observation": observation}
    instance = from_dict({**keys, "sigma": 1.0} if observation == "gaussian" else keys)
    policy = make_policy(name, instance)
    for means in ([0.0] * 5, [1.0] * 5, [0.0, 1.0, 0.0, 1.0, 0.5]):
        learner, rng = Learner(instance, name, seed=1), np.random.default_rng(1)
        noise = np.random.default_rng(2)
        for round in range(200):
            expected = policy.select(learner.tally, policy.start(), rng)
            arm = learner.choose()
            assert arm == expected.arm
            assert type(arm) is int
            if round % 3:
                value = means[arm] if observation == "gaussian" else noise.random() < means[arm]
                learner.learn(arm, float(value))
        assert copy.deepcopy(learner).choose() == learner.choose()


def test_a_copy_learns_by_itself():
    learner = Learner(next(iter(INSTANCES.values())), "hgl")
    played(learner, 20)
    other, before = copy.deepcopy(learner), learner.tally.counts.tolist()
    assert played(other, 10) == played(copy.deepcopy(learner), 10)
    assert learner.tally.counts.tolist() == before
    assert other.tally.clock[0] == 30


def test_what_was_not_asked_for_counts_and_has_no_phase():
    learner = Learner({"structure": "classical", "n_arms": 3}, "ucb1")
    learner.learn(2, 1.5)
    assert learner.tally.plays.tolist() == [0, 0, 1]
    assert learner.tally.phases.sum() == 0
    assert learner.choose() in (0, 1)
    learner.forget()
    assert learner.tally.clock[0] == 0


def test_some_arms_only():
    learner = Learner({"structure": "classical", "n_arms": 4}, "ucb1")
    assert learner.choose([2, 3]) in (2, 3)
    learner.retire(2)
    assert learner.choose([2, 3]) == 3
    with pytest.raises(InputError, match="`available` must hold an arm that is not retired"):
        learner.choose([2])
    with pytest.raises(InputError, match="`arm` must be below 4"):
        learner.choose([4])


def test_added_arms_keep_what_was_learnt():
    learner = Learner(INSTANCES["dueling"], "hgl")
    played(learner, 30)
    told = learner.tally.counts.sum()
    learner.add()
    assert learner.instance.n_items == 5
    assert learner.tally.counts.sum() == told
    assert learner.tally.plays.sum() == 30
    assert len(learner.estimates()) == 15


def test_bad_input_teaches_nothing():
    learner = Learner(INSTANCES["semi_bandit"], "hgl")
    with pytest.raises(InputError, match="`observation` must hold 2 numbers"):
        learner.learn(0, 1.0)
    with pytest.raises(InputError, match="`observation` must be finite"):
        learner.learn(0, 1.0, float("inf"))
    assert learner.tally.clock[0] == 0
    assert not learner.tally.counts.any()
    with pytest.raises(InputError, match="`seed` must be a whole number"):
        Learner(INSTANCES["semi_bandit"], "hgl", seed="x")
