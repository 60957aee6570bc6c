"""Newton's method on the optimality conditions of a held active set.

With the support B and the tight alternatives A known, the optimum solves h_x(v) = 1 on A and
⟨A_z, Σ q G⟩ = 1 on B.  From the solution at slightly different means that takes two to four
iterations; a full pass over the arms then certifies the result like any other.
"""

import math

import numpy as np

from ossb.graves_lai.linear.algebra import combine, multiply, solve_general, weighted_gram
from ossb.graves_lai.linear.held import verify
from ossb.graves_lai.linear.interior_point import UNBOUNDED
from ossb.graves_lai.linear.memory import INVERSE_COST, INVERSE_MARGIN
from ossb.graves_lai.linear.oracle import (
    BROKEN,
    add_symmetric_product,
    constraint_values,
    lift,
    unpack,
)
from ossb.graves_lai.linear.passes import quadratic_forms
from ossb.graves_lai.linear.workspace import (
    CURVATURE,
    GRADIENT,
    INVERSE,
    MULTIPLIER,
    ONES,
    PRICE,
    PRIMAL,
    VALUE,
    WEIGHT,
    WEIGHTS,
    Workspace,
)
from ossb.kernels import kernel

MOST_ITERATIONS = 8
RESIDUAL = 1e-9
RIDGE = 1e-12
# Rows of LinearMemory.trial.
TRIAL_DESIGN, TRIAL_OMEGA, TRIAL_RHO, TRIAL_PRICE = range(4)


@kernel
def newton_start(
    gap: np.ndarray,
    rank: int,
    coordinates: np.ndarray,
    columns: np.ndarray,
    n: int,
    rows: np.ndarray,
    m: int,
    design: np.ndarray,
    omega: np.ndarray,
    ws: Workspace,
) -> bool:
    """Gather the active set and its multipliers at the new gaps; False if one is not positive."""
    inverse_cost, inverse_margin = gap[INVERSE_COST], gap[INVERSE_MARGIN]
    for e in range(n):
        z = columns[e]
        root = math.sqrt(inverse_cost[z])
        ws.column[PRIMAL, e] = design[z] / inverse_cost[z]
        ws.column[ONES, e] = 1.0
        if not design[z] > 0.0:
            return False
        for i in range(rank):
            ws.column_arms[e, i] = coordinates[i, z] * root
            ws.column_arms_t[i, e] = ws.column_arms[e, i]
    for e in range(m):
        x = rows[e]
        ws.row[MULTIPLIER, e] = omega[x] * inverse_margin[x] * inverse_margin[x]
        if not omega[x] > 0.0:
            return False
        for i in range(rank):
            ws.row_arms[i, e] = coordinates[i, x] * inverse_margin[x]
    lift(ws.column_arms_t, ws.column[ONES], n, rank, ws.column_lift, ws.column_lift_t)
    return True


@kernel
def newton_residual(n: int, m: int, rank: int, ws: Workspace) -> float:
    """Fill the gradients and the right-hand side; the largest residual, or UNBOUNDED."""
    size = rank * (rank + 1) // 2
    value, inverse, solution = ws.row[VALUE], ws.row[WEIGHT], ws.solution[0]
    logdet = constraint_values(
        ws.column_arms, ws.column[PRIMAL], n, ws.row_arms, m, rank, ws.small, ws.row_images, value
    )
    if not logdet > BROKEN:
        return UNBOUNDED
    worst = 0.0
    for e in range(m):
        if not (1e-100 < value[e] < 1e100):
            return UNBOUNDED
        inverse[e] = 1.0 / value[e]
        solution[n + e] = math.log(value[e])
        worst = max(worst, abs(solution[n + e]))
    lift(ws.row_images, inverse, m, rank, ws.row_lift, ws.row_lift_t)
    combine(ws.row[MULTIPLIER], ws.row_lift_t, m, size, ws.lifted[GRADIENT])
    combine(ws.lifted[GRADIENT], ws.column_lift, size, n, ws.column[PRICE])
    for e in range(n):
        solution[e] = ws.column[PRICE, e] - 1.0
        worst = max(worst, abs(solution[e]))
    return worst


