"""GLM-UCB (Filippi, Cappé, Garivier and Szepesvári, 2010).

Play arms that span all others, then, with V = Σ n x xᵀ, the largest g(⟨θ̂, x⟩) + ρ(t) √(xᵀV⁻¹x),
ρ(t) = c √(½ ln t) in units of the noise.  On linear arms, and where plays show the index ⟨φ, x⟩,
θ̂ is least squares and g may be left out; on generalised linear ones it is the maximum-likelihood
estimate.

The paper's ρ has more factors, the largest reward and bounds of the slopes of g among them: they
are left to c.  Counts have no largest reward, and c = 1 takes their noise for that of a mean of 1:
with rates of 20 to 40 runs may keep to the second best arm for ever, and c of about √rate is called
for.

Departure: where plays show the reward, the likelihood has the prior of ``models/glm.py`` in the
place of the paper's projection on a set of parameters known to be admissible: the logistic maximum
does not exist under separation.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.errors import InputError
from ossb.kernels import kernel
from ossb.models.glm import GlmLook, GlmModel
from ossb.models.least_squares import INVERSE, THETA, TOLD
from ossb.models.spanning import first_look
from ossb.models.within import (
    first_within,
    follow_within,
    leader_within,
    predict_within,
    widths_within,
)
from ossb.policies.base import Kind
from ossb.policies.linear_arms import (
    Regression,
    flat_arms,
    new_regression,
    regress_on,
    shows_one_value,
)
from ossb.records import Floats, Ints, record
from ossb.structures.offers import FEATURES, LINKED_FEATURES
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE, Decision, Tally, round_number


class GlmUcbMemory(NamedTuple):
    model: GlmLook
    regression: Regression  # of which the widths are used


@kernel
def spread(tally: Tally) -> float:
    """√(½ ln t)."""
    return math.sqrt(0.5 * math.log(round_number(tally)))


@kernel
def most_promising(
    rewards: np.ndarray, widths: np.ndarray, radius: float, low: int, high: int
) -> int:
    """argmax of reward + radius √width among some rows, lowest on ties."""
    best, index = low, -math.inf
    for x in range(low, high):
        value = rewards[x] + radius * math.sqrt(widths[x])
        if value > index:
            best, index = x, value
    return best


@record
class LinearUcb(NamedTuple):
    """The index of least squares.

    Parameters
    ----------
    features
        The arms, as columns, in coordinates of their own.
    first
        Arms that span all others.
    prior
        The precision of a prior that is as good as none.
    sigma
        Standard deviation of the noise.
    scale
        c.
    """

    features: Floats
    first: Ints
    prior: Floats
    sigma: float
    scale: float

    def _check(self) -> None:
        if not 0 < self.scale < math.inf:
            raise InputError("scale", "be positive", self.scale)

    def start(self) -> Regression:
        return new_regression(self.features, self.prior)

    def select(self, tally: Tally, memory: Regression, rng: Generator) -> Decision:
        look = first_look(self.first, tally)
        if look >= 0:
            return Decision(look, ESTIMATE)
        leader = regress_on(self.features, tally, memory)
        radius = self.scale * self.sigma * spread(tally)
        best = most_promising(memory.rewards, memory.widths, radius, 0, self.features.shape[1])
        return Decision(best, EXPLOIT if best == leader else EXPLORE)

    def choose(
        self, low: int, high: int, tally: Tally, memory: Regression, rng: Generator
    ) -> Decision:
        """Decide among the rows low, …, high − 1."""
        look = first_within(self.first, low, high, tally)
        if look >= 0:
            return Decision(look, ESTIMATE)
        squares = memory.squares
        now = follow_within(self.features, tally, squares)
        theta, inverse = squares.line[TOLD, THETA], squares.square[now, INVERSE]
        leader = predict_within(self.features, theta, low, high, memory.rewards)
        widths_within(self.features, inverse, low, high, memory.widths)
        radius = self.scale * self.sigma * spread(tally)
        best = most_promising(memory.rewards, memory.widths, radius, low, high)
        return Decision(best, EXPLOIT if best == leader else EXPLORE)


@record
class GlmUcb(NamedTuple):
    """The index of the maximum-likelihood estimate.

    Parameters
    ----------
    model
        The structure.
    prior
        The precision of a prior that is as good as none, for the widths.
    scale
        c.
    """

    model: GlmModel
    prior: Floats
    scale: float

    def _check(self) -> None:
        if not 0 < self.scale < math.inf:
            raise InputError("scale", "be positive", self.scale)

    def start(self) -> GlmUcbMemory:
        return GlmUcbMemory(self.model.start(), new_regression(self.model.features, self.prior))

    def select(self, tally: Tally, memory: GlmUcbMemory, rng: Generator) -> Decision:
        look = self.model.unseen(tally)
        if look >= 0:
            return Decision(look, ESTIMATE)
        leader = self.model.project(tally, memory.model)
        regression = memory.regression
        regress_on(self.model.features, tally, regression)
        radius = self.scale * self.model.sigma * spread(tally)
        n_arms = self.model.n_arms
        best = most_promising(memory.model.rewards, regression.widths, radius, 0, n_arms)
        return Decision(best, EXPLOIT if best == leader else EXPLORE)

    def choose(
        self, low: int, high: int, tally: Tally, memory: GlmUcbMemory, rng: Generator
    ) -> Decision:
        """Decide among the rows low, …, high − 1."""
        features, regression = self.model.features, memory.regression
        look = first_within(self.model.spanning, low, high, tally)
        if look >= 0:
            return Decision(look, ESTIMATE)
        self.model.project(tally, memory.model)
        leader = leader_within(memory.model.rewards, low, high)
        now = follow_within(features, tally, regression.squares)
        inverse = regression.squares.square[now, INVERSE]
        widths_within(features, inverse, low, high, regression.widths)
        radius = self.scale * self.model.sigma * spread(tally)
        best = most_promising(memory.model.rewards, regression.widths, radius, low, high)
        return Decision(best, EXPLOIT if best == leader else EXPLORE)


def build(instance: Any, scale: float) -> LinearUcb | GlmUcb:
    arms = flat_arms(instance)
    if FEATURES not in instance.offers and instance.observes == "reward":
        return GlmUcb(instance.model(), arms.prior, scale)
    return LinearUcb(arms.features, arms.spanning, arms.prior, instance.sigma, scale)


GLM_UCB = Kind(
    name="glm-ucb",
    build=build,
    parameters={"scale": 1.0},
    needs=(LINKED_FEATURES,),
    reference="Filippi, Cappé, Garivier and Szepesvári (2010)",
    fits=shows_one_value,
    in_contexts=True,
)
