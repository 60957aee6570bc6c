"""Newton's method on the optimality conditions of a held active set.

With the support B and the tight alternatives A known, the optimum solves h_x(v) = 1 on A and
⟨A_z, Σ q G⟩ = 1 on B.  From the solution at slightly different means that takes two to four
iterations; a full pass over the arms then certifies the result like any other.  Where a weight
would change sign its arm leaves the set, and where the pass finds arms that the set misses they
enter it: most changes of the active set are small, and cost less than a solve.
"""

import math

import numpy as np

from ossb.graves_lai.linear.held import verify
from ossb.graves_lai.linear.memory import ARM_COST, DESIGN, OMEGA, RHO
from ossb.graves_lai.linear.passes import quadratic_forms
from ossb.graves_lai.linear.workspace import (
    BETWEEN,
    COLUMN_ARMS,
    COLUMN_ARMS_T,
    COUNT,
    DOTS,
    GRAM,
    HALT,
    IMAGES_OF,
    INVERSE,
    INVERSE_COST,
    INVERSE_MARGIN,
    KKT,
    MULTIPLIER,
    PRIMAL,
    ROWS_OF,
    SHARES,
    SOLUTION,
    SPARE,
    VALUE,
    VECTORS,
    WEIGHTS,
    Workspace,
)
from ossb.kernels import kernel, separate_kernel
from ossb.numerics.dense import (
    cholesky,
    inverse_of_factored,
    solve_general,
    weighted_gram,
)

MOST_ITERATIONS = 20
MOST_CHANGES = 8
FAR_OFF = 10.0  # residual from which the held active set says little
RIDGE = 1e-12
FAILED = 2.0  # no gap is as large
WHOLE, BROKEN = -1, -2  # steps that no unknown stops


@kernel
def gather_column(
    e: int, z: int, weight: float, rank: int, coordinates: np.ndarray, ws: Workspace
) -> None:
    """Make arm z the column e."""
    root = math.sqrt(ws.arm[INVERSE_COST, z])
    ws.column[PRIMAL, e] = weight
    for i in range(rank):
        ws.tall[COLUMN_ARMS, e, i] = coordinates[i, z] * root
        ws.wide[COLUMN_ARMS_T, i, e] = coordinates[i, z] * root


@kernel
def gather_row(
    e: int, x: int, weight: float, rank: int, coordinates: np.ndarray, ws: Workspace
) -> None:
    """Make arm x the row e."""
    margin = ws.arm[INVERSE_MARGIN, x]
    ws.row[MULTIPLIER, e] = weight
    for i in range(rank):
        ws.tall[ROWS_OF, e, i] = coordinates[i, x] * margin


@kernel
def newton_start(
    rank: int,
    coordinates: np.ndarray,
    held: np.ndarray,
    active: np.ndarray,
    n: int,
    m: int,
    ws: Workspace,
) -> bool:
    """Gather the active set and its multipliers at the new gaps; False if one is not positive."""
    arm, design, omega = ws.arm, held[DESIGN], held[OMEGA]
    for e in range(n):
        z = active[0, e]
        if not design[z] > 0.0:
            return False
        gather_column(e, z, design[z] / arm[INVERSE_COST, z], rank, coordinates, ws)
    for e in range(m):
        x = active[1, e]
        if not omega[x] > 0.0:
            return False
        margin = arm[INVERSE_MARGIN, x]
        gather_row(e, x, omega[x] * margin * margin, rank, coordinates, ws)
    return True


@kernel
def newton_residual(n: int, m: int, rank: int, ws: Workspace) -> float:
    """Fill H⁻¹, y, h, the products and the right-hand side; the largest residual, 1e300 if none.

    ``cube[DOTS]`` holds ⟨a_z, y_x⟩ and ``cube[SHARES]`` ⟨a_z, y_x⟩²/h_x, one row for each x.
    """
    column, row, wide, tall, cube = ws.column, ws.row, ws.wide, ws.tall, ws.cube
    gram, inverse, images = cube[GRAM], cube[INVERSE], tall[IMAGES_OF]
    value, q, solution = row[VALUE], row[MULTIPLIER], cube[VECTORS, SOLUTION]
    dots, shares, targets = cube[DOTS], cube[SHARES], tall[ROWS_OF]
    weighted_gram(tall[COLUMN_ARMS], column[PRIMAL], n, rank, gram)
    if not cholesky(gram, rank):
        return 1e300
    inverse_of_factored(gram, rank, cube[SPARE], inverse)
    worst = 0.0
    for e in range(n):
        solution[e] = -1.0
    for x in range(m):
        total = 0.0
        for i in range(rank):
            image = 0.0
            for j in range(rank):
                image += inverse[i, j] * targets[x, j]
            images[x, i] = image
            total += image * targets[x, i]
        if not (1e-100 < total < 1e100):
            return 1e300
        value[x] = total
        solution[n + x] = math.log(total)
        worst = max(worst, abs(solution[n + x]))
        for e in range(n):
            dots[x, e] = 0.0
        for i in range(rank):
            for e in range(n):
                dots[x, e] += images[x, i] * wide[COLUMN_ARMS_T, i, e]
        over = 1.0 / total
        for e in range(n):
            shares[x, e] = dots[x, e] * dots[x, e] * over
            solution[e] += q[x] * shares[x, e]
    for e in range(n):
        worst = max(worst, abs(solution[e]))
    return worst


