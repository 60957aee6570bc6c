"""Duels with a Condorcet winner, as policies see them.

The maximum-likelihood way to make item i the winner raises every m_ik < ½ to ½, at the cost
I_i = Σ over k with m_ik < ½ of N_ik kl(m_ik, ½): the leader is argmin I, and the likelihood
ratio against item j is I_j − I_leader (Komiyama, Honda, Kashima and Nakagawa, 2015).
"""

import math
from typing import NamedTuple

import numpy as np

from ossb.families.bernoulli import bernoulli_kl
from ossb.graves_lai.duels import dueling_rates, pair_position
from ossb.kernels import kernel
from ossb.models.base import SETTLED, WEAKEST
from ossb.models.improvement import DECIDED, conclude
from ossb.models.normal import density, tail
from ossb.records import Ints, record
from ossb.tally import Tally

PRIOR = 0.5  # a win each way, in weigh
LEVEL = 1e-9  # evidence that differs by less is level
FLOOR = 0.25  # of a standard deviation: the least an item is taken to lose to the leader by
TO_THE_LEADER, FROM_THE_LEADER = 0, 1  # rows of news


class DuelingMemory(NamedTuple):
    """The common look, and the duels behind it, as matrices."""

    estimate: np.ndarray
    rewards: np.ndarray
    gain: np.ndarray
    numbers: np.ndarray
    preferences: np.ndarray  # float64 (n, n)
    weights: np.ndarray  # float64 (n, n): observations, prior and pending included
    evidence: np.ndarray  # float64 (n,): I
    shortfall: np.ndarray  # float64 (n,): how much each item is short of the leader
    news: np.ndarray  # float64 (2, n): information of one duel against j, by opponent
    losses: np.ndarray  # float64 (n,): I of what was told, no prior
    told: np.ndarray  # int64 (n_components,): the counts that ``losses`` is about
    shown: np.ndarray  # float64 (n_components,): and the means


@kernel
def smoothed_information(mean: float, count: float) -> float:
    """The mean of kl(·, ½) on losses under the sampling variance; kl itself far below ½.

    kl(m, ½) vanishes where m ≥ ½, and a duel would seem to teach nothing just where it is open.
    """
    short, variance = 0.5 - mean, 0.25 / count
    deviation = math.sqrt(variance)
    ratio = short / deviation
    if ratio > 3.0:
        return bernoulli_kl(mean, 0.5)
    if ratio < -5.0:
        return 0.0
    spread = (short * short + variance) * tail(-ratio) + short * deviation * density(ratio)
    return 2.0 * max(spread, 0.0)


@kernel
def weigh_losses(preferences: np.ndarray, weights: np.ndarray, evidence: np.ndarray) -> None:
    """I_i of every item."""
    n_items = preferences.shape[0]
    for i in range(n_items):
        evidence[i] = 0.0
    for i in range(n_items):
        for k in range(i + 1, n_items):
            if preferences[i, k] != 0.5 and weights[i, k] > 0.0:
                loser = i if preferences[i, k] < 0.5 else k
                evidence[loser] += weights[i, k] * bernoulli_kl(preferences[i, k], 0.5)


@kernel
def is_same(tally: Tally, memory: DuelingMemory) -> bool:
    """Whether nothing was told since the last look; if it was, remember what."""
    same = True
    for c in range(tally.counts.shape[0]):
        if memory.told[c] != tally.counts[c] or memory.shown[c] != tally.means[c]:
            memory.told[c] = tally.counts[c]
            memory.shown[c] = tally.means[c]
            same = False
    return same


