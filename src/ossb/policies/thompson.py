"""Thompson sampling for independent arms (Thompson, 1933; Kaufmann, Korda and Munos, 2012)."""

import math
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.policies.arms import (
    Nothing,
    best_mean,
    reward_is_observed,
    unplayed,
)
from ossb.policies.base import Kind
from ossb.policies.evidence import best_told
from ossb.records import record
from ossb.structures.base import Instance
from ossb.structures.offers import OWN_COMPONENT
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE, Decision, Tally


@record
class BetaThompson(NamedTuple):
    """Beta(1, 1) prior; for values inside [0, 1], their mean stands for the share of ones."""

    sign: float

    def start(self) -> Nothing:
        return Nothing(np.zeros(1))

    def select(self, tally: Tally, memory: Nothing, rng: Generator) -> Decision:
        counts, means, sign = tally.counts, tally.means, self.sign
        best, index = 0, -math.inf
        for x in range(tally.plays.shape[0]):
            ones = counts[x] * sign * means[x]
            zeros = counts[x] - ones
            ones, zeros = ones if ones > 0.0 else 0.0, zeros if zeros > 0.0 else 0.0
            value = sign * rng.beta(ones + 1.0, zeros + 1.0)
            if value > index:
                best, index = x, value
        return Decision(best, EXPLOIT if best == best_told(tally) else EXPLORE)


@record
class GaussianThompson(NamedTuple):
    """Flat prior: each arm once, then N(mean, σ²/N)."""

    sigma: float

    def start(self) -> Nothing:
        return Nothing(np.zeros(1))

    def select(self, tally: Tally, memory: Nothing, rng: Generator) -> Decision:
        first = unplayed(tally)
        if first >= 0:
            return Decision(first, ESTIMATE)
        best, index = 0, -math.inf
        for x in range(tally.plays.shape[0]):
            deviation = self.sigma / math.sqrt(max(tally.counts[x], 1))
            value = tally.means[x] + deviation * rng.standard_normal()
            if value > index:
                best, index = x, value
        return Decision(best, EXPLOIT if best == best_mean(tally) else EXPLORE)


def build(instance: Instance) -> BetaThompson | GaussianThompson:
    if instance.observation == "gaussian":
        return GaussianThompson(instance.sigma)
    return BetaThompson(instance.sign)


def fits(instance: Instance) -> str | None:
    if instance.observation not in ("gaussian", "bernoulli", "bounded"):
        return "is for gaussian, bernoulli and bounded observations"
    return reward_is_observed(instance)


THOMPSON = Kind(
    name="thompson",
    build=build,
    parameters={},
    by_numbers=True,
    needs=(OWN_COMPONENT,),
    reference="Thompson (1933); Kaufmann, Korda and Munos (2012)",
    fits=fits,
)
