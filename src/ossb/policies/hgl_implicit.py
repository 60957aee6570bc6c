"""HGL on arm sets that are never listed, through their linear-maximisation oracle.

The rule is that of ``hgl`` for semi-bandit feedback: alternatives are the best arms with one
item's membership changed, each from a constrained oracle, and since what a play buys is additive
over items, the arm to play maximises Σ over its items of m_i + h_t ν B_i: one call of the oracle.
Oracles are Python objects, so this policy runs interpreted.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.arm_sets.base import ArmSet, Items, total
from ossb.arm_sets.table import ArmTable
from ossb.families import Family
from ossb.models.normal import FAR, density, tail
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE, Decision, Tally, fill_untold, is_waiting

PATIENCE = 0.01
LEVEL = 1e-9  # a likelihood ratio below this is that of arms that are level


class ImplicitMemory(NamedTuple):
    """The arms met, and until when the last answer stands."""

    table: ArmTable
    held: np.ndarray  # int64 (2,): rounds told until which the leader is held, and the leader


class Weighed(NamedTuple):
    """What a look at the items found."""

    leader: Items
    means: np.ndarray  # float64 (n_items,)
    worth: np.ndarray  # float64 (n_items,): what one observation buys, per unit of horizon
    nu: float
    share: float  # of the largest expected improvement


@dataclass(frozen=True)
class ImplicitHgl:
    """Play what one play buys most of, net of its gap.

    Parameters
    ----------
    arm_set
        The oracle.
    family
        The observations of an item.
    prior, prior_mean
        Pseudo-observations of each item.
    half
        Half a count in the variance of counts, else 0.
    is_exact
        Whether deviations are to agree with likelihood ratios: of counts and waiting times, which
        have no prior, the first few may say that an item has next to no variance.
    horizon_factor, front, cautious
        As for ``hgl``.
    """

    arm_set: ArmSet
    family: Family
    prior: float
    prior_mean: float
    half: float
    is_exact: bool
    horizon_factor: float
    front: float
    cautious: bool

    def start(self) -> ImplicitMemory:
        return ImplicitMemory(ArmTable(), np.zeros(2, np.int64))

    def select(self, tally: Tally, memory: ImplicitMemory, rng: Generator) -> Decision:
        t = tally.clock[0] + 1.0
        waiting = is_waiting(tally)
        if waiting:
            memory.held[0] = 0  # what is on its way may change the answer
        elif t < memory.held[0]:
            return Decision(int(memory.held[1]), EXPLOIT)
        fresh = self.covering_arm(tally)
        if fresh is not None:
            return Decision(memory.table.place(fresh), ESTIMATE)
        look = self.weigh(tally)
        share = look.share if self.cautious else look.share * look.share
        ahead = self.horizon_factor * max(1.0, math.log(t) / 8.0) * t
        ahead += self.front * share * math.sqrt(t)
        values = look.means + ahead * look.nu * look.worth
        best = self.arm_set.maximize(values)
        leader = memory.table.place(look.leader)
        if total(values, best) > total(values, look.leader):
            return Decision(memory.table.place(best), EXPLORE)
        if waiting:
            return Decision(leader, EXPLOIT)
        plays = tally.plays[leader] if leader < tally.plays.size else 0
        memory.held[0] = int(t) + 1 + int(PATIENCE * plays)
        memory.held[1] = leader
        return Decision(leader, EXPLOIT)

    def covering_arm(self, tally: Tally) -> Items | None:
        """The arm with most items never seen, while there are such items and no prior."""
        if self.prior > 0:
            return None
        missing = (tally.counts + tally.pending == 0).astype(np.float64)
        if not missing.any():
            return None
        arm = self.arm_set.maximize(missing)
        return arm if total(missing, arm) > 0 else None  # what is left belongs to no arm

    def weigh(self, tally: Tally) -> Weighed:
        """The leader, and what one observation of each item buys."""
        counts = tally.counts + self.prior
        sums = tally.counts * tally.means + self.prior * self.prior_mean
        means = sums / np.maximum(counts, 1.0)
        if self.prior <= 0:
            fill_untold(tally.counts, means)
        weights = np.maximum(counts + tally.pending, 1.0)
        variances = np.array([self.family.positive_variance(float(mean)) for mean in means])
        variances += self.half / np.maximum(tally.counts, 1)
        doubts = variances / weights
        leader = self.arm_set.maximize(means)
        top, inside = total(means, leader), set(leader)
        worth = np.zeros(means.size)
        chances, improvements, largest = 0.0, 0.0, 0.0
        for rival in self.rivals(means, leader):
            apart = sorted(inside.symmetric_difference(rival))
            gap = max(top - total(means, rival), 0.0)
            spread = doubts[apart]
            if self.is_exact:
                spread = self.by_ratio(gap, apart, spread, tally)
            deviation = math.sqrt(float(spread.sum()))
            z = gap / deviation
            if z > FAR:
                continue
            chance, height = tail(z), density(z)
            expected = deviation * max(height - z * chance, 0.0)
            chances += chance
            improvements += expected
            largest = max(largest, expected)
            worth[apart] += 0.5 * height / deviation * (spread / doubts[apart])
        worth *= doubts / (1.0 + weights)
        share = largest / improvements if improvements > 0 else 1.0
        return Weighed(leader, means, worth, 1.0 / (1.0 + chances), share)

    def by_ratio(
        self, gap: float, apart: list[int], doubts: np.ndarray, tally: Tally
    ) -> np.ndarray:
        """Doubts of two items that agree with the likelihood ratio, and share it as it does.

        Where counts and waiting times fit, arms differ from the leader by one exchange.
        """
        counts, means = tally.counts[apart], tally.means[apart]
        if len(apart) != 2 or not gap > 0 or not counts.all():
            return doubts
        common = float(counts @ means) / counts.sum()
        parts = np.array(
            [n * self.family.kl(float(m), common) for n, m in zip(counts, means, strict=True)]
        )
        ratio = float(parts.sum())
        if not LEVEL < ratio < math.inf:
            return doubts
        expected = counts / (counts + tally.pending[apart])
        return 0.5 * gap * gap * (parts / ratio) / ratio * expected

    def rivals(self, means: np.ndarray, leader: Items) -> list[Items]:
        """For each item, the best arm with its membership changed; each arm once."""
        inside = set(leader)
        found: dict[Items, None] = {}
        for item in range(means.size):
            flip = self.arm_set.maximize_without if item in inside else self.arm_set.maximize_with
            rival = flip(means, item)
            if rival is not None:
                found[rival] = None
        return list(found)


def implicit_hgl(instance: Any, horizon_factor: float, front: float, cautious: bool) -> ImplicitHgl:
    """The policy of an instance whose arms are not listed."""
    has_prior = instance.observation in ("bernoulli", "bounded")
    return ImplicitHgl(
        instance.implicit_set,
        instance.family,
        2.0 if has_prior else 0.0,
        0.5 * instance.sign,
        0.5 if instance.observation == "poisson" else 0.0,
        instance.observation in ("poisson", "exponential"),
        horizon_factor,
        front,
        cautious,
    )
