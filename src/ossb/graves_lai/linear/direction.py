"""The search direction of the interior-point method, by a split elimination.

Eliminating every variable would put (v/s)(q/t) ~ 1/μ² into one matrix and lose all digits at a
gap of 1e-5.  So the columns B with v/Σv > s and the rows A with q/Σqh > t (the likely active
ones) stay as unknowns of a small dense system, and only the others, whose ratios v/s and q/t
are moderate, are eliminated:

    W = 2 P ⊗ₛ (mat(g) + μP/2) − Σ q G Gᵀ + Σ_{x∉A} (q/t) G Gᵀ,   W = RᵀR,
    N = Σ_{z∉B} (v/s) A Aᵀ,   M = I + R N Rᵀ = McᵀMc,   X = Mc⁻ᵀR.
"""

import numpy as np

from ossb.graves_lai.linear.algebra import (
    cholesky,
    combine,
    multiply,
    solve_general,
    transpose,
    weighted_gram,
)
from ossb.graves_lai.linear.oracle import add_symmetric_product, unpack
from ossb.graves_lai.linear.workspace import (
    BARRIER,
    CHANGE,
    CURVATURE,
    FACTOR,
    GRADIENT,
    IMAGE,
    INVERSE,
    LOAD,
    LOGARITHM,
    MOVE,
    MULTIPLIER,
    MULTIPLIER_STEP,
    NORMAL,
    PRIMAL,
    PULL,
    RATIO,
    REDUCED,
    REDUCED_T,
    RESIDUAL,
    RESPONSE,
    RIGHT,
    SCRATCH,
    SLACK,
    SLACK_STEP,
    STEP,
    TOTAL,
    WEIGHT,
    WEIGHTS,
    Workspace,
)
from ossb.kernels import kernel

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
def eliminate(n: int, ratio: np.ndarray, size: int, lift_t: np.ndarray, square: np.ndarray) -> bool:
    """Given the curvature W, fill N, X and Xᵀ; False on breakdown."""
    curvature = square[CURVATURE]
    normal = square[NORMAL]
    scratch = square[SCRATCH]
    factor = square[FACTOR]
    reduced = square[REDUCED]
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
    transpose(reduced, size, size, square[REDUCED_T])
    return True


@kernel
def solve_active(n_columns: int, n_rows: int, size: int, mu: float, ws: Workspace) -> bool:
    """Solve the dense system of the kept columns and rows into ``solution[0]``."""
    v, s, right = ws.column[PRIMAL], ws.column[SLACK], ws.column[RIGHT]
    q, t = ws.row[MULTIPLIER], ws.row[LOGARITHM]
    stack, kept_rows, images = ws.stack[0], ws.stack[1], ws.stack[2]
    images_t, rows_t = ws.stack_t[0], ws.stack_t[1]
    kkt, products, crossed = ws.kkt[0], ws.kkt[1], ws.kkt[2]
    solution, scratch = ws.solution[0], ws.solution[1]
    lifted = ws.lifted
    total = n_columns + n_rows
    for e in range(n_columns):
        for k in range(size):
            stack[e, k] = ws.column_lift_t[ws.active[0, e], k]
    for e in range(n_rows):
        for k in range(size):
            kept_rows[e, k] = ws.row_lift_t[ws.active[1, e], k]
    multiply(kept_rows, ws.square[NORMAL], n_rows, size, size, images)
    for e in range(n_rows):
        for k in range(size):
            stack[n_columns + e, k] = images[e, k]
    multiply(stack, ws.square[REDUCED_T], total, size, size, images)
    transpose(images, total, size, images_t)
    transpose(kept_rows, n_rows, size, rows_t)
    multiply(images, images_t, total, size, total, products)
    multiply(stack, rows_t, total, size, n_rows, crossed)
    for e in range(n_columns):
        for f in range(n_columns):
            kkt[e, f] = products[e, f]
        kkt[e, e] += s[ws.active[0, e]] / v[ws.active[0, e]]
        for f in range(n_rows):
            entry = products[e, n_columns + f] - crossed[e, f]
            kkt[e, n_columns + f] = entry
            kkt[n_columns + f, e] = -entry
    for e in range(n_rows):
        for f in range(n_rows):
            kkt[n_columns + e, n_columns + f] = (
                crossed[n_columns + e, f] - products[n_columns + e, n_columns + f]
            )
        kkt[n_columns + e, n_columns + e] += t[ws.active[1, e]] / q[ws.active[1, e]]
    combine(lifted[LOAD], ws.square[REDUCED_T], size, size, lifted[IMAGE])
    combine(lifted[IMAGE], ws.square[REDUCED], size, size, lifted[RESPONSE])
    combine(lifted[RESPONSE], ws.square[NORMAL], size, size, lifted[TOTAL])
    for k in range(size):
        lifted[TOTAL, k] = lifted[LOAD, k] - lifted[TOTAL, k]
    combine(lifted[IMAGE], images_t, size, n_columns, scratch)
    for e in range(n_columns):
        solution[e] = right[ws.active[0, e]] - scratch[e]
    combine(lifted[TOTAL], rows_t, size, n_rows, scratch)
    for e in range(n_rows):
        x = ws.active[1, e]
        solution[n_columns + e] = mu / q[x] - t[x] - scratch[e]
    return solve_general(kkt, solution, total)


