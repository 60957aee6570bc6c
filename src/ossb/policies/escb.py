"""ESCB, efficient sampling for combinatorial bandits (Combes, Talebi, Proutiere, Lelarge, 2015).

Play the arm of the largest index, with f(t) = ln t + c m ln ln t, m the size of the largest arm:

- ESCB-1: the largest Σ q_i over the arm's items with Σ N_i kl(mean_i, q_i) ≤ f(t);
- ESCB-2: Σ mean_i + √(½ f(t) Σ 1/N_i), which is larger by Pinsker's inequality.

The analysis has c = 4; 0 is what is used here by default, as for ``kl-ucb``.  Before, each item
is looked at once.  For Gaussian items both indices are Σ mean_i + σ √(2 f(t) Σ 1/N_i); ESCB-1
also takes Poisson items, which the paper has not.

The index of ESCB-1 is min over λ of λ f + Σ sup_q (q − λ N_i kl(mean_i, q)), convex in λ, and
every λ bounds it from above: with the λ that was best at an arm's last look most arms are passed
over at the cost of one evaluation.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.errors import InputError
from ossb.families import Family
from ossb.fields import integer
from ossb.kernels import kernel
from ossb.policies.arms import lists_arms
from ossb.policies.base import Kind
from ossb.policies.items import (
    heaviest,
    membership_of,
    shows_items,
    total_of,
    uncovered,
)
from ossb.records import Ints, record
from ossb.structures.offers import ITEMS
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE, Decision, Tally, round_number

GOLDEN = 0.6180339887498949
CLOSE = 1e-6  # step in ln λ at which it has converged: the index is off by its square
LONGEST = 250  # steps of ln λ, by 1 each
HEAVIEST = 1e6  # weight of ln ln t: 4 in the analysis
FARTHEST = 100.0  # |ln λ| beyond which no data lead; the least bound may lie at λ = 0


def check_weight(c: float) -> None:
    """Refuse a weight of m ln ln t that nobody can mean."""
    if not 0 <= c <= HEAVIEST:
        raise InputError("c", f"lie in [0, {HEAVIEST:g}]", c)


class EscbMemory(NamedTuple):
    """Where each arm's index was last attained."""

    multipliers: np.ndarray  # float64 (n_arms,): λ


@kernel
def dual_index(
    family: Any, items: np.ndarray, tally: Tally, level: float, multiplier: float
) -> float:
    """An upper bound on the index of the arm of some items."""
    value = multiplier * level
    for place in range(items.shape[0]):
        i = items[place]
        plays = max(tally.counts[i] + tally.pending[i], 1)
        value += family.conjugate(tally.means[i], multiplier * plays, 1.0)
    return value


@kernel
def least_multiplier(
    family: Any, items: np.ndarray, tally: Tally, level: float, start: float
) -> float:
    """The λ of the least bound: bracketed by doublings from ``start``, then golden sections."""
    middle = min(max(math.log(start), -FARTHEST), FARTHEST)
    low, high = middle - 1.0, middle + 1.0
    here = dual_index(family, items, tally, level, math.exp(middle))
    left = dual_index(family, items, tally, level, math.exp(low))
    right = dual_index(family, items, tally, level, math.exp(high))
    for _ in range(LONGEST):
        # where both are the same to rounding, the least bound is not among the smaller λ
        if (right <= here or here == math.inf) and middle < FARTHEST:
            low, left, middle, here = middle, here, high, right
            high += 1.0
            right = dual_index(family, items, tally, level, math.exp(high))
        elif left < here and middle > -FARTHEST:
            high, right, middle, here = middle, here, low, left
            low -= 1.0
            left = dual_index(family, items, tally, level, math.exp(low))
        else:
            break
    inner = high - GOLDEN * (high - low)
    outer = low + GOLDEN * (high - low)
    at_inner = dual_index(family, items, tally, level, math.exp(inner))
    at_outer = dual_index(family, items, tally, level, math.exp(outer))
    while high - low > CLOSE:
        if at_inner <= at_outer:
            high, outer, at_outer = outer, inner, at_inner
            inner = high - GOLDEN * (high - low)
            at_inner = dual_index(family, items, tally, level, math.exp(inner))
        else:
            low, inner, at_inner = inner, outer, at_outer
            outer = low + GOLDEN * (high - low)
            at_outer = dual_index(family, items, tally, level, math.exp(outer))
    return math.exp(inner if at_inner <= at_outer else outer)  # beyond a corner both may be ∞


