"""Gaussian observations of known standard deviation."""

import math
from typing import NamedTuple

from numpy.random import Generator

from ossb.errors import InputError
from ossb.records import record

LEAST_VARIANCE = 1e-300  # of standard deviations whose squares doubles do not hold


@record
class Gaussian(NamedTuple):
    """N(mean, sigma²); the mirror image of a Gaussian is itself, so ``sign`` only flips samples."""

    sigma: float = 1.0
    sign: float = 1.0

    def _check(self) -> None:
        if not (self.sigma > 0 and math.isfinite(self.sigma)):
            raise InputError("sigma", "be a positive number", self.sigma)

    def kl(self, p: float, q: float) -> float:
        """KL divergence between the laws of means ``p`` and ``q``."""
        distance = (p - q) / self.sigma
        return 0.5 * distance * distance

    def slope(self, p: float, q: float) -> float:
        """Derivative of ``kl(p, q)`` in ``q``."""
        return (q - p) / (self.sigma * self.sigma)

    def variance(self, mean: float) -> float:
        return self.sigma * self.sigma

    def positive_variance(self, mean: float) -> float:
        """The variance, whatever the unit; what a policy divides by."""
        return max(self.sigma * self.sigma, LEAST_VARIANCE)

    def yardstick(self, mean: float) -> float:
        """What observations are counted in, for differences that are taken for none."""
        return self.sigma

    def lowest(self) -> float:
        """The least mean there is."""
        return -math.inf

    def highest(self) -> float:
        """The greatest mean there is."""
        return math.inf

    def sample(self, mean: float, rng: Generator) -> float:
        return mean + self.sigma * rng.standard_normal()

    def conjugate(self, theta: float, weight: float, slope: float) -> float:
        """sup over means m of slope · m − weight · kl(theta, m)."""
        if slope == 0.0:
            return 0.0
        if weight <= 0.0:
            return math.inf
        return slope * theta + 0.5 * (slope * self.sigma) * (slope * self.sigma) / weight

    def covers(self, observation: float) -> bool:
        """Whether such an observation can occur."""
        return math.isfinite(observation)
