"""Certainty equivalence corrected by sequential tests, after Graves and Lai (1997).

T. L. Graves and T. L. Lai, "Asymptotically efficient adaptive choice of control laws in controlled
Markov chains", SIAM Journal on Control and Optimization 35(3), for finitely many arms, each a
control law of its own.  Time is cut into blocks; in the one that ends at n, with ℓ = (1 + γ) ln n:

- each arm of a small set that shows everything is played √ln n times, o(ln n);
- exploit the best arm of the maximum-likelihood estimate while the generalised likelihood
  ratio against every parameter with another best arm is at least ℓ;
- else experiment by the plan: arms short of c(x) ℓ plays, that of least N/c first, where c solves
  the Graves–Lai program at the estimate.  The plan is made anew in every block, when the leader
  changes, and when it is carried out and the test still fails.

From the paper: the program and its rates, forced plays of lower order than ln n, and likelihood
ratio tests at the level ln n that decide between the law that seems best and experimentation.
What could not be established, its text not being at hand: the form of its blocks, the number
of its forced plays, and the order of experiments within a block; those above are choices.  Two
more are those of ``ossb``: the leader is played while it has fewer plays than the arm due, and
where the test would pass if the leader were known.

At real horizons √ln n forced plays are few: where two arms tie behind the best, and the best looks
worse than both, the plan has the two play against each other for long.  Of 300 runs to 10⁵ on
Gaussian arms (.7, .5, .5), four cost more than 3,000; none did on (.7, .5, .4).
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.errors import InputError
from ossb.models.base import SETTLED, WEAKEST, Model
from ossb.policies.arms import overdue, projects
from ossb.policies.base import Kind
from ossb.records import record
from ossb.structures.offers import MODEL
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE, Decision, Tally

CLOSE = 1e-3  # certified relative gap at which held rates are kept
FASTEST = 1e6  # growth of a block: its end is to be a 64-bit number
# places in GravesLaiMemory.plan
END, LEADER = 0, 1


class GravesLaiMemory(NamedTuple):
    model: Any
    targets: np.ndarray  # float64 (n_arms,): the rates c(x) of the plan
    plan: np.ndarray  # int64 (2,): end of the block, the leader planned for or −1


@record
class GravesLai(NamedTuple):
    """Experiment as planned until a test allows to exploit.

    Parameters
    ----------
    model
        The structure.
    gamma
        The level of the tests and the plan are scaled by 1 + gamma.
    growth
        Each block ends at this multiple of the last one's end.
    """

    model: Model
    gamma: float
    growth: float

    def _check(self) -> None:
        if not 0 <= self.gamma < math.inf:
            raise InputError("gamma", "be non-negative", self.gamma)
        if not 1 < self.growth <= FASTEST:
            raise InputError("growth", f"lie in (1, {FASTEST:g}]", self.growth)

    def start(self) -> GravesLaiMemory:
        n = self.model.n_arms
        return GravesLaiMemory(self.model.start(), np.zeros(n), np.array([1, -1]))

    def select(self, tally: Tally, memory: GravesLaiMemory, rng: Generator) -> Decision:
        t, plan = tally.clock[0] + 1, memory.plan
        while t >= plan[END]:
            plan[END] = max(int(self.growth * plan[END]), plan[END] + 1)
            plan[LEADER] = -1
        logarithm = math.log(plan[END])
        forced = overdue(self.model, math.sqrt(logarithm), tally)
        if forced >= 0:
            return Decision(forced, ESTIMATE)
        leader = self.model.project(tally, memory.model)
        level = (1.0 + self.gamma) * logarithm
        self.model.test(leader, level, tally, memory.model)
        if memory.model.numbers[WEAKEST] >= level:
            return Decision(leader, EXPLOIT)
        due = self.furthest_behind(level, tally, memory.targets)
        if plan[LEADER] != leader or due < 0:
            self.model.rates(leader, CLOSE, memory.model, memory.targets)
            plan[LEADER] = leader
            due = self.furthest_behind(math.inf, tally, memory.targets)
        if due < 0:
            return Decision(leader, EXPLOIT)
        if self.model.is_informative(leader):
            if tally.plays[leader] < tally.plays[due] or memory.model.numbers[SETTLED] >= level:
                return Decision(leader, EXPLORE)
        return Decision(due, EXPLORE)

    def furthest_behind(self, level: float, tally: Tally, targets: np.ndarray) -> int:
        """The arm of least N/c among those with N < c · level, or −1."""
        arm, least = -1, level
        for x in range(targets.shape[0]):
            if targets[x] > 0.0 and tally.plays[x] / targets[x] < least:
                arm, least = x, tally.plays[x] / targets[x]
        return arm


def build(instance: Any, gamma: float, growth: float) -> GravesLai:
    return GravesLai(instance.model(), gamma, growth)


GRAVES_LAI = Kind(
    name="graves-lai",
    build=build,
    parameters={"gamma": 0.0, "growth": 2.0},
    needs=(MODEL,),
    reference="Graves and Lai (1997)",
    fits=projects,
    remembers=True,
)
