"""Independent arms, where more than the best one is asked for.

*The m best.*  If the leading set is not ε-good, an arm i of it is not among the m best and lies
more than ε below one of these, j, that is not in the set.  The evidence of the pair (i, j) against
that is at most the mixture's against the truth, which exceeds ln(m (K − m)/δ) with probability at
most δ/m(K − m).  There are m (K − m) pairs of one of the m best arms and another one, so all are
right together with probability 1 − δ.  m = 1 is the best arm, see ``ossb.models.rivals.pairs``.

*Above a level.*  An arm that stands above it is held against the means of level − ε or less, one
that does not against those of level + ε or more, by its own evidence alone.  At most one side of
each arm is wrong by more than ε, so that δ/K is for each.

Rivals are numbered by arms: of the best, those outside the leading set, each with the arm inside
that is least told from it (You, Qin, Wang and Yang, 2023, of the best k arms); at a level, all.
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
from ossb.models.rivals.mixture import Mixture
from ossb.models.rivals.pairs import oppose_pair, ratio_of_pair, take_least, weigh_pair
from ossb.models.rivals.sides import (
    INSIDE,
    OUTSIDE,
    Sides,
    border_of,
    log_pairs,
    new_sides,
    take_sides,
)
from ossb.models.rivals.tilts import Tilts, new_tilts, tilt_beyond
from ossb.records import record
from ossb.tally import Tally


class AnsweredSpace(NamedTuple):
    """Where arms stand, and work."""

    sides: Sides
    tilts: Tilts


@kernel
def weigh_border(
    mixture: Mixture, x: int, border: float, inside: int, tally: Tally, tilts: Tilts
) -> tuple[float, float]:
    """The likelihood ratio of an arm against the means beyond a border, and what is paid of it."""
    family, count, mean = mixture.family, float(tally.counts[x]), tally.means[x]
    if not family.lowest() <= border <= family.highest():
        return math.inf, 0.0
    if count <= 0.0:
        return 0.0, 0.0
    ratio = count * family.kl(mean, border)
    if ratio == math.inf:
        return ratio, 0.0
    direction = 1.0 if inside == INSIDE else -1.0
    return ratio, ratio - tilt_beyond(mixture, count, mean, border, direction, tilts)


@record
class AnsweredMeanRivals(NamedTuple):
    """Arms of which each shows its own mean, and a question about all of them.

    Parameters
    ----------
    mixture
        The evidence of their family.
    top
        How many of the best arms are asked for; 0 where a level is asked about.
    level
        The level, larger being better.
    """

    model: Model
    mixture: Mixture
    n_arms: int
    top: int
    level: float

    def start(self) -> Contest:
        n = self.n_arms
        space = AnsweredSpace(new_sides(n), new_tilts())
        return Contest(np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(NUMBERS), space)

    def unseen(self, tally: Tally) -> int:
        return least_played(tally)

    def rank(self, epsilon: float, tally: Tally, memory: Contest) -> int:
        leader, ratios, masses = enter_means(tally, memory), memory.ratios, memory.masses
        sides, family = memory.space.sides, self.mixture.family
        take_sides(memory.rewards, self.top, self.level, sides)
        if self.top == 0:
            for x in range(self.n_arms):
                border = border_of(x, self.level, epsilon, sides)
                ratios[x] = math.inf
                if family.lowest() <= border <= family.highest():
                    ratios[x] = tally.counts[x] * family.kl(tally.means[x], border)
            return leader
        for j in range(self.n_arms):
            ratios[j] = math.inf
            q, m = tally.means[j], float(tally.counts[j])
            for i in range(self.n_arms):
                if sides.inside[j] == OUTSIDE and sides.inside[i] == INSIDE:
                    p, n = tally.means[i], float(tally.counts[i])
                    ratio = ratio_of_pair(family, p, n, q, m, epsilon)
                    if ratio < ratios[j]:
                        ratios[j], sides.partners[j] = ratio, i
            if ratios[j] < math.inf:
                masses[j] = m * tally.counts[sides.partners[j]]
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
        sides, news = memory.space.sides, memory.news
        if self.top > 0:
            partner = sides.partners[rival]
            oppose_pair(self.mixture.family, rival, partner, epsilon, tally, news)
            return
        for x in range(self.n_arms):
            news[x] = 0.0
        border = border_of(rival, self.level, epsilon, sides)
        told = self.mixture.family.kl(tally.means[rival], border)
        news[rival] = told if tally.counts[rival] > 0 and told > 0.0 else 1.0

    def judge(self, epsilon: float, level: float, tally: Tally, memory: Contest) -> int:
        leader, verdict, sides = enter_means(tally, memory), memory.verdict, memory.space.sides
        take_sides(memory.rewards, self.top, self.level, sides)
        verdict[STATISTIC], verdict[CHARGE], verdict[RUNNER_UP] = math.inf, 0.0, -1.0
        inside, suspect = sides.inside, sides.suspect
        if self.top == 0 or (inside[suspect[0]] == INSIDE and inside[suspect[1]] == OUTSIDE):
            self.weigh_one(suspect[0], suspect[1], epsilon, level, tally, memory)
            if verdict[STATISTIC] - verdict[CHARGE] < level < math.inf:
                return leader
        for j in range(self.n_arms):
            first = j if self.top == 0 else 0
            last = j + 1 if self.top == 0 else self.n_arms
            for i in range(first, last):
                if self.top == 0 or (inside[i] == INSIDE and inside[j] == OUTSIDE):
                    self.weigh_one(i, j, epsilon, level, tally, memory)
                    if verdict[STATISTIC] - verdict[CHARGE] < level < math.inf:
                        suspect[0], suspect[1] = i, j
                        return leader
        return leader

    def weigh_one(
        self, i: int, j: int, epsilon: float, level: float, tally: Tally, memory: Contest
    ) -> None:
        """Take the evidence of a pair, or of arm j at the level, into the verdict if least."""
        sides, tilts = memory.space.sides, memory.space.tilts
        union = log_pairs(self.n_arms, self.top)
        if self.top == 0:
            border = border_of(j, self.level, epsilon, sides)
            ratio, paid = weigh_border(self.mixture, j, border, sides.inside[j], tally, tilts)
        else:
            enough = level + union
            ratio, paid = weigh_pair(self.mixture, i, j, epsilon, enough, tally, tilts)
        take_least(ratio, paid + union, j, memory.verdict)
