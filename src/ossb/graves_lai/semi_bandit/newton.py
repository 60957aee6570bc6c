"""The Newton direction of the barrier method, by split elimination.

Eliminating every variable at once puts ratios of size 1/μ² into one matrix and loses six
digits near the optimum.  Here the columns with v/Σv > s and the rows with q/Σy > t, the
active ones, stay in one small system solved with pivoting, together with the item weights
and their multipliers; only the others are eliminated.  Items are scaled by their weights and
rates by Σv, so that every entry of that system is of order one.
"""

import numpy as np

from ossb.graves_lai.semi_bandit.dense import (
    add_gram,
    multiply,
    multiply_transposed,
)
from ossb.graves_lai.semi_bandit.item_family import ItemFamily
from ossb.graves_lai.semi_bandit.workspace import (
    ALL_ROWS,
    BARRIER,
    COLUMN_WORK,
    COLUMNS,
    COST,
    CURVATURE,
    DIAGONAL,
    FORCE,
    GRADIENT,
    INACTIVE,
    PULL,
    RANK_ONE,
    RIGHT,
    ROW_WORK,
    ROWS,
    SHARE,
    SPREAD,
    STEP_Q,
    STEP_S,
    STEP_V,
    STEP_W,
    TRIAL_T,
    Q,
    S,
    T,
    V,
    W,
    Workspace,
)
from ossb.kernels import kernel


@kernel
def choose_active(
    by: np.ndarray,
    mass: int,
    slack: int,
    scale: float,
    n: int,
    limit: int,
    chosen: np.ndarray,
    flags: np.ndarray,
) -> int:
    """List the entries with mass > scale · slack, at most ``limit`` of them."""
    count = 0
    for z in range(n):
        flags[z] = False
        if by[mass, z] > scale * by[slack, z] and count < limit:
            flags[z] = True
            chosen[count] = z
            count += 1
    return count


@kernel
def eliminate_inactive(
    items: ItemFamily, work: Workspace, mu: float, p: int, n: int, m: int
) -> None:
    """Curvature of the inactive rows, spread of the inactive columns, and right-hand sides.

    ``FORCE`` becomes Σ share · right · column and ``ALL_ROWS`` the force Σ (μ/t − q) G of
    all rows.
    """
    column = work.by_column
    row = work.by_row
    item = work.by_item
    gradient = work.by_row_item[GRADIENT]
    for x in range(m):
        row[TRIAL_T, x] = 0.0 if work.is_active[ROWS, x] else row[Q, x] / row[T, x]
    for i in range(p):
        item[ALL_ROWS, i] = 0.0
        item[INACTIVE, i] = 0.0
        for j in range(p):
            work.squares[CURVATURE, i, j] = 0.0
            work.squares[SPREAD, i, j] = 0.0
        for x in range(m):
            entry = gradient[i, x] * (mu / row[T, x] - row[Q, x])
            item[ALL_ROWS, i] += entry
            if not work.is_active[ROWS, x]:
                item[INACTIVE, i] += entry
        item[BARRIER, i] = item[INACTIVE, i] + mu / item[W, i]
    items.add_curvature(
        item[W], gradient, work.by_row_item[RANK_ONE], work.by_row_item[DIAGONAL],
        row[Q], row[TRIAL_T], item[PULL], p, m, work.squares[CURVATURE], row[ROW_WORK],
    )  # fmt: skip
    multiply_transposed(work.columns, item[BARRIER], p, n, column[RIGHT])
    for z in range(n):
        active = work.is_active[COLUMNS, z]
        column[SHARE, z] = 0.0 if active else column[V, z] / column[S, z]
        column[RIGHT, z] += column[COST, z] - 1.0 + mu / column[V, z]
        column[COLUMN_WORK, z] = column[SHARE, z] * column[RIGHT, z]
    add_gram(work.columns, column[SHARE], p, n, work.squares[SPREAD])
    multiply(work.columns, column[COLUMN_WORK], p, n, item[FORCE])


@kernel
def fill_items(work: Workspace, mu: float, scale: float, p: int, size: int) -> None:
    """The part of the system that ties item weights to their multipliers."""
    system = work.system
    weights = work.by_item[W]
    for i in range(size):
        for j in range(size):
            system[i, j] = 0.0
    for i in range(p):
        work.squares[CURVATURE, i, i] += mu / (weights[i] * weights[i])
        for j in range(p):
            system[i, p + j] = work.squares[SPREAD, i, j] * scale / (weights[i] * weights[j])
            curvature = work.squares[CURVATURE, i, j] * weights[i] * weights[j]
            system[p + i, j] = curvature / scale
        system[i, i] = 1.0
        system[p + i, p + i] = -1.0
        work.solution[i] = work.by_item[FORCE, i] / weights[i]
        work.solution[p + i] = 0.0


@kernel
def fill_active(work: Workspace, mu: float, scale: float, p: int, nb: int, ma: int) -> None:
    """The part of the system that belongs to the active columns and rows."""
    system = work.system
    column = work.by_column
    row = work.by_row
    weights = work.by_item[W]
    for e in range(nb):
        z = work.active[COLUMNS, e]
        at = 2 * p + e
        for i in range(p):
            entry = work.columns[i, z] * scale / weights[i]
            system[i, at] = -entry
            system[at, p + i] = entry
        system[at, at] = scale * column[S, z] / column[V, z]
        work.solution[at] = column[RIGHT, z]
    for e in range(ma):
        x = work.active[ROWS, e]
        at = 2 * p + nb + e
        for i in range(p):
            entry = work.by_row_item[GRADIENT, i, x] * weights[i]
            system[p + i, at] = -entry
            system[at, i] = entry
        system[at, at] = scale * row[T, x] / row[Q, x]
        work.solution[at] = mu / row[Q, x] - row[T, x]


@kernel
def recover(
    work: Workspace, mu: float, scale: float, p: int, n: int, m: int, nb: int, ma: int
) -> None:
    """All steps from the solution of the small system."""
    column = work.by_column
    row = work.by_row
    item = work.by_item
    for i in range(p):
        item[STEP_W, i] = work.solution[i] * item[W, i]
        item[FORCE, i] = work.solution[p + i] * scale / item[W, i]
    multiply_transposed(work.columns, item[FORCE], p, n, column[COLUMN_WORK])
    for z in range(n):
        column[STEP_V, z] = column[SHARE, z] * (column[RIGHT, z] - column[COLUMN_WORK, z])
    for e in range(nb):
        column[STEP_V, work.active[COLUMNS, e]] = work.solution[2 * p + e] * scale
    for z in range(n):
        column[STEP_S, z] = (mu - column[S, z] * column[STEP_V, z]) / column[V, z] - column[S, z]
    multiply_transposed(work.by_row_item[GRADIENT], item[STEP_W], p, m, row[ROW_WORK])
    for x in range(m):
        row[STEP_Q, x] = (mu - row[Q, x] * row[ROW_WORK, x]) / row[T, x] - row[Q, x]
    for e in range(ma):
        row[STEP_Q, work.active[ROWS, e]] = work.solution[2 * p + nb + e] * scale


@kernel
def merit_slope(work: Workspace, mu: float, p: int, n: int) -> float:
    """Slope of the barrier function along the steps."""
    slope = 0.0
    for i in range(p):
        force = work.by_item[ALL_ROWS, i] + mu / work.by_item[W, i]
        slope -= force * work.by_item[STEP_W, i]
    for z in range(n):
        own = work.by_column[COST, z] - 1.0 + mu / work.by_column[V, z]
        slope -= own * work.by_column[STEP_V, z]
    return slope
