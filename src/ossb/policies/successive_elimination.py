"""Successive elimination (Even-Dar, Mannor and Mansour, 2006): arms in turns, until ruled out.

All arms that are left are played in turns.  With α(N) = √(4 v ln(4 K N² / δ) / N), v the variance
proxy of the observations, ¼ for values in [0, 1], an arm is dropped once its mean lies α of its own
and α of the leader below the largest mean; with N observations of each that is the 2 α of the
paper, whose constant c is 4 here.  The arm that is left in the end is played from there on.

Departures: v is σ² for Gaussian observations; arms are judged after every play by observations of
their own, not at the end of turns only, since answers may be late.  α holds for all N at once.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.errors import InputError
from ossb.policies.arms import reward_is_observed
from ossb.policies.base import Kind
from ossb.records import record
from ossb.structures.base import Instance
from ossb.structures.offers import OWN_COMPONENT
from ossb.tally import EXPLOIT, EXPLORE, Decision, Tally


class Left(NamedTuple):
    """Which arms are left."""

    active: np.ndarray  # int64 (n_arms,): 1, or 0 once it is ruled out


@record
class SuccessiveElimination(NamedTuple):
    """Play the arm played least of those that are left.

    Parameters
    ----------
    proxy
        v.
    delta
        The probability with which the best arm may be ruled out.
    """

    n_arms: int
    proxy: float
    delta: float

    def _check(self) -> None:
        if not 0 < self.delta < 1:
            raise InputError("delta", "lie in (0, 1)", self.delta)

    def start(self) -> Left:
        return Left(np.ones(self.n_arms, np.int64))

    def select(self, tally: Tally, memory: Left, rng: Generator) -> Decision:
        left = self.drop_arms(tally, memory)
        least = -1
        for x in range(self.n_arms):
            if memory.active[x] == 1 and (least < 0 or tally.plays[x] < tally.plays[least]):
                least = x
        return Decision(least, EXPLOIT if left == 1 else EXPLORE)

    def drop_arms(self, tally: Tally, memory: Left) -> int:
        """Drop what is ruled out; returns how many arms are left."""
        leader, left = -1, 0
        for x in range(self.n_arms):
            if memory.active[x] == 1 and tally.counts[x] > 0:
                if leader < 0 or tally.means[x] > tally.means[leader]:
                    leader = x
        for x in range(self.n_arms):
            if memory.active[x] == 1 and x != leader and leader >= 0 and tally.counts[x] > 0:
                apart = self.doubt_of(x, tally) + self.doubt_of(leader, tally)
                if tally.means[leader] - tally.means[x] >= apart:
                    memory.active[x] = 0
            left += memory.active[x]
        return left

    def doubt_of(self, x: int, tally: Tally) -> float:
        """α of an arm."""
        told = float(tally.counts[x])
        level = math.log(4.0 * self.n_arms / self.delta) + 2.0 * math.log(told)
        return math.sqrt(4.0 * self.proxy * level / told)


def build(instance: Instance, delta: float) -> SuccessiveElimination:
    proxy = instance.sigma * instance.sigma if instance.observation == "gaussian" else 0.25
    return SuccessiveElimination(instance.n_arms, proxy, delta)  # type: ignore[attr-defined]


def fits(instance: Instance) -> str | None:
    if instance.observation not in ("gaussian", "bernoulli", "bounded"):
        return "is for gaussian, bernoulli and bounded observations"
    return reward_is_observed(instance)


SUCCESSIVE_ELIMINATION = Kind(
    name="successive-elimination",
    build=build,
    parameters={"delta": 0.05},
    needs=(OWN_COMPONENT,),
    reference="Even-Dar, Mannor and Mansour (2006)",
    fits=fits,
    remembers=True,
)
