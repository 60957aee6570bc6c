"""Lipschitz means: the leader against one arm, alone or with all others.

For arm j to be at least v, every arm z has to be within ℓ(j, z) of v, and the leader below v − ε.
What that costs, with all other bounds left out, is

    h(v) = w_b d(m_b, clip(m_b, v − ℓ(j, b), v − ε)) + Σ_z w_z d(m_z, clip(m_z, v − ℓ(j, z), v +
    ℓ(j, z))),

convex in v, and no more than the likelihood asks for under any means of Θ with λ_j = v.  The
verdict is the better of two, each with δ/2: all arms together, and the pair of leader and rival
with its share δ/2(K − 1).  Of waiting times, whose divergence is not convex, the pair alone.
"""

import math
from typing import NamedTuple

import numpy as np

from ossb.kernels import kernel
from ossb.models.base import Model
from ossb.models.rivals.base import (
    CHARGE,
    NUMBERS,
    RUNNER_UP,
    STATISTIC,
    Contest,
    enter_means,
    least_played,
    least_ruled_out,
)
from ossb.models.rivals.mixture import EXPONENTIAL, Mixture
from ossb.models.rivals.pairs import evidence_of_pair, oppose_pair, price_of, ratio_of_pair
from ossb.records import Floats, record
from ossb.tally import Tally

STEPS = 40
CLOSE = 1e-10


class LineSpace(NamedTuple):
    """What is known of each arm, and what it weighs."""

    prices: np.ndarray  # float64 (3, n_arms)
    weights: np.ndarray  # float64 (n_arms,)
    levels: np.ndarray  # float64 (n_arms,): the v of each rival
    suspect: np.ndarray  # int64 (1,)


@kernel
def clipped(mean: float, low: float, high: float) -> float:
    return min(max(mean, low), high)


