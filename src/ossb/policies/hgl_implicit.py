"""HGL on arm sets that are never listed, through their linear-maximisation oracle.

The rule is that of ``hgl`` for semi-bandit feedback: alternatives are the best arms with one
item's membership changed, and since what a play buys is additive over items, the arm to play
maximises Σ over its items of m_i + h_t ν B_i: one call of the oracle.  Oracles are Python objects,
so that a round is interpreted, but what takes long in it is compiled.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.arm_sets.base import ArmSet, Items, total
from ossb.arm_sets.table import ArmTable
from ossb.families import Family
from ossb.models.item_gain import add_rivals, look_at_items, new_look
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE, Decision, Tally

PATIENCE = 0.01


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
    horizon_factor, front, cautious
        As for ``hgl``.
    """

    arm_set: ArmSet
    family: Family
    prior: float
    prior_mean: float
    half: float
    horizon_factor: float
    front: float
    cautious: bool

    def start(self) -> ImplicitMemory:
        return ImplicitMemory(ArmTable(), np.zeros(2, np.int64))

    def select(self, tally: Tally, memory: ImplicitMemory, rng: Generator) -> Decision:
        t = tally.clock[0] + 1.0
        waiting = bool(tally.pending.any())
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
        look, has_prior = new_look(tally.counts.size), self.prior > 0
        look_at_items.quick(self.family, self.prior, self.prior_mean, self.half, tally, look)
        leader = self.arm_set.maximize(look.estimate)
        look.inside[list(leader)] = True
        starts, items = self.arm_set.rivals(look.estimate, leader)
        add_rivals.quick(self.family, has_prior, starts, items, look)
        chances, improvements, largest = look.sums.tolist()
        share = largest / improvements if improvements > 0 else 1.0
        return Weighed(leader, look.estimate, look.worth, 1.0 / (1.0 + chances), share)


def implicit_hgl(instance: Any, horizon_factor: float, front: float, cautious: bool) -> ImplicitHgl:
    """The policy of an instance whose arms are not listed."""
    has_prior = instance.observation in ("bernoulli", "bounded")
    return ImplicitHgl(
        instance.implicit_set,
        instance.family,
        2.0 if has_prior else 0.0,
        0.5 * instance.sign,
        0.5 if instance.observation == "poisson" else 0.0,
        horizon_factor,
        front,
        cautious,
    )
