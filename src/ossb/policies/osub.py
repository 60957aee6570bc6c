"""OSUB, optimal sampling for unimodal bandits (Combes and Proutiere, 2014).

The leader L is the arm of the largest mean, l(x) the number of rounds in which x was the leader,
this one included, and γ the largest degree of the graph.  In a round where γ + 1 divides
l(L) − 1 the leader is played; in any other, the arm with the largest

    b(x) = sup {q ≥ mean of x: N(x) kl(mean of x, q) ≤ ln l(L) + c ln ln l(L)}

among the leader and its neighbours; an arm never played has the largest b there is.

c = 0, as for KL-UCB in practice (its proofs have c ≥ 3), and each arm is played once to begin
with: these are the settings that reach the regret reported for OSUB on twelve arms.  With
``sweep=false`` nothing is played to begin with, and the first leader is arm 0.  What could not be
established, no full text being at hand: the c of the paper's own experiments.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.errors import InputError
from ossb.families import Family
from ossb.kernels import kernel
from ossb.policies.arms import unplayed
from ossb.policies.base import Kind
from ossb.policies.evidence import best_told
from ossb.policies.kl_ucb import upper_mean
from ossb.records import Ints, record
from ossb.structures.offers import NEIGHBOURS
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE, Decision, Tally


class OsubMemory(NamedTuple):
    """How often each arm was the leader."""

    leads: np.ndarray  # int64 (n_arms,)


@kernel
def confidence_level(leads: int, c: float) -> float:
    """ln l + c ln ln l, no less than 0."""
    if leads < 2:
        return 0.0
    logarithm = math.log(leads)
    return max(logarithm + c * math.log(logarithm), 0.0)


@kernel
def optimistic_mean(family: Family, tally: Tally, x: int, level: float, floor: float) -> float:
    """b(x), or ``floor`` where that is larger."""
    if tally.plays[x] == 0:
        return family.highest()
    return upper_mean(family, tally.means[x], level / tally.plays[x], floor)


@record
class Osub(NamedTuple):
    """Play the leader every γ + 1 of its rounds, else KL-UCB next to it.

    Parameters
    ----------
    starts, neighbours
        The neighbours of arm x are ``neighbours[starts[x]:starts[x + 1]]``.
    degree
        γ, the most neighbours an arm has.
    c
        Weight of the second logarithm.
    sweep
        Whether each arm is played once to begin with.
    """

    family: Family
    starts: Ints
    neighbours: Ints
    degree: int
    c: float
    sweep: bool

    def start(self) -> OsubMemory:
        return OsubMemory(np.zeros(self.starts.shape[0] - 1, np.int64))

    def select(self, tally: Tally, memory: OsubMemory, rng: Generator) -> Decision:
        first = unplayed(tally) if self.sweep else -1
        if first >= 0:
            return Decision(first, ESTIMATE)
        leader = max(best_told(tally), 0)
        memory.leads[leader] += 1
        leads = memory.leads[leader]
        if (leads - 1) % (self.degree + 1) == 0:
            return Decision(leader, EXPLOIT if tally.plays[leader] > 0 else ESTIMATE)
        level = confidence_level(leads, self.c)
        best, index = leader, optimistic_mean(self.family, tally, leader, level, -math.inf)
        for place in range(self.starts[leader], self.starts[leader + 1]):
            x = self.neighbours[place]
            value = optimistic_mean(self.family, tally, x, level, index)
            if value > index:
                best, index = x, value
        if best == leader:
            return Decision(leader, EXPLOIT)
        return Decision(best, EXPLORE if tally.plays[best] > 0 else ESTIMATE)


def build(instance: Any, c: float, sweep: bool) -> Osub:
    if not 0 <= c < math.inf:
        raise InputError("c", "be non-negative", c)
    model = instance.model()
    degree = int(np.diff(model.starts).max())
    return Osub(model.family, model.starts, model.neighbours, degree, c, sweep)


OSUB = Kind(
    name="osub",
    build=build,
    parameters={"c": 0.0, "sweep": True},
    needs=(NEIGHBOURS,),
    reference="Combes and Proutiere (2014)",
    remembers=True,
)
