"""Top two: the leader against the rival that is least ruled out.

In every round, with Z_j the likelihood ratio of the leader against rival j and N_j what was
observed of it, the challenger is argmin Z_j + ln N_j (Jourdan, Degenne, Baudry, de Heide and
Kaufmann, 2022).
Of what tells the two apart, arm x carries the share (N_x + 1) d_x / Σ of the evidence, d_x the
divergences from the challenger's alternative: the information-directed choice of You, Qin, Wang and
Yang (2023), here made by tracking: the shares of all rounds are summed, and the arm played that is
most behind its sum.  Nothing is solved.

With costs κ (Qin and Russo, 2024) the shares are divided by them, so that what is spent on an arm
is in proportion to what it tells: ``cost`` is ``samples`` (κ = 1, the fastest test), a number c (κ
= gap + c) or ``regret``, which is c = a hundredth of the largest gap; with c = 0 the leader would
be played for ever.

Departures: the papers' arms are independent; ours are any structure's, through its alternatives,
and each counts as played once more, so that arms never played can be chosen.  Of duels the
challenger and the duel are chosen otherwise, see ``ossb.models.rivals.dueling``.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.errors import InputError
from ossb.fields import is_whole
from ossb.models.rivals import Contest, Rivals, rivals_of
from ossb.models.within import first_within
from ossb.policies.arms import lists_arms
from ossb.policies.base import Kind
from ossb.records import Ints, record
from ossb.structures.base import Instance
from ossb.structures.offers import MODEL
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE, Decision, Tally

SAMPLES, REGRET, MIXED = 0, 1, 2
LEAST_SHARE = 0.01  # of the largest gap, that a play costs beside its regret


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
    starts, shown
        Arm x shows the components ``shown[starts[x]:starts[x + 1]]``.
    cost, extra
        Which cost, and c.
    epsilon
        How much worse than the best arm is good enough.
    """

    model: Rivals
    starts: Ints
    shown: Ints
    cost: int
    extra: float
    epsilon: float

    def start(self) -> TopTwoMemory:
        n = self.starts.shape[0] - 1
        begun = np.zeros(1, np.int64)
        return TopTwoMemory(self.model.start(), np.zeros(n), np.zeros(n), np.ones(n), begun)

    def select(self, tally: Tally, memory: TopTwoMemory, rng: Generator) -> Decision:
        targets, contest = memory.targets, memory.contest
        first = self.model.unseen(tally)
        if first >= 0:
            targets[first] += 1.0
            return Decision(first, ESTIMATE)
        if memory.begun[0] == 0:
            memory.begun[0] = 1
            for x in range(targets.shape[0]):
                targets[x] = float(tally.plays[x])
        leader = self.model.rank(self.epsilon, tally, contest)
        n_arms = targets.shape[0]
        self.price_rounds(0, n_arms, leader, memory)
        rival = self.model.challenge(leader, self.epsilon, memory.prices, tally, contest)
        if rival < 0:  # nothing stands against the leader
            targets[leader] += 1.0
            return Decision(leader, EXPLOIT)
        return self.track_shares(0, n_arms, leader, tally, memory)

    def choose(
        self, low: int, high: int, tally: Tally, memory: TopTwoMemory, rng: Generator
    ) -> Decision:
        """The same among the rows low, …, high − 1, one of which leads them."""
        targets, contest = memory.targets, memory.contest
        rivals: Any = self.model
        first = first_within(rivals.spanning, low, high, tally)
        if first >= 0:
            targets[first] += 1.0
            return Decision(first, ESTIMATE)
        leader = rivals.rank_within(low, high, self.epsilon, tally, contest)
        self.price_rounds(low, high, leader, memory)
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
        best, behind = leader, -math.inf
        for x in range(low, high):
            if shares[x] > 0.0:
                targets[x] += shares[x]
                if targets[x] - tally.plays[x] > behind:
                    best, behind = x, targets[x] - tally.plays[x]
        if behind == -math.inf:  # nothing tells them apart, as before anything is told
            best = self.least_within(low, high, leader, tally)
            targets[best] += 1.0
        return Decision(best, EXPLOIT if best == leader else EXPLORE)

    def least_within(self, low: int, high: int, leader: int, tally: Tally) -> int:
        """The arm played least of those that show something; the leader where none does."""
        least = leader
        for x in range(low, high):
            if self.starts[x] == self.starts[x + 1]:
                continue
            silent = self.starts[least] == self.starts[least + 1]
            if silent or tally.plays[x] < tally.plays[least]:
                least = x
        return least

    def price_rounds(self, low: int, high: int, leader: int, memory: TopTwoMemory) -> None:
        """What a play of each arm costs, by the estimate."""
        prices, rewards, largest = memory.prices, memory.contest.rewards, 0.0
        if self.cost == SAMPLES:
            return
        for x in range(low, high):
            largest = max(largest, rewards[leader] - rewards[x])
        extra = self.extra if self.cost == MIXED else LEAST_SHARE * largest
        for x in range(low, high):
            prices[x] = 1.0
            if largest > 0.0:
                prices[x] = (max(rewards[leader] - rewards[x], 0.0) + extra) / largest

    def share_rounds(self, low: int, high: int, tally: Tally, memory: TopTwoMemory) -> None:
        """The share of the round that is due to each arm; all 0 where nothing tells them apart."""
        shares, total = memory.shares, 0.0
        for x in range(low, high):
            told = 0.0
            for place in range(self.starts[x], self.starts[x + 1]):
                told += memory.contest.news[self.shown[place]]
            shares[x] = (tally.plays[x] + 1.0) * told / memory.prices[x]
            total += shares[x]
        for x in range(low, high):
            shares[x] = shares[x] / total if 0.0 < total < math.inf else 0.0


