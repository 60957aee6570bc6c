"""Gaussian items."""

import math
from typing import NamedTuple

from ossb.records import record


@record
class GaussianItems(NamedTuple):
    """Items observed with independent Gaussian noise of standard deviation ``sigma``."""

    sigma: float = 1.0

    def quadratic(self) -> bool:
        return True

    def move(self, mean: float, weight: float, tau: float) -> tuple[float, float]:
        flat = self.sigma * self.sigma / weight
        return tau * flat, flat

    def divergence(self, mean: float, shift: float) -> float:
        return shift * shift / (2.0 * self.sigma * self.sigma)

    def spread(self, mean: float) -> float:
        return self.sigma * self.sigma

    def room(self, mean: float) -> float:
        return math.inf

    def steepest(self, weight: float) -> float:
        return math.inf
