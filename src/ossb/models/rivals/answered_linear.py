"""Linear arms, where more than the best one is asked for: contrasts of the parameter.

The evidence is that of ``ossb.models.rivals.linear``, one mixture of the dimension of the
parameter.  Its least value over the λ under which an arm j outside the leading set beats one inside
it, i, by ε is that of the contrast u = x_j − x_i, and over those under which arm x stands beyond
the level by ε that of u = ±x: gap² / 2σ² (uᵀV⁻¹u + (V⁻¹u)ᵀV₀V⁻¹u), less the price.  The truth is
such a λ whenever the answer is not ε-good: no union is paid for.
"""

import math
from typing import NamedTuple

import numpy as np

from ossb.models.base import Model
from ossb.models.least_squares import (
    GRAM,
    INVERSE,
    LEVERAGE,
    THETA,
    TOLD,
    LeastSquares,
    follow,
    new_least_squares,
    predict,
)
from ossb.models.rivals.base import CHARGE, NUMBERS, RUNNER_UP, STATISTIC, Contest, least_ruled_out
from ossb.models.rivals.linear import TINY, along, image_of, log_volume, spread_prior
from ossb.models.rivals.sides import (
    INSIDE,
    OUTSIDE,
    Sides,
    border_of,
    new_sides,
    take_sides,
)
from ossb.models.spanning import first_look
from ossb.records import Floats, Ints, record
from ossb.tally import Tally

IMAGE, BACK = 0, 1  # rows of AnsweredLinearSpace.line


class AnsweredLinearSpace(NamedTuple):
    """Where arms stand, the regression, and work."""

    sides: Sides
    squares: LeastSquares
    line: np.ndarray  # float64 (2, d)
    across: np.ndarray  # float64 (n_arms,)
    square: np.ndarray  # float64 (d, d)