@record
class LipschitzRivals(NamedTuple):
    """Means that differ by at most their distance."""

    model: Model
    mixture: Mixture
    distances: Floats

    def start(self) -> Contest:
        n = self.distances.shape[0]
        space = LineSpace(np.full((3, n), -1.0), np.zeros(n), np.zeros(n), np.zeros(1, np.int64))
        return Contest(np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(NUMBERS), space)

    def unseen(self, tally: Tally) -> int:
        return least_played(tally)

    def target(self, z: int, j: int, leader: int, v: float, epsilon: float, mean: float) -> float:
        """The mean that arm z is moved to where arm j is raised to v."""
        reach = self.distances[j, z]
        if z == leader:
            return clipped(mean, v - reach, v - epsilon)
        return clipped(mean, v - reach, v + reach)

    def cost_at(
        self, j: int, leader: int, v: float, epsilon: float, tally: Tally, memory: Contest
    ) -> float:
        """h(v)."""
        total = 0.0
        for z in range(self.distances.shape[0]):
            weight = memory.space.weights[z]
            if weight > 0.0:
                mean = tally.means[z]
                moved = self.target(z, j, leader, v, epsilon, mean)
                if moved != mean:
                    total += weight * self.mixture.family.kl(mean, moved)
        return total

    def pull_at(
        self, j: int, leader: int, v: float, epsilon: float, tally: Tally, memory: Contest
    ) -> float:
        """h′(v)."""
        total = 0.0
        for z in range(self.distances.shape[0]):
            weight = memory.space.weights[z]
            if weight > 0.0:
                mean = tally.means[z]
                moved = self.target(z, j, leader, v, epsilon, mean)
                if moved != mean:
                    total += weight * self.mixture.family.slope(mean, moved)
        return total

    def raise_arm(
        self, j: int, leader: int, epsilon: float, tally: Tally, memory: Contest
    ) -> float:
        """The least h(v); its v goes to ``levels``."""
        if self.distances[j, leader] < epsilon:
            return math.inf
        family = self.mixture.family
        low, high = math.inf, -math.inf
        for z in range(self.distances.shape[0]):
            if memory.space.weights[z] > 0.0:
                low, high = min(low, tally.means[z]), max(high, tally.means[z])
        if not low <= high:
            return 0.0
        low, high = max(low, family.lowest() + epsilon), min(high + epsilon, family.highest())
        if not low <= high:
            return math.inf
        for _ in range(STEPS):
            middle = 0.5 * (low + high)
            if not low < middle < high or high - low <= CLOSE * (abs(low) + abs(high)):
                break
            if self.pull_at(j, leader, middle, epsilon, tally, memory) > 0.0:
                high = middle
            else:
                low = middle
        v = 0.5 * (low + high)
        memory.space.levels[j] = v
        # no more than the least, by what is left of the bracket
        slack = abs(self.pull_at(j, leader, v, epsilon, tally, memory)) * (high - low)
        found = self.cost_at(j, leader, v, epsilon, tally, memory)
        return max(found - slack, 0.0)

    def rank(self, epsilon: float, tally: Tally, memory: Contest) -> int:
        leader, ratios = enter_means(tally, memory), memory.ratios
        p, n = tally.means[leader], float(tally.counts[leader])
        family, least = self.mixture.family, math.inf
        for x in range(ratios.shape[0]):
            memory.space.weights[x] = float(tally.counts[x])
            memory.space.levels[x] = math.nan
            q, m = tally.means[x], float(tally.counts[x])
            ratios[x] = ratio_of_pair(family, p, n, q, m, epsilon)
            if self.distances[x, leader] <= 0.0:
                ratios[x] = math.inf
        for x in range(ratios.shape[0]):
            extra = math.log(max(memory.masses[x], 1.0))
            if ratios[x] + extra < least:  # the pair alone is a lower bound
                if self.mixture.law != EXPONENTIAL:
                    ratios[x] = self.raise_arm(x, leader, epsilon, tally, memory)
                least = min(least, ratios[x] + extra)
        return leader

    def challenge(
        self, leader: int, epsilon: float, prices: np.ndarray, tally: Tally, memory: Contest
    ) -> int:
        rival = least_ruled_out(memory)
        if rival >= 0:
            self.oppose(rival, leader, epsilon, tally, memory)
        return rival

    def expect_means(self, tally: Tally, memory: Contest, out: np.ndarray) -> None:
        for x in range(out.shape[0]):
            out[x] = memory.rewards[x]

    def oppose(
        self, rival: int, leader: int, epsilon: float, tally: Tally, memory: Contest
    ) -> None:
        if self.mixture.law == EXPONENTIAL:
            oppose_pair(self.mixture.family, rival, leader, epsilon, tally, memory.news)
            return
        if memory.space.levels[rival] != memory.space.levels[rival]:  # ranked by the pair alone
            memory.ratios[rival] = self.raise_arm(rival, leader, epsilon, tally, memory)
        v = memory.space.levels[rival]
        for z in range(memory.news.shape[0]):
            mean = tally.means[z]
            memory.news[z] = 0.0
            if tally.counts[z] > 0:
                moved = self.target(z, rival, leader, v, epsilon, mean)
                memory.news[z] = self.mixture.family.kl(mean, moved)

    def judge(self, epsilon: float, level: float, tally: Tally, memory: Contest) -> int:
        leader, verdict, space = enter_means(tally, memory), memory.verdict, memory.space
        verdict[STATISTIC], verdict[CHARGE], verdict[RUNNER_UP] = math.inf, 0.0, -1.0
        total = math.log(2.0)
        for x in range(space.weights.shape[0]):
            space.weights[x] = self.mixture.evidence_weight(float(tally.counts[x]))
            total += price_of(self.mixture, space.prices, x, tally)
        if space.suspect[0] != leader:
            self.weigh_rival(space.suspect[0], leader, total, epsilon, tally, memory)
        if verdict[STATISTIC] - verdict[CHARGE] < level < math.inf:
            return leader
        for x in range(space.weights.shape[0]):
            if x != leader and self.distances[x, leader] > 0.0:
                self.weigh_rival(x, leader, total, epsilon, tally, memory)
                if verdict[STATISTIC] - verdict[CHARGE] < level < math.inf:
                    space.suspect[0] = x
                    return leader
        return leader

    def weigh_rival(
        self, rival: int, leader: int, union: float, epsilon: float, tally: Tally, memory: Contest
    ) -> None:
        mixture, prices, verdict = self.mixture, memory.space.prices, memory.verdict
        n = self.distances.shape[0]
        found = evidence_of_pair(mixture, leader, rival, epsilon, tally)
        charge = math.log(2.0 * max(n - 1.0, 1.0))
        charge += price_of(mixture, prices, leader, tally)
        charge += price_of(mixture, prices, rival, tally)
        if mixture.law != EXPONENTIAL:  # whose divergence is not convex
            whole = self.raise_arm(rival, leader, epsilon, tally, memory)
            if whole - union > found - charge:
                found, charge = whole, union
        if found - charge < verdict[STATISTIC] - verdict[CHARGE]:
            verdict[STATISTIC], verdict[CHARGE], verdict[RUNNER_UP] = found, charge, float(rival)
