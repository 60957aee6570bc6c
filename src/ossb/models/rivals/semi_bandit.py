"""Sets of items that are all observed: the leader against one set at a time.

Only items that tell the two sets apart count.  If the leader b is not ε-good the best set a beats
it by ε or more, and the evidence of the items in which a and b differ is at most that of the
mixture against the truth: K − 1 pairs (b, a), each with δ/(K − 1).

Exact for Gaussian items, Σ over them of σ²/N making the variance of the gap.  For others the
verdict rests on dual slopes, each of which proves a lower bound (``item_ratio.py``), and what is
ranked for decisions on variances at the estimate.
"""

import math
from typing import NamedTuple

import numpy as np

from ossb.families import Family
from ossb.kernels import kernel
from ossb.models.base import Model
from ossb.models.item_ratio import item_ratio, proved_by
from ossb.models.rivals.base import CHARGE, NUMBERS, RUNNER_UP, STATISTIC, Contest, least_ruled_out
from ossb.models.rivals.mixture import GAUSSIAN, Mixture
from ossb.models.rivals.pairs import price_of
from ossb.records import Floats, Ints, record
from ossb.tally import Tally

GOLDEN = 0.6180339887498949
STEPS = 60
WIDEST = 60.0  # in ln τ, to either side


class ItemSpace(NamedTuple):
    """What is known of each item and set."""

    prices: np.ndarray  # float64 (3, n_items): price, the count and the mean it is of
    spreads: np.ndarray  # float64 (n_items,): variances of their means
    slopes: np.ndarray  # float64 (n_arms,): of the last likelihood ratios
    suspect: np.ndarray  # int64 (1,): the rival that held up the last verdict


@kernel
def ratio_with_margin(
    family: Family, arms: np.ndarray, b: int, x: int, epsilon: float, tally: Tally
) -> float:
    """A lower bound on the ratio against a set that is better by ε > 0: the best of many slopes."""
    gap, doubt = epsilon, 0.0
    for i in range(arms.shape[1]):
        if arms[x, i] != arms[b, i]:
            if tally.counts[i] == 0:
                return 0.0
            doubt += 1.0 / tally.counts[i]
            gap += (arms[b, i] - arms[x, i]) * tally.means[i]
    if not gap > 0.0:
        return 0.0
    if not doubt > 0.0:
        return math.inf
    centre, best = math.log(gap / doubt), 0.0
    low, high = centre - WIDEST, centre + WIDEST
    for _ in range(STEPS):
        inner, outer = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        at_inner = proved_by(family, arms, b, x, False, tally, inner) + math.exp(inner) * epsilon
        at_outer = proved_by(family, arms, b, x, False, tally, outer) + math.exp(outer) * epsilon
        best = max(best, max(at_inner, at_outer))
        if at_outer > at_inner:
            low = inner
        else:
            high = outer
    return best


