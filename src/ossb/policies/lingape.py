"""LinGapE (Xu, Honda and Sugiyama, 2018): play what tells the two most doubtful linear arms apart.

With A = Σ n x xᵀ, i the best arm of least squares and j the one that could most be better,
argmax ⟨θ̂, x_j − x_i⟩ + C ‖x_j − x_i‖ in the norm of A⁻¹, C = σ √(2 ln(K² / δ) + ln det A / det λI),
play the arm a that leaves the least ‖x_j − x_i‖ in the norm of (A + a aᵀ)⁻¹: their greedy choice.

Departures: estimates have no ridge, and arms that span the others are played first, in the place of
all; in the determinants λI is four observations of each of d arms spread as the arms are, and the
term √λ S, which needs a bound S on the parameter, is left out.  Nothing so depends on the
units of features.  When to stop is not its to say here: see ``ossb.models.rivals``.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.errors import InputError
from ossb.models.least_squares import (
    FACTOR,
    GRAM,
    INVERSE,
    LEVERAGE,
    THETA,
    TOLD,
    LeastSquares,
    follow_tally,
    new_least_squares,
    predict,
)
from ossb.models.rivals.linear import along, image_of, log_volume, spread_prior
from ossb.models.spanning import first_look
from ossb.policies.base import Kind
from ossb.policies.linear_arms import flat_arms, shows_one_value
from ossb.records import Floats, Ints, record
from ossb.structures.base import Instance
from ossb.structures.offers import FEATURES
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE, Decision, Tally


class LinGapEMemory(NamedTuple):
    """The regression, and work."""

    squares: LeastSquares
    rewards: np.ndarray  # float64 (n_arms,)
    across: np.ndarray  # float64 (n_arms,)
    image: np.ndarray  # float64 (d,)


@record
class LinGapE(NamedTuple):
    """Play what narrows the gap in doubt the most.

    Parameters
    ----------
    features
        The arms in coordinates of their own, as columns.
    spanning
        Arms that span the others.
    flat
        A prior as good as none.
    prior, volume
        λI, and the logarithm of its determinant.
    delta
        The probability with which a test may be wrong.
    """

    features: Floats
    spanning: Ints
    flat: Floats
    prior: Floats
    volume: float
    sigma: float
    delta: float

    def _check(self) -> None:
        if not 0 < self.delta < 1:
            raise InputError("delta", "lie in (0, 1)", self.delta)

    def start(self) -> LinGapEMemory:
        d, n = self.features.shape
        return LinGapEMemory(
            new_least_squares(d, n, self.flat), np.zeros(n), np.zeros(n), np.zeros(d)
        )

    def select(self, tally: Tally, memory: LinGapEMemory, rng: Generator) -> Decision:
        first = first_look(self.spanning, tally)
        if first >= 0:
            return Decision(first, ESTIMATE)
        squares, rewards, across = memory.squares, memory.rewards, memory.across
        now = follow_tally(self.features, tally, squares)
        leader = predict(self.features, squares.line[TOLD, THETA], rewards)
        inverse, leverage = squares.square[now, INVERSE], squares.arm[now, LEVERAGE]
        rival = self.most_doubtful(leader, now, memory)
        if rival < 0:
            return Decision(leader, EXPLOIT)
        # (A + a aᵀ)⁻¹ takes ⟨a, A⁻¹u⟩² / (1 + aᵀA⁻¹a) off uᵀA⁻¹u
        image = memory.image
        for i in range(image.shape[0]):
            image[i] = 0.0
            for k in range(image.shape[0]):
                apart = self.features[k, rival] - self.features[k, leader]
                image[i] += inverse[i, k] * apart
        along(self.features, image, across)
        best, most = leader, -math.inf
        for x in range(across.shape[0]):
            taken = across[x] * across[x] / (1.0 + max(leverage[x], 0.0))
            if taken > most:
                best, most = x, taken
        return Decision(best, EXPLOIT if best == leader else EXPLORE)

    def most_doubtful(self, leader: int, now: int, memory: LinGapEMemory) -> int:
        """j; −1 where there is one arm."""
        squares, rewards, across = memory.squares, memory.rewards, memory.across
        leverage, n_arms = squares.arm[now, LEVERAGE], float(rewards.shape[0])
        grown = log_volume(squares.square[now, GRAM], self.prior, squares.square[now, FACTOR])
        level = 2.0 * math.log(n_arms * n_arms / self.delta) + max(grown - self.volume, 0.0)
        radius = self.sigma * math.sqrt(level)
        image_of(squares.square[now, INVERSE], self.features, leader, memory.image)
        along(self.features, memory.image, across)
        rival, index = -1, -math.inf
        for x in range(rewards.shape[0]):
            spread = max(leverage[x] + leverage[leader] - 2.0 * across[x], 0.0)
            value = rewards[x] - rewards[leader] + radius * math.sqrt(spread)
            if x != leader and value > index:
                rival, index = x, value
        return rival


def build(instance: Instance, delta: float) -> LinGapE:
    arms = flat_arms(instance)
    prior = spread_prior(arms.features)
    volume = float(np.linalg.slogdet(prior)[1])
    return LinGapE(arms.features, arms.spanning, arms.prior, prior, volume, instance.sigma, delta)


LINGAPE = Kind(
    name="lingape",
    build=build,
    parameters={"delta": 0.05},
    needs=(FEATURES,),
    reference="Xu, Honda and Sugiyama (2018)",
    fits=shows_one_value,
)