def build(instance: Any, cost: Any, epsilon: float, delta: float) -> TopTwo:
    reveals = instance.showing()
    starts = np.cumsum([0, *(len(components) for components in reveals)])
    shown = np.array([c for components in reveals for c in components], dtype=np.int64)
    kind, extra = read_cost(cost)
    if not 0 <= epsilon < math.inf:
        raise InputError("epsilon", "be non-negative", epsilon)
    if not 0 < delta < 1:  # for those who ask when to stop; decisions do not depend on it
        raise InputError("delta", "lie in (0, 1)", delta)
    rivals = rivals_of(instance.model(), instance.observed_family)
    if rivals is None:
        raise InputError("policy", f"fit the instance: the rivals of {instance.kind} are not known")
    return TopTwo(rivals, starts, shown, kind, extra, epsilon)


def read_cost(cost: Any) -> tuple[int, float]:
    """Which cost, and its c."""
    if cost == "samples":
        return SAMPLES, 0.0
    if cost == "regret":
        return REGRET, 0.0
    if not (is_whole(cost) or isinstance(cost, float)) or not 0 < cost < math.inf:
        raise InputError("cost", 'be "samples", "regret" or a positive number', cost)
    return MIXED, float(cost)


def fits(instance: Instance) -> str | None:
    """Arms have to be listed, and alternatives to be at hand."""
    if instance.has_contexts and getattr(instance, "observes", "index") != "index":
        return "is for linear arms where there are contexts"
    listed = lists_arms(instance)
    if (
        listed is not None or instance.kind == "unimodal"
    ):  # whose rivals are neighbours, on any graph
        return listed
    return instance.unprojected()


TOP_TWO = Kind(
    name="top-two",
    build=build,
    parameters={"cost": "samples", "epsilon": 0.0, "delta": 0.05},
    needs=(MODEL,),
    reference="Jourdan et al. (2022); You et al. (2023); Qin and Russo (2024)",
    fits=fits,
    remembers=True,
    mixed=("cost",),
    in_contexts=True,
)
