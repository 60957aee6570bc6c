"""A primal-dual barrier method for min Σ v subject to log F_x(A v) ≥ 0, v ≥ 0.

Every iterate is strictly feasible, so it carries both bounds: Σ v / min F from above, and
from below Σ y / max_z cost_z with y_x = q_x/F_x on the most confusing parameter of each row
at the current weights.  It stops on their gap and on nothing else.
"""

import math

import numpy as np

from ossb.graves_lai.semi_bandit.dense import multiply, multiply_transposed, solve_pivoted
from ossb.graves_lai.semi_bandit.item_family import ItemFamily
from ossb.graves_lai.semi_bandit.newton import (
    choose_active,
    eliminate_inactive,
    fill_active,
    fill_items,
    merit_slope,
    recover,
)
from ossb.graves_lai.semi_bandit.workspace import (
    BEST_V,
    BEST_Y,
    BOUND_W,
    COLUMNS,
    COST,
    DIAGONAL,
    GRADIENT,
    MEANS,
    MEMBER,
    NEED,
    PULL,
    RANK_ONE,
    ROW_WORK,
    ROWS,
    STEP_Q,
    STEP_S,
    STEP_V,
    TAU,
    TRIAL_T,
    TRIAL_TAU,
    TRIAL_V,
    TRIAL_W,
    Q,
    S,
    T,
    V,
    W,
    Workspace,
)
from ossb.kernels import kernel, separate_kernel

MAX_STEPS = 120
COLD_CENTERING = 0.05
FAST_CENTERING = 0.01
DUAL_SPREAD = 1e3  # s·v and q·t stay within this factor of μ
BARELY_INSIDE = 1e-12


@kernel
def start_primal(
    items: ItemFamily, work: Workspace, p: int, n: int, m: int, margin: float, cold: bool
) -> bool:
    """Scale v so that every row holds strictly; False if some item is never played."""
    multiply(work.columns, work.by_column[V], p, n, work.by_item[W])
    for i in range(p):
        if not work.by_item[W, i] > 0.0:
            return False
    items.log_information(
        work.by_item[W],
        work.by_row_item[MEMBER],
        work.by_row[NEED],
        work.by_item[MEANS],
        p,
        m,
        work.by_row[T],
        work.by_row[TAU],
    )
    lowest = work.by_row[T, 0]
    for x in range(m):
        lowest = min(lowest, work.by_row[T, x])
    if cold or lowest <= BARELY_INSIDE:
        scale = math.exp(-lowest) * (1.0 + margin)
        for z in range(n):
            work.by_column[V, z] *= scale
        for i in range(p):
            work.by_item[W, i] *= scale
        shift = math.log(1.0 + margin) - lowest
        for x in range(m):
            work.by_row[T, x] += shift
            work.by_row[TAU, x] *= scale
    return True


@kernel
def start_dual(work: Workspace, p: int, n: int, m: int, mu: float, cold: bool) -> None:
    """Multipliers to start from: central for a cold start, at least μ/slack for a warm one."""
    for x in range(m):
        if cold:
            work.by_row[Q, x] = 1.0 / work.by_row[T, x]
        else:
            work.by_row[Q, x] = max(work.by_row[Q, x], mu / work.by_row[T, x])
    price(work, p, n, m)
    largest = 0.0
    for z in range(n):
        largest = max(largest, work.by_column[COST, z])
    if cold:
        scale = 0.5 / max(largest, 1e-300)
        for x in range(m):
            work.by_row[Q, x] *= scale
        price(work, p, n, m)
    for z in range(n):
        if cold:
            work.by_column[S, z] = 1.0 - work.by_column[COST, z]
        else:
            work.by_column[S, z] = max(1.0 - work.by_column[COST, z], mu / work.by_column[V, z])


@kernel
def price(work: Workspace, p: int, n: int, m: int) -> None:
    """pull = Σ q G and the cost of every column at it."""
    multiply(work.by_row_item[GRADIENT], work.by_row[Q], p, m, work.by_item[PULL])
    multiply_transposed(work.columns, work.by_item[PULL], p, n, work.by_column[COST])


