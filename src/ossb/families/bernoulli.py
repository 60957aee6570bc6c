"""Bernoulli observations."""

import math
from typing import NamedTuple

from numpy.random import Generator

from ossb.families.excess import excess
from ossb.kernels import kernel
from ossb.records import record


@kernel
def bernoulli_kl(p: float, q: float) -> float:
    """p ln(p/q) + (1 − p) ln((1 − p)/(1 − q)), exact at 0 and 1 and for close means.

    Both logarithms are written as excesses of ln, whose linear parts cancel exactly:
    kl = p · e((q − p)/p) + (1 − p) · e((p − q)/(1 − p)) with e(x) = x − ln(1 + x).
    """
    if p == q:
        return 0.0
    if q <= 0.0 or q >= 1.0:
        return math.inf
    if p <= 0.0:
        return -math.log1p(-q)
    if p >= 1.0:
        return -math.log(q)
    return p * excess((q - p) / p) + (1.0 - p) * excess((p - q) / (1.0 - p))


@kernel
def bernoulli_peak(theta: float, weight: float, slope: float) -> float:
    """The mean m in [0, 1] that maximises slope · m − weight · kl(theta, m).

    The root of slope · m(1 − m) = weight · (m − theta), in the form that does not cancel.
    """
    difference = weight - slope
    root = math.sqrt(max(0.0, difference * difference + 4.0 * slope * weight * theta))
    if difference == 0.0 and root == 0.0:
        return theta
    if difference >= 0.0:
        return min(1.0, max(0.0, 2.0 * weight * theta / (difference + root)))
    return min(1.0, max(0.0, (root - difference) / (2.0 * slope)))


@kernel
def bernoulli_slope(p: float, q: float) -> float:
    """Derivative of the divergence in its second mean."""
    if p == q:
        return 0.0
    spread = q * (1.0 - q)
    if spread <= 0.0:
        return math.inf if q > p else -math.inf
    return (q - p) / spread


@kernel
def bernoulli_conjugate(theta: float, weight: float, slope: float) -> float:
    """sup over m in [0, 1] of slope · m − weight · kl(theta, m)."""
    if slope == 0.0:
        return 0.0
    if weight <= 0.0:
        return max(slope, 0.0)
    peak = bernoulli_peak(theta, weight, slope)
    return slope * peak - weight * bernoulli_kl(theta, peak)


@record
class Bernoulli(NamedTuple):
    """Values 0 and 1; with ``sign`` −1, their negatives (for goals that minimise)."""

    sign: float = 1.0

    def kl(self, p: float, q: float) -> float:
        return bernoulli_kl(self.sign * p, self.sign * q)

    def slope(self, p: float, q: float) -> float:
        return self.sign * bernoulli_slope(self.sign * p, self.sign * q)

    def variance(self, mean: float) -> float:
        m = self.sign * mean
        return m * (1.0 - m)

    def lowest(self) -> float:
        return min(0.0, self.sign)

    def highest(self) -> float:
        return max(0.0, self.sign)

    def sample(self, mean: float, rng: Generator) -> float:
        return self.sign if rng.random() < self.sign * mean else 0.0

    def conjugate(self, theta: float, weight: float, slope: float) -> float:
        return bernoulli_conjugate(self.sign * theta, weight, self.sign * slope)

    def covers(self, observation: float) -> bool:
        return observation == 0.0 or observation == self.sign


@record
class Bounded(NamedTuple):
    """Values anywhere in [0, 1], treated with the Bernoulli divergence.

    No law on [0, 1] of a given mean is harder to tell apart than the Bernoulli one.  Simulated
    values are uniform on the longest interval of [0, 1] centred at the mean.
    """

    sign: float = 1.0

    def kl(self, p: float, q: float) -> float:
        return bernoulli_kl(self.sign * p, self.sign * q)

    def slope(self, p: float, q: float) -> float:
        return self.sign * bernoulli_slope(self.sign * p, self.sign * q)

    def variance(self, mean: float) -> float:
        m = self.sign * mean
        return m * (1.0 - m)

    def lowest(self) -> float:
        return min(0.0, self.sign)

    def highest(self) -> float:
        return max(0.0, self.sign)

    def sample(self, mean: float, rng: Generator) -> float:
        m = self.sign * mean
        return self.sign * (m + min(m, 1.0 - m) * (2.0 * rng.random() - 1.0))

    def conjugate(self, theta: float, weight: float, slope: float) -> float:
        return bernoulli_conjugate(self.sign * theta, weight, self.sign * slope)

    def covers(self, observation: float) -> bool:
        return 0.0 <= self.sign * observation <= 1.0
