"""Independent arms, as policies see them."""

import math
from typing import NamedTuple

import numpy as np

from ossb.families import Family
from ossb.graves_lai.independent import independent_rate
from ossb.kernels import kernel
from ossb.models.base import SETTLED, WEAKEST, take_means
from ossb.models.improvement import DECIDED, conclude, improvement
from ossb.models.level import level_for, pool_arms
from ossb.records import record
from ossb.tally import Tally, fill_untold

ROUNDING = 1.0 - 1e-9
MEAN, BEFORE, APART = 0, 1, 2  # rows of ClassicalMemory.anchors


class ClassicalMemory(NamedTuple):
    """The common look, and the weights behind it."""

    estimate: np.ndarray
    rewards: np.ndarray
    gain: np.ndarray
    numbers: np.ndarray
    weights: np.ndarray  # float64 (n_arms,): observations of each arm, prior and pending included
    anchors: np.ndarray  # float64 (3, n_arms): p, q and kl(p, q) of an arm's last exact ratio


@kernel
def pooled_ratio(family: Family, p: float, n: float, q: float, m: float) -> float:
    """The likelihood ratio against equal means of two arms seen n and m times."""
    if n <= 0.0 or m <= 0.0:
        return 0.0
    pooled = (n * p + m * q) / (n + m)
    return n * family.kl(p, pooled) + m * family.kl(q, pooled)


@kernel
def pooled_at_least(
    family: Family, p: float, n: float, q: float, m: float, before: float, apart: float
) -> float:
    """No more than ``pooled_ratio`` for p < q, from ``apart`` = kl(p, before), without logarithms.

    With r the pooled mean the ratio is n kl(p, q) − (n + m) kl(r, q).  The slope of kl(p, ·) is
    (u − p)/variance(u), and the least variance between two means is that of one of them.
    """
    if n <= 0.0 or m <= 0.0 or before < p:
        return 0.0
    variance = family.variance(q)
    if q < before:
        variance = min(variance, family.variance(before))
    shift = n * (q - p) / (n + m)
    least = min(variance, family.variance(q - shift))
    if not least > 0.0:
        return 0.0
    return n * (apart - (before - p) * max(before - q, 0.0) / variance) - (
        0.5 * (n + m) * shift * shift / least
    )


@kernel
def sort_by_mean(means: np.ndarray, order: np.ndarray) -> None:
    """Sort arms by falling mean, from the order they were in: in most rounds nearly right."""
    for place in range(1, order.shape[0]):
        arm, hole = order[place], place
        while hole > 0 and means[order[hole - 1]] < means[arm]:
            order[hole] = order[hole - 1]
            hole -= 1
        order[hole] = arm


@kernel
def pooled_with_higher(family: Family, arm: int, tally: Tally, order: np.ndarray) -> float:
    """min Σ N d(mean, λ) over means λ with their largest at an arm; ``order`` is by falling mean.

    All arms pooled have the same λ, their common mean, and no arm left out is above it.
    """
    if tally.counts[arm] == 0:
        return 0.0
    mass = float(tally.counts[arm])
    total = mass * tally.means[arm]
    pooled = 0
    for place in range(order.shape[0]):
        x = order[place]
        if x != arm and tally.counts[x] > 0:
            if tally.means[x] <= total / mass:
                break
            mass += tally.counts[x]
            total += tally.counts[x] * tally.means[x]
        pooled = place + 1
    level = total / mass
    deviance = tally.counts[arm] * family.kl(tally.means[arm], level)
    for place in range(pooled):
        x = order[place]
        if x != arm and tally.counts[x] > 0:
            deviance += tally.counts[x] * family.kl(tally.means[x], level)
    return deviance