@kernel
def newton_step(n: int, m: int, rank: int, ws: Workspace) -> bool:
    """One full step; False if the system is singular or a multiplier loses its sign."""
    size = rank * (rank + 1) // 2
    q, weight, v = ws.row[MULTIPLIER], ws.row[WEIGHT], ws.column[PRIMAL]
    curvature, kkt, crossed = ws.square[CURVATURE], ws.kkt[0], ws.kkt[1]
    for e in range(m):
        weight[e] = -q[e]
    weighted_gram(ws.row_lift_t, weight, m, size, curvature)
    unpack(ws.lifted[GRADIENT], rank, ws.small[WEIGHTS])
    add_symmetric_product(ws.small[INVERSE], ws.small[WEIGHTS], rank, curvature)
    for k in range(size):
        for j in range(k):
            curvature[k, j] = curvature[j, k]
    multiply(ws.column_lift_t, curvature, n, size, size, ws.stack[0])
    multiply(ws.stack[0], ws.column_lift, n, size, n, kkt)
    multiply(ws.column_lift_t, ws.row_lift, n, size, m, crossed)
    for e in range(n):
        kkt[e, e] += RIDGE
        for f in range(m):
            kkt[e, n + f] = -crossed[e, f]
            kkt[n + f, e] = crossed[e, f]
    for e in range(m):
        for f in range(m):
            kkt[n + e, n + f] = 0.0
        kkt[n + e, n + e] = RIDGE
    solution = ws.solution[0]
    if not solve_general(kkt, solution, n + m):
        return False
    for e in range(n):
        v[e] += solution[e]
        if not v[e] > 0.0:
            return False
    for e in range(m):
        q[e] += solution[n + e]
        if not q[e] > 0.0:
            return False
    return True


@kernel
def newton(
    gap: np.ndarray,
    rank: int,
    coordinates: np.ndarray,
    columns: np.ndarray,
    n: int,
    rows: np.ndarray,
    m: int,
    design: np.ndarray,
    omega: np.ndarray,
    trial: np.ndarray,
    ws: Workspace,
) -> tuple[float, float]:
    """Re-solve on the first n columns and m rows; bounds of C/2, UNBOUNDED above if it fails.

    The solution is left in ``trial``, its G⁻¹ in small[INVERSE].
    """
    if n == 0 or m == 0 or n + m > ws.kkt.shape[1]:
        return UNBOUNDED, 0.0
    if not newton_start(gap, rank, coordinates, columns, n, rows, m, design, omega, ws):
        return UNBOUNDED, 0.0
    converged = False
    for _ in range(MOST_ITERATIONS + 1):
        worst = newton_residual(n, m, rank, ws)
        if not worst < 1e100:
            return UNBOUNDED, 0.0
        if worst < RESIDUAL:
            converged = True
            break
        if not newton_step(n, m, rank, ws):
            return UNBOUNDED, 0.0
    if not converged:
        return UNBOUNDED, 0.0
    unpack(ws.lifted[GRADIENT], rank, ws.small[WEIGHTS])
    quadratic_forms(
        coordinates,
        ws.small[INVERSE],
        ws.small[WEIGHTS],
        design.shape[0],
        rank,
        trial[TRIAL_RHO],
        trial[TRIAL_PRICE],
    )
    inverse_cost, inverse_margin = gap[INVERSE_COST], gap[INVERSE_MARGIN]
    for e in range(n):
        trial[TRIAL_DESIGN, columns[e]] = ws.column[PRIMAL, e] * inverse_cost[columns[e]]
    for e in range(m):
        x = rows[e]
        weight = ws.row[MULTIPLIER, e] * ws.row[VALUE, e]
        trial[TRIAL_OMEGA, x] = weight / (inverse_margin[x] * inverse_margin[x])
    upper, lower, _ = verify(
        inverse_cost,
        inverse_margin,
        trial[TRIAL_RHO],
        trial[TRIAL_PRICE],
        trial[TRIAL_DESIGN],
        trial[TRIAL_OMEGA],
        columns,
        n,
        rows,
        m,
    )
    return upper, lower