@record
class ItemRivals(NamedTuple):
    """Sets of items.

    Parameters
    ----------
    mixture
        The evidence of an item.
    arms
        A 0/1 matrix, one row per set.
    covering
        Sets that together have every item used.
    prior, prior_mean, half
        What makes variances of those at the estimate that are never 0.
    """

    model: Model
    mixture: Mixture
    arms: Floats
    covering: Ints
    prior: float
    prior_mean: float
    half: float

    def start(self) -> Contest:
        n, d = self.arms.shape
        space = ItemSpace(
            np.full((3, d), -1.0), np.zeros(d), np.full(n, np.nan), np.zeros(1, np.int64)
        )
        return Contest(np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(d), np.zeros(NUMBERS), space)

    def unseen(self, tally: Tally) -> int:
        """A set of the cover with an item never asked for."""
        for place in range(self.covering.shape[0]):
            x = self.covering[place]
            for i in range(self.arms.shape[1]):
                if self.arms[x, i] > 0.0 and tally.counts[i] + tally.pending[i] == 0:
                    return int(x)
        return -1

    def lead_sets(self, tally: Tally, memory: Contest) -> int:
        """Fill the rewards; returns the leader."""
        leader = 0
        for x in range(self.arms.shape[0]):
            total, mass = 0.0, math.inf
            for i in range(self.arms.shape[1]):
                if self.arms[x, i] > 0.0:
                    total += tally.means[i]
                    mass = min(mass, float(tally.counts[i]))
            memory.rewards[x] = total
            memory.masses[x] = mass
            if total > memory.rewards[leader]:
                leader = x
        return leader

    def spread_items(self, tally: Tally, memory: Contest) -> None:
        """The variance of each item's mean; infinite of one never seen."""
        family = self.mixture.family
        for i in range(self.arms.shape[1]):
            count = float(tally.counts[i])
            if count <= 0.0:
                memory.space.spreads[i] = math.inf
                continue
            centre = (count * tally.means[i] + self.prior * self.prior_mean) / (count + self.prior)
            variance = family.positive_variance(centre) + self.half / count
            memory.space.spreads[i] = variance / count

    def rank(self, epsilon: float, tally: Tally, memory: Contest) -> int:
        leader = self.lead_sets(tally, memory)
        self.spread_items(tally, memory)
        spreads, ratios = memory.space.spreads, memory.ratios
        for x in range(ratios.shape[0]):
            spread = 0.0
            for i in range(spreads.shape[0]):
                if self.arms[x, i] != self.arms[leader, i]:
                    spread += spreads[i]
            gap = memory.rewards[leader] - memory.rewards[x] + epsilon
            ratios[x] = 0.5 * gap * gap / spread if spread > 0.0 else math.inf
        return leader

    def challenge(
        self, leader: int, epsilon: float, prices: np.ndarray, tally: Tally, memory: Contest
    ) -> int:
        rival = least_ruled_out(memory)
        if rival >= 0:
            self.oppose(rival, leader, epsilon, tally, memory)
        return rival

    def expect_means(self, tally: Tally, memory: Contest, out: np.ndarray) -> None:
        for k in range(out.shape[0]):
            out[k] = tally.means[k]

    def oppose(
        self, rival: int, leader: int, epsilon: float, tally: Tally, memory: Contest
    ) -> None:
        unseen = False
        for i in range(memory.news.shape[0]):
            memory.news[i] = 0.0
            if self.arms[rival, i] != self.arms[leader, i]:
                unseen = unseen or tally.counts[i] == 0
                memory.news[i] = memory.space.spreads[i] / max(float(tally.counts[i]), 1.0)
        if unseen:
            for i in range(memory.news.shape[0]):
                memory.news[i] = 1.0 if memory.news[i] == math.inf else 0.0

    def judge(self, epsilon: float, level: float, tally: Tally, memory: Contest) -> int:
        leader, verdict, suspect = (
            self.lead_sets(tally, memory),
            memory.verdict,
            memory.space.suspect,
        )
        verdict[STATISTIC], verdict[CHARGE], verdict[RUNNER_UP] = math.inf, 0.0, -1.0
        if suspect[0] != leader:
            self.weigh_rival(suspect[0], leader, 0.0, epsilon, tally, memory)
        if verdict[STATISTIC] - verdict[CHARGE] < level < math.inf:
            return leader
        for x in range(self.arms.shape[0]):
            if x != leader:
                self.weigh_rival(x, leader, 0.0, epsilon, tally, memory)
                if verdict[STATISTIC] - verdict[CHARGE] < level < math.inf:
                    suspect[0] = x
                    return leader
        return leader

    def weigh_rival(
        self, rival: int, leader: int, union: float, epsilon: float, tally: Tally, memory: Contest
    ) -> None:
        verdict, mixture, arms = memory.verdict, self.mixture, self.arms
        charge = math.log(max(arms.shape[0] - 1.0, 1.0))
        spread, gap, seen = 0.0, epsilon, True
        for i in range(arms.shape[1]):
            if arms[rival, i] != arms[leader, i]:
                charge += price_of(mixture, memory.space.prices, i, tally)
                seen = seen and tally.counts[i] > 0
                gap += (arms[leader, i] - arms[rival, i]) * tally.means[i]
                if tally.counts[i] > 0:
                    variance = mixture.family.variance(tally.means[i])
                    spread += variance / mixture.evidence_weight(float(tally.counts[i]))
        found = 0.0
        if seen and mixture.law == GAUSSIAN:
            found = 0.5 * gap * gap / spread if spread > 0.0 else math.inf
        elif seen and epsilon > 0.0:
            found = ratio_with_margin(mixture.family, arms, leader, rival, epsilon, tally)
        elif seen:
            slopes = memory.space.slopes
            found = item_ratio(mixture.family, arms, leader, rival, False, math.inf, tally, slopes)
        if found - charge < verdict[STATISTIC] - verdict[CHARGE]:
            verdict[STATISTIC], verdict[CHARGE], verdict[RUNNER_UP] = found, charge, float(rival)
