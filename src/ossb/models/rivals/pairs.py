"""Independent and unimodal arms: the leader against one arm at a time.

If arm b is not ε-good, the best arm a beats it by ε or more, and the evidence of the pair (b, a)
against that (``ossb.models.rivals.tilts``) is at most what it is against the truth, which exceeds
ln((K − 1)/δ) with probability at most δ/(K − 1).  There are K − 1 such b, so all are right together
with probability 1 − δ.

Of unimodal means, if b is not the peak some neighbour is better: on a tree only neighbours
count, and at most one direction of each edge is wrong.  With ε > 0 that says nothing, since means
may rise in steps of less than ε, and all arms count.
"""

import math
from typing import NamedTuple

import numpy as np

from ossb.families import Family
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
from ossb.models.rivals.mixture import EXPONENTIAL, GAUSSIAN, Mixture
from ossb.models.rivals.tilts import Tilts, least_tilted, new_tilts
from ossb.records import Ints, record
from ossb.tally import Tally

BISECTIONS = 60
NEAR = 1e-14  # relative, of two means between which a third is not sought
PRICE, COUNT, MEAN = 0, 1, 2  # rows of PairSpace.prices
CELLS = 64  # of the grid on which evidence that is no divergence is bounded from below


class PairSpace(NamedTuple):
    """Work, and where the last look ended."""

    tilts: Tilts
    suspect: np.ndarray  # int64 (1,): the rival that held up the last verdict


@kernel
def meeting_point(family: Family, p: float, n: float, q: float, m: float, epsilon: float) -> float:
    """The v of the least n d(p, v) + m d(q, v + ε), v between q − ε and p; NaN where there is none.

    The means of the leader and of its rival, seen n and m times, meet there.
    """
    low, high = max(q - epsilon, family.lowest()), min(p, family.highest() - epsilon)
    if not low <= high:
        return math.nan
    if epsilon == 0.0:
        return min(max((n * p + m * q) / (n + m), low), high)
    before = n * family.slope(p, low) + m * family.slope(q, low + epsilon)
    after = n * family.slope(p, high) + m * family.slope(q, high + epsilon)
    middle, above = 0.5 * (low + high), 0  # on which side the last points were
    for step in range(BISECTIONS):
        middle = 0.5 * (low + high)
        if step % 4 < 3 and -math.inf < before < 0.0 < after < math.inf:
            middle = low - before * ((high - low) / (after - before))
        if not low < middle < high or high - low <= NEAR * (abs(low) + abs(high)):
            break
        slope = n * family.slope(p, middle) + m * family.slope(q, middle + epsilon)
        if slope > 0.0:
            high, after = middle, slope
            before *= 0.5 if above > 0 else 1.0  # Illinois: the end that stays counts half
            above = 1
        else:
            low, before = middle, slope
            after *= 0.5 if above < 0 else 1.0
            above = -1
    return min(max(middle, low), high)


@kernel
def ratio_of_pair(family: Family, p: float, n: float, q: float, m: float, epsilon: float) -> float:
    """The likelihood ratio against a rival that is better by ε."""
    if n <= 0.0 or m <= 0.0 or q >= p + epsilon:
        return 0.0
    v = meeting_point(family, p, n, q, m, epsilon)
    if v != v:
        return math.inf
    return n * family.kl(p, v) + m * family.kl(q, v + epsilon)


@kernel
def least_on_grid(
    mixture: Mixture, p: float, n: float, q: float, m: float, epsilon: float
) -> float:
    """No more than the least evidence of both arms together, at any v of the leader's.

    That of the leader falls as v rises to p, that of the rival rises from q − ε on: between two
    points of a grid both are at least what they are at one end.
    """
    family = mixture.family
    if q >= p + epsilon:
        return mixture.evidence_at(n, p, p) + mixture.evidence_at(m, q, q)
    low, high = max(q - epsilon, family.lowest()), min(p, family.highest() - epsilon)
    if not low <= high:
        return math.inf
    least, step = math.inf, (high - low) / CELLS
    for cell in range(CELLS):
        left, right = low + cell * step, low + (cell + 1.0) * step
        right = high if cell == CELLS - 1 else right
        bound = mixture.evidence_at(n, p, right) + mixture.evidence_at(m, q, left + epsilon)
        least = min(least, bound)
    return least


@kernel
def evidence_of_pair(mixture: Mixture, b: int, j: int, epsilon: float, tally: Tally) -> float:
    """The least evidence of the two against a rival that is better by ε, prices left out."""
    n, m = float(tally.counts[b]), float(tally.counts[j])
    p, q = tally.means[b], tally.means[j]
    if n <= 0.0 or m <= 0.0:
        return 0.0
    if mixture.law == EXPONENTIAL:
        return least_on_grid(mixture, p, n, q, m, epsilon)
    n, m = mixture.evidence_weight(n), mixture.evidence_weight(m)
    if mixture.law == GAUSSIAN:
        gap = max(p - q + epsilon, 0.0)
        return (n * m / (n + m)) * mixture.family.kl(gap, 0.0)
    return ratio_of_pair(mixture.family, p, n, q, m, epsilon)


@kernel
def price_of(mixture: Mixture, prices: np.ndarray, x: int, tally: Tally) -> float:
    """The price of a component, worked out anew where something was told of it."""
    if mixture.law == EXPONENTIAL:
        return 0.0
    count, mean = float(tally.counts[x]), tally.means[x]
    if prices[COUNT, x] != count or prices[MEAN, x] != mean:
        prices[COUNT, x], prices[MEAN, x] = count, mean
        prices[PRICE, x] = mixture.evidence_price(count, mean)
    return prices[PRICE, x]


