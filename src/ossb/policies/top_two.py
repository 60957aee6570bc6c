"""Top two: the leader against the rival that is least ruled out.

In every round, with Z_j the likelihood ratio of the leader against rival j and N_j what was
observed of it, the challenger is argmin Z_j + ln N_j (Jourdan, Degenne, Baudry, de Heide and
Kaufmann, 2022).
Of what tells the two apart, arm x carries the share (N_x + 1) d_x / Σ of the evidence, d_x the
divergences from the challenger's alternative: the information-directed choice of You, Qin, Wang and
Yang (2023), here made by tracking: the shares of all rounds are summed, and the arm played that is
most behind its sum.  Nothing is solved.

With ``top=m`` or ``above=level`` a test for the m best arms, or for those above a level, is played
in the same way: the challenger is then the arm, outside the leading set or on either side of the
level, that is least told from it.

With costs κ (Qin and Russo, 2024) the shares are divided by them, so that what is spent on an arm
is in proportion to what it tells: ``cost``, see ``ossb.policies.telling``.

Departures: the papers' arms are independent; ours are any structure's, through its alternatives,
and each counts as played once more, so that arms never played can be chosen.  Of duels the
challenger and the duel are chosen otherwise, see ``ossb.models.rivals.dueling``.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.models.rivals import Contest, Rivals, Showing
from ossb.models.within import first_within
from ossb.policies.base import Kind
from ossb.policies.telling import (
    LEVEL,
    TEST,
    Pricing,
    begin_targets,
    check_test,
    fits,
    least_telling,
    most_behind,
    opponents,
    read_cost,
)
from ossb.records import record
from ossb.structures.base import Instance
from ossb.structures.offers import MODEL
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE, Decision, Tally


class TopTwoMemory(NamedTuple):
    """What the rivals hold, and the shares so far."""

    contest: Contest
    targets: np.ndarray  # float64 (n_arms,): shares summed, those of first plays as they were
    shares: np.ndarray  # float64 (n_arms,): of this round
    prices: np.ndarray  # float64 (n_arms,): what a play costs in this round
    begun: np.ndarray  # int64 (1,)


@record
class TopTwo(NamedTuple):
    """Play what tells the leader from its strongest rival.

    Parameters
    ----------
    model
        The rivals of the structure.
    showing
        What the arms show.
    pricing
        What their plays cost.
    epsilon
        How much worse than the best arm, or than the border of what is asked for, is good enough.
    """

    model: Rivals
    showing: Showing
    pricing: Pricing
    epsilon: float

    def start(self) -> TopTwoMemory:
        n = self.showing.starts.shape[0] - 1
        begun = np.zeros(1, np.int64)
        return TopTwoMemory(self.model.start(), np.zeros(n), np.zeros(n), np.ones(n), begun)

    def select(self, tally: Tally, memory: TopTwoMemory, rng: Generator) -> Decision:
        targets, contest = memory.targets, memory.contest
        first = self.model.unseen(tally)
        if first >= 0:
            targets[first] += 1.0
            return Decision(first, ESTIMATE)
        begin_targets(tally, memory.begun, targets)
        leader = self.model.rank(self.epsilon, tally, contest)
        n_arms = targets.shape[0]
        self.pricing.price_arms(contest.rewards, leader, 0, n_arms, memory.prices)
        rival = self.model.challenge(leader, self.epsilon, memory.prices, tally, contest)
        if rival < 0:  # nothing stands against the leader
            targets[leader] += 1.0
            return Decision(leader, EXPLOIT)
        return self.track_shares(0, n_arms, leader, tally, memory)

    def choose(
        self, low: int, high: int, tally: Tally, memory: TopTwoMemory, rng: Generator
    ) -> Decision:
        """Decide among the rows low, …, high − 1, one of which leads them."""
        targets, contest = memory.targets, memory.contest
        rivals: Any = self.model
        first = first_within(rivals.spanning, low, high, tally)
        if first >= 0:
            targets[first] += 1.0
            return Decision(first, ESTIMATE)
        leader = rivals.rank_within(low, high, self.epsilon, tally, contest)
        self.pricing.price_arms(contest.rewards, leader, low, high, memory.prices)
        rival, least = -1, math.inf
        for j in range(low, high):
            if contest.ratios[j] < math.inf:
                value = contest.ratios[j] + math.log(max(contest.masses[j], 1.0))
                if value < least:
                    rival, least = j, value
        if rival < 0:
            targets[leader] += 1.0
            return Decision(leader, EXPLOIT)
        rivals.oppose(rival, leader, self.epsilon, tally, contest)
        return self.track_shares(low, high, leader, tally, memory)

    def track_shares(
        self, low: int, high: int, leader: int, tally: Tally, memory: TopTwoMemory
    ) -> Decision:
        """The arm most behind its summed shares, those of this round included."""
        targets, shares = memory.targets, memory.shares
        self.share_rounds(low, high, tally, memory)
        best = most_behind(targets, shares, low, high, tally)
        if best < 0:  # nothing tells them apart, as before anything is told
            best = least_telling(self.showing.starts, low, high, leader, tally)
            targets[best] += 1.0
        return Decision(best, EXPLOIT if best == leader else EXPLORE)

    def share_rounds(self, low: int, high: int, tally: Tally, memory: TopTwoMemory) -> None:
        """The share of the round that is due to each arm; all 0 where nothing tells them apart."""
        shares, total = memory.shares, 0.0
        self.showing.tell_arms(memory.contest.news, low, high, shares)
        for x in range(low, high):
            shares[x] = (tally.plays[x] + 1.0) * shares[x] / memory.prices[x]
            total += shares[x]
        for x in range(low, high):
            share = shares[x] / total if 0.0 < total < math.inf else 0.0
            shares[x] = share if share > LEVEL else 0.0  # or rounding alone makes it


def build(instance: Any, cost: Any, epsilon: float, top: Any, above: Any, delta: float) -> TopTwo:
    check_test(epsilon, delta)
    rivals, showing = opponents(instance, top, above)
    return TopTwo(rivals, showing, read_cost(cost), epsilon)


def plays(instance: Instance) -> str | None:
    """Where there are contexts, arms have to be linear."""
    if instance.has_contexts and getattr(instance, "observes", "index") != "index":
        return "is for linear arms where there are contexts"
    return fits(instance)


TOP_TWO = Kind(
    name="top-two",
    build=build,
    parameters=TEST,
    needs=(MODEL,),
    reference="Jourdan et al. (2022); You et al. (2023); Qin and Russo (2024)",
    fits=plays,
    remembers=True,
    mixed=("cost",),
    in_contexts=True,
)