@kernel
def merit(v: np.ndarray, w: np.ndarray, t: np.ndarray, mu: float, p: int, n: int, m: int) -> float:
    """The barrier function Σ v − μ (Σ log v + Σ log t + Σ log w)."""
    total = 0.0
    for z in range(n):
        total += v[z] - mu * math.log(v[z])
    for x in range(m):
        total -= mu * math.log(t[x])
    for i in range(p):
        total -= mu * math.log(w[i])
    return total


@kernel
def search_line(
    items: ItemFamily,
    work: Workspace,
    mu: float,
    slope: float,
    alpha: float,
    p: int,
    n: int,
    m: int,
) -> float:
    """Backtrack until every row holds strictly and the merit falls; 0 if it never does."""
    before = merit(work.by_column[V], work.by_item[W], work.by_row[T], mu, p, n, m)
    for attempt in range(25):
        inside = True
        for z in range(n):
            work.by_column[TRIAL_V, z] = work.by_column[V, z] + alpha * work.by_column[STEP_V, z]
            inside = inside and work.by_column[TRIAL_V, z] > 0.0
        multiply(work.columns, work.by_column[TRIAL_V], p, n, work.by_item[TRIAL_W])
        for i in range(p):
            inside = inside and work.by_item[TRIAL_W, i] > 0.0
        if inside:
            items.log_information(
                work.by_item[TRIAL_W], work.by_row_item[MEMBER], work.by_row[NEED],
                work.by_item[MEANS], p, m, work.by_row[TRIAL_T], work.by_row[TRIAL_TAU],
            )  # fmt: skip
            for x in range(m):
                inside = inside and work.by_row[TRIAL_T, x] > 0.0
        if inside:
            after = merit(
                work.by_column[TRIAL_V],
                work.by_item[TRIAL_W],
                work.by_row[TRIAL_T],
                mu,
                p,
                n,
                m,
            )
            if after <= before + 1e-4 * alpha * slope + 1e-13 * abs(before):
                return alpha
        alpha *= 0.7 if attempt == 0 else 0.5
    return 0.0


@kernel
def longest_steps(work: Workspace, n: int, m: int) -> tuple[float, float]:
    """How far v, and how far (s, q), may move and stay positive."""
    primal = 1e-30
    dual = 1e-30
    for z in range(n):
        primal = max(primal, -work.by_column[STEP_V, z] / work.by_column[V, z])
        dual = max(dual, -work.by_column[STEP_S, z] / work.by_column[S, z])
    for x in range(m):
        dual = max(dual, -work.by_row[STEP_Q, x] / work.by_row[Q, x])
    return min(1.0, 0.98 / primal), min(1.0, 0.98 / dual)


@kernel
def move(work: Workspace, mu: float, beta: float, p: int, n: int, m: int) -> None:
    """Take the step: the trial point for the primal, ``beta`` along the direction for the dual."""
    low = mu / DUAL_SPREAD
    high = mu * DUAL_SPREAD
    for z in range(n):
        work.by_column[V, z] = work.by_column[TRIAL_V, z]
        slack = work.by_column[S, z] + beta * work.by_column[STEP_S, z]
        work.by_column[S, z] = min(
            max(slack, low / work.by_column[V, z]), high / work.by_column[V, z]
        )
    for x in range(m):
        work.by_row[T, x] = work.by_row[TRIAL_T, x]
        work.by_row[TAU, x] = work.by_row[TRIAL_TAU, x]
        multiplier = work.by_row[Q, x] + beta * work.by_row[STEP_Q, x]
        work.by_row[Q, x] = min(max(multiplier, low / work.by_row[T, x]), high / work.by_row[T, x])
    for i in range(p):
        work.by_item[W, i] = work.by_item[TRIAL_W, i]


