"""OFUL, optimism in the face of uncertainty for linear arms (Abbasi-Yadkori et al., 2011).

With V = I + Σ n x xᵀ, the truth lies, with probability 1 − δ at all times, within
β = σ √(2 ln(1/δ) + ln det V) + S of θ̂ in the norm of V, S a bound on its length: play the
largest ⟨θ̂, x⟩ + β √(xᵀV⁻¹x).

The ridge I and S are the paper's, and are in the units of the features: decisions depend on these,
and on the level of rewards.
"""

import math
from typing import NamedTuple

from numpy.random import Generator

from ossb.errors import InputError
from ossb.models.least_squares import INVERSE, THETA, TOLD
from ossb.models.within import follow_within, predict_within, widths_within
from ossb.policies.base import Kind
from ossb.policies.linear_arms import (
    Regression,
    features_of,
    new_regression,
    regress_on,
    shows_one_value,
)
from ossb.records import Floats, record
from ossb.structures.base import Instance
from ossb.structures.offers import FEATURES
from ossb.tally import EXPLOIT, EXPLORE, Decision, Tally


@record
class Oful(NamedTuple):
    """Play the arm that could be best for a parameter within the confidence ellipsoid.

    Parameters
    ----------
    features
        The arms, as columns.
    sigma
        Standard deviation of the noise.
    delta
        Probability with which the ellipsoid may ever miss the truth.
    norm
        S, a bound on the length of the true parameter.
    """

    features: Floats
    sigma: float
    delta: float
    norm: float

    def _check(self) -> None:
        if not 0 < self.delta < 1:
            raise InputError("delta", "lie in (0, 1)", self.delta)
        if not 0 <= self.norm < math.inf:
            raise InputError("norm", "be non-negative", self.norm)

    def start(self) -> Regression:
        return new_regression(self.features)

    def select(self, tally: Tally, memory: Regression, rng: Generator) -> Decision:
        leader = regress_on(self.features, tally, memory)
        return self.promising(0, self.features.shape[1], leader, memory)

    def choose(
        self, low: int, high: int, tally: Tally, memory: Regression, rng: Generator
    ) -> Decision:
        """Decide among the rows low, …, high − 1."""
        squares = memory.squares
        now = follow_within(self.features, tally, squares)
        theta, inverse = squares.line[TOLD, THETA], squares.square[now, INVERSE]
        leader = predict_within(self.features, theta, low, high, memory.rewards)
        widths_within(self.features, inverse, low, high, memory.widths)
        return self.promising(low, high, leader, memory)

    def promising(self, low: int, high: int, leader: int, memory: Regression) -> Decision:
        """The row of the largest index."""
        volume = memory.squares.log_det[TOLD]
        radius = self.sigma * math.sqrt(2.0 * math.log(1.0 / self.delta) + volume) + self.norm
        best, index = leader, -math.inf
        for x in range(low, high):
            value = memory.rewards[x] + radius * math.sqrt(memory.widths[x])
            if value > index:
                best, index = x, value
        return Decision(best, EXPLOIT if best == leader else EXPLORE)


def build(instance: Instance, delta: float, norm: float) -> Oful:
    return Oful(features_of(instance), instance.sigma, delta, norm)


OFUL = Kind(
    name="oful",
    build=build,
    parameters={"delta": 0.01, "norm": 1.0},
    needs=(FEATURES,),
    reference="Abbasi-Yadkori, Pál and Szepesvári (2011)",
    fits=shows_one_value,
    in_contexts=True,
    breaks={
        "units": "norm, the bound on the length of the parameter, has the unit of rewards",
        "level": "the ridge draws rewards to 0",
        "features": "the ridge and norm are lengths in their coordinates",
        "useless features": "the ridge counts a copy as another one",
    },
)