@record
class Escb(NamedTuple):
    """Play the most optimistic set of items.

    Parameters
    ----------
    family
        The observations of an item.
    starts, members
        The items of each arm.
    proxy
        Variance proxy of ESCB-2, σ² or ¼; 0 for ESCB-1.
    c
        Weight of m ln ln t in f.
    """

    family: Family
    starts: Ints
    members: Ints
    proxy: float
    c: float

    def _check(self) -> None:
        check_weight(self.c)

    def start(self) -> EscbMemory:
        return EscbMemory(np.ones(self.starts.shape[0] - 1))

    def select(self, tally: Tally, memory: EscbMemory, rng: Generator) -> Decision:
        first = uncovered(self.starts, self.members, tally)
        if first >= 0:
            return Decision(first, ESTIMATE)
        leader = heaviest(self.starts, self.members, tally.means)
        level = self.exploration(tally)
        best, index = leader, self.optimistic(leader, level, -math.inf, tally, memory)
        for x in range(self.starts.shape[0] - 1):
            if x != leader:
                value = self.optimistic(x, level, index, tally, memory)
                if value > index:
                    best, index = x, value
        return Decision(best, EXPLOIT if best == leader else EXPLORE)

    def exploration(self, tally: Tally) -> float:
        """f(t)."""
        level = math.log(round_number(tally))
        if self.c > 0.0:
            size = 0
            for x in range(self.starts.shape[0] - 1):
                size = max(size, self.starts[x + 1] - self.starts[x])
            level += self.c * size * math.log(max(level, 1.0))
        return level

    def optimistic(
        self, x: int, level: float, floor: float, tally: Tally, memory: EscbMemory
    ) -> float:
        """The index of an arm, or a bound on it that is at most ``floor``."""
        items = self.members[self.starts[x] : self.starts[x + 1]]
        mean = total_of(self.starts, self.members, tally.means, x)
        if level <= 0.0 or items.shape[0] == 0:
            return mean
        if self.proxy > 0.0:
            doubt = 0.0
            for place in range(items.shape[0]):
                i = items[place]
                doubt += 1.0 / max(tally.counts[i] + tally.pending[i], 1)
            return mean + math.sqrt(2.0 * self.proxy * level * doubt)
        bound = dual_index(self.family, items, tally, level, memory.multipliers[x])
        if bound <= floor:
            return bound
        multiplier = least_multiplier(self.family, items, tally, level, memory.multipliers[x])
        memory.multipliers[x] = multiplier
        return dual_index(self.family, items, tally, level, multiplier)


def build(instance: Any, version: int, c: float) -> Escb:
    proxy = 0.0
    if integer(version, "version", least=1) > 2:
        raise InputError("version", "be 1 or 2", version)
    if instance.observation == "gaussian":
        proxy = instance.sigma * instance.sigma
    elif version == 2:
        if instance.observation == "poisson":
            raise InputError("version", "be 1 for poisson observations", version)
        proxy = 0.25
    arms = membership_of(instance.arms)
    return Escb(instance.family, arms.starts, arms.members, proxy, c)


def fits(instance: Any) -> str | None:
    return lists_arms(instance) or shows_items(instance)


ESCB = Kind(
    name="escb",
    build=build,
    parameters={"version": 1, "c": 0.0},
    needs=(ITEMS,),
    reference="Combes, Talebi, Proutiere and Lelarge (2015)",
    fits=fits,
)
