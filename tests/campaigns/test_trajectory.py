"""A campaign plays as the simulator does, bit for bit."""

import numpy as np
import pytest

from ossb.campaigns import Campaign
from ossb.campaigns.arrays import leaves, rng_state
from ossb.campaigns.definition import stream
from ossb.campaigns.player import Player
from ossb.campaigns.working import live_memory
from ossb.errors import PolicyError
from ossb.instances import from_dict
from ossb.policies import POLICIES, policy
from ossb.policies.base import refusal
from ossb.simulation.environment import environment_of
from ossb.simulation.implicit import run_implicit
from ossb.simulation.seeds import instance_key, noise_stream, policy_stream
from ossb.simulation.simulate import Timing, new_course, new_late, play
from ossb.tally import empty_tally

INSTANCES = {
    "bernoulli": {"structure": "classical", "observation": "bernoulli", "theta": [0.3, 0.5, 0.6]},
    "gaussian": {
        "structure": "classical",
        "sigma": 1.0,
        "theta": [0.0, 0.5, 1.0],
        "goal": "minimize",
    },
    "poisson": {"structure": "classical", "observation": "poisson", "theta": [1.0, 2.0]},
    "linear": {
        "structure": "linear",
        "sigma": 1.0,
        "arms": [[1, 0], [0, 1], [0.8, 0.7]],
        "phi": [1.0, 0.4],
    },
    "glm": {
        "structure": "generalized_linear",
        "arms": [[1, 0], [0, 1], [0.8, 0.7]],
        "phi": [1.0, 0.4],
        "link": "logistic",
        "observation": "bernoulli",
    },
    "lipschitz": {
        "structure": "lipschitz",
        "points": [0.0, 0.5, 1.0],
        "lipschitz_constant": 1.0,
        "theta": [0.2, 0.5, 0.4],
        "observation": "bernoulli",
    },
    "unimodal": {"structure": "unimodal", "observation": "bernoulli", "theta": [0.2, 0.6, 0.4]},
    "dueling": {
        "structure": "dueling",
        "preferences": [[0.5, 0.7, 0.8], [0.3, 0.5, 0.6], [0.2, 0.4, 0.5]],
    },
    "losing duels": {
        "structure": "dueling",
        "goal": "minimize",
        "preferences": [[0.5, 0.7, 0.8], [0.3, 0.5, 0.6], [0.2, 0.4, 0.5]],
    },
    "semi-bandit": {
        "structure": "combinatorial",
        "sigma": 1.0,
        "feedback": "semi_bandit",
        "arms": [[1, 1, 0], [0, 1, 1], [1, 0, 1]],
        "phi": [0.3, 0.5, 0.6],
    },
    "sums": {
        "structure": "combinatorial",
        "sigma": 1.0,
        "feedback": "bandit",
        "arms": [[1, 1, 0], [0, 1, 1], [1, 0, 1]],
        "phi": [0.3, 0.5, 0.6],
    },
    "an item in no arm": {
        "structure": "combinatorial",
        "feedback": "semi_bandit",
        "observation": "bernoulli",
        "arms": [[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 1, 0]],
        "phi": [0.3, 0.5, 0.6, 0.1],
    },
    "graph feedback": {
        "structure": "polytope",
        "observation": "bernoulli",
        "A": [[1, 1]],
        "b": [1.5],
        "reveals": [[1, 0], [1]],
        "rewards": [[1, 0], [0, 1]],
        "theta": [0.6, 0.4],
    },
    "finite": {
        "structure": "finite",
        "parameters": [[0.3, 0.5, 0.6], [0.3, 0.8, 0.6], [0.9, 0.5, 0.6]],
        "theta": [0.3, 0.5, 0.6],
        "observation": "bernoulli",
    },
}
SETS = {
    "m-sets": {
        "sigma": 1.0,
        "arm_set": "m_sets",
        "n_items": 5,
        "size": 2,
        "phi": [0.1, 0.5, 0.3, 0.7, 0.2],
    },
    "shortest paths": {
        "arm_set": "paths",
        "sigma": 1.0,
        "goal": "minimize",
        "edges": [[0, 1], [0, 2], [1, 2], [1, 3], [2, 3], [0, 3]],
        "source": 0,
        "target": 3,
        "phi": [0.3, 0.6, 0.1, 0.8, 0.4, 1.2],
    },
    "matchings": {
        "arm_set": "matchings",
        "sigma": 1.0,
        "n_left": 2,
        "n_right": 3,
        "edges": [[0, 0], [0, 1], [1, 1], [1, 2], [0, 2]],
        "phi": [0.2, 0.5, 0.4, 0.1, 0.7],
    },
    "spanning trees": {
        "arm_set": "spanning_trees",
        "observation": "bernoulli",
        "n_nodes": 4,
        "edges": [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]],
        "phi": [0.2, 0.5, 0.4, 0.1, 0.7],
    },
}
INSTANCES |= {
    label: {"structure": "combinatorial", "feedback": "semi_bandit", **keys}
    for label, keys in SETS.items()
}
ROUNDS = 60


