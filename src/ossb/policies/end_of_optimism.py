"""The three-phase strategy of Lattimore and Szepesvári, "The End of Optimism?" (2017).

For a horizon n, with f(δ) = 2 (1 + 1/ln n) ln(1/δ) + c d ln(d ln n):

- warm-up: play each arm of a barycentric spanner ⌈√ln n⌉ times;
- success: freeze the estimated means μ̂ and the plays T̂ that the Graves–Lai program asks for at
  their gaps, scaled so that |x|² in the norm of (Σ T x xᵀ)⁻¹ is at most Δ̂(x)² / f(1/n); play arms
  short of T̂, then the leader, as long as no estimate has moved from μ̂ by more than 2ε,
  ε = max_x |x|_{G⁻¹} √f(1/ln n) with G as after the warm-up;
- recovery: if one has, forget all data and play UCB.

What the paper leaves open, as settled here: c, a universal constant that it does not name, is a
parameter; among arms short of T̂, in any order there, that of least N/T̂ is played; UCB has the
index mean + σ √(2 ln t / N).  What could not be established: the form of f above, which was not
legible in the text at hand and should be compared with the paper.  Departures: the horizon need
not be known: past the planned one, it is squared, the warm-up is topped up, and gaps are estimated
anew from all data; while answers of the warm-up are on their way, it goes on.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.errors import InputError
from ossb.fields import integer
from ossb.graves_lai.linear import LinearMemory as SolverMemory
from ossb.graves_lai.linear import rates as solved_rates
from ossb.graves_lai.linear import start as start_solver
from ossb.models.spanning import barycentric_spanner
from ossb.policies.base import Kind
from ossb.policies.linear_arms import (
    Regression,
    flat_arms,
    new_regression,
    regress_on,
    shows_one_value,
)
from ossb.records import Floats, Ints, record
from ossb.structures.offers import FEATURES
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE, Decision, Tally

WARM_UP, SUCCESS, RECOVERY = 0.0, 1.0, 2.0
# places in EndOfOptimismMemory.plan
STAGE, HORIZON, TOLERANCE, LEADER = 0, 1, 2, 3
# rows of EndOfOptimismMemory.frozen
WANTED, CENTRES, SUMS = 0, 1, 2


class EndOfOptimismMemory(NamedTuple):
    """The regression, and what was frozen."""

    regression: Regression
    plan: np.ndarray  # float64 (4,): stage, horizon planned for, 2ε, leader
    frozen: np.ndarray  # float64 (3, n_arms): plays wanted, means, sums of values forgotten
    forgotten: np.ndarray  # int64 (n_arms,): observations before the recovery
    solver: SolverMemory


@record
class EndOfOptimism(NamedTuple):
    """Warm up, trust the estimated gaps, and fall back on UCB if they prove wrong.

    Parameters
    ----------
    features
        The arms, as columns, in coordinates of their own.
    prior
        The precision of a prior that is as good as none.
    sigma
        Standard deviation of the noise.
    spanner
        The arms of the warm-up.
    horizon
        The horizon first planned for.
    c
        The constant of the lower-order term of f.
    """

    features: Floats
    prior: Floats
    sigma: float
    spanner: Ints
    horizon: int
    c: float

    def _check(self) -> None:
        if not 0 <= self.c < math.inf:
            raise InputError("c", "be non-negative", self.c)

    def start(self) -> EndOfOptimismMemory:
        n_arms = self.features.shape[1]
        return EndOfOptimismMemory(
            new_regression(self.features, self.prior),
            np.array([WARM_UP, float(self.horizon), 0.0, 0.0]),
            np.zeros((3, n_arms)),
            np.zeros(n_arms, np.int64),
            start_solver(self.features.T),
        )

    def select(self, tally: Tally, memory: EndOfOptimismMemory, rng: Generator) -> Decision:
        t = tally.clock[0] + 1.0
        while t > memory.plan[HORIZON]:
            memory.plan[HORIZON] *= memory.plan[HORIZON]
            memory.plan[STAGE] = WARM_UP
        if memory.plan[STAGE] == WARM_UP:
            next_arm = self.warm_up(tally, memory)
            if next_arm >= 0:
                return Decision(next_arm, ESTIMATE)
            self.freeze(tally, memory)
        if memory.plan[STAGE] == SUCCESS:
            regress_on(self.features, tally, memory.regression)
            self.watch(tally, memory)
        if memory.plan[STAGE] == RECOVERY:
            return self.recover(t, tally, memory)
        leader = int(memory.plan[LEADER])
        arm, least = leader, 1.0
        for x in range(tally.plays.shape[0]):
            wanted = memory.frozen[WANTED, x]
            if wanted > 0.0 and tally.plays[x] / wanted < least:
                arm, least = x, tally.plays[x] / wanted
        return Decision(arm, EXPLOIT if arm == leader else EXPLORE)

    def warm_up(self, tally: Tally, memory: EndOfOptimismMemory) -> int:
        """The next arm of the spanner, or −1 once each was told often enough.

        Where answers are late, the least played meanwhile.
        """
        wanted = math.ceil(math.sqrt(math.log(memory.plan[HORIZON])))
        least, told = self.spanner[0], True
        for place in range(self.spanner.shape[0]):
            arm = self.spanner[place]
            if tally.plays[arm] < wanted:
                return arm
            if tally.plays[arm] < tally.plays[least]:
                least = arm
            told = told and tally.counts[arm] >= wanted
        return -1 if told else least

    def confidence(self, logarithm: float, horizon: float) -> float:
        """f(δ), given ln(1/δ)."""
        d, log = self.features.shape[0], math.log(horizon)
        return 2.0 * (1.0 + 1.0 / log) * logarithm + self.c * d * math.log(max(d * log, 1.0))

    def freeze(self, tally: Tally, memory: EndOfOptimismMemory) -> None:
        """End the warm-up: μ̂, T̂ and ε."""
        regression, horizon = memory.regression, memory.plan[HORIZON]
        leader = regress_on(self.features, tally, regression)
        wanted = memory.frozen[WANTED]
        solved_rates(regression.rewards, regression.rewards, leader, 1e-3, memory.solver, wanted)
        scale = 0.5 * self.sigma * self.sigma * self.confidence(math.log(horizon), horizon)
        widest = 0.0
        for x in range(wanted.shape[0]):
            wanted[x] *= scale
            memory.frozen[CENTRES, x] = regression.rewards[x]
            widest = max(widest, regression.widths[x])
        level = self.confidence(math.log(max(math.log(horizon), 1.0)), horizon)
        memory.plan[TOLERANCE] = 2.0 * self.sigma * math.sqrt(widest * level)
        memory.plan[LEADER] = float(leader)
        memory.plan[STAGE] = SUCCESS

    def watch(self, tally: Tally, memory: EndOfOptimismMemory) -> None:
        """Enter the recovery, forgetting all data, if an estimate has moved too far."""
        moved = 0.0
        for x in range(tally.plays.shape[0]):
            change = memory.regression.rewards[x] - memory.frozen[CENTRES, x]
            moved = max(moved, abs(change))
        if moved <= memory.plan[TOLERANCE]:
            return
        memory.plan[STAGE] = RECOVERY
        for x in range(tally.plays.shape[0]):
            memory.forgotten[x] = tally.counts[x]
            memory.frozen[SUMS, x] = tally.counts[x] * tally.means[x]

    def recover(self, t: float, tally: Tally, memory: EndOfOptimismMemory) -> Decision:
        """UCB on what was told since the recovery began."""
        logarithm = math.log(t)
        best, index, leader, top = 0, -math.inf, 0, -math.inf
        for x in range(tally.plays.shape[0]):
            count = tally.counts[x] - memory.forgotten[x]
            if count + tally.pending[x] <= 0:
                return Decision(x, ESTIMATE)
            mean = 0.0
            if count > 0:
                total = tally.counts[x] * tally.means[x] - memory.frozen[SUMS, x]
                mean = total / count
            spread = math.sqrt(2.0 * logarithm / max(count + tally.pending[x], 1))
            if mean + self.sigma * spread > index:
                best, index = x, mean + self.sigma * spread
            if mean > top:
                leader, top = x, mean
        return Decision(best, EXPLOIT if best == leader else EXPLORE)


def build(instance: Any, horizon: int, c: float) -> EndOfOptimism:
    arms = flat_arms(instance)
    planned = integer(horizon, "horizon", least=3)
    spanner = np.array(barycentric_spanner(arms.features.T))
    return EndOfOptimism(arms.features, arms.prior, instance.sigma, spanner, planned, c)


END_OF_OPTIMISM = Kind(
    name="end-of-optimism",
    build=build,
    parameters={"horizon": 1000, "c": 1.0},
    needs=(FEATURES,),
    reference="Lattimore and Szepesvári (2017)",
    fits=shows_one_value,
    remembers=True,
)
