"""Linear arms in Gaussian noise: one mixture of the dimension of the parameter.

With V = Σ n x xᵀ, θ̂ the least-squares estimate and a prior N(λ, σ²V₀⁻¹) centred at the parameter
it is held against (Robbins and Siegmund, 1970; Abbasi-Yadkori, Pál and Szepesvári, 2011),

    ln M(λ) = ½ (θ̂ − λ)ᵀ V (V + V₀)⁻¹ V (θ̂ − λ) / σ² − ½ ln det(V + V₀) / det V₀.

Its least value over λ under which arm j beats the leader b by ε is, with u = x_j − x_b and gap
⟨θ̂, x_b − x_j⟩ + ε, gap² / 2σ² (uᵀV⁻¹u + (V⁻¹u)ᵀV₀V⁻¹u), less the same logarithm.  The truth is
such a λ whenever b is not ε-good, for some j: no union over arms is paid for.  V₀ is four
observations of each of d arms spread as the arms are.
"""

import math
from typing import NamedTuple

import numpy as np

from ossb.kernels import kernel
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
from ossb.models.rivals.mixture import PSEUDO
from ossb.models.spanning import first_look
from ossb.models.within import follow_within, predict_within, widths_within
from ossb.numerics.dense import cholesky
from ossb.records import Floats, Ints, record
from ossb.tally import Tally

IMAGE, BACK, ACROSS = 0, 1, 2  # rows of LinearSpace.line and .arm
TINY = 1e-300


class LinearSpace(NamedTuple):
    """The regression, and work."""

    squares: LeastSquares
    line: np.ndarray  # float64 (3, d)
    arm: np.ndarray  # float64 (3, n_arms)
    square: np.ndarray  # float64 (d, d)


@kernel
def image_of(matrix: np.ndarray, features: np.ndarray, x: int, out: np.ndarray) -> None:
    """M x of an arm."""
    for i in range(out.shape[0]):
        out[i] = 0.0
        for k in range(out.shape[0]):
            out[i] += matrix[i, k] * features[k, x]


@kernel
def along(features: np.ndarray, vector: np.ndarray, out: np.ndarray) -> None:
    """⟨v, x⟩ of every arm."""
    for x in range(out.shape[0]):
        out[x] = 0.0
    for i in range(vector.shape[0]):
        weight = vector[i]
        for x in range(out.shape[0]):
            out[x] += weight * features[i, x]


@kernel
def log_volume(matrix: np.ndarray, prior: np.ndarray, factor: np.ndarray) -> float:
    """ln det(M + V₀); infinite where it has none."""
    d = factor.shape[0]
    for i in range(d):
        for k in range(d):
            factor[i, k] = matrix[i, k] + prior[i, k]
    if not cholesky(factor, d):
        return math.inf
    volume = 0.0
    for i in range(d):
        volume += 2.0 * math.log(factor[i, i])
    return volume


