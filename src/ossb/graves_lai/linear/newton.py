"""Newton's method on the optimality conditions of a held active set.

With the support B and the tight alternatives A known, the optimum solves h_x(v) = 1 on A and
⟨A_z, Σ q G⟩ = 1 on B.  From the solution at slightly different means that takes two to four
iterations; a full pass over the arms then certifies the result like any other.
"""

import math

import numpy as np

from ossb.graves_lai.linear.algebra import combine, multiply, solve_general, weighted_gram
from ossb.graves_lai.linear.held import verify
from ossb.graves_lai.linear.memory import ARM_COST, DESIGN, OMEGA, RHO
from ossb.graves_lai.linear.oracle import (
    BROKEN,
    add_symmetric_product,
    constraint_values,
    lift,
    unpack,
)
from ossb.graves_lai.linear.passes import quadratic_forms
from ossb.graves_lai.linear.workspace import (
    COLUMN_ARMS,
    COLUMN_ARMS_T,
    COLUMN_LIFT,
    COLUMN_LIFT_T,
    CURVATURE,
    GRADIENT,
    INVERSE,
    INVERSE_COST,
    INVERSE_MARGIN,
    KKT,
    MULTIPLIER,
    ONES,
    PRICE,
    PRIMAL,
    PRODUCTS,
    ROW_ARMS,
    ROW_IMAGES,
    ROW_LIFT,
    ROW_LIFT_T,
    SOLUTION,
    STACK,
    VALUE,
    VECTORS,
    WEIGHT,
    WEIGHTS,
    Workspace,
)
from ossb.kernels import kernel, separate_kernel

MOST_ITERATIONS = 8
RESIDUAL = 1e-9
RIDGE = 1e-12
FAILED = 2.0  # no gap is as large


@kernel
def newton_start(
    rank: int,
    coordinates: np.ndarray,
    held: np.ndarray,
    lists: np.ndarray,
    n: int,
    m: int,
    ws: Workspace,
) -> bool:
    """Gather the active set and its multipliers at the new gaps; False if one is not positive."""
    column, row, wide, tall, arm = ws.column, ws.row, ws.wide, ws.tall, ws.arm
    design, omega, columns, rows = held[DESIGN], held[OMEGA], lists[0], lists[1]
    inverse_cost, inverse_margin = arm[INVERSE_COST], arm[INVERSE_MARGIN]
    for e in range(n):
        z = columns[e]
        root = math.sqrt(inverse_cost[z])
        column[PRIMAL, e] = design[z] / inverse_cost[z]
        column[ONES, e] = 1.0
        if not design[z] > 0.0:
            return False
        for i in range(rank):
            tall[COLUMN_ARMS, e, i] = coordinates[i, z] * root
            wide[COLUMN_ARMS_T, i, e] = tall[COLUMN_ARMS, e, i]
    for e in range(m):
        x = rows[e]
        row[MULTIPLIER, e] = omega[x] * inverse_margin[x] * inverse_margin[x]
        if not omega[x] > 0.0:
            return False
        for i in range(rank):
            wide[ROW_ARMS, i, e] = coordinates[i, x] * inverse_margin[x]
    lift(wide[COLUMN_ARMS_T], column[ONES], n, rank, wide[COLUMN_LIFT], tall[COLUMN_LIFT_T])
    return True


@kernel
def newton_residual(n: int, m: int, rank: int, ws: Workspace) -> float:
    """Fill the gradients and the right-hand side; the largest residual, 1e300 if there is none."""
    column, row, wide, tall, cube = ws.column, ws.row, ws.wide, ws.tall, ws.cube
    size = rank * (rank + 1) // 2
    value, inverse, solution = row[VALUE], row[WEIGHT], cube[VECTORS, SOLUTION]
    logdet = constraint_values(
        tall[COLUMN_ARMS], column[PRIMAL], n, wide[ROW_ARMS], m, rank, cube, wide[ROW_IMAGES], value
    )
    if not logdet > BROKEN:
        return 1e300
    worst = 0.0
    for e in range(m):
        if not (1e-100 < value[e] < 1e100):
            return 1e300
        inverse[e] = 1.0 / value[e]
        solution[n + e] = math.log(value[e])
        worst = max(worst, abs(solution[n + e]))
    lift(wide[ROW_IMAGES], inverse, m, rank, wide[ROW_LIFT], tall[ROW_LIFT_T])
    combine(row[MULTIPLIER], tall[ROW_LIFT_T], m, size, cube[VECTORS, GRADIENT])
    combine(cube[VECTORS, GRADIENT], wide[COLUMN_LIFT], size, n, column[PRICE])
    for e in range(n):
        solution[e] = column[PRICE, e] - 1.0
        worst = max(worst, abs(solution[e]))
    return worst


