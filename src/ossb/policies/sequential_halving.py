"""Sequential halving (Karnin, Koren and Somekh, 2013): half of the arms go in each of few rounds.

With a budget of T plays (``horizon``) and R = ⌈log₂ K⌉ rounds: in each of them the arms S that are
left are played ⌊T / (|S| R)⌋ times each, and the better half, ⌈|S| / 2⌉ of them, goes on.  The one
that is left in the end is the answer, and is played from there on.

Departures: means are over all observations of an arm, those of earlier rounds included; arms are
played once at least, however small the budget; while answers are on their way, halves are made of
what was told.
"""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.fields import integer
from ossb.policies.arms import reward_is_observed
from ossb.policies.base import Kind
from ossb.records import record
from ossb.structures.base import Instance
from ossb.structures.offers import OWN_COMPONENT
from ossb.tally import EXPLOIT, EXPLORE, Decision, Tally


class Halves(NamedTuple):
    """Where a tournament stands."""

    active: np.ndarray  # int64 (n_arms,): 1, or 0 once it is dropped
    begun: np.ndarray  # int64 (n_arms,): its plays when the round began


@record
class SequentialHalving(NamedTuple):
    """Play all arms that are left as often in each round, then drop half of them.

    Parameters
    ----------
    n_rounds
        R.
    budget
        T.
    """

    n_arms: int
    n_rounds: int
    budget: int

    def start(self) -> Halves:
        return Halves(np.ones(self.n_arms, np.int64), np.zeros(self.n_arms, np.int64))

    def select(self, tally: Tally, memory: Halves, rng: Generator) -> Decision:
        active, begun = memory.active, memory.begun
        while True:
            left, least = 0, -1
            for x in range(self.n_arms):
                if active[x] == 1:
                    left += 1
                    if least < 0 or tally.plays[x] - begun[x] < tally.plays[least] - begun[least]:
                        least = x
            if left == 1:
                return Decision(least, EXPLOIT)
            each = max(self.budget // (left * self.n_rounds), 1)
            if tally.plays[least] - begun[least] < each:
                return Decision(least, EXPLORE)
            for _ in range(left // 2):
                self.drop_worst(tally, memory)
            for x in range(self.n_arms):
                begun[x] = tally.plays[x]

    def drop_worst(self, tally: Tally, memory: Halves) -> None:
        """Drop the arm of the least mean, the last of several."""
        worst = -1
        for x in range(self.n_arms):
            if memory.active[x] == 1 and (worst < 0 or tally.means[x] <= tally.means[worst]):
                worst = x
        memory.active[worst] = 0


def build(instance: Instance, horizon: int) -> SequentialHalving:
    budget, n_arms = integer(horizon, "horizon", least=1), instance.n_arms  # type: ignore[attr-defined]
    return SequentialHalving(n_arms, max((n_arms - 1).bit_length(), 1), budget)


SEQUENTIAL_HALVING = Kind(
    name="sequential-halving",
    build=build,
    parameters={"horizon": 10_000},
    needs=(OWN_COMPONENT,),
    reference="Karnin, Koren and Somekh (2013)",
    fits=reward_is_observed,
    remembers=True,
)
