"""Lipschitz means: the leader against one arm, alone or with all others.

For arm j to be at least v, every arm z has to be within ℓ(j, z) of v, and the leader below v − ε.
What that costs, with all other bounds left out, is A_z = w_z d(m_z, λ_z) for each arm, with

    λ_b = clip(m_b, v − ℓ(j, b), v − ε), λ_z = clip(m_z, v − ℓ(j, z), v + ℓ(j, z)),

all convex in v, and their sum is no more than the likelihood asks for under any means of Θ with
λ_j = v.  The evidence of one arm is M_z = exp(A_z − price_z), and that of all against j being best

    ½ M_bj / (K − 1) + ½ M_j Π_{z ≠ j} (1 + M_z)/2 :

half of it rests on the arm that leads and j alone (``ossb.models.rivals.tilts``), with the K − 1
arms that may lead wrongly alike, and half on j and any set of the others, where an arm that says
nothing costs ln 2 at most.  It is at most the same martingale against the truth if j is best: one
test, of the true best arm.  Its logarithm is convex in v, as sums of exponentials of convex
functions are.  Of waiting times, whose divergence is not convex, pairs alone.

``rank`` leaves prices out: that is what T* is made of.  ``challenge`` asks for the rival least
ruled out as it will be judged, and takes for the news of an arm what its mean in Θ, not the raw
one, is thought to tell, by how much of the evidence hangs on it.  Arms whose observations are noise
that breaks their distances, or pay for less than their price, would else draw plays that bring no
stop nearer; and an arm that looks too good by the noise of few plays would not be looked at again.
"""

import math
from typing import Any, NamedTuple

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
from ossb.models.rivals.dueling import FAR, halved
from ossb.models.rivals.mixture import EXPONENTIAL, Mixture
from ossb.models.rivals.pairs import (
    oppose_pair,
    price_of,
    ratio_of_pair,
    take_least,
    weigh_pair,
)
from ossb.models.rivals.tilts import Tilts, new_tilts, scale_of_pair, tilt_pair
from ossb.records import Floats, record
from ossb.tally import Tally

STEPS = 40
CLOSE = 1e-10
EXACT = 1e-8  # of a likelihood ratio
CLEAR = 1e-3  # of evidence as it is judged, from which what is left of the bracket is taken off
PAID = 8.0  # of a pair's likelihood ratio, about, at most
EVIDENCE, SLOPE = 0, 1  # places in LineSpace.sums


