"""The search direction of the interior-point method, by a split elimination.

Eliminating every variable would put (v/s)(q/t) ~ 1/μ² into one matrix and lose all digits at a
gap of 1e-5.  So the columns B with v/Σv > s and the rows A with q/Σqh > t (the likely active
ones) stay as unknowns of a small dense system, and only the others, whose ratios v/s and q/t
are moderate, are eliminated:

    W = 2 P ⊗ₛ (mat(g) + μP/2) − Σ q G Gᵀ + Σ_{x∉A} (q/t) G Gᵀ,   W = RᵀR,
    N = Σ_{z∉B} (v/s) A Aᵀ,   M = I + R N Rᵀ = McᵀMc,   X = Mc⁻ᵀR.
"""

import numpy as np

from ossb.graves_lai.linear.oracle import add_symmetric_product, unpack
from ossb.graves_lai.linear.workspace import (
    ACTIVE_COLUMNS,
    ACTIVE_ROWS,
    BARRIER,
    CHANGE,
    COLUMN_LIFT,
    COLUMN_LIFT_T,
    CROSSED,
    CURVATURE,
    FACTOR,
    GRADIENT,
    IMAGE,
    IMAGES,
    IMAGES_T,
    INVERSE,
    KEPT,
    KEPT_T,
    KKT,
    LOAD,
    LOGARITHM,
    MOVE,
    MULTIPLIER,
    MULTIPLIER_STEP,
    NORMAL,
    PRIMAL,
    PRODUCTS,
    PULL,
    RATIO,
    REDUCED,
    REDUCED_T,
    RESIDUAL,
    RESPONSE,
    RIGHT,
    ROW_LIFT,
    ROW_LIFT_T,
    SCRATCH,
    SLACK,
    SLACK_STEP,
    SOLUTION,
    SPARE_VECTOR,
    STACK,
    STEP,
    TOTAL,
    VECTORS,
    WEIGHT,
    WEIGHTS,
    Workspace,
)
from ossb.kernels import kernel, separate_kernel
from ossb.numerics.dense import (
    cholesky,
    combine,
    multiply,
    solve_general,
    transpose,
    weighted_gram,
)

FAILED = 1e300  # no slope is as large


@kernel
def split_columns(
    v: np.ndarray,
    s: np.ndarray,
    n: int,
    total: float,
    most: int,
    chosen: np.ndarray,
    ratio: np.ndarray,
) -> int:
    """List the columns kept as unknowns; ``ratio`` is v/s for the others and 0 for them."""
    count = 0
    for z in range(n):
        if v[z] > total * s[z] and count < most:
            chosen[count] = z
            count += 1
            ratio[z] = 0.0
        else:
            ratio[z] = v[z] / s[z]
    return count


@kernel
def factor_curvature(matrix: np.ndarray, size: int, scratch: np.ndarray) -> bool:
    """Cholesky with the smallest ridge that makes it go through."""
    trace = 0.0
    for k in range(size):
        trace += matrix[k, k]
        for j in range(k, size):
            scratch[k, j] = matrix[k, j]
    ridge = 1e-15 * trace
    for _ in range(6):
        for k in range(size):
            for j in range(k, size):
                matrix[k, j] = scratch[k, j]
            matrix[k, k] += ridge
        if cholesky(matrix, size):
            return True
        ridge = 100.0 * max(ridge, 1e-16 * trace)
    return False


@kernel
def eliminate(n: int, ratio: np.ndarray, size: int, lift_t: np.ndarray, cube: np.ndarray) -> bool:
    """Given the curvature W, fill N, X and Xᵀ; False on breakdown."""
    curvature = cube[CURVATURE]
    normal = cube[NORMAL]
    scratch = cube[SCRATCH]
    factor = cube[FACTOR]
    reduced = cube[REDUCED]
    if not factor_curvature(curvature, size, scratch):
        return False
    for i in range(size):
        for j in range(i):
            curvature[i, j] = 0.0
    transpose(curvature, size, size, factor)
    weighted_gram(lift_t, ratio, n, size, normal)
    multiply(curvature, normal, size, size, size, scratch)
    multiply(scratch, factor, size, size, size, reduced)
    for i in range(size):
        for j in range(i, size):
            factor[i, j] = reduced[i, j]
        factor[i, i] += 1.0
    if not cholesky(factor, size):
        return False
    for i in range(size):
        for j in range(size):
            reduced[i, j] = curvature[i, j]
        for k in range(i):
            entry = factor[k, i]
            for j in range(size):
                reduced[i, j] -= entry * reduced[k, j]
        entry = 1.0 / factor[i, i]
        for j in range(size):
            reduced[i, j] *= entry
    transpose(reduced, size, size, cube[REDUCED_T])
    return True


