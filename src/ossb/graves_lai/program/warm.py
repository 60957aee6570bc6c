"""Rates for policies: keep the last solution while it is provably good enough, else solve again.

What proves the held rates depends on the estimate through gaps and divergences alone: the
minimisers behind the weights are fitted to the new gaps, and each alternative keeps a proof of what
the rates tell of it.  One pass gives both sides at a new estimate, with nothing allocated.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ossb.graves_lai.program.generation import generate, price_all
from ossb.graves_lai.program.work import Work
from ossb.graves_lai.program.working_set import total_over
from ossb.kernels import kernel, separate_kernel
from ossb.records import Floats, Ints, record

EXACT = 1e-6  # relative gap of a solve
GOOD = (
    10.0  # times the gap of a solve: a warm one that ends further off is made again, from nothing
)
NOBODY = -1
LEADER, COLUMNS, ROWS = range(3)  # sizes


@record
class Held(NamedTuple):
    """The last solution, for one leader."""

    work: Work
    feasible: Floats  # (K,) its rates, as they were proved
    sizes: Ints  # (3,) its leader, and the sizes of its working sets


def held(work: Work) -> Held:
    """Nothing yet."""
    return Held(work, np.zeros(work.plays.costs.size), np.array([NOBODY, 0, 0]))


@kernel
def verify(information: Any, memory: Held) -> tuple[float, float, float]:
    """The least that held rates tell, and both sides of the value, at the posed estimate."""
    work, n_rows = memory.work, memory.sizes[ROWS]
    least, spent = math.inf, 0.0
    for row in range(work.alternatives.told.shape[0]):
        if work.alternatives.is_open[row] == 1:
            least = min(least, information.proved(row))
    for x in range(memory.feasible.shape[0]):
        if work.plays.is_open[x] == 1:
            spent += memory.feasible[x] * work.plays.costs[x]
    for j in range(n_rows):
        row = work.rows.members[j]
        if not information.fit(row):
            work.alternatives.weight[row] = 0.0
    dearest = price_all(information, n_rows, work)
    upper = spent / least if least > 0.0 else math.inf
    lower = 0.0
    if 0.0 < dearest < math.inf:
        lower = total_over(work.alternatives.weight, work.rows.members, n_rows) / dearest
        for j in range(n_rows):
            work.alternatives.weight[work.rows.members[j]] /= dearest
    return least, upper, lower


@kernel
def restart(memory: Held, least: float) -> None:
    """Put the held rates, made feasible, where a solve starts from."""
    plays = memory.work.plays
    for x in range(memory.feasible.shape[0]):
        plays.spent[x] = 0.0
        if plays.is_open[x] == 1:
            plays.spent[x] = memory.feasible[x] * plays.costs[x] / least


@kernel
def hold(memory: Held, out: np.ndarray) -> None:
    """Keep the rates of a solve, and write them."""
    plays = memory.work.plays
    for x in range(out.shape[0]):
        out[x] = plays.spent[x] / plays.costs[x] if plays.is_open[x] == 1 else 0.0
        memory.feasible[x] = out[x]


@separate_kernel
def follow(information: Any, leader: int, kappa: float, memory: Held, out: np.ndarray) -> float:
    """Feasible rates at the posed estimate into ``out``; returns their certified relative gap.

    Parameters
    ----------
    information
        Posed at the estimate, with the costs in place.
    leader
        Whoever leads; another one than before is solved for from nothing.
    kappa
        Gap up to which the held rates are kept, scaled to be feasible; 0 solves every time.
    """
    work, sizes = memory.work, memory.sizes
    upper, lower = math.inf, 0.0
    if sizes[LEADER] == leader and sizes[ROWS] > 0:
        least, upper, lower = verify(information, memory)
        if upper < math.inf and lower > 0.0:
            gap = max(0.0, (upper - lower) / upper)
            if gap <= kappa:
                for x in range(out.shape[0]):
                    out[x] = memory.feasible[x] / least
                return gap
            restart(memory, least)
    if not (upper < math.inf and lower > 0.0):
        upper, lower = math.inf, 0.0
    for _ in range(2):  # from what is held if that helps, else from nothing
        sizes[LEADER], is_warm = leader, upper < math.inf
        sizes[COLUMNS], sizes[ROWS], upper, lower = generate(
            information, leader, sizes[COLUMNS], sizes[ROWS], EXACT, upper, lower, work
        )
        if sizes[ROWS] == 0:  # nothing that can be told apart
            hold(memory, out)
            return 0.0
        if not is_warm or upper - lower <= GOOD * EXACT * upper < math.inf:
            break
        upper, lower = math.inf, 0.0
    if not (upper < math.inf and lower > 0.0):
        sizes[LEADER] = NOBODY
        information.fall_back(work.plays.is_open, out)
        return 1.0
    hold(memory, out)
    return max(0.0, (upper - lower) / upper)
