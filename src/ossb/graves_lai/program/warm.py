"""Rates for policies: keep the last solution while it is provably good enough, else solve again.

What proves the held rates depends on the estimate through gaps and divergences alone: the
minimisers behind the weights are fitted to the new gaps, and each alternative keeps a proof of what
the rates tell of it.  One pass gives both sides at a new estimate, with nothing allocated.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ossb.graves_lai.program.generation import fit, generate, price_all
from ossb.graves_lai.program.newton import COLUMNS, ROWS, SUPPORT, TIGHT, list_active, newton
from ossb.graves_lai.program.work import Work
from ossb.graves_lai.program.working_set import total_over
from ossb.kernels import inlined_kernel, kernel, separate_kernel
from ossb.records import Floats, Ints, record

EXACT = 1e-6  # relative gap of a solve
ROUGH = 1e-3  # and that from which Newton's method ends it, which is cheaper, and leaves no crumbs
GOOD = (
    10.0  # times the gap of a solve: a warm one that ends further off is made again, from nothing
)
NOBODY = -1
LEADER = 4  # of sizes, behind those of ``newton``
KEPT, NEWTON, WARM, COLD, FAILED = range(5)  # of counts


@record
class Held(NamedTuple):
    """The last solution, for one leader."""

    work: Work
    feasible: Floats  # (K,) its rates, as they were proved
    sizes: Ints  # (5,) of its working sets, what is active of them, and its leader
    counts: Ints  # (5,) how often rates were kept, or solved for in which way, and how often not

    @property
    def renewable(self) -> bool:
        """A memory that is saved may begin it anew: it only saves work."""
        return True


def held(work: Work) -> Held:
    """Nothing yet."""
    return Held(
        work, np.zeros(work.plays.costs.size), np.array([0, 0, 0, 0, NOBODY]), np.zeros(5, np.int64)
    )


@kernel
def spent_on(feasible: np.ndarray, costs: np.ndarray, columns: np.ndarray, count: int) -> float:
    """What the rates of some columns cost."""
    spent = 0.0
    for e in range(count):
        spent += feasible[columns[e]] * costs[columns[e]]
    return spent


@kernel
def restart(information: Any, memory: Held, least: float) -> None:
    """Put the held rates, made feasible, and their weights where a solve starts from."""
    work, n_rows = memory.work, memory.sizes[ROWS]
    plays, alternatives, rows = work.plays, work.alternatives, work.rows.members
    fit(information, n_rows, work)
    dearest = price_all(information, n_rows, work)
    for j in range(n_rows):
        alternatives.weight[rows[j]] /= dearest
    for x in range(memory.feasible.shape[0]):
        plays.spent[x] = 0.0
        if plays.is_open[x] == 1:
            plays.spent[x] = memory.feasible[x] * plays.costs[x] / least


@kernel
def hold(
    columns: np.ndarray,
    count: int,
    spent: np.ndarray,
    costs: np.ndarray,
    feasible: np.ndarray,
    out: np.ndarray,
) -> None:
    """Keep the rates of a solve, and write them."""
    for x in range(out.shape[0]):
        out[x] = 0.0
        feasible[x] = 0.0
    for e in range(count):
        x = columns[e]
        out[x] = spent[x] / costs[x]
        feasible[x] = out[x]


@separate_kernel
def solve_again(
    information: Any,
    leader: int,
    least: float,
    upper: float,
    lower: float,
    memory: Held,
    out: np.ndarray,
) -> float:
    """Rates of a new solve, which begins with what is held where that has an upper side.

    Returns their certified relative gap.
    """
    work, sizes = memory.work, memory.sizes
    plays, columns = work.plays, work.columns.members
    work.halt[0] = 0
    if upper < math.inf:
        restart(information, memory, least)
    for attempt in range(3):  # roughly, for Newton's method to end it; to the end; from nothing
        sizes[LEADER], is_warm = leader, upper < math.inf
        memory.counts[WARM if is_warm else COLD] += 1
        sizes[COLUMNS], sizes[ROWS], upper, lower = generate(
            information,
            leader,
            sizes[COLUMNS],
            sizes[ROWS],
            ROUGH if attempt == 0 else EXACT,
            upper,
            lower,
            work,
        )
        if sizes[ROWS] == 0:  # nothing that can be told apart
            hold(columns, 0, plays.spent, plays.costs, memory.feasible, out)
            return 0.0
        if upper < math.inf and lower > 0.0:
            sizes[SUPPORT], sizes[TIGHT] = list_active(sizes[COLUMNS], sizes[ROWS], work)
            hold(columns, sizes[COLUMNS], plays.spent, plays.costs, memory.feasible, out)
            dearest = price_all(information, sizes[ROWS], work)
            gap = newton(information, EXACT, memory.feasible, 1.0, dearest, sizes, work)
            if gap <= EXACT:
                hold(columns, sizes[COLUMNS], plays.spent, plays.costs, memory.feasible, out)
                return gap
            if attempt > 0 and (not is_warm or upper - lower <= GOOD * EXACT * upper):
                break
        elif attempt > 0 and not is_warm:
            break
        if attempt > 0 or not (upper < math.inf and lower > 0.0):
            upper, lower = math.inf, 0.0
    if not (upper < math.inf and lower > 0.0):
        sizes[LEADER] = NOBODY
        memory.counts[FAILED] += 1
        information.fall_back(work.plays.is_open, out)
        return 1.0
    return max(0.0, (upper - lower) / upper)


@inlined_kernel
def bounds_held(information: Any, leader: int, memory: Held) -> tuple[float, float, float, float]:
    """How good what is held is at the posed estimate; upper side ∞ where that is nothing.

    Returns the least that the rates tell, what the dearest column tells, and both sides.
    """
    work, n, m = memory.work, memory.sizes[COLUMNS], memory.sizes[ROWS]
    least, dearest = 0.0, 0.0
    if memory.sizes[LEADER] == leader and m > 0:
        least, dearest = information.recheck(m, work)
        weight = total_over(work.alternatives.weight, work.rows.members, m)
        if least > 0.0 and 0.0 < dearest < math.inf and weight > 0.0:
            spent = spent_on(memory.feasible, work.plays.costs, work.columns.members, n)
            return least, dearest, spent / least, weight / dearest
    return least, dearest, math.inf, 0.0


@inlined_kernel
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
    plays, columns = memory.work.plays, memory.work.columns.members
    least, dearest, upper, lower = bounds_held(information, leader, memory)
    if upper - lower <= kappa * upper < math.inf:
        memory.counts[KEPT] += 1
        for x in range(out.shape[0]):
            out[x] = memory.feasible[x] / least
        return max(0.0, (upper - lower) / upper)
    if upper < math.inf:
        memory.work.halt[0] = 0
        gap = newton(information, EXACT, memory.feasible, least, dearest, memory.sizes, memory.work)
        if gap <= EXACT:
            memory.counts[NEWTON] += 1
            hold(columns, memory.sizes[COLUMNS], plays.spent, plays.costs, memory.feasible, out)
            return gap
    return solve_again(information, leader, least, upper, lower, memory, out)
