"""A feasible primal–dual interior-point method on one working set.

Minimise Σ v − μ Σ log v − μ Σ log t − μ log det H with t_x = −log h_x exact, so that the primal
point is strictly feasible throughout and a merit line search applies.  Every iterate carries
its own certificate: Σv · max h above, Σ(q h)/max_z ⟨A_z, g⟩ below, g = Σ q G.
"""

import math

import numpy as np

from ossb.graves_lai.linear.direction import FAILED, direction, dual_residual
from ossb.graves_lai.linear.oracle import BROKEN, constraint_values, lift
from ossb.graves_lai.linear.workspace import (
    BEST,
    BEST_GRADIENT,
    BEST_WEIGHT,
    COLUMN_ARMS,
    COLUMN_ARMS_T,
    COLUMN_LIFT,
    COLUMN_LIFT_T,
    COUNT,
    GRADIENT,
    HALT,
    INVERSE,
    LOGARITHM,
    LOWER,
    MULTIPLIER,
    MULTIPLIER_STEP,
    ONES,
    PRICE,
    PRIMAL,
    ROW_ARMS,
    ROW_IMAGES,
    ROW_LIFT,
    ROW_LIFT_T,
    SLACK,
    SLACK_STEP,
    STEP,
    TRIAL,
    TRIAL_LOGARITHM,
    VALUE,
    VECTORS,
    WEIGHT,
    Workspace,
)
from ossb.kernels import kernel, separate_kernel
from ossb.numerics.dense import combine

SOLVED, STOPPED, SINGULAR, NO_DIRECTION, NO_DESCENT = 0, 1, 2, 3, 5
UNBOUNDED = 1e300
CLIP = 1e3


@kernel
def log_ratio(new: np.ndarray, old: np.ndarray, count: int) -> float:
    """Σ log(new/old), with one logarithm for every eight entries."""
    total = 0.0
    product = 1.0
    for x in range(count):
        product *= new[x] / old[x]
        if x % 8 == 7:
            total += math.log(product)
            product = 1.0
    return total + math.log(product)


@kernel
def longest_step(step: np.ndarray, value: np.ndarray, count: int) -> float:
    """How far the values stay positive, with 2 % to spare, at most 1."""
    worst = 0.98
    for x in range(count):
        if -step[x] > worst * value[x]:
            worst = -step[x] / value[x]
    return 0.98 / worst


@kernel
def keep_central(
    value: np.ndarray, dual: np.ndarray, step: np.ndarray, length: float, count: int, mu: float
) -> None:
    """Move the duals and keep every product within a factor CLIP of μ."""
    low = mu / CLIP
    high = mu * CLIP
    for x in range(count):
        moved = dual[x] + length * step[x]
        product = moved * value[x]
        if product < low:
            moved = low / value[x]
        elif product > high:
            moved = high / value[x]
        dual[x] = moved


@kernel
def rescale(factor: float, n: int, m: int, rank: int, ws: Workspace) -> None:
    """Multiply v by the factor in place, with everything that depends on it."""
    column, row, wide, cube = ws.column, ws.row, ws.wide, ws.cube
    inverse = 1.0 / factor
    for z in range(n):
        column[PRIMAL, z] *= factor
    for i in range(rank):
        for j in range(rank):
            cube[INVERSE, i, j] *= inverse
        for x in range(m):
            wide[ROW_IMAGES, i, x] *= inverse
    for x in range(m):
        row[VALUE, x] *= inverse