@kernel
def weigh_pair(
    mixture: Mixture, b: int, j: int, epsilon: float, enough: float, tally: Tally, tilts: Tilts
) -> tuple[float, float]:
    """The likelihood ratio of b against an arm j that is better by ε, and what is paid of it.

    Where what is left is below ``enough``, and that is finite, less may be paid than is due.
    """
    n, m = float(tally.counts[b]), float(tally.counts[j])
    p, q = tally.means[b], tally.means[j]
    ratio = ratio_of_pair(mixture.family, p, n, q, m, epsilon)
    if n <= 0.0 or m <= 0.0 or ratio < enough < math.inf or ratio == math.inf:
        return ratio, 0.0
    least = enough if enough < math.inf else -math.inf
    return ratio, ratio - least_tilted(mixture, p, n, q, m, epsilon, least, tilts)


@kernel
def take_least(ratio: float, charge: float, rival: int, verdict: np.ndarray) -> None:
    """Take a rival into the verdict if what is left after its charge is the least so far."""
    if ratio - charge < verdict[STATISTIC] - verdict[CHARGE]:
        verdict[STATISTIC], verdict[CHARGE], verdict[RUNNER_UP] = ratio, charge, float(rival)


@kernel
def oppose_pair(
    family: Family, j: int, b: int, epsilon: float, tally: Tally, news: np.ndarray
) -> None:
    """What one observation of either tells against a rival that is better by ε."""
    for x in range(news.shape[0]):
        news[x] = 0.0
    n, m = float(tally.counts[b]), float(tally.counts[j])
    if n <= 0.0 or m <= 0.0:
        news[b] = 1.0 if n <= 0.0 else 0.0
        news[j] = 1.0 if m <= 0.0 else 0.0
        return
    if not tally.means[j] < tally.means[b] + epsilon:  # level: as in the limit of small gaps
        news[b], news[j] = m * m, n * n
        return
    v = meeting_point(family, tally.means[b], n, tally.means[j], m, epsilon)
    if v == v:
        news[b] = family.kl(tally.means[b], v)
        news[j] = family.kl(tally.means[j], v + epsilon)


@record
class PairRivals(NamedTuple):
    """Arms of which each shows its own mean.

    Parameters
    ----------
    mixture
        The evidence of their family.
    starts, near
        On a tree or graph the neighbours of arm x are ``near[starts[x]:starts[x + 1]]``; empty
        where all arms are rivals.
    """

    model: Model
    mixture: Mixture
    n_arms: int
    starts: Ints
    near: Ints

    def start(self) -> Contest:
        n = self.n_arms
        space = PairSpace(new_tilts(), np.zeros(1, np.int64))
        return Contest(np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(NUMBERS), space)

    def unseen(self, tally: Tally) -> int:
        return least_played(tally)

    def rank(self, epsilon: float, tally: Tally, memory: Contest) -> int:
        leader = enter_means(tally, memory)
        ratios = memory.ratios
        p, n = tally.means[leader], float(tally.counts[leader])
        apart = epsilon > 0.0 or self.starts.shape[0] == 0
        for x in range(self.n_arms):
            ratios[x] = math.inf
            if apart and x != leader:
                q, m = tally.means[x], float(tally.counts[x])
                ratios[x] = ratio_of_pair(self.mixture.family, p, n, q, m, epsilon)
        if not apart:
            for place in range(self.starts[leader], self.starts[leader + 1]):
                x = self.near[place]
                q, m = tally.means[x], float(tally.counts[x])
                ratios[x] = ratio_of_pair(self.mixture.family, p, n, q, m, epsilon)
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
        oppose_pair(self.mixture.family, rival, leader, epsilon, tally, memory.news)

    def judge(self, epsilon: float, level: float, tally: Tally, memory: Contest) -> int:
        leader, verdict, suspect = enter_means(tally, memory), memory.verdict, memory.space.suspect
        verdict[STATISTIC], verdict[CHARGE], verdict[RUNNER_UP] = math.inf, 0.0, -1.0
        if self.starts.shape[0] > 0 and epsilon <= 0.0:
            union = math.log(max(0.5 * self.near.shape[0], 1.0))
            first, last = self.starts[leader], self.starts[leader + 1]
            for place in range(first, last):
                self.weigh_against(self.near[place], leader, union, epsilon, level, tally, memory)
            return leader
        union = math.log(max(self.n_arms - 1.0, 1.0))
        if suspect[0] != leader:
            self.weigh_against(suspect[0], leader, union, epsilon, level, tally, memory)
        if verdict[STATISTIC] - verdict[CHARGE] < level < math.inf:
            return leader
        for x in range(self.n_arms):
            if x != leader:
                self.weigh_against(x, leader, union, epsilon, level, tally, memory)
                if verdict[STATISTIC] - verdict[CHARGE] < level < math.inf:
                    suspect[0] = x
                    return leader
        return leader

    def weigh_against(
        self,
        rival: int,
        leader: int,
        union: float,
        epsilon: float,
        level: float,
        tally: Tally,
        memory: Contest,
    ) -> None:
        """Take a rival's evidence into the verdict if it is the least so far."""
        tilts = memory.space.tilts
        ratio, paid = weigh_pair(self.mixture, leader, rival, epsilon, level + union, tally, tilts)
        take_least(ratio, paid + union, rival, memory.verdict)
