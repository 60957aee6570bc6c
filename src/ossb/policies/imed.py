"""IMED, indexed minimum empirical divergence (Honda and Takemura, 2015).

Play each arm once, then argmin N(x) kl(mean of x, largest mean) + ln N(x).  The paper's
divergence is from the empirical law to the laws of a larger mean, bounded above; here it is that
of the family, and for bounded observations the Bernoulli one, which is smaller.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.families import Family
from ossb.policies.arms import Nothing, reward_is_observed, unplayed
from ossb.policies.base import Kind
from ossb.policies.evidence import best_told, evidence_against
from ossb.records import record
from ossb.structures.base import Instance
from ossb.structures.offers import OWN_COMPONENT
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE, Decision, Tally


@record
class Imed(NamedTuple):
    """Play what has the least evidence against it, the logarithm of its plays added."""

    family: Family

    def start(self) -> Nothing:
        return Nothing(np.zeros(1))

    def select(self, tally: Tally, memory: Nothing, rng: Generator) -> Decision:
        first = unplayed(tally)
        if first >= 0:
            return Decision(first, ESTIMATE)
        leader = best_told(tally)
        top = tally.means[max(leader, 0)]
        best, index = 0, math.inf
        for x in range(tally.plays.shape[0]):
            value = evidence_against(self.family, tally, x, top) + math.log(tally.plays[x])
            if value < index or (x == leader and value <= index):  # ties go to the larger mean
                best, index = x, value
        return Decision(best, EXPLOIT if best == leader else EXPLORE)


def build(instance: Instance) -> Imed:
    return Imed(instance.family)


IMED = Kind(
    name="imed",
    build=build,
    parameters={},
    needs=(OWN_COMPONENT,),
    reference="Honda and Takemura (2015)",
    fits=reward_is_observed,
)
