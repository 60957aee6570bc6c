"""Linear Thompson sampling (Agrawal and Goyal, 2013).

Draw θ̃ from N(θ̂, v² W), W = (I + Σ n x xᵀ)⁻¹, and play the best arm for it.

The I, a prior of one observation of 0 in every direction, is the paper's: with it decisions depend
on the units of features and on the level of rewards, and an arm never played looks hopeless where
rewards are several times the noise.  ``prior="flat"``, which is not in the paper, has none: arms
that span all others are played first, and nothing depends on either.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.errors import InputError
from ossb.fields import choice
from ossb.models.least_squares import INVERSE, THETA, TOLD, predict
from ossb.models.spanning import first_look
from ossb.models.within import first_within, follow_within, predict_within
from ossb.numerics.dense import cholesky
from ossb.policies.base import Kind
from ossb.policies.linear_arms import (
    FlatArms,
    Regression,
    features_of,
    flat_arms,
    new_regression,
    regress_on,
    shows_one_value,
)
from ossb.records import Floats, Ints, record
from ossb.structures.base import Instance
from ossb.structures.offers import FEATURES
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE, Decision, Tally


class ThompsonMemory(NamedTuple):
    regression: Regression
    factor: np.ndarray  # float64 (d, d): scratch
    normals: np.ndarray  # float64 (d,): the draw
    drawn: np.ndarray  # float64 (d,): θ̃


@record
class LinearThompson(NamedTuple):
    """Play the best arm of a draw around the estimate.

    Parameters
    ----------
    features
        The arms, as columns.
    sigma
        Standard deviation of the noise, R.
    grows
        v = σ √(½ d ln(t/δ)), as in the experiments of Combes et al. (2017); else v = σ, the
        posterior under the prior N(0, σ² I).
    delta
        δ of that.
    prior
        The precision of the prior: I, or one that is as good as none.
    first
        Arms to play first, none of them under I.
    """

    features: Floats
    sigma: float
    grows: bool
    delta: float
    prior: Floats
    first: Ints

    def _check(self) -> None:
        if not 0 < self.delta < 1:
            raise InputError("delta", "lie in (0, 1)", self.delta)

    def start(self) -> ThompsonMemory:
        d = self.features.shape[0]
        return ThompsonMemory(
            new_regression(self.features, self.prior), np.zeros((d, d)), np.zeros(d), np.zeros(d)
        )

    def select(self, tally: Tally, memory: ThompsonMemory, rng: Generator) -> Decision:
        look = first_look(self.first, tally)
        if look >= 0:
            return Decision(look, ESTIMATE)
        regression = memory.regression
        leader = regress_on(self.features, tally, regression)
        if not self.draw_parameter(tally, memory, rng):
            return Decision(leader, EXPLOIT)
        best = predict(self.features, memory.drawn, regression.rewards)
        return Decision(best, EXPLOIT if best == leader else EXPLORE)

    def choose(
        self, low: int, high: int, tally: Tally, memory: ThompsonMemory, rng: Generator
    ) -> Decision:
        """Decide among the rows low, …, high − 1."""
        look = first_within(self.first, low, high, tally)
        if look >= 0:
            return Decision(look, ESTIMATE)
        squares, rewards = memory.regression.squares, memory.regression.rewards
        follow_within(self.features, tally, squares)
        leader = predict_within(self.features, squares.line[TOLD, THETA], low, high, rewards)
        if not self.draw_parameter(tally, memory, rng):
            return Decision(leader, EXPLOIT)
        best = predict_within(self.features, memory.drawn, low, high, rewards)
        return Decision(best, EXPLOIT if best == leader else EXPLORE)

    def draw_parameter(self, tally: Tally, memory: ThompsonMemory, rng: Generator) -> bool:
        """Draw θ̃; False where W has no factor."""
        squares, d = memory.regression.squares, self.features.shape[0]
        spread = self.sigma
        if self.grows:
            spread *= math.sqrt(0.5 * d * math.log((tally.clock[0] + 1.0) / self.delta))
        for i in range(d):
            memory.normals[i] = spread * rng.standard_normal()
            memory.drawn[i] = squares.line[TOLD, THETA, i]
            for k in range(d):
                memory.factor[i, k] = squares.square[TOLD, INVERSE, i, k]
        if not cholesky(memory.factor, d):
            return False
        for i in range(d):
            for k in range(i, d):
                memory.drawn[k] += memory.factor[i, k] * memory.normals[i]
        return True


def build(instance: Instance, scale: str, delta: float, prior: str) -> LinearThompson:
    grows = choice(scale, "scale", ("paper", "posterior")) == "paper"
    if choice(prior, "prior", ("unit", "flat")) == "unit":
        features = features_of(instance)
        arms = FlatArms(features, np.zeros(0, np.int64), np.eye(features.shape[0]))
    else:
        arms = flat_arms(instance)
    return LinearThompson(arms.features, instance.sigma, grows, delta, arms.prior, arms.spanning)


LINEAR_THOMPSON = Kind(
    name="linear-thompson",
    build=build,
    parameters={"scale": "paper", "delta": 0.1, "prior": "unit"},
    needs=(FEATURES,),
    reference="Agrawal and Goyal (2013)",
    fits=shows_one_value,
    in_contexts=True,
    breaks={
        "level": "the ridge draws rewards to 0; none with prior=flat",
        "features": "the ridge is a length in their coordinates; none with prior=flat",
        "useless features": "the ridge counts a copy as another one; none with prior=flat",
    },
)