@kernel
def line_search(
    n: int, m: int, rank: int, mu: float, slope: float, logdet: float, ws: Workspace
) -> tuple[float, float]:
    """Move v along its step until the merit falls; the step taken (0: none) and log det H."""
    column, row, wide, tall, cube = ws.column, ws.row, ws.wide, ws.tall, ws.cube
    v, step, trial = column[PRIMAL], column[STEP], column[TRIAL]
    t, value, trial_t = row[LOGARITHM], row[VALUE], row[TRIAL_LOGARITHM]
    length = longest_step(step, v, n)
    total_step = 0.0
    slack = 0.0
    for z in range(n):
        total_step += step[z]
        slack += v[z]
    slack = 1e-13 * (slack + mu * (n + m))
    for attempt in range(25):
        for z in range(n):
            trial[z] = v[z] + length * step[z]
        new_logdet = constraint_values(
            tall[COLUMN_ARMS], trial, n, wide[ROW_ARMS], m, rank, cube, wide[ROW_IMAGES], value
        )
        inside = new_logdet > BROKEN
        if inside:
            for x in range(m):
                if not (1e-300 < value[x] < 1.0):
                    inside = False
                    break
        if inside:
            for x in range(m):
                trial_t[x] = -math.log(value[x])
            change = length * total_step - mu * (
                log_ratio(trial, v, n) + log_ratio(trial_t, t, m) + new_logdet - logdet
            )
            if change <= 1e-4 * length * slope + slack:
                for z in range(n):
                    v[z] = trial[z]
                for x in range(m):
                    t[x] = trial_t[x]
                return length, new_logdet
        length *= 0.5 if attempt > 0 else 0.7
    return 0.0, logdet


@kernel
def first_multipliers(n: int, m: int, size: int, warm: bool, barrier: float, ws: Workspace) -> None:
    """Choose q and s at the start; the gradients are already there."""
    column, row, wide, tall, cube = ws.column, ws.row, ws.wide, ws.tall, ws.cube
    q, t = row[MULTIPLIER], row[LOGARITHM]
    s, price = column[SLACK], column[PRICE]
    for x in range(m):
        q[x] = max(q[x], barrier / t[x]) if warm else 1.0 / t[x]
    combine(q, tall[ROW_LIFT_T], m, size, cube[VECTORS, GRADIENT])
    combine(cube[VECTORS, GRADIENT], wide[COLUMN_LIFT], size, n, price)
    if warm:
        for z in range(n):
            s[z] = max(1.0 - price[z], barrier / column[PRIMAL, z])
        return
    dearest = 1e-300
    for z in range(n):
        dearest = max(dearest, price[z])
    factor = 0.5 / dearest
    for x in range(m):
        q[x] *= factor
    for z in range(n):
        s[z] = 1.0 - factor * price[z]


@kernel
def record_bounds(
    n: int, m: int, size: int, upper: float, lower: float, ws: Workspace
) -> tuple[float, float]:
    """Fill gradient and prices; keep the best certificate of either side, each whole."""
    column, row, wide, tall, cube = ws.column, ws.row, ws.wide, ws.tall, ws.cube
    v, price = column[PRIMAL], column[PRICE]
    q, value = row[MULTIPLIER], row[VALUE]
    combine(q, tall[ROW_LIFT_T], m, size, cube[VECTORS, GRADIENT])
    combine(cube[VECTORS, GRADIENT], wide[COLUMN_LIFT], size, n, price)
    dearest = 1e-300
    total_v = 0.0
    for z in range(n):
        dearest = max(dearest, price[z])
        total_v += v[z]
    highest = 0.0
    total_q = 0.0
    for x in range(m):
        total_q += q[x] * value[x]
        highest = max(highest, value[x])
    if total_v * highest < upper:
        upper = total_v * highest
        for z in range(n):
            column[BEST, z] = v[z] * highest
    if total_q > lower * dearest:
        lower = total_q / dearest
        inverse = 1.0 / dearest
        for x in range(m):
            row[BEST_WEIGHT, x] = q[x] * value[x] * inverse
        for k in range(size):
            cube[VECTORS, BEST_GRADIENT, k] = cube[VECTORS, GRADIENT, k] * inverse
        for z in range(n):
            column[LOWER, z] = v[z]
    return upper, lower


