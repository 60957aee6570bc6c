"""LUCB and KL-LUCB: the leader and the arm that could most be better, in turns.

KL-LUCB (Kaufmann and Kalyanakrishnan, 2013), m = 1: with β(t) = ln(k₁ K t^α / δ) and the upper ends
u(x) = max {q: N kl(mean, q) ≤ β}, play the arm of the largest mean and, of the others, the one
of the largest u, both in every step t.  LUCB (Kalyanakrishnan, Tewari, Auer and Stone, 2012) has
the same with u(x) = mean + √(2 v ln(5 K t⁴ / 4δ) / N), v = 1/4 for values in [0, 1].

Departures: here a round plays one arm, the leader of a step first; v is σ² for Gaussian
observations; of k₁ and α, bounded in the paper, those of its experiments are taken.  When to
stop is not theirs to say here: see ``ossb.models.rivals``.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.errors import InputError
from ossb.families import Family
from ossb.policies.arms import best_mean, reward_is_observed, unplayed
from ossb.policies.base import Kind
from ossb.policies.kl_ucb import upper_mean
from ossb.records import record
from ossb.structures.base import Instance
from ossb.structures.offers import OWN_COMPONENT
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE, Decision, Tally

K1, ALPHA = 405.5, 1.1


class Step(NamedTuple):
    """Where a step stands."""

    waiting: np.ndarray  # int64 (2,): 1 + the arm to play next, 0 where a step begins; steps so far


@record
class Lucb(NamedTuple):
    """Play the leader, then the arm of the largest upper end.

    Parameters
    ----------
    proxy
        v; 0 for ends by the divergence.
    delta
        The probability with which a test may be wrong.
    """

    family: Family
    proxy: float
    delta: float

    def _check(self) -> None:
        if not 0 < self.delta < 1:
            raise InputError("delta", "lie in (0, 1)", self.delta)

    def start(self) -> Step:
        return Step(np.zeros(2, np.int64))

    def select(self, tally: Tally, memory: Step, rng: Generator) -> Decision:
        first = unplayed(tally)
        if first >= 0:
            return Decision(first, ESTIMATE)
        if memory.waiting[0] > 0:
            second = memory.waiting[0] - 1
            memory.waiting[0] = 0
            return Decision(second, EXPLORE)
        memory.waiting[1] += 1
        leader, best, index = best_mean(tally), -1, -math.inf
        for x in range(tally.plays.shape[0]):
            if x != leader:
                end = self.upper_end(x, float(memory.waiting[1]), tally)
                if best < 0 or end > index:
                    best, index = x, end
        memory.waiting[0] = best + 1  # none where there is one arm
        return Decision(leader, EXPLOIT)

    def upper_end(self, x: int, t: float, tally: Tally) -> float:
        """u(x) in step t."""
        arms, told = float(tally.plays.shape[0]), float(max(tally.counts[x], 1))
        if self.proxy > 0.0:
            rate = math.log(5.0 * arms / 4.0 / self.delta) + 4.0 * math.log(t)
            return float(tally.means[x] + math.sqrt(2.0 * self.proxy * rate / told))
        rate = math.log(K1 * arms / self.delta) + ALPHA * math.log(t)
        return upper_mean(self.family, tally.means[x], rate / told, -math.inf)


def build_lucb(instance: Instance, delta: float) -> Lucb:
    proxy = instance.sigma * instance.sigma if instance.observation == "gaussian" else 0.25
    return Lucb(instance.family, proxy, delta)


def build_kl_lucb(instance: Instance, delta: float) -> Lucb:
    return Lucb(instance.family, 0.0, delta)


def fits(instance: Instance) -> str | None:
    if instance.observation not in ("gaussian", "bernoulli", "bounded"):
        return "is for gaussian, bernoulli and bounded observations"
    return reward_is_observed(instance)


LUCB = Kind(
    name="lucb",
    build=build_lucb,
    parameters={"delta": 0.05},
    needs=(OWN_COMPONENT,),
    reference="Kalyanakrishnan, Tewari, Auer and Stone (2012)",
    fits=fits,
    remembers=True,
)
KL_LUCB = Kind(
    name="kl-lucb",
    build=build_kl_lucb,
    parameters={"delta": 0.05},
    needs=(OWN_COMPONENT,),
    reference="Kaufmann and Kalyanakrishnan (2013)",
    fits=reward_is_observed,
    remembers=True,
)