@record
class AnsweredLinearRivals(NamedTuple):
    """Arms whose mean is ⟨φ, x⟩, shown in Gaussian noise, and a question about all of them.

    Parameters
    ----------
    features
        The arms in coordinates of their own, as columns.
    spanning
        Arms that span the others.
    flat
        A prior as good as none.
    prior, volume
        V₀, and ln det V₀.
    top
        How many of the best arms are asked for; 0 where a level is asked about.
    level
        The level, larger being better.
    """

    model: Model
    features: Floats
    sigma: float
    spanning: Ints
    flat: Floats
    prior: Floats
    volume: float
    top: int
    level: float

    def start(self) -> Contest:
        d, n = self.features.shape
        space = AnsweredLinearSpace(
            new_sides(n),
            new_least_squares(d, n, self.flat),
            np.zeros((2, d)),
            np.zeros(n),
            np.zeros((d, d)),
        )
        return Contest(np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(NUMBERS), space)

    def unseen(self, tally: Tally) -> int:
        return first_look(self.spanning, tally)

    def regress_arms(self, tally: Tally, memory: Contest) -> int:
        """Bring the regression up to date; takes sides, returns the leader."""
        squares, rewards = memory.space.squares, memory.rewards
        follow(self.features, tally.counts, tally, TOLD, True, squares)
        leader = predict(self.features, squares.line[TOLD, THETA], rewards)
        take_sides(rewards, self.top, self.level, memory.space.sides)
        return leader

    def rank(self, epsilon: float, tally: Tally, memory: Contest) -> int:
        leader = self.regress_arms(tally, memory)
        space, ratios, masses = memory.space, memory.ratios, memory.masses
        sides, rewards, across = space.sides, memory.rewards, space.across
        leverage = space.squares.arm[TOLD, LEVERAGE]
        scale = 0.5 / (self.sigma * self.sigma)
        for x in range(ratios.shape[0]):
            ratios[x], masses[x] = math.inf, 1.0 / max(leverage[x], TINY)
            if self.top == 0 and leverage[x] > 0.0:
                gap = rewards[x] - border_of(x, self.level, epsilon, sides)
                ratios[x] = scale * gap * gap / leverage[x]
        if self.top == 0:
            return leader
        for i in range(ratios.shape[0]):
            if sides.inside[i] == OUTSIDE:
                continue
            image_of(space.squares.square[TOLD, INVERSE], self.features, i, space.line[IMAGE])
            along(self.features, space.line[IMAGE], across)
            for j in range(ratios.shape[0]):
                spread = leverage[i] + leverage[j] - 2.0 * across[j]
                if sides.inside[j] == OUTSIDE and spread > 0.0:
                    gap = rewards[i] - rewards[j] + epsilon
                    ratio = scale * gap * gap / spread
                    if ratio < ratios[j]:
                        ratios[j], sides.partners[j] = ratio, i
        for j in range(ratios.shape[0]):
            if ratios[j] < math.inf:
                masses[j] /= max(leverage[sides.partners[j]], TINY)
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
        space, news = memory.space, memory.news
        self.draw_contrast(space.sides.partners[rival], rival, memory)
        along(self.features, space.line[BACK], news)
        for x in range(news.shape[0]):
            news[x] = news[x] * news[x]

    def draw_contrast(self, i: int, j: int, memory: Contest) -> None:
        """V⁻¹u of a pair, or of arm j at the level."""
        inverse, back = memory.space.squares.square[TOLD, INVERSE], memory.space.line[BACK]
        for k in range(back.shape[0]):
            back[k] = 0.0
            for feature in range(back.shape[0]):
                own = self.features[feature, j]
                if self.top > 0:
                    own -= self.features[feature, i]
                back[k] += inverse[k, feature] * own

    def judge(self, epsilon: float, level: float, tally: Tally, memory: Contest) -> int:
        leader = self.regress_arms(tally, memory)
        space, verdict, n = memory.space, memory.verdict, self.features.shape[1]
        gram = space.squares.square[TOLD, GRAM]
        verdict[STATISTIC], verdict[RUNNER_UP] = math.inf, -1.0
        verdict[CHARGE] = 0.5 * (log_volume(gram, self.prior, space.square) - self.volume)
        inside, suspect = space.sides.inside, space.sides.suspect
        if self.top == 0 or (inside[suspect[0]] == INSIDE and inside[suspect[1]] == OUTSIDE):
            self.weigh_contrast(suspect[0], suspect[1], epsilon, memory)
            if verdict[STATISTIC] - verdict[CHARGE] < level < math.inf:
                return leader
        for j in range(n):
            for i in range(j if self.top == 0 else 0, j + 1 if self.top == 0 else n):
                if self.top == 0 or (inside[i] == INSIDE and inside[j] == OUTSIDE):
                    self.weigh_contrast(i, j, epsilon, memory)
                    if verdict[STATISTIC] - verdict[CHARGE] < level < math.inf:
                        suspect[0], suspect[1] = i, j
                        return leader
        return leader

    def weigh_contrast(self, i: int, j: int, epsilon: float, memory: Contest) -> None:
        """Take the evidence of a pair, or of arm j at the level, into the verdict if least."""
        space, verdict, rewards = memory.space, memory.verdict, memory.rewards
        back, d, spread, longest = space.line[BACK], self.features.shape[0], 0.0, 0.0
        self.draw_contrast(i, j, memory)
        for k in range(d):
            own = self.features[k, j]
            if self.top > 0:
                own -= self.features[k, i]
            spread += own * back[k]
            longest = max(longest, math.fabs(own))
        if longest == 0.0:
            return  # twins, or an arm whose mean is 0: on neither side can it be wrong
        gap = math.fabs(rewards[j] - border_of(j, self.level, epsilon, space.sides))
        if self.top > 0:
            gap = rewards[i] - rewards[j] + epsilon
        for k in range(d):
            for other in range(d):
                spread += back[k] * self.prior[k, other] * back[other]
        found = 0.5 * gap * gap / (self.sigma * self.sigma * spread) if spread > 0.0 else 0.0
        if found < verdict[STATISTIC]:
            verdict[STATISTIC], verdict[RUNNER_UP] = found, float(j)


def answered_linear_rivals(
    model: Model,
    features: np.ndarray,
    sigma: float,
    spanning: np.ndarray,
    flat: np.ndarray,
    top: int,
    level: float,
) -> AnsweredLinearRivals:
    prior = spread_prior(features)
    volume = float(np.linalg.slogdet(prior)[1])
    return AnsweredLinearRivals(model, features, sigma, spanning, flat, prior, volume, top, level)