@record
class ClassicalModel(NamedTuple):
    """Arms that tell nothing of one another.

    Parameters
    ----------
    family
        The observations.
    n_arms, n_components
        Number of arms, each its own component.
    prior, prior_mean
        Pseudo-observations in ``weigh``: 2 for Bernoulli, 0 for families without a natural number;
        their mean is at most ``prior_mean``, and less where other arms showed less (``level.py``).
    """

    family: Family
    n_arms: int
    n_components: int
    prior: float
    prior_mean: float

    def start(self) -> ClassicalMemory:
        n = self.n_arms
        return ClassicalMemory(
            np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(4), np.zeros(n), np.zeros((3, n))
        )

    def unseen(self, tally: Tally) -> int:
        for x in range(self.n_arms):
            if tally.plays[x] == 0:
                return x
        return -1

    def informative(self, place: int) -> int:
        return place if place < self.n_arms else -1

    def is_informative(self, arm: int) -> bool:
        return True

    def plug_in(self, tally: Tally, memory: ClassicalMemory) -> int:
        return take_means(tally, memory.estimate, memory.rewards)

    def project(self, tally: Tally, memory: ClassicalMemory) -> int:
        return self.plug_in(tally, memory)

    def rates(self, leader: int, kappa: float, memory: ClassicalMemory, out: np.ndarray) -> float:
        for x in range(self.n_arms):
            out[x] = independent_rate(self.family, memory.estimate[x], memory.estimate[leader])
        out[leader] = 0.0
        return 0.0

    def test(self, leader: int, level: float, tally: Tally, memory: ClassicalMemory) -> None:
        weakest, settled = math.inf, math.inf
        top, known = tally.means[leader], float(tally.counts[leader])
        for x in range(self.n_arms):
            if x != leader:
                weakest = min(weakest, self.ratio_against(x, top, known, level, tally, memory))
        memory.numbers[WEAKEST] = weakest
        if weakest >= level:
            return
        if top < self.family.highest():
            for x in range(self.n_arms):
                if x != leader:
                    told = tally.counts[x]  # an arm of which nothing was told has no mean
                    apart = self.family.kl(tally.means[x], top) if told > 0 else 0.0
                    settled = min(settled, told * apart)
        memory.numbers[SETTLED] = settled

    def ratio_against(
        self,
        arm: int,
        top: float,
        known: float,
        level: float,
        tally: Tally,
        memory: ClassicalMemory,
    ) -> float:
        """The likelihood ratio of the leader against an arm, or a number from ``level`` to it."""
        mean, count, anchors = tally.means[arm], float(tally.counts[arm]), memory.anchors
        if anchors[MEAN, arm] == mean:
            before, apart = anchors[BEFORE, arm], anchors[APART, arm]
            least = pooled_at_least(self.family, mean, count, top, known, before, apart)
            if ROUNDING * least >= level:
                return least
        anchors[MEAN, arm], anchors[BEFORE, arm] = mean, top
        anchors[APART, arm] = self.family.kl(mean, top)
        return pooled_ratio(self.family, mean, count, top, known)

    def doubt(
        self, tally: Tally, memory: ClassicalMemory, order: np.ndarray, out: np.ndarray
    ) -> None:
        """To be the best, an arm is pooled with those above it, highest first."""
        sort_by_mean(tally.means, order)
        for x in range(self.n_arms):
            out[x] = pooled_with_higher(self.family, x, tally, order)

    def weigh(self, tally: Tally, memory: ClassicalMemory) -> int:
        leader = 0
        pool = pool_arms(tally, self.prior, self.prior_mean)
        for x in range(self.n_arms):
            count = tally.counts[x] + self.prior
            level = level_for(x, tally, pool, self.prior_mean)
            total = tally.counts[x] * tally.means[x] + self.prior * level
            memory.weights[x] = max(count + tally.pending[x], 1.0)
            memory.estimate[x] = total / max(count, 1.0)
        if self.prior <= 0.0:
            fill_untold(tally.counts, memory.estimate)
        for x in range(self.n_arms):
            memory.rewards[x] = memory.estimate[x]
            memory.gain[x] = 0.0
            if memory.estimate[x] > memory.estimate[leader]:
                leader = x
        chances, improvements, largest = 0.0, 0.0, 0.0
        top, known = memory.estimate[leader], memory.weights[leader]
        for x in range(self.n_arms):
            if x == leader:
                continue
            mean, count = memory.estimate[x], memory.weights[x]
            pooled = (count * mean + known * top) / (count + known)
            own, others = self.family.kl(mean, pooled), self.family.kl(top, pooled)
            glr = count * own + known * others
            if glr > DECIDED:
                continue
            variance = self.family.positive_variance(pooled)
            spacing = 1.0 / count + 1.0 / known
            discount = 1.0 if self.prior > 0.0 else 1.0 / (1.0 + spacing)
            part = improvement(glr, top - mean, math.sqrt(variance * spacing), discount)
            chances += part.chance
            improvements += part.expected
            largest = max(largest, part.expected)
            if part.tie:
                memory.gain[x] += part.factor / (count * count * spacing)
                memory.gain[leader] += part.factor / (known * known * spacing)
            else:
                memory.gain[x] += part.factor * own / glr
                memory.gain[leader] += part.factor * others / glr
            memory.gain[x] += part.widening * variance / (count * count)
            memory.gain[leader] += part.widening * variance / (known * known)
        for x in range(self.n_arms):
            memory.gain[x] *= memory.weights[x] / (1.0 + memory.weights[x])
        conclude(memory.numbers, chances, improvements, largest)
        return leader