def cases():
    for label, keys in INSTANCES.items():
        instance = from_dict(keys)
        for name, kind in POLICIES.items():
            if refusal(kind, instance) is None:
                yield pytest.param(keys, name, id=f"{label}-{name}")


def test_every_policy_is_among_them():
    assert {case.values[1] for case in cases()} == set(POLICIES)


def simulated(instance, name, seed, timing, rounds, compiled=False):
    if instance.n_arms is None:
        return simulated_on_a_set(instance, name, seed, timing, rounds)
    record, environment = policy(name, instance), environment_of(instance)
    tally = empty_tally(environment.means.size, environment.gaps.size)
    memory, key = record.start(), instance_key(instance.to_dict())
    rng = policy_stream(seed, key, stream({"name": name}), 0)
    noise = noise_stream(seed, key, 0)
    course, late = new_course(np.array([rounds])), new_late(environment, timing)
    play(
        record,
        environment,
        tally,
        memory,
        course,
        late,
        1,
        rounds + 1,
        rng,
        noise,
        timing,
        compiled,
        name,
    )
    return tally, memory, rng


class Enough(Exception):
    """The rounds wanted are played."""


class UpTo:
    """A policy that plays some rounds, and keeps what it is asked with after them."""

    def __init__(self, record, rounds):
        self.record, self.left = record, rounds
        self.start = record.start

    def select(self, tally, memory, rng):
        if self.left == 0:
            self.seen = tally, memory, rng
            raise Enough
        self.left -= 1
        return self.record.select(tally, memory, rng)


def simulated_on_a_set(instance, name, seed, timing, rounds):
    """What is due before the round after the last is told, as the simulator does it."""
    key, course = instance_key(instance.to_dict()), new_course(np.array([rounds + 1]))
    rng = policy_stream(seed, key, stream({"name": name}), 0)
    noise, played = noise_stream(seed, key, 0), UpTo(policy(name, instance), rounds)
    with pytest.raises(PolicyError) as caught:
        run_implicit(played, instance, course, timing.batch, timing.delay, rng, noise)
    assert isinstance(caught.value.__cause__, Enough)
    return played.seen


def campaigned(instance, name, seed, timing, rounds):
    campaign = Campaign.open("memory://", "c", instance=instance, policy=name, seed=seed)
    noise = noise_stream(seed, instance_key(instance.to_dict()), 0)
    waiting, lists = [], getattr(instance, "feedback", "") == "semi_bandit"

    def tell(id_, values):
        several = lists or len(values) > 1
        campaign.tell(id_, values if several else (values[0] if values else None))

    def tell_what_is_due(t):
        if (t - 1) % timing.batch == 0:
            while waiting and waiting[0][0] + timing.delay < t:
                tell(*waiting.pop(0)[1:])

    for t in range(1, rounds + 1):
        tell_what_is_due(t)
        (decision,) = campaign.ask()
        with campaign._journal.look() as state:
            shown = state.reveals[int(state.decisions.arm[-1])]
        family, means = instance.observed_family, instance.components
        values = [instance.sign * float(family.sample(float(means[c]), noise)) for c in shown]
        waiting.append((t, decision.id, values))
        if timing == Timing():
            tell(*waiting.pop(0)[1:])
    if instance.n_arms is None:
        tell_what_is_due(rounds + 1)
    return campaign


