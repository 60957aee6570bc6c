"""Generation of rows and columns around the barrier.

Few alternatives are tight at the optimum and few columns are played.  Each round solves a working
set, then looks at the whole program with the solution: what its rates tell of every alternative,
and what every column tells for its cost.  Both sides returned are of the whole program.
"""

import math
from typing import Any

import numpy as np

from ossb.graves_lai.program.barrier import interior_point
from ossb.graves_lai.program.work import Alternatives, Work
from ossb.graves_lai.program.working_set import (
    drop_idle,
    enter_all,
    enter_scored,
    first_sets,
    load,
    score_missing,
    store,
    total_over,
)
from ossb.kernels import kernel, separate_kernel

ENOUGH = 4.0  # F, where 1 is needed, that makes an alternative irrelevant
SMALL = 1e-8  # share of the cost below which a rate is dropped if the bound allows
INNER = 0.8  # share of the gap asked for at which the search for columns and rows ends
ROUNDS = 100
STRETCHED = 30.0  # conditioning of what rates tell that calls for new coordinates
STALLED = 4  # rounds in a row without a newcomer or a better bound after which it ends
FEWEST = 4  # columns, and rows, that may enter in one round


@kernel
def price_all(information: Any, m: int, work: Work) -> float:
    """What every column tells for its cost at the weights of the working rows; the most."""
    plays, rows = work.plays, work.rows
    for j in range(m):
        rows.weight[j] = work.alternatives.weight[rows.members[j]]
    information.price_held(rows.members, rows.weight, m, plays.is_open, plays.price)
    dearest = 0.0
    for x in range(plays.costs.shape[0]):
        if plays.is_open[x] == 1:
            plays.price[x] /= plays.costs[x]
            dearest = max(dearest, plays.price[x])
    return dearest


@kernel
def recheck(information: Any, m: int, work: Work) -> tuple[float, float]:
    """What records answer that know no shortcut: each proof, and each minimiser, by itself."""
    least = math.inf
    for row in range(work.alternatives.told.shape[0]):
        if work.alternatives.is_open[row] == 1:
            least = min(least, information.proved(row))
    fit(information, m, work)
    return least, price_all(information, m, work)


@kernel
def fit(information: Any, m: int, work: Work) -> None:
    """Move the minimisers behind the weights to the gaps there are now."""
    for j in range(m):
        row = work.rows.members[j]
        if not information.fit(row):
            work.alternatives.weight[row] = 0.0


@kernel
def play_best(information: Any, n: int, share: float, work: Work) -> float:
    """Play the working columns at their best rates, but for those of least cost; what is spent."""
    columns, plays = work.columns, work.plays
    total, kept = total_over(plays.spent, columns.members, n), 0.0
    for e in range(n):
        spent = plays.spent[columns.members[e]]
        columns.plays[e] = 0.0
        if spent > share * total:
            columns.plays[e] = spent / plays.costs[columns.members[e]]
            kept += spent
    information.play(columns.members, n, columns.plays)
    return kept


@kernel
def look_at_each(information: Any, proving: bool, alternatives: Alternatives) -> float:
    """F of each alternative at what is played, found or proved; the least."""
    least = math.inf
    for row in range(alternatives.told.shape[0]):
        if alternatives.is_open[row] == 1:
            told = information.inform(row, ENOUGH)
            if proving and told > 0.0:
                told = information.prove(row, told)
            alternatives.told[row] = told
            least = min(least, told)
    return least


@kernel
def solve_working(
    information: Any, n: int, m: int, inner: float, gap: float, upper: float, work: Work
) -> float:
    """Solve the working sets from what is stored, or else from nothing; their upper side."""
    mu = 0.3 * gap * upper / (n + m) if upper < math.inf else 0.0
    found = math.inf
    for _ in range(2):
        load(n, m, gap, mu, work)
        found, proved = interior_point(information, n, m, inner, gap, mu, work)
        if mu == 0.0 or (found < math.inf and found - proved <= inner * found):
            break
        mu = 0.0
    return found


@kernel
def is_short(members: np.ndarray, size: int, whole: int, most: int) -> bool:
    """Whether a working set may soon be full: not where there is room for all there are."""
    room = members.shape[0]
    return room < whole and room - size < 2 * most


@kernel
def grow(information: Any, n: int, m: int, gap: float, degrees: int, work: Work) -> tuple[int, int]:
    """Drop what is idle where room is short, then add what the last look found missing."""
    most, columns, rows = max(FEWEST, degrees), work.columns.members, work.rows.members
    if is_short(columns, n, work.plays.costs.shape[0], most) or is_short(
        rows, m, work.alternatives.told.shape[0], most
    ):
        n, m = drop_idle(n, m, work)
    score_missing(0.1 * gap, work)
    return enter_scored(information, n, m, most, work)


@kernel
def settle(information: Any, n: int, m: int, gap: float, lower: float, work: Work) -> float:
    """Prove what the best rates tell, make them feasible, and drop those next to nothing.

    Returns what they cost.
    """
    upper = math.inf
    for share in (SMALL, 0.0):
        spent = play_best(information, n, share, work)
        least = information.inform_all(True, work.alternatives)
        if least > 0.0:
            upper = spent / least
            if upper - lower <= gap * upper or share == 0.0:
                information.settle(least, m, work)
                for e in range(n):
                    x = work.columns.members[e]
                    work.plays.spent[x] = work.columns.plays[e] / least * work.plays.costs[x]
                break
    return upper


@separate_kernel
def generate(
    information: Any,
    leader: int,
    n: int,
    m: int,
    gap: float,
    upper: float,
    lower: float,
    work: Work,
) -> tuple[int, int, float, float]:
    """Solve the program; the sizes of its working sets in the end, and the proved bounds.

    ``upper`` and ``lower`` are those of the stored rates and weights, to start from with the
    working sets in place; ∞ and 0 start from nothing.  The rates, made feasible, are left in
    ``work.plays.spent`` as costs, and the weights in ``work.alternatives.weight``.  Where there is
    no alternative, there are no rows, and both bounds are 0.
    """
    if not upper < math.inf:
        information.follow(leader, work.plays, work.alternatives)
        n, m = first_sets(information, work)
        if m == 0:
            return 0, 0, 0.0, 0.0
    settled, stalled, current = False, 0, 1.0
    rough, degrees = INNER * gap, information.degrees()
    if upper < math.inf:
        current = max((upper - lower) / upper, 1e-9)
    for _ in range(ROUNDS):
        if work.halt[0] != 0:
            break
        inner = 0.5 * rough if settled else max(0.5 * rough, min(0.05, 0.1 * current))
        found = solve_working(information, n, m, inner, current, upper, work)
        if not found < math.inf:
            before = n
            n = enter_all(n, work)  # the columns may not show all that is to be told
            if n == before:
                break
            continue
        store(n, m, work)
        dearest = price_all(information, m, work)
        proved = 0.0
        if dearest > 0.0:
            proved = total_over(work.alternatives.weight, work.rows.members, m) / dearest
        spent = play_best(information, n, 0.0, work)
        least = information.inform_all(False, work.alternatives)
        found = spent / least if least > 0.0 else math.inf
        improved = found < upper or proved > lower
        upper, lower, current = found, proved, 1.0
        if upper < math.inf:
            current = (upper - lower) / upper
            if current <= rough:
                break
            information.rescale(STRETCHED)
        before = n + m
        n, m = grow(information, n, m, current, degrees, work)
        settled = n + m == before
        stalled = stalled + 1 if settled and not improved else 0
        if stalled == STALLED:
            break
    return n, m, settle(information, n, m, gap, lower, work), lower
