"""IMED-UB, for unimodal arms (Saber, Ménard and Maillard, 2020).

The leader is the arm of the largest mean.  Among it and its neighbours, play
argmin N(x) kl(mean of x, largest mean) + ln N(x), which is −∞ for an arm never played: nothing
else is forced.  Of several leaders, the one played least is taken, then the lowest (the paper's own
rule for ties could not be looked up).

A departure: each arm is played once to begin with, or the search can stay for long at a level
stretch or a slope it started on.  With ``sweep=false``, as in the paper, only arm 0 comes first.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.families import Family
from ossb.kernels import kernel
from ossb.policies.arms import Nothing, unplayed
from ossb.policies.base import Kind
from ossb.policies.evidence import evidence_against
from ossb.records import Ints, record
from ossb.structures.offers import NEIGHBOURS
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE, Decision, Tally


@kernel
def least_played_leader(tally: Tally) -> int:
    """Of the arms with the largest mean, the one played least; −1 before anything was told."""
    leader = -1
    for x in range(tally.plays.shape[0]):
        if tally.counts[x] == 0:
            continue
        is_level = leader >= 0 and tally.means[x] == tally.means[leader]
        if is_level and tally.plays[x] >= tally.plays[leader]:
            continue
        if is_level or leader < 0 or tally.means[x] > tally.means[leader]:
            leader = x
    return leader


@record
class ImedUb(NamedTuple):
    """IMED among the leader and its neighbours.

    Parameters
    ----------
    starts, neighbours
        The neighbours of arm x are ``neighbours[starts[x]:starts[x + 1]]``.
    sweep
        Whether each arm is played once to begin with.
    """

    family: Family
    starts: Ints
    neighbours: Ints
    sweep: bool

    def start(self) -> Nothing:
        return Nothing(np.zeros(1))

    def select(self, tally: Tally, memory: Nothing, rng: Generator) -> Decision:
        first = unplayed(tally) if self.sweep else -1
        if first >= 0:
            return Decision(first, ESTIMATE)
        leader = max(least_played_leader(tally), 0)
        if tally.plays[leader] == 0:
            return Decision(leader, ESTIMATE)
        top = tally.means[leader]
        best, least = leader, math.log(tally.plays[leader])
        for place in range(self.starts[leader], self.starts[leader + 1]):
            x = self.neighbours[place]
            if tally.plays[x] == 0:
                return Decision(x, ESTIMATE)
            value = evidence_against(self.family, tally, x, top) + math.log(tally.plays[x])
            if value < least:
                best, least = x, value
        return Decision(best, EXPLOIT if best == leader else EXPLORE)


def build(instance: Any, sweep: bool) -> ImedUb:
    model = instance.model()
    return ImedUb(model.family, model.starts, model.neighbours, sweep)


IMED_UB = Kind(
    name="imed-ub",
    build=build,
    parameters={"sweep": True},
    needs=(NEIGHBOURS,),
    reference="Saber, Ménard and Maillard (2020)",
)