@record
class DuelingModel(NamedTuple):
    """Pairs i ≤ j of items; a pair shows whether its first item won.

    Parameters
    ----------
    offset
        What turns a component's mean into the chance that its first item wins: 0, or 1 where
        the goal is to minimise and means carry the sign −1.
    n_items, n_arms, n_components
        Items, pairs i ≤ j and pairs i < j.
    first, second
        The items of each arm.
    component
        The component of each arm, −1 for an item with itself.
    informative_arms
        The arms that show something.
    """

    offset: float
    n_items: int
    n_arms: int
    n_components: int
    first: Ints
    second: Ints
    component: Ints
    informative_arms: Ints

    def start(self) -> DuelingMemory:
        n = self.n_items
        return DuelingMemory(
            np.zeros(self.n_components),
            np.zeros(self.n_arms),
            np.zeros(self.n_arms),
            np.zeros(4),
            np.full((n, n), 0.5),
            np.zeros((n, n)),
            np.zeros(n),
            np.zeros(n),
            np.zeros((2, n)),
            np.zeros(n),
            np.full(self.n_components, -1),
            np.zeros(self.n_components),
        )

    def unseen(self, tally: Tally) -> int:
        """A duel for every item first: before any is told, the leader is nobody's choice.

        Of items that had none, the first two; until something is told, neighbours in turns.
        """
        lonely = -1
        for i in range(self.n_items):
            if not self.has_met(i, tally):
                if lonely >= 0:
                    return pair_position(lonely, i, self.n_items)
                lonely = i
        if lonely >= 0 and self.n_items > 1:
            return pair_position(lonely, lonely - 1 if lonely > 0 else 1, self.n_items)
        least = -1
        if tally.clock[0] == 0:
            for i in range(0, self.n_items, 2):
                j = i + 1 if i + 1 < self.n_items else i - 1
                if j >= 0:
                    arm = pair_position(i, j, self.n_items)
                    if least < 0 or tally.plays[arm] < tally.plays[least]:
                        least = arm
        return least

    def has_met(self, i: int, tally: Tally) -> bool:
        """Whether an item was in a duel with another."""
        for k in range(self.n_items):
            if k != i and tally.plays[pair_position(i, k, self.n_items)] > 0:
                return True
        return False

    def informative(self, place: int) -> int:
        return self.informative_arms[place] if place < self.informative_arms.shape[0] else -1

    def is_informative(self, arm: int) -> bool:
        return bool(self.component[arm] >= 0)

    def plug_in(self, tally: Tally, memory: DuelingMemory) -> int:
        self.read_duels(tally, 0.0, False, memory)
        self.recall(tally, memory)
        leader = self.least_beaten(memory)
        self.value_pairs(leader, memory)
        return self.diagonal(leader)

    def project(self, tally: Tally, memory: DuelingMemory) -> int:
        self.read_duels(tally, 0.0, False, memory)
        self.recall(tally, memory)
        leader = self.least_beaten(memory)
        for k in range(self.n_items):
            if memory.preferences[leader, k] < 0.5:
                memory.preferences[leader, k] = 0.5
                memory.preferences[k, leader] = 0.5
                memory.estimate[self.component[self.arm_of(leader, k)]] = 0.5 - self.offset
        self.value_pairs(leader, memory)
        return self.diagonal(leader)

    def rates(self, leader: int, kappa: float, memory: DuelingMemory, out: np.ndarray) -> float:
        dueling_rates(memory.preferences, self.first[leader], out)
        return 0.0

    def test(self, leader: int, level: float, tally: Tally, memory: DuelingMemory) -> None:
        self.recall(tally, memory)
        weakest = math.inf
        for i in range(self.n_items):
            if i != self.first[leader]:
                weakest = min(weakest, memory.losses[i] - memory.losses[self.first[leader]])
        # the leader's duel with itself shows nothing: there is nothing of it to take as known
        memory.numbers[WEAKEST] = weakest
        memory.numbers[SETTLED] = weakest

    def weigh(self, tally: Tally, memory: DuelingMemory) -> int:
        self.read_duels(tally, PRIOR, True, memory)
        preferences, weights = memory.preferences, memory.weights
        weigh_losses(preferences, weights, memory.evidence)
        leader = self.favourite(memory)
        for i in range(self.n_items):
            memory.shortfall[i] = 0.0
            if i != leader:
                # a duel (i, k) does not measure p_bi: without a floor an unmeasured item is free
                deviation = 0.5 / math.sqrt(weights[leader, i])
                memory.shortfall[i] = max(preferences[leader, i] - 0.5, FLOOR * deviation)
        for x in range(self.n_arms):
            i, k = self.first[x], self.second[x]
            memory.rewards[x] = -0.5 * (memory.shortfall[i] + memory.shortfall[k])
            memory.gain[x] = 0.0
        chances, improvements, largest = 0.0, 0.0, 0.0
        for j in range(self.n_items):
            glr = max(memory.evidence[j] - memory.evidence[leader], 0.0)
            if j == leader or glr > DECIDED:
                continue
            z = math.sqrt(2.0 * glr)
            deviation = 0.5 / math.sqrt(weights[leader, j])
            gap = max(preferences[leader, j] - 0.5, 0.0)
            scale = max(gap / z, deviation) if z > 1e-6 else deviation
            chance, height = tail(z), density(z)
            expected = scale * max(height - z * chance, 0.0)
            chances += chance
            improvements += expected
            largest = max(largest, expected)
            self.share_out(leader, j, 0.5 * height * scale, memory)
        for x in range(self.n_arms):
            count = weights[self.first[x], self.second[x]]
            memory.gain[x] *= count / (1.0 + count)
        conclude(memory.numbers, chances, improvements, largest)
        return self.diagonal(leader)

    def share_out(self, leader: int, j: int, factor: float, memory: DuelingMemory) -> None:
        """Give each duel its share in the evidence against item j."""
        preferences, weights, news = memory.preferences, memory.weights, memory.news
        total = 0.0
        for k in range(self.n_items):
            news[TO_THE_LEADER, k] = 0.0
            news[FROM_THE_LEADER, k] = 0.0
            if k != j:
                news[TO_THE_LEADER, k] = smoothed_information(preferences[j, k], weights[j, k])
                total += weights[j, k] * news[TO_THE_LEADER, k]
                if k != leader and preferences[leader, k] < 0.5:
                    news[FROM_THE_LEADER, k] = bernoulli_kl(0.5, preferences[leader, k])
                    total += weights[leader, k] * news[FROM_THE_LEADER, k]
        if total <= LEVEL:
            memory.gain[self.arm_of(leader, j)] += factor / weights[leader, j]
            return
        for k in range(self.n_items):
            if news[TO_THE_LEADER, k] > 0.0:
                memory.gain[self.arm_of(j, k)] += factor * news[TO_THE_LEADER, k] / total
            if news[FROM_THE_LEADER, k] > 0.0:
                memory.gain[self.arm_of(leader, k)] += factor * news[FROM_THE_LEADER, k] / total

    def read_duels(self, tally: Tally, prior: float, expected: bool, memory: DuelingMemory) -> None:
        """The tally as matrices, with ``prior`` wins each way and, if so wished, those pending."""
        for x in range(self.n_arms):
            c = self.component[x]
            if c < 0:
                continue
            i, k = self.first[x], self.second[x]
            told = tally.counts[c] + 2.0 * prior
            mean = tally.means[c] + self.offset
            if prior > 0.0:
                mean = (tally.counts[c] * mean + prior) / told
            memory.estimate[c] = mean - self.offset
            memory.preferences[i, k] = mean
            memory.preferences[k, i] = 1.0 - mean
            weight = told + tally.pending[c] if expected else told
            memory.weights[i, k] = weight
            memory.weights[k, i] = weight

    def recall(self, tally: Tally, memory: DuelingMemory) -> None:
        """I of every item from what was told; as it was where nothing was told since."""
        if is_same(tally, memory):
            return
        for i in range(self.n_items):
            memory.losses[i] = 0.0
        for x in range(self.n_arms):
            c = self.component[x]
            if c < 0 or tally.counts[c] == 0:
                continue
            mean = tally.means[c] + self.offset
            if mean != 0.5:
                loser = self.first[x] if mean < 0.5 else self.second[x]
                memory.losses[loser] += tally.counts[c] * bernoulli_kl(mean, 0.5)

    def least_beaten(self, memory: DuelingMemory) -> int:
        """The empirical Condorcet winner, or argmin I, lowest on ties."""
        least = 0
        for i in range(self.n_items):
            wins = True
            for k in range(self.n_items):
                if k != i and memory.preferences[i, k] <= 0.5:
                    wins = False
                    break
            if wins:
                return i
            if memory.losses[i] < memory.losses[least]:
                least = i
        return least

    def favourite(self, memory: DuelingMemory) -> int:
        """argmin I; on ties the item that wins most."""
        smallest = math.inf
        for i in range(self.n_items):
            smallest = min(smallest, memory.evidence[i])
        leader, most = 0, -1.0
        for i in range(self.n_items):
            if memory.evidence[i] <= smallest + LEVEL:
                wins = 0.0
                for k in range(self.n_items):
                    wins += memory.preferences[i, k]
                if wins > most:
                    leader, most = i, wins
        return leader

    def value_pairs(self, leader: int, memory: DuelingMemory) -> None:
        """Minus the regret of every pair at the estimate."""
        for x in range(self.n_arms):
            i, k = self.first[x], self.second[x]
            short = memory.preferences[leader, i] + memory.preferences[leader, k] - 1.0
            memory.rewards[x] = -0.5 * short

    def arm_of(self, i: int, k: int) -> int:
        """The arm of a pair of items."""
        return pair_position(i, k, self.n_items)

    def diagonal(self, item: int) -> int:
        """The arm of an item with itself."""
        return self.arm_of(item, item)
