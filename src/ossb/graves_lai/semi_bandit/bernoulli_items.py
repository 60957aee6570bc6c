"""Bernoulli items of a semi-bandit."""

import math
from typing import NamedTuple

from ossb.families.excess import divergence_term
from ossb.graves_lai.semi_bandit.item_family import EDGE
from ossb.records import record


@record
class BernoulliItems(NamedTuple):
    """Items that are 0 or 1; with ``sign`` −1, their negatives (for goals that minimise)."""

    sign: float = 1.0

    def quadratic(self) -> bool:
        return False

    def inner(self, mean: float) -> float:
        """The mean, in the family's own sign, kept from 0 and 1."""
        return min(max(self.sign * mean, EDGE), 1.0 - EDGE)

    def move(self, mean: float, weight: float, tau: float) -> tuple[float, float]:
        """By the root q of τ q (1 − q) = ± w (q − p), in the form that does not cancel."""
        p = self.inner(mean)
        near, far = (p, 1.0 - p) if self.sign > 0.0 else (1.0 - p, p)  # the mean moves to near
        difference = weight - tau
        root = math.sqrt(difference * difference + 4.0 * tau * weight * near)
        if difference >= 0.0:
            up = min(1.0, 2.0 * weight * near / (difference + root))
        else:
            up = min(1.0, (root - difference) / (2.0 * tau))
        down = 2.0 * weight * far / (weight + tau + root)
        both = up * down
        bend = near * (down * down) + far * (up * up)  # d″ times the square of both
        return tau * both / weight, both * (both / (bend * weight))

    def divergence(self, mean: float, shift: float) -> float:
        p, apart = self.inner(mean), self.sign * shift
        q, off = max(p + apart, 1e-300), max(1.0 - p - apart, 1e-300)
        return divergence_term(p, q, apart) + divergence_term(1.0 - p, off, -apart)

    def room(self, mean: float) -> float:
        return 1.0 - mean if self.sign > 0.0 else self.sign * mean

    def spread(self, mean: float) -> float:
        p = self.inner(mean)
        return p * (1.0 - p)

    def steepest(self, weight: float) -> float:
        return math.inf