@kernel
def newton_step(n: int, m: int, rank: int, ws: Workspace) -> int:
    """One step: WHOLE, BROKEN, or short of whole, to where an unknown (its number) reaches 0.

    −∂price_z/∂v_w = Σ_x q_x (2 ⟨a_z, H⁻¹a_w⟩⟨a_z, y_x⟩⟨a_w, y_x⟩/h_x − share_zx share_wx).
    """
    column, row, wide, tall, cube = ws.column, ws.row, ws.wide, ws.tall, ws.cube
    q, value, v = row[MULTIPLIER], row[VALUE], column[PRIMAL]
    inverse, kkt, between = cube[INVERSE], cube[KKT], cube[BETWEEN]
    dots, shares = cube[DOTS], cube[SHARES]
    for e in range(n):
        for f in range(e, n):
            between[e, f] = 0.0
            kkt[e, f] = 0.0
        for i in range(rank):
            lifted = 0.0
            for j in range(rank):
                lifted += inverse[i, j] * tall[COLUMN_ARMS, e, j]
            for f in range(e, n):
                between[e, f] += lifted * wide[COLUMN_ARMS_T, i, f]
        for x in range(m):
            curved = 2.0 * q[x] * dots[x, e] / value[x]
            straight = q[x] * shares[x, e]
            for f in range(e, n):
                kkt[e, f] += curved * between[e, f] * dots[x, f] - straight * shares[x, f]
        for f in range(e):
            kkt[e, f] = kkt[f, e]
        for x in range(m):
            kkt[e, n + x] = -shares[x, e]
    # ridges in the units of their rows, which those of gaps change
    curvature, coupling = 0.0, 0.0
    for e in range(n):
        curvature = max(curvature, abs(kkt[e, e]))
        for x in range(m):
            coupling = max(coupling, shares[x, e])
    if not curvature > 0.0:
        curvature = 1.0
    for e in range(n):
        kkt[e, e] += RIDGE * curvature
    for x in range(m):
        for f in range(n):
            kkt[n + x, f] = shares[x, f]
        for f in range(m):
            kkt[n + x, n + f] = 0.0
        kkt[n + x, n + x] = RIDGE * coupling * coupling / curvature
    solution = cube[VECTORS, SOLUTION]
    if not solve_general(kkt, solution, n + m):
        return BROKEN
    length, blocker = 1.0, WHOLE
    for e in range(n + m):
        weight = v[e] if e < n else q[e - n]
        if not abs(solution[e]) < 1e100:
            return BROKEN
        if weight + solution[e] <= 0.0:
            ratio = weight / -solution[e] if solution[e] < 0.0 else 0.0
            if blocker == WHOLE or ratio < length:
                length, blocker = ratio, e
    for e in range(n):
        v[e] += length * solution[e]
    for e in range(m):
        q[e] += length * solution[n + e]
    return blocker


@kernel
def leave(place: int, n: int, m: int, rank: int, active: np.ndarray, ws: Workspace) -> None:
    """Take an unknown out of the active set: the last of its kind moves to its place."""
    if place < n:
        last = n - 1
        active[0, place] = active[0, last]
        ws.column[PRIMAL, place] = ws.column[PRIMAL, last]
        for i in range(rank):
            ws.tall[COLUMN_ARMS, place, i] = ws.tall[COLUMN_ARMS, last, i]
            ws.wide[COLUMN_ARMS_T, i, place] = ws.wide[COLUMN_ARMS_T, i, last]
        return
    place -= n
    last = m - 1
    active[1, place] = active[1, last]
    ws.row[MULTIPLIER, place] = ws.row[MULTIPLIER, last]
    for i in range(rank):
        ws.tall[ROWS_OF, place, i] = ws.tall[ROWS_OF, last, i]