def assert_same(campaign, outcome):
    tally, memory, rng = outcome
    with campaign._journal.look() as state:
        for ours, theirs in zip(state.tally, tally, strict=True):
            np.testing.assert_array_equal(ours, theirs)
        if state.table is not None:
            assert state.table.arms == memory.table.arms
        held = live_memory(state, state.usual, campaign._players.of(state, frozenset())).memory
        for ours, theirs in zip(held, leaves(memory), strict=True):
            assert ours.tobytes() == np.ascontiguousarray(theirs).tobytes()
        assert rng_state(state.rng) == rng_state(rng)


@pytest.mark.sampled(of=3)
@pytest.mark.parametrize(("keys", "name"), list(cases()))
def test_a_campaign_plays_as_the_simulator_does(keys, name):
    instance = from_dict(keys)
    campaign = campaigned(instance, name, 7, Timing(), ROUNDS)
    assert_same(campaign, simulated(instance, name, 7, Timing(), ROUNDS))


@pytest.mark.parametrize("name", ["hgl", "ossb", "thompson"])
def test_late_and_batched_tells_are_those_of_the_simulator(name):
    instance = from_dict(INSTANCES["bernoulli"])
    timing = Timing(batch=5, delay=7)
    campaign = campaigned(instance, name, 3, timing, 100)
    assert_same(campaign, simulated(instance, name, 3, timing, 100))


@pytest.mark.parametrize("name", ["hgl", "aescb", "cucb", "glpg", "combinatorial-thompson"])
def test_the_same_on_a_set_of_arms(name):
    instance = from_dict(INSTANCES["shortest paths"])
    timing = Timing(batch=3, delay=4)
    campaign = campaigned(instance, name, 3, timing, 100)
    assert_same(campaign, simulated(instance, name, 3, timing, 100))


@pytest.mark.parametrize(
    ("label", "name"), [("bernoulli", "hgl"), ("matchings", "hgl"), ("m-sets", "glpg")]
)
def test_a_restarted_campaign_goes_on_as_the_simulator_does(label, name):
    instance = from_dict(INSTANCES[label])
    campaign = campaigned(instance, name, 7, Timing(), ROUNDS)
    again = Campaign(campaign._storage, "c")
    assert_same(again, simulated(instance, name, 7, Timing(), ROUNDS))


def test_compiled_steps_are_the_interpreted_ones():
    """The campaign switches to compiled code when that is ready: nothing else changes."""
    instance = from_dict(INSTANCES["bernoulli"])
    chosen = {"name": "hgl"}
    compiled, interpreted = Player(instance, chosen), Player(instance, chosen)
    compiled.compile()
    tally, noise = empty_tally(3, 3), np.random.default_rng(0)
    memories = [player.bind(player.start()) for player in (compiled, interpreted)]
    rng = np.random.Generator(np.random.PCG64(1))
    for _ in range(200):
        one = compiled.select(tally, memories[0], rng)
        other = interpreted.select(tally, memories[1], rng)
        assert one == other
        assert type(one.arm) is int
        tally.plays[one.arm] += 1
        tally.phases[one.phase] += 1
        tally.counts[one.arm] += 1
        mean = tally.means[one.arm]
        value = float(noise.random() < [0.3, 0.5, 0.6][one.arm])
        tally.means[one.arm] += (value - mean) / tally.counts[one.arm]
        tally.clock[0] += 1
    for ours, theirs in zip(leaves(memories[0]), leaves(memories[1]), strict=True):
        assert ours.tobytes() == theirs.tobytes()
