"""OSSB where there are contexts: the rates of all of them at once.

As ``ossb.py``, with these differences.  The likelihood test is that of every arm against the leader
of its own context.  Of the arms of the present context, the one of least N/c is explored where that
is below (1 + γ) ln t, or the least of all contexts; others wait for what is behind in theirs.  All
best arms are free, and known where the test says that only their own plays are missing.  Hao,
Lattimore and Szepesvári (2020) track rates in contexts by the same rule, with counts for the test.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.kernels import kernel
from ossb.models.base import SETTLED, WEAKEST
from ossb.models.leaders import LeadersLook, LeadersModel
from ossb.records import record
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE, Decision, Tally


class OssbContextsMemory(NamedTuple):
    """What the model holds, and the rates."""

    model: LeadersLook
    targets: np.ndarray  # float64 (n_rows,): the rates c(x)


@record
class OssbInContexts(NamedTuple):
    """Track the rates of the estimated parameter over all contexts.

    Parameters
    ----------
    model
        The arms of all contexts.
    epsilon, gamma, kappa, leader_first, vanishing, capped
        As ``Ossb`` has them.
    """

    model: LeadersModel
    epsilon: float
    gamma: float
    kappa: float
    leader_first: bool
    vanishing: bool
    capped: bool

    def start(self) -> OssbContextsMemory:
        return OssbContextsMemory(self.model.start(), np.zeros(self.model.features.shape[1]))

    def select(self, tally: Tally, memory: OssbContextsMemory, rng: Generator) -> Decision:
        """Where all rows are there at once."""
        return self.choose(0, self.model.features.shape[1], tally, memory, rng)

    def choose(
        self, low: int, high: int, tally: Tally, memory: OssbContextsMemory, rng: Generator
    ) -> Decision:
        look, targets = memory.model, memory.targets
        first = self.model.first(low, high, tally)
        if first >= 0:
            return Decision(first, ESTIMATE)
        self.model.lead_each(tally, look)
        leader = look.leaders[low]
        t = tally.clock[0] + 1.0
        level = (1.0 + self.gamma) * math.log(t)
        self.model.test_all(level, tally, look)
        if look.numbers[WEAKEST] >= level:
            return Decision(leader, EXPLOIT)
        forced = self.forced_of(low, high, tally)
        if look.numbers[SETTLED] >= level and forced < 0:
            return Decision(leader, EXPLOIT)  # only plays of best arms are missing
        self.model.rates_of_all(self.kappa, look, targets)
        most = t / max(math.log(t), 1.0) if self.capped else math.inf
        neediest = neediest_of(0, targets.shape[0], targets, most, tally)
        if neediest < 0:
            return Decision(leader, EXPLOIT)
        if forced >= 0:
            return Decision(forced, ESTIMATE)
        here = neediest_of(low, high, targets, most, tally)
        if here < 0:
            return Decision(leader, EXPLOIT)
        done = tally.plays[here] / min(targets[here], most)
        if done >= level and done > tally.plays[neediest] / min(targets[neediest], most):
            return Decision(leader, EXPLOIT)
        if self.leader_first and tally.plays[leader] < tally.plays[here]:
            return Decision(leader, EXPLOIT)
        return Decision(here, EXPLORE)

    def forced_of(self, low: int, high: int, tally: Tally) -> int:
        """The row of the present context whose forced play is due, or −1."""
        wasted = tally.phases[ESTIMATE] + tally.phases[EXPLORE] + 1.0
        forced = self.model.least_forced(low, high, tally)
        allowed = self.epsilon * wasted
        if self.vanishing:
            slow = math.log(1.0 + wasted)
            allowed = max(allowed / (1.0 + slow), slow) if self.epsilon > 0.0 else 0.0
        return forced if forced >= 0 and tally.plays[forced] <= allowed else -1


@kernel
def neediest_of(low: int, high: int, targets: np.ndarray, most: float, tally: Tally) -> int:
    """argmin N(x) / min(c(x), most) over some rows with a rate, or −1."""
    row, least = -1, math.inf
    for x in range(low, high):
        if targets[x] > 0.0 and tally.plays[x] / min(targets[x], most) < least:
            row, least = x, tally.plays[x] / min(targets[x], most)
    return row


def ossb_in_contexts(
    instance: Any,
    epsilon: float,
    gamma: float,
    kappa: float,
    leader_first: bool,
    vanishing: bool,
    capped: bool,
) -> OssbInContexts:
    model = instance.model_of_leaders()
    return OssbInContexts(model, epsilon, gamma, kappa, leader_first, vanishing, capped)