@kernel
def direction(n: int, m: int, rank: int, mu: float, ws: Workspace) -> float:
    """Fill the steps of v, s and q; return the slope of the merit function, or FAILED."""
    size = rank * (rank + 1) // 2
    v, s, ratio = ws.column[PRIMAL], ws.column[SLACK], ws.column[RATIO]
    residual, right = ws.column[RESIDUAL], ws.column[RIGHT]
    step, slack_step = ws.column[STEP], ws.column[SLACK_STEP]
    q, t, weight = ws.row[MULTIPLIER], ws.row[LOGARITHM], ws.row[WEIGHT]
    lifted, inverse, solution = ws.lifted, ws.small[INVERSE], ws.solution[0]
    total_v = 0.0
    for z in range(n):
        total_v += v[z]
    total_q = 1e-300
    for x in range(m):
        total_q += q[x] * ws.row[2, x]
    most = 2 * size + 2
    n_columns = split_columns(v, s, n, total_v, most, ws.active[0], ratio)
    n_rows = split_columns(q, t, m, total_q, most, ws.active[1], weight)

    weights = ws.small[WEIGHTS]
    unpack(lifted[GRADIENT], rank, weights)
    for i in range(rank):
        for j in range(rank):
            weights[i, j] += 0.5 * mu * inverse[i, j]
    for x in range(m):
        weight[x] -= q[x]
    weighted_gram(ws.row_lift_t, weight, m, size, ws.square[CURVATURE])
    add_symmetric_product(inverse, weights, rank, ws.square[CURVATURE])
    if not eliminate(n, ratio, size, ws.column_lift_t, ws.square):
        return FAILED

    for x in range(m):
        weight[x] = mu / t[x] - q[x]
    for e in range(n_rows):
        weight[ws.active[1, e]] = 0.0
    combine(weight, ws.row_lift_t, m, size, lifted[PULL])
    combine(lifted[PULL], ws.column_lift, size, n, right)
    for z in range(n):
        residual[z] += mu / v[z] - s[z]
        right[z] += residual[z]
    for z in range(n):
        step[z] = ratio[z] * right[z]
    combine(step, ws.column_lift_t, n, size, lifted[LOAD])
    if not solve_active(n_columns, n_rows, size, mu, ws):
        return FAILED

    combine(solution, ws.stack[0], n_columns + n_rows, size, lifted[TOTAL])
    for k in range(size):
        lifted[TOTAL, k] += lifted[LOAD, k]
    combine(lifted[TOTAL], ws.square[REDUCED_T], size, size, lifted[IMAGE])
    combine(lifted[IMAGE], ws.square[REDUCED], size, size, lifted[RESPONSE])
    combine(lifted[RESPONSE], ws.square[NORMAL], size, size, lifted[MOVE])
    for k in range(size):
        lifted[MOVE, k] = lifted[TOTAL, k] - lifted[MOVE, k]
    for e in range(n_rows):
        factor = solution[n_columns + e]
        x = ws.active[1, e]
        pull = mu / t[x] - q[x]
        for k in range(size):
            lifted[RESPONSE, k] -= factor * ws.stack[1, e, k]
            lifted[PULL, k] += pull * ws.stack[1, e, k]
    combine(lifted[RESPONSE], ws.column_lift, size, n, step)
    for z in range(n):
        step[z] = ratio[z] * (right[z] - step[z])
    for e in range(n_columns):
        step[ws.active[0, e]] = solution[e]
    slope = 0.0
    for z in range(n):
        slack_step[z] = (mu - s[z] * step[z]) / v[z] - s[z]
        slope -= residual[z] * step[z]
    for k in range(size):
        slope -= lifted[PULL, k] * lifted[MOVE, k]
    change, multiplier_step = ws.row[CHANGE], ws.row[MULTIPLIER_STEP]
    combine(lifted[MOVE], ws.row_lift, size, m, change)
    for x in range(m):
        multiplier_step[x] = (mu - q[x] * change[x]) / t[x] - q[x]
    for e in range(n_rows):
        multiplier_step[ws.active[1, e]] = solution[n_columns + e]
    return slope


@kernel
def dual_residual(n: int, rank: int, mu: float, ws: Workspace) -> None:
    """Fill −(1 − c − s − μ aᵀPa), the dual residual with one copy of −μ log det H."""
    k = 0
    for i in range(rank):
        for j in range(i, rank):
            factor = 1.0 if i == j else 1.4142135623730951
            ws.lifted[BARRIER, k] = mu * factor * ws.small[INVERSE, i, j]
            k += 1
    residual = ws.column[RESIDUAL]
    combine(ws.lifted[BARRIER], ws.column_lift, k, n, residual)
    for z in range(n):
        residual[z] += ws.column[2, z] + ws.column[SLACK, z] - 1.0
