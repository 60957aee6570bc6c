"""The index of Burnetas and Katehakis (1996).

Play each arm ``first`` times, then the largest index

    U(x) = sup {q: kl(mean of x, q) < (ln n + c ln ln n) / N(x)},   n the rounds played so far.

The inflation ln n is the one the index is known by; proofs allow ln n + o(ln n), hence c, 0 by
itself.  What could not be established, no full text being at hand: whether the paper prints a
term besides ln n.  The paper's divergence is that of its model (laws of finite support among
others); here it is that of the family.  KL-UCB has the same index with t = n + 1.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.errors import InputError
from ossb.families import Family
from ossb.fields import integer
from ossb.policies.arms import Nothing, reward_is_observed
from ossb.policies.base import Kind
from ossb.policies.evidence import best_told
from ossb.policies.kl_ucb import upper_mean
from ossb.records import record
from ossb.structures.base import Instance
from ossb.structures.offers import OWN_COMPONENT
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE, Decision, Tally, round_number


@record
class BurnetasKatehakis(NamedTuple):
    """Play the arm whose mean could be largest.

    Parameters
    ----------
    c
        Weight of ln ln n in the inflation.
    initial
        Plays of each arm before indices are compared.
    """

    family: Family
    c: float
    initial: int

    def start(self) -> Nothing:
        return Nothing(np.zeros(1))

    def select(self, tally: Tally, memory: Nothing, rng: Generator) -> Decision:
        least = 0
        for x in range(tally.plays.shape[0]):
            if tally.plays[x] < tally.plays[least]:
                least = x
        if tally.plays[least] < self.initial or tally.clock[0] == 0:
            return Decision(least, ESTIMATE)
        inflation = math.log(max(round_number(tally) - 1.0, 1.0))
        if self.c > 0.0:
            inflation += self.c * math.log(max(inflation, 1.0))
        leader = best_told(tally)
        best = max(leader, 0)
        index = upper_mean(self.family, tally.means[best], inflation / tally.plays[best], -math.inf)
        for x in range(tally.plays.shape[0]):
            if x != leader:
                value = upper_mean(self.family, tally.means[x], inflation / tally.plays[x], index)
                if value > index:
                    best, index = x, value
        return Decision(best, EXPLOIT if best == leader else EXPLORE)


def build(instance: Instance, c: float, first: int) -> BurnetasKatehakis:
    if not 0 <= c < math.inf:
        raise InputError("c", "be non-negative", c)
    return BurnetasKatehakis(instance.family, c, integer(first, "first", least=1))


BURNETAS_KATEHAKIS = Kind(
    name="burnetas-katehakis",
    build=build,
    parameters={"c": 0.0, "first": 1},
    needs=(OWN_COMPONENT,),
    reference="Burnetas and Katehakis (1996)",
    fits=reward_is_observed,
)
