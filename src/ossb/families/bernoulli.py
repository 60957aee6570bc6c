"""Bernoulli observations."""

import math
from typing import NamedTuple

from numpy.random import Generator

from ossb.families.excess import divergence_term, quotient
from ossb.kernels import kernel
from ossb.records import record

LEAST_VARIANCE = 1e-12  # where only zeros, or only ones, were shown


@kernel
def bernoulli_kl(p: float, q: float) -> float:
    """p ln(p/q) + (1 − p) ln((1 − p)/(1 − q)), exact at 0 and 1 and for close means.

    The sum of (q − p − p ln(q/p)) and of the same term of 1 − p and 1 − q: the linear parts
    cancel, and neither term is negative.
    """
    if p == q:
        return 0.0
    if q <= 0.0 or q >= 1.0:
        return math.inf
    return bernoulli_kl_off(p, q, 1.0 - q)


@kernel
def bernoulli_kl_off(p: float, q: float, off: float) -> float:
    """The divergence from p to the mean q in (0, 1), given with its distance ``off`` from 1."""
    if p <= 0.0:
        return -math.log1p(-q) if q < 0.5 else -math.log(off)
    if p >= 1.0:
        return -math.log1p(-off) if off < 0.5 else -math.log(q)
    return divergence_term(p, q, q - p) + divergence_term(1.0 - p, off, p - q)


@kernel
def bernoulli_slope(p: float, q: float) -> float:
    """Derivative of the divergence in its second mean."""
    if p == q:
        return 0.0
    spread = q * (1.0 - q)
    if spread <= 0.0:
        return math.inf if q > p else -math.inf
    return quotient(q - p, spread)


@kernel
def bernoulli_conjugate(theta: float, weight: float, slope: float) -> float:
    """sup over m in [0, 1] of slope · m − weight · kl(theta, m).

    The peak solves slope · m(1 − m) = weight · (m − theta).  It and its distance from 1 are
    each computed in the form that does not cancel: a steep slope puts the peak so near an end
    that one of them would round to nothing, and the divergence there to infinity.
    """
    if slope == 0.0:
        return 0.0
    if weight <= 0.0:
        return max(slope, 0.0)
    if theta <= 0.0 and slope <= weight:
        return 0.0
    if theta >= 1.0 and -slope <= weight:
        return slope
    difference, total = weight - slope, weight + slope
    root = math.sqrt(max(0.0, difference * difference + 4.0 * slope * weight * theta))
    if difference >= 0.0:
        peak = 2.0 * weight * theta / (difference + root)
    else:
        peak = (root - difference) / (2.0 * slope)
    if total >= 0.0:
        off = 2.0 * weight * (1.0 - theta) / (total + root)
    else:
        off = (root - total) / (-2.0 * slope)
    if peak <= 0.0 or off <= 0.0:  # only by underflow: the supremum is that of an end
        return max(slope, 0.0)
    if peak > 0.5 and slope > 0.0:
        return slope - slope * off - weight * bernoulli_kl_off(theta, peak, off)
    return slope * peak - weight * bernoulli_kl_off(theta, peak, off)


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

    def positive_variance(self, mean: float) -> float:
        return max(self.variance(mean), LEAST_VARIANCE)

    def yardstick(self, mean: float) -> float:
        return 1.0

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

    def positive_variance(self, mean: float) -> float:
        return max(self.variance(mean), LEAST_VARIANCE)

    def yardstick(self, mean: float) -> float:
        return 1.0

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
