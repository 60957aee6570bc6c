"""GLPG: OSSB with the Graves–Lai program solved by projected subgradients (Cuvelier, Combes and
Gourdin, 2021, ALT), for Gaussian semi-bandits on arm sets that are never listed.

With rates w of the items outside the leader, feasible and nearly optimal at the estimated
means: play it while N_i ≥ (1 + γ) w_i ln t for all of them; otherwise, with s rounds not exploited
so far, an item of N_i ≤ ε s by the best arm that has it, if there is one; else, of the arms that
make up the rates, one that has the item of least N_i / w_i.

What could not be established, the full text not being at hand: the exact projection, step sizes
and penalty of the paper, and its parameters; ``glpg_program`` says what is done here.  Departures:
items are tracked in place of arms, since rates are met by many mixtures of arms and the solver is
free to change between them; the program is solved anew when the leader changes and when the
rounds have grown by a tenth, from the rates held.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.arm_sets.base import ArmSet, Items
from ossb.arm_sets.table import ArmTable
from ossb.errors import InputError
from ossb.fields import integer
from ossb.policies.base import Kind
from ossb.policies.glpg_memory import Held, heaviest_with, hold, leader_of, no_plan, plan_of
from ossb.policies.glpg_program import Program
from ossb.policies.items import looks, through_oracle, uncovered_arm
from ossb.structures.offers import ITEMS
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE, Decision, Tally

LEVELS = 200  # budgets of the separation
PACE = 1.1  # growth of the rounds between two solutions
MOST_STEPS = 1000  # of a solution, which an ask waits for
LARGEST = 1e6  # shares and surpluses of exploration


class GlpgMemory(NamedTuple):
    """The arms met, the rates held, and the round until which they stand."""

    table: ArmTable
    held: Held
    until: np.ndarray  # float64 (1,)


@dataclass(frozen=True)
class Glpg:
    """Track the optimal rates of items.

    Parameters
    ----------
    arm_set
        The oracle.
    sigma
        Standard deviation of the items.
    epsilon
        Share of forced exploration.
    gamma
        How much more than the rates is explored.
    iterations
        Subgradient steps of each solution.
    """

    arm_set: ArmSet
    sigma: float
    epsilon: float
    gamma: float
    iterations: int

    def start(self) -> GlpgMemory:
        return GlpgMemory(ArmTable(), no_plan(self.arm_set.n_items), np.zeros(1))

    def select(self, tally: Tally, memory: GlpgMemory, rng: Generator) -> Decision:
        fresh = uncovered_arm(self.arm_set, tally)
        if fresh is not None:
            return Decision(memory.table.place(fresh), ESTIMATE)
        t = tally.clock[0] + 1.0
        leader = self.arm_set.maximize(tally.means)
        held = self.plan_for(leader, t, tally, memory)
        counts = looks(tally)
        wanted = (1.0 + self.gamma) * math.log(t) * held.rates
        if (counts >= wanted).all():
            return Decision(memory.table.place(leader), EXPLOIT)
        explored = 1.0 + float(tally.phases[ESTIMATE] + tally.phases[EXPLORE])
        neglected = self.neglected(counts, explored, tally.means)
        if neglected is not None:
            return Decision(memory.table.place(neglected), ESTIMATE)
        share = np.full(counts.size, math.inf)
        used = held.rates > 0.0
        share[used] = counts[used] / held.rates[used]
        return Decision(memory.table.place(heaviest_with(held, int(np.argmin(share)))), EXPLORE)

    def plan_for(self, leader: Items, t: float, tally: Tally, memory: GlpgMemory) -> Held:
        """The rates held, or new ones where they no longer stand."""
        if leader_of(memory.held) != leader or t >= memory.until[0]:
            program = Program(self.arm_set, tally.means, self.sigma, LEVELS)
            hold(program.solve(self.iterations, plan_of(memory.held)), memory.held)
            memory.until[0] = max(PACE * t, t + 1.0)
        return memory.held

    def neglected(self, counts: np.ndarray, explored: float, means: np.ndarray) -> Items | None:
        """The best arm with the item least seen, where that is too little."""
        for item in np.argsort(counts, kind="stable").tolist():
            if counts[item] > self.epsilon * explored:
                return None
            arm = self.arm_set.maximize_with(means, item)
            if arm is not None:
                return arm
        return None


def build(instance: Any, epsilon: float, gamma: float, iterations: int) -> Glpg:
    for value, field in ((epsilon, "epsilon"), (gamma, "gamma")):
        if not 0 <= value <= LARGEST:
            raise InputError(field, f"lie in [0, {LARGEST:g}]", value)
    steps = integer(iterations, "iterations")
    if steps > MOST_STEPS:
        raise InputError("iterations", f"be at most {MOST_STEPS}", steps)
    return Glpg(instance.implicit_set, instance.sigma, epsilon, gamma, steps)


def fits(instance: Any) -> str | None:
    if instance.observation != "gaussian":
        return "is for gaussian observations"
    return through_oracle(instance)


GLPG = Kind(
    name="glpg",
    build=build,
    parameters={"epsilon": 0.05, "gamma": 0.0, "iterations": 20},
    needs=(ITEMS,),
    reference="Cuvelier, Combes and Gourdin (2021), ALT, PMLR 132",
    fits=fits,
)
