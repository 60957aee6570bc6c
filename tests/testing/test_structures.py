"""Contracts of structures: each can be broken, by a toy that breaks it; ours keep them all."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pytest

from ossb.errors import InputError
from ossb.families import family_named
from ossb.structures import STRUCTURES
from ossb.structures.classical import Classical
from ossb.testing import examples, structure_checks


@pytest.mark.parametrize("check", structure_checks(examples()), ids=str)
def test_our_structures_keep_the_contracts(check):
    check()


def test_examples_are_of_every_structure_and_family():
    found = {}
    for instance in examples().values():
        found.setdefault(instance.kind, set()).add(instance.observation)
    assert found.keys() == STRUCTURES.own.keys()
    for name, families in found.items():
        if name != "combinatorial":  # which fit depends on its feedback and its arms
            assert families == set(STRUCTURES[name].observations)


def toy(name):
    """A class decorator: a structure that differs from independent arms in what its body says."""
    return dataclass(frozen=True, kw_only=True, eq=False, repr=False)(name)


@toy
class Forgetful(Classical):
    def to_dict(self):
        content = super().to_dict()
        return {"structure": self.kind, "n_arms": len(content["theta"])} | {
            key: value for key, value in content.items() if key != "theta"
        }


class Lax(Classical):
    def __new__(cls, **keys):
        keys.pop("no_such_key", None)
        return super().__new__(cls, **keys)

    def __init__(self, **keys):
        keys.pop("no_such_key", None)
        super().__init__(**keys)


@toy
class Hesitant(Classical):
    def solve(self, gap):
        return replace(super().solve(gap), status="heuristic")


@toy
class Generous(Classical):
    """A proof that takes any rates for enough."""

    def exact_information(self, support, multipliers):
        ball = super().exact_information(support, multipliers)
        return ball * 2


@toy
class Deaf(Classical):
    @property
    def family(self):
        return family_named("gaussian", 1.0, self.sign)


@toy
class Level(Classical):
    @cached_property
    def gaps(self):
        return np.zeros(self.n_arms)


class Stubborn:
    def __init__(self, model):
        self._model = model

    def __getattr__(self, name):
        return getattr(self._model, name)

    def plug_in(self, tally, memory):
        return 0


@toy
class Misled(Classical):
    def model(self):
        return Stubborn(super().model())


@toy
class Turned(Classical):
    """Estimates that are read from the wrong end."""

    def parameter_from(self, memory, means, counts):
        return means[::-1]


@toy
class Clinging(Classical):
    """Arms that do not go."""

    def fewer(self, kept, keys):
        keys["n_arms"] = self.n_arms


@toy
class Unforeseen(Classical):
    def shows_rewards(self):
        raise InputError("rewards", "be known")


TOYS = [
    (Classical, set()),
    (Forgetful, {"files hold all"}),
    (Lax, {"unknown keys are refused"}),
    (Hesitant, {"bounds are certified"}),
    (Generous, {"false bounds are refused"}),
    (Deaf, {"variances scale bounds"}),
    (Level, {"gaps are losses"}),
    (Misled, {"models find the best arm"}),
    (Turned, {"estimates are instances"}),
    (Clinging, {"units come and go"}),
    (Unforeseen, {"policies fit or refuse"}),
]


def broken(structure):
    """Names of the contracts that a structure breaks."""
    names = set()
    for check in structure_checks({"toy": structure(theta=[0.1, 0.5, 0.9], sigma=2.0)}):
        try:
            check()
        except Exception:
            names.add(check.name)
    return names


@pytest.mark.parametrize(("structure", "found"), TOYS)
def test_a_toy_breaks_what_it_is_made_to_break(structure, found):
    assert broken(structure) >= found
    assert (broken(structure) == set()) == (found == set())


def test_every_contract_is_broken_by_some_toy():
    contracts = {check.name for check in structure_checks(examples())}
    assert set().union(*(found for _, found in TOYS)) == contracts