@kernel
def start_point(n: int, m: int, rank: int, warm: bool, margin: float, ws: Workspace) -> float:
    """Scale v to be strictly feasible; log det H, or BROKEN."""
    column, row, wide, tall, cube = ws.column, ws.row, ws.wide, ws.tall, ws.cube
    for z in range(n):
        column[ONES, z] = 1.0
    value = row[VALUE]
    logdet = constraint_values(
        tall[COLUMN_ARMS], column[PRIMAL], n, wide[ROW_ARMS], m, rank, cube, wide[ROW_IMAGES], value
    )
    if not logdet > BROKEN:
        return BROKEN
    highest = 0.0
    for x in range(m):
        if not value[x] > 1e-300:
            return BROKEN
        highest = max(highest, value[x])
    if not highest < 1e290:
        return BROKEN
    if not warm or highest >= 1.0 - 1e-12:
        factor = highest * (1.0 + margin if warm else 1.5)
        rescale(factor, n, m, rank, ws)
        logdet += rank * math.log(factor)
    for x in range(m):
        row[LOGARITHM, x] = -math.log(value[x])
    return logdet


@separate_kernel
def interior_point(
    n: int,
    m: int,
    rank: int,
    tolerance: float,
    limit: int,
    warm: bool,
    barrier: float,
    margin: float,
    ws: Workspace,
) -> tuple[float, float, int, int]:
    """Solve the working set in ``column_arms`` and ``row_arms`` from the v (and q) in place.

    Returns the upper and lower bound (of Σ v), a status and the number of iterations; the
    best v, weights, gradient and the v that belongs to them are left in the workspace.
    ``barrier`` and ``margin`` are the first μ and the relative slack of a warm start.
    """
    column, row, wide, tall = ws.column, ws.row, ws.wide, ws.tall
    size = rank * (rank + 1) // 2
    upper, lower = UNBOUNDED, 0.0
    logdet = start_point(n, m, rank, warm, margin, ws)
    if not logdet > BROKEN:
        return upper, lower, SINGULAR, 0
    lift(wide[COLUMN_ARMS_T], column[ONES], n, rank, wide[COLUMN_LIFT], tall[COLUMN_LIFT_T])
    v, s = column[PRIMAL], column[SLACK]
    q, t, value, inverse = row[MULTIPLIER], row[LOGARITHM], row[VALUE], row[WEIGHT]
    centring = 0.05
    for iteration in range(limit + 1):
        for x in range(m):
            inverse[x] = 1.0 / value[x]
        lift(wide[ROW_IMAGES], inverse, m, rank, wide[ROW_LIFT], tall[ROW_LIFT_T])
        if iteration == 0:
            first_multipliers(n, m, size, warm, barrier, ws)
        upper, lower = record_bounds(n, m, size, upper, lower, ws)
        if upper - lower <= tolerance * upper:
            return upper, lower, SOLVED, iteration
        if ws.indices[COUNT, HALT] != 0:
            return upper, lower, NO_DIRECTION, iteration
        product = 0.0
        for z in range(n):
            product += v[z] * s[z]
        for x in range(m):
            product += q[x] * t[x]
        mu = centring * product / (n + m)
        dual_residual(n, rank, mu, ws)
        slope = direction(n, m, rank, mu, ws)
        if not slope < FAILED:
            return upper, lower, NO_DIRECTION, iteration
        length = min(
            longest_step(column[SLACK_STEP], s, n),
            longest_step(row[MULTIPLIER_STEP], q, m),
        )
        moved, logdet = line_search(n, m, rank, mu, slope, logdet, ws)
        if moved == 0.0:
            return upper, lower, NO_DESCENT, iteration
        keep_central(v, s, column[SLACK_STEP], length, n, mu)
        keep_central(t, q, row[MULTIPLIER_STEP], length, m, mu)
        shortest = min(moved, length)
        floor = 0.05 if shortest < 0.95 else 0.01
        centring = min(0.9, max(floor, (1.0 - shortest) * (1.0 - shortest)))
    return upper, lower, STOPPED, limit
