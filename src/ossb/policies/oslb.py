"""OSLB, optimal sampling for Lipschitz bandits (Magureanu, Combes and Proutiere, 2014).

Play the leader unless the index of some arm exceeds its mean.  Otherwise solve the Graves–Lai
program at the empirical means; with k̄ the arm of least N_k / c_k and k̲ the least played arm, play
k̲ if N(k̲) < (ε / K) N(k̄), else k̄.  f(t) = ln t + 3 K ln ln t in the analysis; c = 0 is the
default here, as for ``kl-ucb``.

The full text was not at hand: the rule is as remembered from it, and should be compared with
Algorithm 1 of the paper.  Not established: over which arms k̄ is the least (here all arms with
c_k > 0), and the ε of its experiments (0.5 here).  The program is solved at means that need not
be Lipschitz, as they stand.  The distances may be those of any metric.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.errors import InputError
from ossb.families import Family
from ossb.graves_lai.lipschitz import LipschitzMemory as ProgramMemory
from ossb.graves_lai.lipschitz import rates as program_rates
from ossb.graves_lai.lipschitz import start as start_program
from ossb.policies.arms import best_mean, unplayed
from ossb.policies.base import Kind
from ossb.policies.lipschitz_arms import exploration_level, may_be_best
from ossb.records import Floats, record
from ossb.structures.offers import DISTANCES
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE, Decision, Tally


class OslbMemory(NamedTuple):
    """The rates last solved for, and the solver's own."""

    targets: np.ndarray  # float64 (n_arms,)
    program: ProgramMemory


@record
class Oslb(NamedTuple):
    """Track the optimal rates while some arm may be best.

    Parameters
    ----------
    family
        The observations.
    distances
        ℓ, a metric.
    epsilon
        Share of forced exploration.
    c
        Weight of K ln ln t in f.
    """

    family: Family
    distances: Floats
    epsilon: float
    c: float

    def _check(self) -> None:
        if not 0 <= self.epsilon < math.inf:
            raise InputError("epsilon", "be non-negative", self.epsilon)
        if not 0 <= self.c < math.inf:
            raise InputError("c", "be non-negative", self.c)

    def start(self) -> OslbMemory:
        return OslbMemory(np.zeros(self.distances.shape[0]), start_program(self.distances))

    def select(self, tally: Tally, memory: OslbMemory, rng: Generator) -> Decision:
        first = unplayed(tally)
        if first >= 0:
            return Decision(first, ESTIMATE)
        n_arms = tally.plays.shape[0]
        leader, level = best_mean(tally), exploration_level(tally, self.c)
        doubtful = False
        for k in range(n_arms):
            if may_be_best(self.family, self.distances, tally, level, leader, k):
                doubtful = True
                break
        if not doubtful:
            return Decision(leader, EXPLOIT)
        program_rates(self.distances, self.family, tally.means, 0.0, memory.program, memory.targets)
        behind, least = -1, 0
        for k in range(n_arms):
            if tally.plays[k] < tally.plays[least]:
                least = k
            if k != leader and memory.targets[k] > 0.0:
                # N_k / c_k < N_behind / c_behind
                if behind < 0 or (
                    tally.plays[k] * memory.targets[behind]
                    < tally.plays[behind] * memory.targets[k]
                ):
                    behind = k
        if behind < 0:  # nothing would tell more
            return Decision(leader, EXPLOIT)
        if tally.plays[least] < self.epsilon / n_arms * tally.plays[behind]:
            return Decision(least, ESTIMATE)
        return Decision(behind, EXPLORE)


def build(instance: Any, epsilon: float, c: float) -> Oslb:
    return Oslb(instance.family, instance.metric, epsilon, c)


OSLB = Kind(
    name="oslb",
    build=build,
    parameters={"epsilon": 0.5, "c": 0.0},
    needs=(DISTANCES,),
    reference="Magureanu, Combes and Proutiere (2014)",
)
