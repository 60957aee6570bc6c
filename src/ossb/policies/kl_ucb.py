"""KL-UCB (Garivier and Cappé, 2011; Cappé et al., 2013)."""

import math
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.errors import InputError
from ossb.families import Family
from ossb.kernels import kernel
from ossb.policies.arms import (
    Nothing,
    best_mean,
    reward_is_observed,
    unplayed,
)
from ossb.policies.base import Kind
from ossb.records import record
from ossb.structures.base import Instance
from ossb.structures.offers import OWN_COMPONENT
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE, Decision, Tally, round_number

STEPS = 80
CLOSE = 1e-12  # relative step at which an index has converged


@kernel
def upper_mean(family: Family, mean: float, level: float, floor: float) -> float:
    """sup {q ≥ mean: kl(mean, q) ≤ level}, or ``floor`` where that is larger.

    Newton's method, which on a convex divergence comes down to the root from above, kept
    inside a bracket for divergences that are not convex.
    """
    low, high = mean, family.highest()
    if floor > mean:
        if floor >= high or family.kl(mean, floor) >= level:
            return floor
        low = floor
    unit = family.yardstick(mean)
    q = max(low, mean + math.sqrt(2.0 * level * max(family.variance(mean), unit * unit * level)))
    if q >= high:
        q = 0.5 * (low + high)
    for _ in range(STEPS):
        excess = family.kl(mean, q) - level
        if excess < 0.0:
            low = q
        else:
            high = q
        slope = family.slope(mean, q)
        step = q - excess / slope if slope > 0.0 else high
        if not low < step < high:
            step = 0.5 * (low + high) if high < math.inf else 2.0 * q - mean
        if abs(step - q) <= CLOSE * abs(q):
            return step
        q = step
    return q


@record
class KlUcb(NamedTuple):
    """Play the arm whose mean could be largest: max {q: N kl(mean, q) ≤ ln t + c ln ln t}."""

    family: Family
    c: float

    def _check(self) -> None:
        if not 0 <= self.c < math.inf:
            raise InputError("c", "be non-negative", self.c)

    def start(self) -> Nothing:
        return Nothing(np.zeros(1))

    def select(self, tally: Tally, memory: Nothing, rng: Generator) -> Decision:
        first = unplayed(tally)
        if first >= 0:
            return Decision(first, ESTIMATE)
        logarithm = math.log(round_number(tally))
        if self.c > 0.0:
            logarithm += self.c * math.log(max(logarithm, 1.0))
        leader = best_mean(tally)
        best = leader
        index = upper_mean(
            self.family, tally.means[leader], logarithm / tally.plays[leader], -math.inf
        )
        for x in range(tally.plays.shape[0]):
            if x != leader:
                value = upper_mean(self.family, tally.means[x], logarithm / tally.plays[x], index)
                if value > index:
                    best, index = x, value
        return Decision(best, EXPLOIT if best == leader else EXPLORE)


def build(instance: Instance, c: float) -> KlUcb:
    return KlUcb(instance.family, c)


KL_UCB = Kind(
    name="kl-ucb",
    build=build,
    parameters={"c": 0.0},
    needs=(OWN_COMPONENT,),
    reference="Garivier and Cappé (2011); Cappé, Garivier, Maillard, Munos and Stoltz (2013)",
    fits=reward_is_observed,
)
