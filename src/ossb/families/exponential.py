"""Exponential observations."""

import math
from typing import NamedTuple

from numpy.random import Generator

from ossb.families.excess import excess, log_ratio, quotient
from ossb.kernels import kernel
from ossb.records import record

LEAST_VARIANCE = 1e-300  # of times whose squares doubles do not hold, and before the first


@kernel
def exponential_kl(p: float, q: float) -> float:
    """p/q − 1 − ln(p/q): the excess of (p − q)/q, or as it stands for means far apart."""
    if p == q:
        return 0.0
    if q <= 0.0 or p <= 0.0:
        return math.inf
    distance = quotient(p - q, q)
    if abs(distance) > 0.5:
        return distance - log_ratio(p, q)
    return excess(distance)


@record
class Exponential(NamedTuple):
    """Waiting times; with ``sign`` −1, their negatives (for goals that minimise).

    The divergence is not convex in its second mean, so this family has no ``conjugate`` and
    serves the structures that need none.
    """

    sign: float = 1.0

    def kl(self, p: float, q: float) -> float:
        return exponential_kl(self.sign * p, self.sign * q)

    def slope(self, p: float, q: float) -> float:
        a, b = self.sign * p, self.sign * q
        if a == b:
            return 0.0
        if b <= 0.0:
            return -self.sign * math.inf
        return self.sign * quotient(quotient(b - a, b), b)

    def variance(self, mean: float) -> float:
        return mean * mean

    def positive_variance(self, mean: float) -> float:
        return max(self.variance(mean), LEAST_VARIANCE)

    def yardstick(self, mean: float) -> float:
        return math.sqrt(self.positive_variance(mean))  # the unit of times is the user's

    def lowest(self) -> float:
        return 0.0 if self.sign > 0.0 else -math.inf

    def highest(self) -> float:
        return math.inf if self.sign > 0.0 else 0.0

    def sample(self, mean: float, rng: Generator) -> float:
        return mean * rng.standard_exponential()

    def covers(self, observation: float) -> bool:
        return 0.0 < self.sign * observation < math.inf  # 0 would rule out every mean
