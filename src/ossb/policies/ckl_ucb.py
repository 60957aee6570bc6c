"""CKL-UCB, combined KL-UCB (Magureanu, Combes and Proutiere, 2014).

Of all arms whose index, which combines the observations of all arms, is at least the mean of the
leader, play the least played.  f(t) = ln t + 3 K ln ln t in the analysis; c = 0 is the default
here, as for ``kl-ucb``.

The full text was not at hand: the rule is as remembered from it, and should be compared with
Algorithm 2 of the paper.  Not established: whether the leader counts among these arms.  It does
here: without it, a leader with few observations can be kept from ever being looked at again, and
regret is then linear.  The distances may be those of any metric.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.errors import InputError
from ossb.families import Family
from ossb.policies.arms import Nothing, best_mean, unplayed
from ossb.policies.base import Kind
from ossb.policies.lipschitz_arms import exploration_level, may_be_best
from ossb.records import Floats, record
from ossb.structures.offers import DISTANCES
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE, Decision, Tally


@record
class CklUcb(NamedTuple):
    """Play the least played of the leader and the arms that may be best.

    Parameters
    ----------
    family
        The observations.
    distances
        ℓ, a metric.
    c
        Weight of K ln ln t in f.
    """

    family: Family
    distances: Floats
    c: float

    def _check(self) -> None:
        if not 0 <= self.c < math.inf:
            raise InputError("c", "be non-negative", self.c)

    def start(self) -> Nothing:
        return Nothing(np.zeros(1))

    def select(self, tally: Tally, memory: Nothing, rng: Generator) -> Decision:
        first = unplayed(tally)
        if first >= 0:
            return Decision(first, ESTIMATE)
        leader, level = best_mean(tally), exploration_level(tally, self.c)
        arm = leader
        for k in range(tally.plays.shape[0]):
            if tally.plays[k] < tally.plays[arm]:
                if may_be_best(self.family, self.distances, tally, level, leader, k):
                    arm = k
        return Decision(arm, EXPLOIT if arm == leader else EXPLORE)


def build(instance: Any, c: float) -> CklUcb:
    return CklUcb(instance.family, instance.metric, c)


CKL_UCB = Kind(
    name="ckl-ucb",
    build=build,
    parameters={"c": 0.0},
    needs=(DISTANCES,),
    reference="Magureanu, Combes and Proutiere (2014)",
)
