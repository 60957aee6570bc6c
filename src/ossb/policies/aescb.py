"""AESCB, approximate ESCB in polynomial time (Cuvelier, Combes and Gourdin, 2021, POMACS).

The index of ESCB-2, Σ mean_i + √(Σ f(t) / 2N_i) over the items of an arm, is not linear, but of
the arms whose reward is within a budget of the best the one of largest Σ 1/N_i has the largest:
the index is maximised by one budgeted linear maximisation for each budget.  f(t) is that of
``escb``; σ² takes the place of ¼ for Gaussian items.

Budgets: the paper rounds means to d (ln m)² / (m t), for a number of budgets that grows like t,
all of which keep the regret of ESCB.  Here there are ``levels`` budgets up to the widest
confidence, beyond which no arm can have the largest index; what is played is off by at most that
width times 2m / levels.  m-sets and paths have exact dynamic programs for all budgets at once.
For matchings and spanning trees the paper relaxes the budget and repairs what that leaves, to
within one half; its repair is not reproduced: the same relaxation is closed here by branching
on items, up to a number of nodes, with no such ratio proved.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from ossb.arm_sets.base import ArmSet, Items, total
from ossb.arm_sets.table import ArmTable
from ossb.errors import InputError
from ossb.fields import integer
from ossb.graves_lai.semi_bandit.index import maximize_index
from ossb.policies.base import Kind
from ossb.policies.budgeted import within_budgets
from ossb.policies.escb import check_weight
from ossb.policies.items import (
    TableMemory,
    looks,
    through_oracle,
    uncovered_arm,
)
from ossb.structures.offers import ITEMS
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE, Decision, Tally, round_number

NODES = 40  # of the search where there is no dynamic program
LEVELS = 200
MOST_LEVELS = 100_000
CELLS = 10**9  # of the dynamic program: a byte each


@dataclass(frozen=True)
class Aescb:
    """Play a set of items that is nearly the most optimistic one.

    Parameters
    ----------
    arm_set
        The oracle.
    proxy
        Variance proxy of the items.
    size
        m, the largest number of items of an arm.
    c
        Weight of m ln ln t in f.
    levels
        Number of budgets.
    """

    arm_set: ArmSet
    proxy: float
    size: int
    c: float
    levels: int

    def start(self) -> TableMemory:
        return TableMemory(ArmTable())

    def select(self, tally: Tally, memory: TableMemory, rng: Generator) -> Decision:
        fresh = uncovered_arm(self.arm_set, tally)
        if fresh is not None:
            return Decision(memory.table.place(fresh), ESTIMATE)
        level = math.log(round_number(tally))
        level += self.c * self.size * math.log(max(level, 1.0))
        arm = self.most_optimistic(tally.means, 2.0 * self.proxy * level / looks(tally))
        leader = self.arm_set.maximize(tally.means)
        return Decision(memory.table.place(arm), EXPLOIT if arm == leader else EXPLORE)

    def most_optimistic(self, means: np.ndarray, doubts: np.ndarray) -> Items:
        """An arm of nearly the largest Σ mean + √(Σ doubt)."""
        leader = self.arm_set.maximize(means)
        reach = math.sqrt(total(doubts, self.arm_set.maximize(doubts)))
        if reach <= 0.0:
            return leader
        step = reach / self.levels
        arms = within_budgets(self.arm_set, means, doubts, step, self.levels)
        if arms is None:
            return maximize_index(self.arm_set, means, doubts, -math.inf, NODES).arm
        return max(
            [leader, *arms], key=lambda arm: total(means, arm) + math.sqrt(total(doubts, arm))
        )


def build(instance: Any, c: float, levels: int) -> Aescb:
    check_weight(c)
    gaussian = instance.observation == "gaussian"
    arm_set = instance.implicit_set
    size = len(arm_set.maximize(np.ones(arm_set.n_items)))
    most = max(LEVELS, min(MOST_LEVELS, CELLS // (arm_set.n_items * (size + 1))))
    levels = integer(levels, "levels", least=1)
    if levels > most:
        raise InputError("levels", f"be at most {most} for {arm_set.n_items} items", levels)
    proxy = instance.sigma * instance.sigma if gaussian else 0.25
    return Aescb(arm_set, proxy, size, c, levels)


AESCB = Kind(
    name="aescb",
    build=build,
    parameters={"c": 0.0, "levels": LEVELS},
    needs=(ITEMS,),
    reference="Cuvelier, Combes and Gourdin (2021), POMACS 5(1)",
    fits=through_oracle,
)
