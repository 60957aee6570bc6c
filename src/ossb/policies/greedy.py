"""Greedy: the best arm of the estimate, once a small set of arms was looked at.

The maximum-likelihood estimate in Θ, from what was told; the set is the one that together shows
everything.  It explores nothing beyond, and locks on a wrong arm with a probability that does not
vanish, unless what the leaders show tells the arms apart, as where C(θ) = 0: a baseline.
"""

from typing import Any, NamedTuple

from numpy.random import Generator

from ossb.models.base import Model
from ossb.models.within import leader_within
from ossb.policies.arms import overdue, projects
from ossb.policies.base import Kind
from ossb.records import record
from ossb.structures.offers import MODEL
from ossb.tally import ESTIMATE, EXPLOIT, Decision, Tally


class GreedyMemory(NamedTuple):
    """What the model holds."""

    model: Any


@record
class Greedy(NamedTuple):
    """Play the leader of the estimate."""

    model: Model

    def start(self) -> GreedyMemory:
        return GreedyMemory(self.model.start())

    def select(self, tally: Tally, memory: GreedyMemory, rng: Generator) -> Decision:
        first = overdue(self.model, 1.0, tally)
        if first >= 0:
            return Decision(first, ESTIMATE)
        return Decision(self.model.project(tally, memory.model), EXPLOIT)

    def choose(
        self, low: int, high: int, tally: Tally, memory: GreedyMemory, rng: Generator
    ) -> Decision:
        """Decide among the rows low, …, high − 1."""
        place = 0
        while self.model.informative(place) >= 0:
            look = self.model.informative(place)
            if low <= look < high and tally.plays[look] == 0 and tally.counts[look] == 0:
                return Decision(look, ESTIMATE)
            place += 1
        self.model.project(tally, memory.model)
        return Decision(leader_within(memory.model.rewards, low, high), EXPLOIT)


def build(instance: Any) -> Greedy:
    return Greedy(instance.model())


GREEDY = Kind(
    name="greedy",
    build=build,
    parameters={},
    needs=(MODEL,),
    reference="folklore",
    fits=projects,
    in_contexts=True,
)
