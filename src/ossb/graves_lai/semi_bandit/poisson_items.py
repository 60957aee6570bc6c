"""Poisson items of a semi-bandit."""

import math
from typing import NamedTuple

from ossb.families.excess import divergence_term
from ossb.graves_lai.semi_bandit.item_family import EDGE
from ossb.records import record


@record
class PoissonItems(NamedTuple):
    """Items that are counts; with ``sign`` −1, their negatives (for goals that minimise)."""

    sign: float = 1.0

    def quadratic(self) -> bool:
        return False

    def inner(self, mean: float) -> float:
        """The mean, in the family's own sign, kept from 0."""
        return max(self.sign * mean, EDGE)

    def move(self, mean: float, weight: float, tau: float) -> tuple[float, float]:
        grown = self.inner(mean) / (weight - self.sign * tau)
        return tau * grown, grown * (weight / (weight - self.sign * tau))

    def divergence(self, mean: float, shift: float) -> float:
        p, apart = self.inner(mean), self.sign * shift
        return divergence_term(p, max(p + apart, 1e-300), apart)

    def room(self, mean: float) -> float:
        return math.inf if self.sign > 0.0 else self.sign * mean

    def spread(self, mean: float) -> float:
        return self.inner(mean)

    def steepest(self, weight: float) -> float:
        return weight if self.sign > 0.0 else math.inf
