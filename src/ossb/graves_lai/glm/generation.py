"""Row and column generation: the program over all arms through small working sets.

The optimum plays few arms against few alternatives, so an interior-point method on a handful
of each, a pass over all arms that proves both sides of the bound, and the addition of what
was missing, reach the optimum in a few rounds whatever the number of arms.
"""

import math

import numpy as np

from ossb.graves_lai.glm.barrier import minimize
from ossb.graves_lai.glm.frame import whiten
from ossb.graves_lai.glm.oracle import most_confusing, prove
from ossb.graves_lai.glm.space import (
    COLUMNS,
    COST,
    DIRECTION,
    INFORMATION,
    OPEN,
    RATE,
    ROWS,
    SCORE,
    SPENT,
    WEIGHED,
    Space,
)
from ossb.graves_lai.glm.working_set import (
    add_best,
    load,
    price_columns,
    prune,
    score,
    store,
    total_over,
)
from ossb.kernels import kernel, separate_kernel

ENOUGH = 4.0  # information about an alternative, where 1 is needed, that makes it irrelevant
SMALL = 1e-8  # share of the cost below which a rate is dropped if the bound allows
_ROUNDS = 100
_STRETCHED = 30.0  # conditioning of the information matrix that calls for new coordinates


@kernel
def set_rates(n: int, share: float, space: Space) -> float:
    """Rates of the working columns but those of the smallest cost; returns the cost of the rest."""
    by_arm, work = space.by_arm, space.work
    total = total_over(COLUMNS, SPENT, n, space)
    kept = 0.0
    for arm in range(space.vectors.shape[1]):
        by_arm[SCORE, arm] = 0.0
    for j in range(n):
        arm = space.lists[COLUMNS, j]
        spent = by_arm[SPENT, arm]
        work[RATE, j] = 0.0
        if spent > share * total:
            work[RATE, j] = spent / by_arm[COST, arm]
            by_arm[SCORE, arm] = work[RATE, j]
            kept += spent
    return kept


@kernel
def grow(n: int, m: int, gap: float, rank: int, space: Space) -> tuple[int, int]:
    """Drop what is idle where room is short, then add what the last pass found missing."""
    most = max(4, rank * (rank + 1) // 2)
    if n + 2 * most > space.limits[COLUMNS] or m + 2 * most > space.limits[ROWS]:
        n = prune(COLUMNS, n, total_over(COLUMNS, SPENT, n, space), space)
        m = prune(ROWS, m, total_over(ROWS, WEIGHED, m, space), space)
    score(COLUMNS, 0.1 * gap, space)
    n = add_best(COLUMNS, n, most, rank, space)
    score(ROWS, 0.1 * gap, space)
    m = add_best(ROWS, m, most, rank, space)
    return n, m


@kernel
def settle(n: int, space: Space, least: float, pulls: np.ndarray) -> None:
    """Make the rates, and the proofs of what they tell, exactly feasible."""
    by_arm, work = space.by_arm, space.work
    for arm in range(space.vectors.shape[1]):
        by_arm[SPENT, arm] = 0.0
    for j in range(n):
        arm = space.lists[COLUMNS, j]
        work[RATE, j] /= least
        by_arm[SPENT, arm] = work[RATE, j] * by_arm[COST, arm]
        for row in range(pulls.shape[0]):
            pulls[row, j] /= least
    for row in range(pulls.shape[0]):
        pulls[row, pulls.shape[1] - 1] /= least


@kernel
def examine(link: int, n: int, rank: int, proving: bool, space: Space, pulls: np.ndarray) -> float:
    """Information about every alternative at the rates, found or proved; returns the least.

    ``pulls`` receives the proofs; with a single row, none is kept.  −1 where one fails.
    """
    least = math.inf
    for arm in range(space.vectors.shape[1]):
        if space.lists[OPEN, arm] == 1:
            found = most_confusing(link, DIRECTION, arm, ENOUGH, n, rank, space)
            if proving and found > 0.0:
                row = arm if pulls.shape[0] > 1 else 0
                found = prove(link, arm, DIRECTION, n, rank, space, pulls, row)
            space.by_arm[INFORMATION, arm] = found
            least = min(least, found)
    return least


@separate_kernel
def generate(
    link: int, n: int, m: int, gap: float, upper: float, lower: float, rank: int, space: Space,
    pulls: np.ndarray,
) -> tuple[int, int, float, float]:  # fmt: skip
    """Solve from the given working sets; returns their sizes and the proved bounds.

    ``upper`` and ``lower`` are those of the stored rates and weights, or ∞ and 0.  The rates,
    made feasible, are left in ``SPENT`` as costs.
    """
    settled = False
    stalled = 0
    rough = 0.8 * gap
    current = 1.0
    if upper < math.inf:
        current = max((upper - lower) / upper, 1e-9)
    for _ in range(_ROUNDS):
        inner = 0.5 * rough if settled else max(0.5 * rough, min(0.05, 0.1 * current))
        mu = 0.3 * current * upper / (n + m) if upper < math.inf else 0.0
        for _ in range(2):
            load(n, m, current, mu, space)
            found, proved = minimize(link, n, m, inner, current, mu, rank, space)
            if found < math.inf and (found - proved <= inner * found or mu == 0.0):
                break
            mu = 0.0
        if not found < math.inf:
            break
        store(n, m, space)
        greatest = price_columns(link, m, rank, space)
        proved = total_over(ROWS, WEIGHED, m, space) / greatest if greatest > 0.0 else 0.0
        spent = set_rates(n, 0.0, space)
        least = examine(link, n, rank, False, space, pulls)
        found = spent / least if least > 0.0 else math.inf
        improved = found < upper or proved > lower
        upper = found
        lower = proved
        current = 1.0
        if upper < math.inf:
            current = (upper - lower) / upper
            if current <= rough:
                break
            whiten(link, rank, _STRETCHED, space)
        before = n + m
        n, m = grow(n, m, current, rank, space)
        settled = n + m == before
        stalled = stalled + 1 if settled and not improved else 0
        if stalled > 3:
            break
    upper = math.inf
    for attempt in range(2):
        spent = set_rates(n, SMALL if attempt == 0 else 0.0, space)
        least = examine(link, n, rank, True, space, pulls)
        if least > 0.0:
            upper = spent / least
            if upper - lower <= gap * upper or attempt == 1:
                settle(n, space, least, pulls)
                break
    return n, m, upper, lower
