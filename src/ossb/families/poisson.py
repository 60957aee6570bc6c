"""Poisson observations."""

import math
from typing import NamedTuple

from numpy.random import Generator

from ossb.families.excess import divergence_term, quotient
from ossb.kernels import allocating_kernel, kernel
from ossb.records import record

LEAST_VARIANCE = 1e-12  # where only zeros were shown


@kernel
def poisson_kl(p: float, q: float) -> float:
    """p ln(p/q) − p + q."""
    if p == q:
        return 0.0
    if q <= 0.0:
        return math.inf
    if p <= 0.0:
        return q
    return divergence_term(p, q, q - p)


@allocating_kernel
def draw(mean: float, rng: Generator) -> float:
    """A count; numba's version of the generator's allocates."""
    return float(rng.poisson(mean))


@record
class Poisson(NamedTuple):
    """Counts; with ``sign`` −1, their negatives (for goals that minimise)."""

    sign: float = 1.0

    def kl(self, p: float, q: float) -> float:
        return poisson_kl(self.sign * p, self.sign * q)

    def slope(self, p: float, q: float) -> float:
        a, b = self.sign * p, self.sign * q
        if a == b:
            return 0.0
        if b <= 0.0:
            return -self.sign * math.inf
        return self.sign * quotient(b - a, b)

    def variance(self, mean: float) -> float:
        return self.sign * mean

    def positive_variance(self, mean: float) -> float:
        return max(self.variance(mean), LEAST_VARIANCE)

    def yardstick(self, mean: float) -> float:
        return 1.0

    def lowest(self) -> float:
        return 0.0 if self.sign > 0.0 else -math.inf

    def highest(self) -> float:
        return math.inf if self.sign > 0.0 else 0.0

    def sample(self, mean: float, rng: Generator) -> float:
        return self.sign * draw(self.sign * mean, rng)

    def conjugate(self, theta: float, weight: float, slope: float) -> float:
        t, s = self.sign * theta, self.sign * slope
        if s == 0.0 or (s < 0.0 and weight <= 0.0):
            return 0.0
        if t <= 0.0 and s <= weight:
            return 0.0
        if s >= weight:
            return math.inf
        # −weight · theta · ln(1 − slope/weight), the peak being theta/(1 − slope/weight)
        return -weight * t * math.log1p(-s / weight)

    def covers(self, observation: float) -> bool:
        count = self.sign * observation
        return 0.0 <= count < math.inf and count == math.floor(count)
