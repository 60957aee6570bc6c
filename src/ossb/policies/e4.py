"""E4: explore, estimate, eliminate, exploit, in few batches (Ren, Jin and Xu, 2024).

For a horizon T, with plays within a batch settled before it:

1. explore by a D-optimal design π: ⌈2 π(x) g T₁ / d⌉ plays of x, g the largest xᵀV(π)⁻¹x;
2. estimate: solve the Graves–Lai program at the estimate for w(x), and play
   ⌈min(w(x) α ln T, (ln T)^(1+γ), T/2K)⌉ times, α = (1 + 1/ln ln T)(1 + d ln ln T / ln T); then
   exploit the leader to the end if its likelihood ratio against every other arm exceeds
   κ ln(t^(d/2) T);
3. eliminate otherwise: a design with T₃ = (ln T)^(1+γ), then T_l = T^(1 − 2^(3−l)) for l = 4, …;
   after each keep arms within 2σ √(d ln(K T²) / T_l) of the best, until one is left.

What could not be established, the paper's text not being at hand: the batches' sizes and the
threshold are those of the authors' public code, with T₁ = √T, γ = 10 and κ = ½ (the factor is
a parameter).  There w of the leader, which costs nothing, is whatever the solver returns; here it
is infinite, so that the leader gets the largest number allowed.  With γ = 10 the third batch
is longer than any horizon below 10¹⁷: a failed test leaves the design to the end.

√T plays of a design cost more than any multiple of ln T in the end, so that the regret with the
batches of that code cannot grow as C(θ) ln T, which the paper proves for a proper choice of T₁.
``first_batch="logarithm"`` has T₁ = √ln T, of lower order than ln T: our choice, not the paper's.

Departures: that code has a ridge of one observation, here there is none, since a design shows
every direction first and a ridge would depend on the units of features; the horizon need not be
known: past the planned one it is squared and batches begin anew, with all data kept; while
answers of a batch are on their way it goes on, in the same shares.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.errors import InputError
from ossb.fields import choice, integer
from ossb.graves_lai.linear import LinearMemory as SolverMemory
from ossb.graves_lai.linear import rates as solved_rates
from ossb.graves_lai.linear import start as start_solver
from ossb.models.least_squares import INVERSE, TOLD
from ossb.policies.base import Kind
from ossb.policies.linear_arms import (
    Regression,
    flat_arms,
    new_regression,
    regress_on,
    shows_one_value,
)
from ossb.policies.linear_rivals import Rivals, face_rivals, new_rivals
from ossb.policies.optimal_design import optimal_design
from ossb.records import Floats, record
from ossb.structures.offers import FEATURES
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE, Decision, Tally

# places in E4Memory.plan
BATCH, HORIZON, SIZE, LEADER = 0, 1, 2, 3
# rows of E4Memory.lists
ACTIVE, DONE, WANTED = 0, 1, 2


class E4Memory(NamedTuple):
    regression: Regression
    rivals: Rivals
    plan: np.ndarray  # float64 (4,): batch, horizon planned for, T of the batch, leader or −1
    lists: np.ndarray  # int64 (3, n_arms): active arms, plays before the batch, plays in it
    shares: np.ndarray  # float64 (2, n_arms): shares of a design or rates, scratch
    solver: SolverMemory


@record
class E4(NamedTuple):
    """Commit to the leader after two batches if a test allows it; else eliminate.

    Parameters
    ----------
    features
        The arms, as columns, in coordinates of their own.
    prior
        The precision of a prior that is as good as none.
    sigma
        Standard deviation of the noise.
    horizon
        The horizon first planned for.
    gamma
        γ, of the cap on plays in the second batch and of the size of the third.
    threshold
        κ, the factor of the test.
    brief
        T₁ = √ln T in place of √T.
    """

    features: Floats
    prior: Floats
    sigma: float
    horizon: int
    gamma: float
    threshold: float
    brief: bool

    def _check(self) -> None:
        if not 0 < self.gamma <= 100:
            raise InputError("gamma", "lie in (0, 100]", self.gamma)
        if not 0 < self.threshold < math.inf:
            raise InputError("threshold", "be positive", self.threshold)

    def start(self) -> E4Memory:
        n = self.features.shape[1]
        return E4Memory(
            new_regression(self.features, self.prior),
            new_rivals(self.features),
            np.array([0.0, float(self.horizon), 0.0, -1.0]),
            np.array([np.ones(n), np.zeros(n), np.zeros(n)], np.int64),
            np.zeros((2, n)),
            start_solver(self.features.T),
        )

    def select(self, tally: Tally, memory: E4Memory, rng: Generator) -> Decision:
        t, plan, lists = tally.clock[0] + 1.0, memory.plan, memory.lists
        while t > plan[HORIZON]:
            plan[HORIZON] *= plan[HORIZON]
            plan[BATCH], plan[LEADER] = 0.0, -1.0
            for x in range(lists.shape[1]):
                lists[ACTIVE, x], lists[WANTED, x] = 1, 0
        while plan[LEADER] < 0.0:
            for x in range(lists.shape[1]):
                if tally.plays[x] - lists[DONE, x] < lists[WANTED, x]:
                    return Decision(x, EXPLORE if plan[BATCH] == 2.0 else ESTIMATE)
            untold = self.untold(tally, lists)
            if untold >= 0:
                return Decision(untold, EXPLORE if plan[BATCH] == 2.0 else ESTIMATE)
            self.next_batch(tally, memory)
        return Decision(int(plan[LEADER]), EXPLOIT)

    def untold(self, tally: Tally, lists: np.ndarray) -> int:
        """While answers of the batch are on their way, the arm furthest behind its share; or −1."""
        late, furthest, least = False, -1, math.inf
        for x in range(lists.shape[1]):
            if lists[WANTED, x] > 0:
                late = late or tally.counts[x] - lists[DONE, x] < lists[WANTED, x]
                share = (tally.plays[x] - lists[DONE, x]) / lists[WANTED, x]
                if share < least:
                    furthest, least = x, share
        return furthest if late else -1

    def next_batch(self, tally: Tally, memory: E4Memory) -> None:
        """Plan a batch, or commit to a leader."""
        plan, lists, regression = memory.plan, memory.lists, memory.regression
        n_arms, logarithm = lists.shape[1], math.log(plan[HORIZON])
        leader = regress_on(self.features, tally, regression)
        plan[BATCH] += 1.0
        for x in range(n_arms):
            lists[DONE, x] = tally.plays[x]
        if plan[BATCH] == 1.0:
            plan[SIZE] = math.sqrt(logarithm if self.brief else plan[HORIZON])
        elif plan[BATCH] == 2.0:
            self.plan_rates(leader, memory)
            return
        elif plan[BATCH] == 3.0:
            inverse = regression.squares.square[TOLD, INVERSE]
            rival = face_rivals(self.features, regression.rewards, leader, inverse, memory.rivals)
            d = self.features.shape[0]
            enough = self.threshold * (0.5 * d * math.log(tally.clock[0] + 1.0) + logarithm)
            evidence = math.inf
            if rival >= 0:
                evidence = 0.5 * memory.rivals.distances[rival] / (self.sigma * self.sigma)
            if evidence > enough:
                plan[LEADER] = float(leader)
                return
            plan[SIZE] = math.pow(logarithm, 1.0 + self.gamma)
        else:
            if self.eliminate(memory) == 1:
                return
            plan[SIZE] = math.pow(plan[HORIZON], 1.0 - math.pow(2.0, 3.0 - plan[BATCH]))
        self.plan_design(memory)

    def plan_design(self, memory: E4Memory) -> None:
        """Plays of a D-optimal design among the active arms, never more than the horizon."""
        plan, lists, shares = memory.plan, memory.lists, memory.shares
        worst = optimal_design(
            self.features, lists[ACTIVE], memory.rivals.designs, shares[1], shares[0]
        )
        scale = 2.0 * worst * plan[SIZE] / self.features.shape[0]
        for x in range(lists.shape[1]):
            lists[WANTED, x] = math.ceil(min(scale * shares[0, x], plan[HORIZON]))

    def plan_rates(self, leader: int, memory: E4Memory) -> None:
        """Plays that the Graves–Lai program asks for at the estimate."""
        regression, rate, lists = memory.regression, memory.shares[0], memory.lists
        d, n_arms = self.features.shape
        horizon = memory.plan[HORIZON]
        log = math.log(horizon)
        double = math.log(log)
        solved_rates(regression.rewards, regression.rewards, leader, 1e-3, memory.solver, rate)
        alpha = (1.0 + 1.0 / double) * (1.0 + d * double / log)
        most = min(math.pow(log, 1.0 + self.gamma), 0.5 * horizon / n_arms)
        scale = self.sigma * self.sigma * alpha * log
        for x in range(n_arms):
            wanted = most if x == leader else min(scale * rate[x], most)
            lists[WANTED, x] = math.ceil(wanted)

    def eliminate(self, memory: E4Memory) -> int:
        """Drop arms that a design rules out; commits if one is left, and counts those left."""
        plan, lists, rewards = memory.plan, memory.lists, memory.regression.rewards
        d, n_arms = self.features.shape
        doubt = math.log(n_arms) + 2.0 * math.log(plan[HORIZON])
        width = 2.0 * self.sigma * math.sqrt(d * doubt / plan[SIZE])
        top = -math.inf
        for x in range(n_arms):
            if lists[ACTIVE, x] == 1:
                top = max(top, rewards[x])
        left, last = 0, 0
        for x in range(n_arms):
            if lists[ACTIVE, x] == 1 and rewards[x] <= top - width:
                lists[ACTIVE, x] = 0
            if lists[ACTIVE, x] == 1:
                left, last = left + 1, x
        if left == 1:
            plan[LEADER] = float(last)
        return left


def build(instance: Any, horizon: int, gamma: float, threshold: float, first_batch: str) -> E4:
    arms = flat_arms(instance)
    brief = choice(first_batch, "first_batch", ("root", "logarithm")) == "logarithm"
    planned = integer(horizon, "horizon", least=16)  # ln ln T must be positive
    return E4(arms.features, arms.prior, instance.sigma, planned, gamma, threshold, brief)


E4_KIND = Kind(
    name="e4",
    build=build,
    parameters={"horizon": 1000, "gamma": 10.0, "threshold": 0.5, "first_batch": "root"},
    needs=(FEATURES,),
    reference="Ren, Jin and Xu (2024)",
    fits=shows_one_value,
    remembers=True,
    breaks={"relabelling": "arms of a batch are played in the order of their numbers"},
)
