"""Uniform sampling: the arm played least, in turns; a baseline for tests that end."""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.policies.arms import Nothing, lists_arms
from ossb.policies.base import Kind
from ossb.records import Ints, record
from ossb.structures.base import Instance
from ossb.structures.offers import MODEL
from ossb.tally import ESTIMATE, Decision, Tally


@record
class Uniform(NamedTuple):
    """Play the arm played least of those that show something, the lowest number on ties."""

    arms: Ints

    def start(self) -> Nothing:
        return Nothing(np.zeros(1))

    def select(self, tally: Tally, memory: Nothing, rng: Generator) -> Decision:
        least = self.arms[0]
        for x in self.arms:
            if tally.plays[x] < tally.plays[least]:
                least = x
        return Decision(least, ESTIMATE)


def build(instance: Instance) -> Uniform:
    reveals = instance.showing()
    telling = [x for x, components in enumerate(reveals) if len(components) > 0]
    return Uniform(telling or [0])  # type: ignore[arg-type]


UNIFORM = Kind(
    name="uniform",
    build=build,
    parameters={},
    needs=(MODEL,),
    reference="folklore",
    fits=lists_arms,
)