@kernel
def update_bounds(
    work: Workspace, upper: float, lower: float, p: int, n: int, m: int
) -> tuple[float, float, float, float]:
    """Both bounds at the iterate, the best kept with what proves them; also Σ v and Σ y."""
    total_v = 0.0
    highest = 1e-300
    for z in range(n):
        total_v += work.by_column[V, z]
        highest = max(highest, work.by_column[COST, z])
    total_y = 0.0
    lowest = work.by_row[T, 0]
    for x in range(m):
        work.by_row[ROW_WORK, x] = work.by_row[Q, x] * math.exp(-work.by_row[T, x])
        total_y += work.by_row[ROW_WORK, x]
        lowest = min(lowest, work.by_row[T, x])
    scale = math.exp(-lowest)
    if total_v * scale < upper:
        upper = total_v * scale
        for z in range(n):
            work.by_column[BEST_V, z] = work.by_column[V, z] * scale
    if total_y / highest > lower:
        lower = total_y / highest
        for x in range(m):
            work.by_row[BEST_Y, x] = work.by_row[ROW_WORK, x] / highest
        for i in range(p):
            work.by_item[BOUND_W, i] = work.by_item[W, i]
    return upper, lower, total_v, total_y


@separate_kernel
def minimize(
    items: ItemFamily,
    work: Workspace,
    p: int,
    n: int,
    m: int,
    gap: float,
    mu: float,
    margin: float,
) -> tuple[float, float, int]:
    """Solve the working problem from its v and, where mu > 0 (a warm start), its q.

    The start is scaled to satisfy every row with ``margin`` to spare.
    Returns the two bounds and the number of steps; ``best_v``, ``best_y`` and ``bound_w``
    prove them.
    """
    cold = mu <= 0.0
    upper = 1e300
    lower = 0.0
    if not start_primal(items, work, p, n, m, margin, cold):
        return upper, lower, 0
    limit = 2 * p + 2
    centering = COLD_CENTERING
    for step in range(MAX_STEPS):
        items.gradients(
            work.by_item[W], work.by_row_item[MEMBER], work.by_row[NEED], work.by_item[MEANS],
            work.by_row[TAU], p, m, work.by_row_item[GRADIENT], work.by_row_item[RANK_ONE],
            work.by_row_item[DIAGONAL],
        )  # fmt: skip
        if step == 0:
            start_dual(work, p, n, m, mu, cold)
        else:
            price(work, p, n, m)
        upper, lower, total_v, total_y = update_bounds(work, upper, lower, p, n, m)
        if upper - lower <= gap * upper:
            return upper, lower, step
        products = 0.0
        for z in range(n):
            products += work.by_column[V, z] * work.by_column[S, z]
        for x in range(m):
            products += work.by_row[Q, x] * work.by_row[T, x]
        mu = centering * products / (n + m)
        nb = choose_active(
            work.by_column, V, S, total_v, n, limit, work.active[COLUMNS], work.is_active[COLUMNS]
        )
        ma = choose_active(
            work.by_row, Q, T, total_y, m, limit, work.active[ROWS], work.is_active[ROWS]
        )
        eliminate_inactive(items, work, mu, p, n, m)
        fill_items(work, mu, total_v, p, 2 * p + nb + ma)
        fill_active(work, mu, total_v, p, nb, ma)
        if not solve_pivoted(work.system, work.solution, 2 * p + nb + ma):
            return upper, lower, step
        recover(work, mu, total_v, p, n, m, nb, ma)
        slope = merit_slope(work, mu, p, n)
        primal, dual = longest_steps(work, n, m)
        primal = search_line(items, work, mu, slope, primal, p, n, m)
        if primal <= 0.0:
            return upper, lower, step
        move(work, mu, dual, p, n, m)
        shorter = min(primal, dual)
        least = FAST_CENTERING if shorter >= 0.95 else COLD_CENTERING
        centering = min(0.9, max(least, (1.0 - shorter) * (1.0 - shorter)))
    return upper, lower, MAX_STEPS