@kernel
def solve_active(n_columns: int, n_rows: int, size: int, mu: float, ws: Workspace) -> bool:
    """Solve the dense system of the kept columns and rows into ``solution[0]``."""
    column, row, tall, cube, index = ws.column, ws.row, ws.tall, ws.cube, ws.indices
    v, s, right = column[PRIMAL], column[SLACK], column[RIGHT]
    q, t = row[MULTIPLIER], row[LOGARITHM]
    stack, kept_rows, images = cube[STACK], cube[KEPT], cube[IMAGES]
    images_t, rows_t = cube[IMAGES_T], cube[KEPT_T]
    kkt, products, crossed = cube[KKT], cube[PRODUCTS], cube[CROSSED]
    solution, scratch = cube[VECTORS, SOLUTION], cube[VECTORS, SPARE_VECTOR]
    lifted = cube[VECTORS]
    total = n_columns + n_rows
    for e in range(n_columns):
        for k in range(size):
            stack[e, k] = tall[COLUMN_LIFT_T, index[ACTIVE_COLUMNS, e], k]
    for e in range(n_rows):
        for k in range(size):
            kept_rows[e, k] = tall[ROW_LIFT_T, index[ACTIVE_ROWS, e], k]
    multiply(kept_rows, cube[NORMAL], n_rows, size, size, images)
    for e in range(n_rows):
        for k in range(size):
            stack[n_columns + e, k] = images[e, k]
    multiply(stack, cube[REDUCED_T], total, size, size, images)
    transpose(images, total, size, images_t)
    transpose(kept_rows, n_rows, size, rows_t)
    multiply(images, images_t, total, size, total, products)
    multiply(stack, rows_t, total, size, n_rows, crossed)
    for e in range(n_columns):
        for f in range(n_columns):
            kkt[e, f] = products[e, f]
        kkt[e, e] += s[index[ACTIVE_COLUMNS, e]] / v[index[ACTIVE_COLUMNS, e]]
        for f in range(n_rows):
            entry = products[e, n_columns + f] - crossed[e, f]
            kkt[e, n_columns + f] = entry
            kkt[n_columns + f, e] = -entry
    for e in range(n_rows):
        for f in range(n_rows):
            kkt[n_columns + e, n_columns + f] = (
                crossed[n_columns + e, f] - products[n_columns + e, n_columns + f]
            )
        kkt[n_columns + e, n_columns + e] += t[index[ACTIVE_ROWS, e]] / q[index[ACTIVE_ROWS, e]]
    combine(lifted[LOAD], cube[REDUCED_T], size, size, lifted[IMAGE])
    combine(lifted[IMAGE], cube[REDUCED], size, size, lifted[RESPONSE])
    combine(lifted[RESPONSE], cube[NORMAL], size, size, lifted[TOTAL])
    for k in range(size):
        lifted[TOTAL, k] = lifted[LOAD, k] - lifted[TOTAL, k]
    combine(lifted[IMAGE], images_t, size, n_columns, scratch)
    for e in range(n_columns):
        solution[e] = right[index[ACTIVE_COLUMNS, e]] - scratch[e]
    combine(lifted[TOTAL], rows_t, size, n_rows, scratch)
    for e in range(n_rows):
        x = index[ACTIVE_ROWS, e]
        solution[n_columns + e] = mu / q[x] - t[x] - scratch[e]
    return solve_general(kkt, solution, total)


