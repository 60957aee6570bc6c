"""CUCB (Chen, Wang and Yuan, 2013) and CombUCB1 (Kveton, Wen, Ashkan and Szepesvári, 2015).

Play the arm whose items have the largest total of mean + radius.  For values in [0, 1] both
papers have the same radius, CUCB as √(3 ln t / 2N), CombUCB1 as √(1.5 ln(t − 1) / N): they
differ in the round under the logarithm alone (t − 1 is as remembered from the paper).  Before,
each item is looked at once, by the arms with most items not yet seen.  Indices are not cut at 1,
as a later version of CUCB does.

Neither paper has Gaussian items: the radius is then multiplied by σ, as ``ucb1`` does; their
proofs would ask for 2σ.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.arm_sets.base import ArmSet
from ossb.arm_sets.table import ArmTable
from ossb.errors import InputError
from ossb.fields import choice
from ossb.policies.base import Kind
from ossb.policies.items import (
    ItemMemory,
    TableMemory,
    heaviest,
    in_unit_interval_or_gaussian,
    looks,
    membership_of,
    uncovered,
    uncovered_arm,
)
from ossb.records import Ints, record
from ossb.structures.offers import ITEMS
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE, Decision, Tally, round_number

RADIUS = 1.5


@record
class Cucb(NamedTuple):
    """Optimism item by item, on listed arms.

    Parameters
    ----------
    starts, members
        The items of each arm.
    n_items
        Number of items.
    scale
        What the radius √(1.5 ln t / N) is multiplied by.
    behind
        How many rounds the logarithm is behind: 0 for CUCB, 1 for CombUCB1.
    """

    starts: Ints
    members: Ints
    n_items: int
    scale: float
    behind: int

    def start(self) -> ItemMemory:
        return ItemMemory(np.zeros(self.n_items))

    def select(self, tally: Tally, memory: ItemMemory, rng: Generator) -> Decision:
        first = uncovered(self.starts, self.members, tally)
        if first >= 0:
            return Decision(first, ESTIMATE)
        logarithm = math.log(max(round_number(tally) - self.behind, 1.0))
        for i in range(self.n_items):
            plays = max(tally.counts[i] + tally.pending[i], 1)
            radius = self.scale * math.sqrt(RADIUS * logarithm / plays)
            memory.scores[i] = tally.means[i] + radius
        arm = heaviest(self.starts, self.members, memory.scores)
        leader = heaviest(self.starts, self.members, tally.means)
        return Decision(arm, EXPLOIT if arm == leader else EXPLORE)


@dataclass(frozen=True)
class ImplicitCucb:
    """``Cucb`` on arms behind an oracle, with its parameters."""

    arm_set: ArmSet
    scale: float
    behind: int

    def start(self) -> TableMemory:
        return TableMemory(ArmTable())

    def select(self, tally: Tally, memory: TableMemory, rng: Generator) -> Decision:
        fresh = uncovered_arm(self.arm_set, tally)
        if fresh is not None:
            return Decision(memory.table.place(fresh), ESTIMATE)
        logarithm = math.log(max(round_number(tally) - self.behind, 1.0))
        radius = self.scale * np.sqrt(RADIUS * logarithm / looks(tally))
        arm = self.arm_set.maximize(tally.means + radius)
        leader = self.arm_set.maximize(tally.means)
        return Decision(memory.table.place(arm), EXPLOIT if arm == leader else EXPLORE)


def build(instance: Any, version: str, scale: float | None) -> Cucb | ImplicitCucb:
    behind = 1 if choice(version, "version", ("cucb", "combucb1")) == "combucb1" else 0
    if scale is None:
        scale = instance.sigma
    if not 0 < scale < math.inf:
        raise InputError("scale", "be positive", scale)
    if instance.n_arms is None:
        return ImplicitCucb(instance.implicit_set, scale, behind)
    arms = membership_of(instance.arms)
    return Cucb(arms.starts, arms.members, instance.item_count, scale, behind)


CUCB = Kind(
    name="cucb",
    build=build,
    parameters={"version": "cucb", "scale": None},
    needs=(ITEMS,),
    reference="Chen, Wang and Yuan (2013); Kveton, Wen, Ashkan and Szepesvári (2015)",
    fits=in_unit_interval_or_gaussian,
)
