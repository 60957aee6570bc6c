"""Combinatorial Thompson sampling (Wang and Chen, 2018; Perrault et al., 2020).

Draw a mean for every item from its posterior and play the best arm for the draws.  Items with
values in [0, 1] have independent Beta(1, 1) priors; where the paper turns a value inside [0, 1]
into a coin flip, its own mean stands here for the share of ones, as in ``thompson``.  Gaussian
items have a flat prior: each is looked at once, then drawn from N(mean, σ²/N).
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.arm_sets.base import ArmSet
from ossb.arm_sets.table import ArmTable
from ossb.kernels import kernel
from ossb.policies.base import Kind
from ossb.policies.items import (
    ItemMemory,
    TableMemory,
    heaviest,
    in_unit_interval_or_gaussian,
    membership_of,
    uncovered,
    uncovered_arm,
)
from ossb.records import Ints, record
from ossb.structures.offers import ITEMS
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE, Decision, Tally


@kernel
def draw_items(sigma: float, sign: float, tally: Tally, out: np.ndarray, rng: Generator) -> None:
    """A draw of each item's mean; ``sigma`` 0 stands for values in [0, 1]."""
    for i in range(out.shape[0]):
        count = tally.counts[i]
        if sigma > 0.0:
            deviation = sigma / math.sqrt(max(count, 1))
            out[i] = tally.means[i] + deviation * rng.standard_normal()
        else:
            ones = min(max(count * sign * tally.means[i], 0.0), float(count))
            out[i] = sign * rng.beta(ones + 1.0, count - ones + 1.0)


@kernel
def known_means(sign: float, tally: Tally, out: np.ndarray) -> None:
    """The means told; of items in [0, 1] never told of, that of the prior."""
    for i in range(out.shape[0]):
        out[i] = tally.means[i] if tally.counts[i] > 0 else 0.5 * sign


@record
class CombinatorialThompson(NamedTuple):
    """Posterior draws item by item, on listed arms.

    Parameters
    ----------
    starts, members
        The items of each arm.
    n_items
        Number of items.
    sigma
        Standard deviation of Gaussian items; 0 for values in [0, 1].
    sign
        −1 where the goal is to minimise.
    """

    starts: Ints
    members: Ints
    n_items: int
    sigma: float
    sign: float

    def start(self) -> ItemMemory:
        return ItemMemory(np.zeros(self.n_items))

    def select(self, tally: Tally, memory: ItemMemory, rng: Generator) -> Decision:
        if self.sigma > 0.0:
            first = uncovered(self.starts, self.members, tally)
            if first >= 0:
                return Decision(first, ESTIMATE)
        known_means(self.sign, tally, memory.scores)
        leader = heaviest(self.starts, self.members, memory.scores)
        draw_items(self.sigma, self.sign, tally, memory.scores, rng)
        arm = heaviest(self.starts, self.members, memory.scores)
        return Decision(arm, EXPLOIT if arm == leader else EXPLORE)


@dataclass(frozen=True)
class ImplicitThompson:
    """``CombinatorialThompson`` on arms behind an oracle, with its parameters."""

    arm_set: ArmSet
    sigma: float
    sign: float

    def start(self) -> TableMemory:
        return TableMemory(ArmTable())

    def select(self, tally: Tally, memory: TableMemory, rng: Generator) -> Decision:
        fresh = uncovered_arm(self.arm_set, tally) if self.sigma > 0.0 else None
        if fresh is not None:
            return Decision(memory.table.place(fresh), ESTIMATE)
        scores = np.zeros(tally.means.size)
        known_means(self.sign, tally, scores)
        leader = self.arm_set.maximize(scores)
        draw_items(self.sigma, self.sign, tally, scores, rng)
        arm = self.arm_set.maximize(scores)
        return Decision(memory.table.place(arm), EXPLOIT if arm == leader else EXPLORE)


def build(instance: Any) -> CombinatorialThompson | ImplicitThompson:
    sigma = instance.sigma if instance.observation == "gaussian" else 0.0
    if instance.n_arms is None:
        return ImplicitThompson(instance.implicit_set, sigma, instance.sign)
    arms = membership_of(instance.arms)
    return CombinatorialThompson(
        arms.starts, arms.members, instance.item_count, sigma, instance.sign
    )


COMBINATORIAL_THOMPSON = Kind(
    name="combinatorial-thompson",
    build=build,
    parameters={},
    needs=(ITEMS,),
    reference="Wang and Chen (2018); Perrault, Boursier, Perchet and Valko (2020)",
    fits=in_unit_interval_or_gaussian,
)
