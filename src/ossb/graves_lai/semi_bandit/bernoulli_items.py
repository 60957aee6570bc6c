"""Bernoulli items of a semi-bandit."""

import math
from typing import NamedTuple

from ossb.families.bernoulli import bernoulli_kl
from ossb.graves_lai.semi_bandit.tilting import (
    EDGE,
    fill_curvature,
    fill_gradients,
    fill_information,
)
from ossb.records import Floats, record


@record
class BernoulliItems(NamedTuple):
    """Items that are 0 or 1; with ``sign`` −1, their negatives (for goals that minimise)."""

    sign: float = 1.0

    def quadratic(self) -> bool:
        return False

    def inner(self, mean: float) -> float:
        """The mean, in the family's own sign, kept from 0 and 1."""
        return min(max(self.sign * mean, EDGE), 1.0 - EDGE)

    def tilted(self, mean: float, weight: float, tau: float) -> float:
        """The root of slope · q (1 − q) = weight · (q − p), in the form that does not cancel."""
        p = self.inner(mean)
        slope = self.sign * tau
        difference = weight - slope
        root = math.sqrt(difference * difference + 4.0 * slope * weight * p)
        if difference >= 0.0:
            return self.sign * min(1.0, 2.0 * weight * p / (difference + root))
        return self.sign * min(1.0, (root - difference) / (2.0 * slope))

    def divergence(self, mean: float, other: float) -> float:
        return bernoulli_kl(self.inner(mean), min(max(self.sign * other, 1e-300), 1.0 - 1e-16))

    def bend(self, mean: float, other: float) -> float:
        p = self.inner(mean)
        q = min(max(self.sign * other, 1e-150), 1.0 - 1e-16)
        return p / (q * q) + (1.0 - p) / ((1.0 - q) * (1.0 - q))

    def room(self, mean: float) -> float:
        return 1.0 - mean if self.sign > 0.0 else self.sign * mean

    def spread(self, mean: float) -> float:
        p = self.inner(mean)
        return p * (1.0 - p)

    def steepest(self, weight: float) -> float:
        return math.inf

    def log_information(
        self,
        w: Floats,
        member: Floats,
        need: Floats,
        means: Floats,
        p: int,
        m: int,
        t: Floats,
        tau: Floats,
    ) -> None:
        fill_information(self, w, member, need, means, p, m, t, tau)

    def gradients(
        self,
        w: Floats,
        member: Floats,
        need: Floats,
        means: Floats,
        tau: Floats,
        p: int,
        m: int,
        gradient: Floats,
        rank_one: Floats,
        diagonal: Floats,
    ) -> None:
        fill_gradients(self, w, member, need, means, tau, p, m, gradient, rank_one, diagonal)

    def add_curvature(
        self,
        w: Floats,
        gradient: Floats,
        rank_one: Floats,
        diagonal: Floats,
        multiplier: Floats,
        slackness: Floats,
        pull: Floats,
        p: int,
        m: int,
        out: Floats,
        work: Floats,
    ) -> None:
        fill_curvature(gradient, rank_one, diagonal, multiplier, slackness, p, m, out, work)
