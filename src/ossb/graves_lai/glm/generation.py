"""Row and column generation: the program over all arms through small working sets.

The optimum plays few arms against few alternatives, so an interior-point method on a handful
of each, a pass over all arms that proves both sides of the bound, and the addition of what
was missing, reach the optimum in a few rounds whatever the number of arms.
"""

import math

from ossb.graves_lai.glm.barrier import minimize, start_cold, start_warm
from ossb.graves_lai.glm.frame import conditioning, whiten
from ossb.graves_lai.glm.oracle import fill_newton
from ossb.graves_lai.glm.pricing import (
    add_best,
    enlist,
    extreme,
    price_columns,
    price_rows,
    prune,
    score_columns,
    score_rows,
    store,
    total_spent,
    total_weight,
)
from ossb.graves_lai.glm.space import (
    COLUMNS,
    COST,
    LOAD,
    OPEN,
    PLAIN,
    Q,
    ROWS,
    SCORE,
    SPENT,
    V,
    WEIGHED,
    Space,
)
from ossb.kernels import kernel

_ROUNDS = 100
_FEW = 8  # arms that all go into the working columns
_STRETCHED = 30.0  # conditioning of the information matrix that calls for new coordinates


@kernel
def clear(space: Space) -> None:
    """Empty working sets, no memory of directions."""
    n_arms, dimension = space.coordinates.shape
    for arm in range(n_arms):
        space.taken[COLUMNS, arm] = False
        space.taken[ROWS, arm] = False
        space.by_arm[SPENT, arm] = 0.0
        space.by_arm[WEIGHED, arm] = 0.0
        for i in range(dimension):
            space.directions[arm, i] = 0.0
            space.held[arm, i] = 0.0


@kernel
def first_sets(link: int, rank: int, space: Space) -> tuple[int, int]:
    """Extreme arms along axes and their sums and differences; returns columns and rows."""
    n_arms = space.coordinates.shape[0]
    n = 0
    m = 0
    if n_arms <= _FEW + 1:
        for arm in range(n_arms):
            if space.taken[OPEN, arm]:
                n = enlist(COLUMNS, arm, n, space)
    for i in range(rank):
        for j in range(i + 1):
            for sign in range(2):
                mix = 0.0 if j == i else 1.0 - 2.0 * sign
                column = extreme(COLUMNS, link, i, j, mix, rank, space)
                row = extreme(ROWS, link, i, j, mix, rank, space)
                if column >= 0:
                    n = enlist(COLUMNS, column, n, space)
                if row >= 0:
                    n = enlist(COLUMNS, row, n, space)
                    m = enlist(ROWS, row, m, space)
    return n, m


@kernel
def whiten_start(link: int, rank: int, space: Space) -> None:
    """Coordinates scaled by the information of all arms, each played at unit cost."""
    for arm in range(space.coordinates.shape[0]):
        space.by_arm[SCORE, arm] = 0.0
        if space.taken[OPEN, arm]:
            space.by_arm[SCORE, arm] = 1.0 / space.by_arm[COST, arm]
    whiten(link, space.by_arm[SCORE], rank, space)


@kernel
def whiten_again(link: int, n: int, rank: int, space: Space) -> None:
    """New coordinates where the information matrix has become lopsided."""
    direction = space.vectors[4]
    for i in range(rank):
        direction[i] = 0.0
    if not fill_newton(
        link, space.lists[COLUMNS], n, space.by_column[PLAIN], direction, rank, space
    ):
        return
    if conditioning(rank, space) > _STRETCHED:
        for arm in range(space.coordinates.shape[0]):
            space.by_arm[SCORE, arm] = 0.0
        for j in range(n):
            space.by_arm[SCORE, space.lists[COLUMNS, j]] = space.by_column[PLAIN, j]
        whiten(link, space.by_arm[SCORE], rank, space)


@kernel
def load_cold(n: int, space: Space) -> None:
    for j in range(n):
        space.by_column[V, j] = 1.0


@kernel
def load_warm(n: int, m: int, gap: float, mu: float, space: Space) -> None:
    """Stored rates and weights into the working sets, newcomers at what the gap asks."""
    for j in range(n):
        arm = space.lists[COLUMNS, j]
        slack = max(1.0 - space.by_arm[LOAD, arm], gap)
        space.by_column[V, j] = max(space.by_arm[SPENT, arm], mu / slack)
    for i in range(m):
        space.by_row[Q, i] = space.by_arm[WEIGHED, space.lists[ROWS, i]]


@kernel
def run_barrier(
    link: int, n: int, m: int, inner: float, gap: float, upper: float, rank: int, space: Space
) -> bool:
    """The working sets to the gap ``inner``: warm where a bound is known, cold where that fails."""
    found = math.inf
    proved = 0.0
    if upper < math.inf:
        mu = 0.3 * gap * upper / (n + m)
        load_warm(n, m, gap, mu, space)
        if start_warm(link, n, m, gap, mu, rank, space):
            found, proved = minimize(link, n, m, inner, rank, space)
    if not found < math.inf or found - proved > inner * found:
        load_cold(n, space)
        if not start_cold(link, n, m, rank, space):
            return False
        found, proved = minimize(link, n, m, inner, rank, space)
    store(n, m, space)
    return found < math.inf


@kernel
def generate(
    link: int, n: int, m: int, gap: float, upper: float, lower: float, rank: int, space: Space
) -> tuple[int, int, float, float]:
    """Solve from the given working sets; returns their sizes and the last bounds.

    ``upper`` and ``lower`` are those of the stored rates and weights, or ∞ and 0.
    """
    products = max(4, rank * (rank + 1) // 2)
    settled = False
    stalled = 0
    current = 1.0
    if upper < math.inf:
        current = max((upper - lower) / upper, 1e-9)
    for _ in range(_ROUNDS):
        inner = 0.5 * gap
        if not settled:
            inner = max(inner, min(0.05, 0.1 * current))
        if not run_barrier(link, n, m, inner, current, upper, rank, space):
            break
        least = price_rows(link, n, rank, space)
        greatest = price_columns(link, m, rank, space)
        found = total_spent(n, space) / least if least > 0.0 else math.inf
        proved = total_weight(m, space) / greatest if greatest > 0.0 else 0.0
        improved = found < upper or proved > lower
        upper = found
        lower = proved
        if upper - lower <= gap * upper:
            break
        if upper < math.inf:
            current = (upper - lower) / upper
            whiten_again(link, n, rank, space)
        else:
            current = 1.0
        if n + 2 * products > space.by_column.shape[1] or m + 2 * products > space.by_row.shape[1]:
            n = prune(COLUMNS, n, total_spent(n, space), space)
            m = prune(ROWS, m, total_weight(m, space), space)
        before = n + m
        score_columns(0.1 * current, space)
        n = add_best(COLUMNS, n, products, rank, space)
        score_rows(0.1 * current, space)
        m = add_best(ROWS, m, products, rank, space)
        settled = n + m == before
        if settled and not improved:
            stalled += 1
            if stalled > 3:
                break
        else:
            stalled = 0
    return n, m, upper, lower
