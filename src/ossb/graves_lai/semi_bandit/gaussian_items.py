"""Gaussian items: what an alternative costs when its items must gain ``need`` in total.

For weights w, alternative x needs F_x(w) = min Σ w_i δ_i²/2σ² over Σ_{i∈x∖x*} δ_i = need_x,
which is need_x² / (2 σ² Σ 1/w_i): concave and homogeneous of degree one in w.  The barrier
method works with log F_x, whose gradient is G and whose Hessian is GGᵀ − diag(2 G/w).
"""

import math
from typing import NamedTuple

from ossb.graves_lai.semi_bandit.dense import add_gram
from ossb.records import Floats, record

NO_CONSTRAINT = 700.0  # log information of an arm that cannot be an alternative; exp is finite


@record
class GaussianItems(NamedTuple):
    """Items observed with independent Gaussian noise of standard deviation ``sigma``."""

    sigma: float = 1.0

    def quadratic(self) -> bool:
        return True

    def tilted(self, mean: float, weight: float, tau: float) -> float:
        return mean + self.sigma * self.sigma * tau / weight

    def divergence(self, mean: float, other: float) -> float:
        return (mean - other) * (mean - other) / (2.0 * self.sigma * self.sigma)

    def bend(self, mean: float, other: float) -> float:
        return 1.0 / (self.sigma * self.sigma)

    def room(self, mean: float) -> float:
        return math.inf

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
        for x in range(m):
            tau[x] = 0.0
        for i in range(p):
            inverse = 1.0 / w[i]
            for x in range(m):
                tau[x] += member[i, x] * inverse
        variance = self.sigma * self.sigma
        for x in range(m):
            if tau[x] > 0.0:
                tau[x] = need[x] / (variance * tau[x])
                t[x] = math.log(0.5 * need[x] * tau[x])
            else:
                t[x] = NO_CONSTRAINT

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
        """Gradient of log F_x: σ² τ² / (2 F w²), with F = τ need / 2."""
        variance = self.sigma * self.sigma
        for i in range(p):
            inverse = variance / (w[i] * w[i])
            for x in range(m):
                gradient[i, x] = member[i, x] * inverse * tau[x] / need[x]

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
        for x in range(m):
            work[x] = slackness[x] - multiplier[x]
        add_gram(gradient, work, p, m, out)
        for i in range(p):
            out[i, i] += 2.0 * pull[i] / w[i]