@kernel
def newton_step(n: int, m: int, rank: int, ws: Workspace) -> bool:
    """One full step; False if the system is singular or a multiplier loses its sign."""
    column, row, wide, tall, cube = ws.column, ws.row, ws.wide, ws.tall, ws.cube
    size = rank * (rank + 1) // 2
    q, weight, v = row[MULTIPLIER], row[WEIGHT], column[PRIMAL]
    curvature, kkt, crossed = cube[CURVATURE], cube[KKT], cube[PRODUCTS]
    for e in range(m):
        weight[e] = -q[e]
    weighted_gram(tall[ROW_LIFT_T], weight, m, size, curvature)
    unpack(cube[VECTORS, GRADIENT], rank, cube[WEIGHTS])
    add_symmetric_product(cube[INVERSE], cube[WEIGHTS], rank, curvature)
    for k in range(size):
        for j in range(k):
            curvature[k, j] = curvature[j, k]
    multiply(tall[COLUMN_LIFT_T], curvature, n, size, size, cube[STACK])
    multiply(cube[STACK], wide[COLUMN_LIFT], n, size, n, kkt)
    multiply(tall[COLUMN_LIFT_T], wide[ROW_LIFT], n, size, m, crossed)
    for e in range(n):
        kkt[e, e] += RIDGE
        for f in range(m):
            kkt[e, n + f] = -crossed[e, f]
            kkt[n + f, e] = crossed[e, f]
    for e in range(m):
        for f in range(m):
            kkt[n + e, n + f] = 0.0
        kkt[n + e, n + e] = RIDGE
    solution = cube[VECTORS, SOLUTION]
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


@separate_kernel
def newton(
    rank: int,
    coordinates: np.ndarray,
    held: np.ndarray,
    lists: np.ndarray,
    n: int,
    m: int,
    trial: np.ndarray,
    ws: Workspace,
) -> float:
    """Re-solve on the first n columns and m rows; the certified gap, or FAILED.

    The solution is left in ``trial``, its G⁻¹ in cube[INVERSE].
    """
    column, row, cube, arm = ws.column, ws.row, ws.cube, ws.arm
    if n == 0 or m == 0 or n + m > cube.shape[1]:
        return FAILED
    if not newton_start(rank, coordinates, held, lists, n, m, ws):
        return FAILED
    converged = False
    for _ in range(MOST_ITERATIONS + 1):
        worst = newton_residual(n, m, rank, ws)
        if not worst < 1e100:
            return FAILED
        if worst < RESIDUAL:
            converged = True
            break
        if not newton_step(n, m, rank, ws):
            return FAILED
    if not converged:
        return FAILED
    unpack(cube[VECTORS, GRADIENT], rank, cube[WEIGHTS])
    n_arms = arm.shape[1]
    quadratic_forms(
        coordinates, cube[INVERSE], cube[WEIGHTS], n_arms, rank, trial[RHO], trial[ARM_COST]
    )
    for e in range(n):
        z = lists[0, e]
        trial[DESIGN, z] = column[PRIMAL, e] * arm[INVERSE_COST, z]
    for e in range(m):
        z = lists[1, e]
        margin = 1.0 / arm[INVERSE_MARGIN, z]
        trial[OMEGA, z] = row[MULTIPLIER, e] * row[VALUE, e] * margin * margin
    return verify(arm, trial, lists, n, m)
