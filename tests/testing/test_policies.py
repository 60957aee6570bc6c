"""Contracts of policies: each is broken by a toy that is made to break it."""

from typing import NamedTuple

import numpy as np
import pytest

from ossb.errors import InputError
from ossb.policies import POLICIES
from ossb.policies.base import Kind
from ossb.records import record
from ossb.structures.classical import Classical
from ossb.tally import ESTIMATE, EXPLORE, Decision
from ossb.testing import policy_checks

ARMS = {"three arms": Classical(observation="bernoulli", theta=[0.3, 0.5, 0.6])}


class Numbers(NamedTuple):
    values: np.ndarray


class Named(NamedTuple):
    rates: np.ndarray  # a method of models


@record
class Good(NamedTuple):
    """Arms in turn, but for a draw now and then."""

    chance: float = 0.2

    def start(self):
        return Numbers(np.zeros(100))

    def select(self, tally, memory, rng):
        place = 0
        for x in range(tally.plays.shape[0]):
            place += tally.plays[x]
        memory.values[place % 100] = rng.random()
        if memory.values[place % 100] < self.chance:
            return Decision(int(tally.plays.shape[0] * rng.random()), EXPLORE)
        return Decision(place % tally.plays.shape[0], ESTIMATE)


@record
class Rounding(NamedTuple):
    """An array's sum, which numpy adds in another order than compiled code."""

    late: bool = False

    def start(self):
        return Numbers(np.zeros(100))

    def select(self, tally, memory, rng):
        for k in range(100):
            memory.values[k] = rng.random()
        if self.late and tally.pending.sum() == 0:
            return Decision(0, EXPLORE)
        memory.values[0] = np.sum(memory.values)
        return Decision(0, EXPLORE)


@record
class Namesake(NamedTuple):
    """Right: a memory may have a field that is called as a method of models is."""

    chance: float = 0.2

    def start(self):
        return Named(np.zeros(1))

    def select(self, tally, memory, rng):
        memory.rates[0] += 1.0
        return Decision(0, EXPLORE)


class Plain:
    """Nothing wrong, and nothing compiled."""

    def __init__(self, instance=None):
        self.trials = self.rounds = 0

    def start(self):
        return Numbers(np.zeros(1))

    def select(self, tally, memory, rng):
        return Decision(int(rng.integers(tally.plays.size)), EXPLORE)


class Hoping(Plain):
    """Optimism written into the tally."""

    def select(self, tally, memory, rng):
        tally.means[tally.counts == 0] = 1.0
        return Decision(int(tally.means.argmax()), EXPLORE)


class OnePastTheEnd(Plain):
    def select(self, tally, memory, rng):
        return Decision(tally.plays.size if tally.pending.any() else 0, EXPLORE)


class Counting(Plain):
    """Counts its trials."""

    def start(self):
        self.trials += 1
        return super().start()

    def select(self, tally, memory, rng):
        return Decision(self.trials % tally.plays.size, EXPLORE)


class Remembering(Plain):
    """Keeps its place in itself."""

    def start(self):
        self.rounds = 0
        return super().start()

    def select(self, tally, memory, rng):
        self.rounds += 1
        return Decision(self.rounds % tally.plays.size, EXPLORE)


class Listing(Plain):
    """A memory that cannot be saved."""

    def start(self):
        return {"next": 0}


def broken(policy):
    """Names of the contracts that a policy breaks."""
    names = set()
    for check in policy_checks(policy, ARMS):
        try:
            check()
        except Exception:
            names.add(check.name)
    return names


BOTH = {"compiled is interpreted", "compiled is interpreted late"}
TOYS = [  # what plays an arm that there is not, or counts its trials, breaks two
    (Good, set()),
    (Plain, set()),
    (Rounding, BOTH),
    (lambda: Rounding(late=True), {"compiled is interpreted late"}),
    (Namesake, set()),
    (Hoping, {"select leaves the tally"}),
    (OnePastTheEnd, {"decisions are possible", "select leaves the tally"}),
    (Counting, {"the same again", "memory can be saved"}),
    (Remembering, {"memory can be saved"}),
    (Listing, {"memory can be saved"}),
]


@pytest.mark.parametrize(("toy", "found"), TOYS, ids=[str(i) for i in range(len(TOYS))])
def test_a_toy_breaks_what_it_is_made_to_break(toy, found):
    assert broken(lambda instance: toy()) == found


def test_every_contract_is_broken_by_some_toy():
    contracts = {check.name for check in policy_checks(Plain, ARMS)}
    assert set().union(*(found for _, found in TOYS)) == contracts


def kind_of(build, **keys):
    return Kind(
        name="toy",
        build=build,
        parameters={"chance": 0.2},
        structures=("classical",),
        reference="none",
        **keys,
    )


def refusing(instance, chance):
    raise InputError("policy", "be another one")


def test_a_kind_that_fits_is_made_and_one_that_does_not_is_refused():
    good = kind_of(lambda instance, chance: Good(chance))
    assert broken(good) == set()
    assert broken(kind_of(refusing)) == {"fits or refuses"}
    assert broken(kind_of(refusing, fits=lambda instance: "is for nobody")) == set()


def test_a_name_parameters_and_cases_can_be_read():
    checks = policy_checks("ucb1", ARMS)
    assert [str(check) for check in checks[:2]] == [
        "fits or refuses: ucb1, three arms",
        "compiled is interpreted: ucb1, three arms",
    ]
    assert "kl-ucb:c=3.0" in str(policy_checks("kl-ucb", ARMS, c=3.0)[0])
    assert len(policy_checks("osub", ARMS)) == 1, "for unimodal arms; that it refuses is a check"


def test_without_instances_every_structure_and_family_that_fits_is_played():
    cases = {check.case.partition(", ")[2] for check in policy_checks("hgl") if check.contract}
    assert {"classical poisson", "union bounded", "dueling bernoulli"} <= cases
    assert all(check.name == "fits or refuses" for check in policy_checks("aescb"))
    assert POLICIES["aescb"].needs