@separate_kernel
def direction(n: int, m: int, rank: int, mu: float, ws: Workspace) -> float:
    """Fill the steps of v, s and q; return the slope of the merit function, or FAILED."""
    column, row, wide, tall, cube, index = ws.column, ws.row, ws.wide, ws.tall, ws.cube, ws.indices
    size = rank * (rank + 1) // 2
    v, s, ratio = column[PRIMAL], column[SLACK], column[RATIO]
    residual, right = column[RESIDUAL], column[RIGHT]
    step, slack_step = column[STEP], column[SLACK_STEP]
    q, t, weight = row[MULTIPLIER], row[LOGARITHM], row[WEIGHT]
    lifted, inverse, solution = cube[VECTORS], cube[INVERSE], cube[VECTORS, SOLUTION]
    total_v = 0.0
    for z in range(n):
        total_v += v[z]
    total_q = 1e-300
    for x in range(m):
        total_q += q[x] * row[2, x]
    n_columns = split_columns(v, s, n, total_v, 2 * size + 4, index[ACTIVE_COLUMNS], ratio)
    n_rows = split_columns(q, t, m, total_q, size + 8, index[ACTIVE_ROWS], weight)

    weights = cube[WEIGHTS]
    unpack(lifted[GRADIENT], rank, weights)
    for i in range(rank):
        for j in range(rank):
            weights[i, j] += 0.5 * mu * inverse[i, j]
    for x in range(m):
        weight[x] -= q[x]
    weighted_gram(tall[ROW_LIFT_T], weight, m, size, cube[CURVATURE])
    add_symmetric_product(inverse, weights, rank, cube[CURVATURE])
    if not eliminate(n, ratio, size, tall[COLUMN_LIFT_T], cube):
        return FAILED

    for x in range(m):
        weight[x] = mu / t[x] - q[x]
    for e in range(n_rows):
        weight[index[ACTIVE_ROWS, e]] = 0.0
    combine(weight, tall[ROW_LIFT_T], m, size, lifted[PULL])
    combine(lifted[PULL], wide[COLUMN_LIFT], size, n, right)
    for z in range(n):
        residual[z] += mu / v[z] - s[z]
        right[z] += residual[z]
    for z in range(n):
        step[z] = ratio[z] * right[z]
    combine(step, tall[COLUMN_LIFT_T], n, size, lifted[LOAD])
    if not solve_active(n_columns, n_rows, size, mu, ws):
        return FAILED

    combine(solution, cube[STACK], n_columns + n_rows, size, lifted[TOTAL])
    for k in range(size):
        lifted[TOTAL, k] += lifted[LOAD, k]
    combine(lifted[TOTAL], cube[REDUCED_T], size, size, lifted[IMAGE])
    combine(lifted[IMAGE], cube[REDUCED], size, size, lifted[RESPONSE])
    combine(lifted[RESPONSE], cube[NORMAL], size, size, lifted[MOVE])
    for k in range(size):
        lifted[MOVE, k] = lifted[TOTAL, k] - lifted[MOVE, k]
    for e in range(n_rows):
        factor = solution[n_columns + e]
        x = index[ACTIVE_ROWS, e]
        pull = mu / t[x] - q[x]
        for k in range(size):
            lifted[RESPONSE, k] -= factor * cube[KEPT, e, k]
            lifted[PULL, k] += pull * cube[KEPT, e, k]
    combine(lifted[RESPONSE], wide[COLUMN_LIFT], size, n, step)
    for z in range(n):
        step[z] = ratio[z] * (right[z] - step[z])
    for e in range(n_columns):
        step[index[ACTIVE_COLUMNS, e]] = solution[e]
    slope = 0.0
    for z in range(n):
        slack_step[z] = (mu - s[z] * step[z]) / v[z] - s[z]
        slope -= residual[z] * step[z]
    for k in range(size):
        slope -= lifted[PULL, k] * lifted[MOVE, k]
    change, multiplier_step = row[CHANGE], row[MULTIPLIER_STEP]
    combine(lifted[MOVE], wide[ROW_LIFT], size, m, change)
    for x in range(m):
        multiplier_step[x] = (mu - q[x] * change[x]) / t[x] - q[x]
    for e in range(n_rows):
        multiplier_step[index[ACTIVE_ROWS, e]] = solution[n_columns + e]
    return slope


@kernel
def dual_residual(n: int, rank: int, mu: float, ws: Workspace) -> None:
    """Fill −(1 − c − s − μ aᵀPa), the dual residual with one copy of −μ log det H."""
    column, wide, cube = ws.column, ws.wide, ws.cube
    k = 0
    for i in range(rank):
        for j in range(i, rank):
            factor = 1.0 if i == j else 1.4142135623730951
            cube[VECTORS, BARRIER, k] = mu * factor * cube[INVERSE, i, j]
            k += 1
    residual = column[RESIDUAL]
    combine(cube[VECTORS, BARRIER], wide[COLUMN_LIFT], k, n, residual)
    for z in range(n):
        residual[z] += column[2, z] + column[SLACK, z] - 1.0