@record
class LinearRivals(NamedTuple):
    """Arms whose index is ⟨φ, x⟩, shown in Gaussian noise; rewards rise with the index.

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
    identity
        Whether the reward is the index, so that ε is one of indices; else it counts as 0.
    """

    model: Model
    features: Floats
    sigma: float
    spanning: Ints
    flat: Floats
    prior: Floats
    volume: float
    identity: bool

    def start(self) -> Contest:
        d, n = self.features.shape
        space = LinearSpace(
            new_least_squares(d, n, self.flat), np.zeros((3, d)), np.zeros((3, n)), np.zeros((d, d))
        )
        return Contest(np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(NUMBERS), space)

    def unseen(self, tally: Tally) -> int:
        return first_look(self.spanning, tally)

    def regress_arms(self, tally: Tally, memory: Contest) -> int:
        """Bring the regression up to date; fills the rewards, returns the leader."""
        squares, rewards = memory.space.squares, memory.rewards
        follow(self.features, tally.counts, tally, TOLD, True, squares)
        return predict(self.features, squares.line[TOLD, THETA], rewards)

    def rank(self, epsilon: float, tally: Tally, memory: Contest) -> int:
        leader = self.regress_arms(tally, memory)
        space, ratios = memory.space, memory.ratios
        leverage = space.squares.arm[TOLD, LEVERAGE]
        image, across = space.line[IMAGE], space.arm[ACROSS]
        image_of(space.squares.square[TOLD, INVERSE], self.features, leader, image)
        along(self.features, image, across)
        top, own = memory.rewards[leader], leverage[leader]
        apart = epsilon if self.identity else 0.0
        scale = 0.5 / (self.sigma * self.sigma)
        for x in range(ratios.shape[0]):
            spread = leverage[x] + own - 2.0 * across[x]
            gap = top - memory.rewards[x] + apart
            ratios[x] = scale * gap * gap / spread if spread > 0.0 else math.inf
            memory.masses[x] = 1.0 / max(leverage[x], TINY)
        ratios[leader] = math.inf
        return leader

    def challenge(
        self, leader: int, epsilon: float, prices: np.ndarray, tally: Tally, memory: Contest
    ) -> int:
        rival = least_ruled_out(memory)
        if rival >= 0:
            self.oppose(rival, leader, epsilon, tally, memory)
        return rival

    def rank_within(
        self, low: int, high: int, epsilon: float, tally: Tally, memory: Contest
    ) -> int:
        """Like ``rank`` among the rows low, …, high − 1, one of which leads them."""
        space, rewards, features = memory.space, memory.rewards, self.features
        squares, leverage, across = space.squares, space.arm[IMAGE], space.arm[ACROSS]
        follow_within(features, tally, squares)
        inverse = squares.square[TOLD, INVERSE]
        leader = predict_within(features, squares.line[TOLD, THETA], low, high, rewards)
        widths_within(features, inverse, low, high, leverage)
        image_of(inverse, features, leader, space.line[IMAGE])
        predict_within(features, space.line[IMAGE], low, high, across)
        apart = epsilon if self.identity else 0.0
        scale = 0.5 / (self.sigma * self.sigma)
        for x in range(low, high):
            spread = leverage[x] + leverage[leader] - 2.0 * across[x]
            gap = rewards[leader] - rewards[x] + apart
            memory.ratios[x] = scale * gap * gap / spread if spread > 0.0 else math.inf
            memory.masses[x] = 1.0 / max(leverage[x], TINY)
        memory.ratios[leader] = math.inf
        return leader

    def expect_means(self, tally: Tally, memory: Contest, out: np.ndarray) -> None:
        for x in range(out.shape[0]):
            out[x] = memory.rewards[x]

    def oppose(
        self, rival: int, leader: int, epsilon: float, tally: Tally, memory: Contest
    ) -> None:
        space, news = memory.space, memory.news
        inverse, across = space.squares.square[TOLD, INVERSE], space.line[BACK]
        for i in range(across.shape[0]):
            across[i] = 0.0
            for k in range(across.shape[0]):
                across[i] += inverse[i, k] * (self.features[k, rival] - self.features[k, leader])
        along(self.features, across, news)
        for x in range(news.shape[0]):
            news[x] = news[x] * news[x]

    def judge(self, epsilon: float, level: float, tally: Tally, memory: Contest) -> int:
        leader = self.regress_arms(tally, memory)
        space, verdict, d = memory.space, memory.verdict, self.features.shape[0]
        squares = space.squares
        inverse, leverage = squares.square[TOLD, INVERSE], squares.arm[TOLD, LEVERAGE]
        verdict[STATISTIC], verdict[CHARGE], verdict[RUNNER_UP] = math.inf, 0.0, -1.0
        image, back = space.line[IMAGE], space.line[BACK]
        image_of(inverse, self.features, leader, image)
        along(self.features, image, space.arm[ACROSS])
        verdict[CHARGE] = 0.5 * (
            log_volume(squares.square[TOLD, GRAM], self.prior, space.square) - self.volume
        )
        apart = epsilon if self.identity else 0.0
        scale = 0.5 / (self.sigma * self.sigma)
        for x in range(leverage.shape[0]):
            if x == leader:
                continue
            gap = memory.rewards[leader] - memory.rewards[x] + apart
            spread = leverage[x] + leverage[leader] - 2.0 * space.arm[ACROSS, x]
            if not spread > 0.0 or scale * gap * gap / spread >= verdict[STATISTIC]:
                if spread > 0.0 or gap > 0.0:
                    continue
            # what the prior takes off is worked out where it can matter
            for i in range(d):
                back[i] = -image[i]
                for k in range(d):
                    back[i] += inverse[i, k] * self.features[k, x]
            for i in range(d):
                for k in range(d):
                    spread += back[i] * self.prior[i, k] * back[k]
            found = scale * gap * gap / spread if spread > 0.0 else 0.0
            if found < verdict[STATISTIC]:
                verdict[STATISTIC], verdict[RUNNER_UP] = found, float(x)
            if verdict[STATISTIC] - verdict[CHARGE] < level < math.inf:
                return leader
        return leader


def spread_prior(features: np.ndarray) -> np.ndarray:
    """V₀: ``PSEUDO`` observations of each of d arms spread as the arms, given as columns, are."""
    d, n_arms = features.shape
    return np.asarray(PSEUDO * (d / n_arms) * (features @ features.T))


def linear_rivals(
    model: Model,
    features: np.ndarray,
    sigma: float,
    spanning: np.ndarray,
    flat: np.ndarray,
    identity: bool,
) -> LinearRivals:
    prior = spread_prior(features)
    volume = float(np.linalg.slogdet(prior)[1])
    return LinearRivals(model, features, sigma, spanning, flat, prior, volume, identity)