class LineSpace(NamedTuple):
    """What is known of each arm, and what it weighs."""

    prices: np.ndarray  # float64 (3, n_arms)
    weights: np.ndarray  # float64 (n_arms,)
    levels: np.ndarray  # float64 (n_arms,): the v of each rival
    alone: np.ndarray  # float64 (n_arms,): Z_j of the pair with the leader
    hangs: np.ndarray  # float64 (n_arms,): how much of the evidence grows with that of an arm
    sums: np.ndarray  # float64 (2,): the evidence at one v, and its slope
    suspect: np.ndarray  # int64 (1,)
    scales: np.ndarray  # int64 (n_arms,): from where on tilts are summed, of each rival
    tilts: Tilts
    look: Any  # of the model, for the means of Θ nearest to those observed


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
        weights, levels, alone, hangs = np.full((4, n), math.nan)
        suspect, look = np.zeros(1, np.int64), self.model.start()
        prices, sums = np.full((3, n), -1.0), np.zeros(2)
        scales = np.zeros(n, np.int64)
        space = LineSpace(
            *(prices, weights, levels, alone, hangs, sums, suspect, scales, new_tilts(), look)
        )
        return Contest(np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(NUMBERS), space)

    def unseen(self, tally: Tally) -> int:
        return least_played(tally)

    def target(self, z: int, j: int, leader: int, v: float, epsilon: float, mean: float) -> float:
        """The mean that arm z is moved to where arm j is raised to v."""
        reach = self.distances[j, z]
        if z == leader:
            return clipped(mean, v - reach, v - epsilon)
        return clipped(mean, v - reach, v + reach)

    def hold_at(
        self,
        j: int,
        leader: int,
        v: float,
        epsilon: float,
        paid: bool,
        tally: Tally,
        memory: Contest,
    ) -> None:
        """Fill ``sums`` and ``hangs`` with arm j at v: Σ A_z, or the evidence if ``paid``.

        Of the latter half rests on the pair of j and the leader alone.
        """
        space, family, n = memory.space, self.mixture.family, self.distances.shape[0]
        own, several = 0.0, 0.0
        for z in range(n):
            space.hangs[z] = 1.0
            if space.weights[z] > 0.0:
                mean = tally.means[z]
                moved = self.target(z, j, leader, v, epsilon, mean)
                cost = space.weights[z] * family.kl(mean, moved) if moved != mean else 0.0
                if paid:
                    cost -= price_of(self.mixture, space.prices, z, tally)
                if z == j:
                    own = cost
                    continue
                if paid:
                    space.hangs[z] = 1.0 / (1.0 + math.exp(-cost)) if cost > -FAR else 0.0
                    cost = halved(cost)
                several += cost
        space.sums[EVIDENCE], space.sums[SLOPE] = own + several, 0.0
        for z in range(n):
            if space.weights[z] > 0.0 and space.hangs[z] > 0.0:
                mean = tally.means[z]
                moved = self.target(z, j, leader, v, epsilon, mean)
                if moved != mean:
                    slope = family.slope(mean, moved)
                    space.sums[SLOPE] += space.hangs[z] * space.weights[z] * slope
        if paid and tally.counts[j] > 0 and tally.counts[leader] > 0:
            self.add_pair(j, leader, v, epsilon, tally, memory)

    def add_pair(
        self, j: int, leader: int, v: float, epsilon: float, tally: Tally, memory: Contest
    ) -> None:
        """Make the evidence of all arms one half, that of the pair with the leader the other."""
        space, tilts, several = memory.space, memory.space.tilts, memory.space.sums[EVIDENCE]
        p, q = tally.means[leader], tally.means[j]
        n, m = float(tally.counts[leader]), float(tally.counts[j])
        alone = tilt_pair(self.mixture, p, n, q, m, v - epsilon, v, space.scales[j], tilts)
        alone -= math.log(max(self.distances.shape[0] - 1.0, 1.0))
        most = max(several, alone)
        if most == math.inf:
            return
        whole = most + math.log(math.exp(several - most) + math.exp(alone - most))
        part = math.exp(several - whole)
        space.sums[EVIDENCE] = whole - math.log(2.0)
        space.sums[SLOPE] = part * space.sums[SLOPE] + (1.0 - part) * tilts.found[1]
        for z in range(self.distances.shape[0]):
            space.hangs[z] = part * space.hangs[z] if z != j else 1.0
        space.hangs[leader] += 1.0 - part

    def raise_arm(
        self, j: int, leader: int, epsilon: float, paid: bool, tally: Tally, memory: Contest
    ) -> float:
        """The least over v; its v goes to ``levels``."""
        space, family = memory.space, self.mixture.family
        if self.distances[j, leader] < epsilon:
            return math.inf
        low, high = math.inf, -math.inf
        for z in range(self.distances.shape[0]):
            if space.weights[z] > 0.0:
                low, high = min(low, tally.means[z]), max(high, tally.means[z])
        if not low <= high:
            return 0.0
        if paid:  # the evidence of a pair may be least outside of what was seen
            space.scales[j] = self.scale_with(j, leader, epsilon, tally)
            low, high = 2.0 * low - high, 2.0 * high - low
        least, most = family.lowest() + epsilon, family.highest()
        low, high = max(low, least), min(high + epsilon, most)
        if not low <= high:
            return math.inf
        v, fall, rise, closed = 0.5 * (low + high), 0.0, 0.0, not paid
        for turn in range(STEPS):
            self.hold_at(j, leader, v, epsilon, paid, tally, memory)
            slack = abs(space.sums[SLOPE]) * (high - low)
            small = slack <= (CLEAR if paid else EXACT * space.sums[EVIDENCE])
            closed = closed or space.sums[SLOPE] == 0.0
            closed = closed or ((fall < 0.0 or low <= least) and (rise > 0.0 or high >= most))
            if (small and closed) or high - low <= CLOSE * (abs(low) + abs(high)):
                break
            if not low < v < high:
                break
            if space.sums[SLOPE] > 0.0:
                high, rise = v, space.sums[SLOPE]
            else:
                low, fall = v, space.sums[SLOPE]
            v = 0.5 * (low + high)
            if turn % 2 == 0 and fall < 0.0 < rise < math.inf and fall > -math.inf:
                v = (low * rise - high * fall) / (rise - fall)  # where a chord of the slope is 0
        self.hold_at(j, leader, v, epsilon, paid, tally, memory)
        space.levels[j] = v
        # no more than the least, by what is left of the bracket
        found = space.sums[EVIDENCE] - abs(space.sums[SLOPE]) * (high - low)
        if not paid:
            return max(found, 0.0)
        return found if closed else min(found, 0.0)

    def scale_with(self, j: int, leader: int, epsilon: float, tally: Tally) -> int:
        """From where on tilts are summed, of a rival and the leader."""
        n, m = float(tally.counts[leader]), float(tally.counts[j])
        if n <= 0.0 or m <= 0.0:
            return 0
        p, q = tally.means[leader], tally.means[j]
        v = (n * p + m * (q - epsilon)) / (n + m)
        return scale_of_pair(self.mixture, p, q, v, v + epsilon)

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
            memory.space.alone[x] = ratios[x]
        for x in range(ratios.shape[0]):
            extra = math.log(max(memory.masses[x], 1.0))
            if ratios[x] + extra < least:  # the pair alone is a lower bound
                if self.mixture.law != EXPONENTIAL:
                    ratios[x] = self.raise_arm(x, leader, epsilon, False, tally, memory)
                least = min(least, ratios[x] + extra)
        return leader

    def challenge(
        self, leader: int, epsilon: float, prices: np.ndarray, tally: Tally, memory: Contest
    ) -> int:
        space, rival, least = memory.space, -1, math.inf
        if self.mixture.law == EXPONENTIAL:
            rival = least_ruled_out(memory)
            if rival >= 0:
                self.oppose(rival, leader, epsilon, tally, memory)
            return rival
        for x in range(space.alone.shape[0]):
            extra = math.log(max(memory.masses[x], 1.0))
            if space.alone[x] - PAID + extra < least:
                value = self.raise_arm(x, leader, epsilon, True, tally, memory) + extra
                if value < least:
                    rival, least = x, value
        if rival >= 0:
            v = space.levels[rival]
            self.hold_at(rival, leader, v, epsilon, True, tally, memory)
            look: Any = space.look
            model: Any = self.model
            model.project(tally, look)
            for z in range(memory.news.shape[0]):
                moved = self.target(z, rival, leader, v, epsilon, tally.means[z])
                news = self.mixture.family.kl(look.estimate[z], moved)
                memory.news[z] = space.hangs[z] * news if tally.counts[z] > 0 else 0.0
        return rival

    def expect_means(self, tally: Tally, memory: Contest, out: np.ndarray) -> None:
        look: Any = memory.space.look
        model: Any = self.model
        model.project(tally, look)
        for x in range(out.shape[0]):
            out[x] = look.estimate[x]

    def oppose(
        self, rival: int, leader: int, epsilon: float, tally: Tally, memory: Contest
    ) -> None:
        if self.mixture.law == EXPONENTIAL:
            oppose_pair(self.mixture.family, rival, leader, epsilon, tally, memory.news)
            return
        if memory.space.levels[rival] != memory.space.levels[rival]:  # ranked by the pair alone
            memory.ratios[rival] = self.raise_arm(rival, leader, epsilon, False, tally, memory)
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
        for x in range(space.weights.shape[0]):
            space.weights[x] = self.mixture.evidence_weight(float(tally.counts[x]))
        if self.is_held(space.suspect[0], leader, epsilon, level, tally, memory):
            return leader
        if space.suspect[0] != leader:
            self.hold_rival(space.suspect[0], leader, epsilon, level, tally, memory)
        if verdict[STATISTIC] - verdict[CHARGE] < level < math.inf:
            return leader
        for x in range(space.weights.shape[0]):
            if x != leader and self.distances[x, leader] > 0.0:
                self.hold_rival(x, leader, epsilon, level, tally, memory)
                if verdict[STATISTIC] - verdict[CHARGE] < level < math.inf:
                    space.suspect[0] = x
                    return leader
        return leader

    def is_held(
        self, rival: int, leader: int, epsilon: float, level: float, tally: Tally, memory: Contest
    ) -> bool:
        """Whether the evidence is below the level where it was least when last looked for."""
        space, verdict, family = memory.space, memory.verdict, self.mixture.family
        v = space.levels[rival]
        apart = rival != leader and self.distances[rival, leader] >= epsilon
        if not (apart and level < math.inf):
            return False
        if not family.lowest() + epsilon <= v <= family.highest():  # nor where v is NaN
            return False
        space.scales[rival] = self.scale_with(rival, leader, epsilon, tally)
        self.hold_at(rival, leader, v, epsilon, True, tally, memory)
        if not space.sums[EVIDENCE] < level:
            return False
        charge = self.charge_pair()
        verdict[STATISTIC], verdict[CHARGE] = space.sums[EVIDENCE] + charge, charge
        verdict[RUNNER_UP] = float(rival)
        return True

    def charge_pair(self) -> float:
        """One half of the prior, and the arms that may lead wrongly."""
        charge = math.log(max(self.distances.shape[0] - 1.0, 1.0))
        return charge if self.mixture.law == EXPONENTIAL else charge + math.log(2.0)

    def hold_rival(
        self,
        rival: int,
        leader: int,
        epsilon: float,
        level: float,
        tally: Tally,
        memory: Contest,
    ) -> None:
        """Take a rival's evidence into the verdict if it is the least so far."""
        charge, verdict = self.charge_pair(), memory.verdict
        if self.mixture.law == EXPONENTIAL:  # whose divergence is not convex
            tilts = memory.space.tilts
            enough = level + charge
            ratio, paid = weigh_pair(self.mixture, leader, rival, epsilon, enough, tally, tilts)
            take_least(ratio, paid + charge, rival, verdict)
            return
        found = self.raise_arm(rival, leader, epsilon, True, tally, memory)
        take_least(found + charge, charge, rival, verdict)