@kernel
def newton_weights(m: int, rank: int, ws: Workspace) -> None:
    """Write Σ_x q_x y_x y_xᵀ/h_x, whose quadratic form is the price of an arm."""
    row, cube, images = ws.row, ws.cube, ws.tall[IMAGES_OF]
    weights = cube[WEIGHTS]
    for i in range(rank):
        for j in range(rank):
            weights[i, j] = 0.0
    for x in range(m):
        scale = row[MULTIPLIER, x] / row[VALUE, x]
        for i in range(rank):
            factor = scale * images[x, i]
            for j in range(rank):
                weights[i, j] += factor * images[x, j]


@kernel
def certify(
    rank: int,
    coordinates: np.ndarray,
    active: np.ndarray,
    n: int,
    m: int,
    trial: np.ndarray,
    ws: Workspace,
) -> float:
    """Leave the solution in ``trial``, with a pass over all arms; its certified gap."""
    column, row, cube, arm = ws.column, ws.row, ws.cube, ws.arm
    newton_weights(m, rank, ws)
    n_arms = arm.shape[1]
    quadratic_forms(
        coordinates, cube[INVERSE], cube[WEIGHTS], n_arms, rank, trial[RHO], trial[ARM_COST]
    )
    for e in range(n):
        z = active[0, e]
        trial[DESIGN, z] = column[PRIMAL, e] * arm[INVERSE_COST, z]
    for e in range(m):
        z = active[1, e]
        margin = 1.0 / arm[INVERSE_MARGIN, z]
        trial[OMEGA, z] = row[MULTIPLIER, e] * row[VALUE, e] * margin * margin
    return verify(arm, trial, active, n, m)


@kernel
def most_missed(values: np.ndarray, scale: np.ndarray, power: int) -> tuple[int, float]:
    """The arm with the largest values · scaleᵖ, and that."""
    arm, largest = -1, 0.0
    for z in range(values.shape[0]):
        value = values[z] * scale[z] if power == 1 else values[z] * scale[z] * scale[z]
        if value > largest:
            arm, largest = z, value
    return arm, largest


@kernel
def listed(arm: int, members: np.ndarray, count: int) -> bool:
    for e in range(count):
        if members[e] == arm:
            return True
    return False


@separate_kernel
def newton(
    rank: int,
    coordinates: np.ndarray,
    held: np.ndarray,
    n: int,
    m: int,
    trial: np.ndarray,
    active: np.ndarray,
    tolerance: float,
    ws: Workspace,
) -> tuple[float, int, int]:
    """Re-solve on the first n columns and m rows of ``active``; the certified gap, or FAILED.

    The solution is left in ``trial``, its G⁻¹ in cube[INVERSE]; ``active`` is changed to what
    it rests on, and the numbers of its columns and rows are returned.
    """
    most, room = ws.cube.shape[1], active.shape[1]
    if n == 0 or m == 0 or n + m > most:
        return FAILED, n, m
    if not newton_start(rank, coordinates, held, active, n, m, ws):
        return FAILED, n, m
    changes = 0
    for iteration in range(MOST_ITERATIONS):
        if ws.indices[COUNT, HALT] != 0:
            return FAILED, n, m
        worst = newton_residual(n, m, rank, ws)
        if iteration == 0 and worst > FAR_OFF:
            return FAILED, n, m
        if not worst < 1e100 or changes > MOST_CHANGES or n == 0 or m == 0:
            return FAILED, n, m
        if worst < 0.1 * tolerance:
            gap = certify(rank, coordinates, active, n, m, trial, ws)
            if gap <= tolerance or n + m + 2 > most:
                return gap, n, m
            changes += 1
            before = n + m
            z, price = most_missed(trial[ARM_COST], ws.arm[INVERSE_COST], 1)
            x, value = most_missed(trial[RHO], ws.arm[INVERSE_MARGIN], 2)
            if price > 1.0 + tolerance and n < room and not listed(z, active[0], n):
                active[0, n] = z
                gather_column(n, z, 0.0, rank, coordinates, ws)
                n += 1
            if value > 1.0 + tolerance and m < room and not listed(x, active[1], m):
                active[1, m] = x
                gather_row(m, x, 0.0, rank, coordinates, ws)
                m += 1
            if n + m == before:
                return gap, n, m
            continue
        blocker = newton_step(n, m, rank, ws)
        if blocker == BROKEN:
            return FAILED, n, m
        if blocker >= 0:
            leave(blocker, n, m, rank, active, ws)
            changes += 1
            if blocker < n:
                n -= 1
            else:
                m -= 1
    return FAILED, n, m
