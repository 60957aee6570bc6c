"""LinUCB (Li, Chu, Langford and Schapire, 2010), with one parameter for all arms.

With A = I + Σ n x xᵀ, play the largest ⟨θ̂, x⟩ + α √(xᵀA⁻¹x), α = 1 + √(ln(2/δ) / 2) in units of the
noise.  The paper's rewards lie in [0, 1]; its arms may have parameters of their own, which rows
of features say as well (``interaction = "product"`` with a context).

The ridge I is the paper's, and in the units of the features: decisions depend on these, and on the
level of rewards.
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
    shows_one_value,
)
from ossb.records import Floats, record
from ossb.structures.base import Instance
from ossb.structures.offers import FEATURES
from ossb.tally import EXPLOIT, EXPLORE, Decision, Tally


@record
class LinUcb(NamedTuple):
    """Play the largest index of ridge regression.

    Parameters
    ----------
    features
        The arms, as columns.
    sigma
        Standard deviation of the noise.
    alpha
        α.
    """

    features: Floats
    sigma: float
    alpha: float

    def _check(self) -> None:
        if not 0 <= self.alpha < math.inf:
            raise InputError("alpha", "be non-negative", self.alpha)

    def start(self) -> Regression:
        return new_regression(self.features)

    def select(self, tally: Tally, memory: Regression, rng: Generator) -> Decision:
        return self.choose(0, self.features.shape[1], tally, memory, rng)

    def choose(
        self, low: int, high: int, tally: Tally, memory: Regression, rng: Generator
    ) -> Decision:
        """Decide among the rows low, …, high − 1."""
        squares = memory.squares
        now = follow_within(self.features, tally, squares)
        theta, inverse = squares.line[TOLD, THETA], squares.square[now, INVERSE]
        leader = predict_within(self.features, theta, low, high, memory.rewards)
        widths_within(self.features, inverse, low, high, memory.widths)
        best, index = leader, -math.inf
        for x in range(low, high):
            value = memory.rewards[x] + self.alpha * self.sigma * math.sqrt(memory.widths[x])
            if value > index:
                best, index = x, value
        return Decision(best, EXPLOIT if best == leader else EXPLORE)


def build(instance: Instance, alpha: float | None, delta: float) -> LinUcb:
    if not 0 < delta < 1:
        raise InputError("delta", "lie in (0, 1)", delta)
    if alpha is None:
        alpha = 1.0 + math.sqrt(0.5 * math.log(2.0 / delta))
    return LinUcb(features_of(instance), instance.sigma, alpha)


LIN_UCB = Kind(
    name="lin-ucb",
    build=build,
    parameters={"alpha": None, "delta": 0.05},
    needs=(FEATURES,),
    reference="Li, Chu, Langford and Schapire (2010)",
    fits=shows_one_value,
    in_contexts=True,
    breaks={
        "level": "the ridge draws rewards to 0",
        "features": "the ridge is a length in their coordinates",
        "useless features": "the ridge counts a copy as another one",
    },
)
