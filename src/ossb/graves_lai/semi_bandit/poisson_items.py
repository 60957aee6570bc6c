"""Poisson items of a semi-bandit."""

import math
from typing import NamedTuple

from ossb.families.poisson import poisson_kl
from ossb.graves_lai.semi_bandit.tilting import (
    EDGE,
    fill_curvature,
    fill_gradients,
    fill_information,
)
from ossb.records import Floats, record


@record
class PoissonItems(NamedTuple):
    """Items that are counts; with ``sign`` −1, their negatives (for goals that minimise)."""

    sign: float = 1.0

    def quadratic(self) -> bool:
        return False

    def inner(self, mean: float) -> float:
        """The mean, in the family's own sign, kept from 0."""
        return max(self.sign * mean, EDGE)

    def tilted(self, mean: float, weight: float, tau: float) -> float:
        return self.sign * self.inner(mean) * weight / (weight - self.sign * tau)

    def divergence(self, mean: float, other: float) -> float:
        return poisson_kl(self.inner(mean), max(self.sign * other, 1e-300))

    def bend(self, mean: float, other: float) -> float:
        q = max(self.sign * other, 1e-150)
        return self.inner(mean) / (q * q)

    def room(self, mean: float) -> float:
        return math.inf if self.sign > 0.0 else self.sign * mean

    def spread(self, mean: float) -> float:
        return self.inner(mean)

    def steepest(self, weight: float) -> float:
        return weight if self.sign > 0.0 else math.inf

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
