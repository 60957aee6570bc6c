"""The cold start: primal simplex on the dual program, in a condensed dense tableau.

max Σ y_x subject to Aᵀ y ≤ 1 has the feasible start y = 0, so there is no first phase.  The
tableau holds one row per basic and one column per non-basic variable; rows with a zero in the
entering column are skipped, which makes sparse programs cheap.  The entering variable is the
one of largest gain in its unit, until a run of degenerate pivots calls for Bland's rule (lowest
index in, lowest index out), under which the simplex method cannot cycle (Bland, 1977).
"""

import math

import numpy as np

from ossb.graves_lai.lipschitz.loops import add_multiple
from ossb.graves_lai.lipschitz.workspace import (
    CORNER,
    GAIN,
    PIVOTS,
    PRICES,
    SPEND,
    TABLE_COLUMNS,
    TABLE_ROWS,
    UNIT,
    Workspace,
)
from ossb.kernels import kernel

TOLERANCE = 1e-11  # gain, in units of its own row, that is worth a pivot
PIVOT = 1e-10  # entries are at most 1 at the start; smaller ones are taken for rounding
DEGENERATE = 1e-14  # step, next to a right-hand side of 1, that gets nowhere
PATIENCE = 30  # degenerate pivots in a row before Bland's rule


@kernel
def cold(space: Workspace) -> bool:
    """Solve from nothing; leave v, y and the basis, and tell whether it ended by itself."""
    size = space.matrix.shape[0]
    unit = space.sides[UNIT]
    corner, gain = space.vectors[CORNER], space.vectors[GAIN]
    rows, columns = space.indices[TABLE_ROWS], space.indices[TABLE_COLUMNS]
    n = 0
    for x in range(size):
        space.vectors[SPEND, x] = 0.0
        space.vectors[PRICES, x] = 0.0
        space.free[x] = True
        space.free[size + x] = False
        if space.active[x]:
            rows[n] = x
            columns[n] = size + x  # y_x, which has the unit of the surplus of row x
            corner[n] = 1.0
            gain[n] = unit[size + x]
            n += 1
    for i in range(n):
        for j in range(n):
            space.factors[i, j] = space.transpose[rows[i], rows[j]] * unit[size + rows[j]]
    stalled = 0
    ended = False
    for _ in range(50 * n + 1000):
        bland = stalled > PATIENCE
        column = entering_column(gain, columns, unit, n, bland)
        if column < 0:
            ended = True
            break
        row = leaving_row(space.factors, corner, rows, column, n, bland)
        if row < 0:
            gain[column] = 0.0  # every entry is rounding, and so is the gain
            continue
        stalled = stalled + 1 if corner[row] <= DEGENERATE else 0
        pivot(space.factors, corner, gain, row, column, n)
        variable = rows[row]
        rows[row] = columns[column]
        columns[column] = variable
        space.state[PIVOTS] += 1
    for i in range(n):
        variable = columns[i]
        if variable < size:
            space.free[variable] = False
            space.vectors[SPEND, variable] = max(0.0, -gain[i])
        variable = rows[i]
        if variable >= size:
            space.free[variable] = True
            space.vectors[PRICES, variable - size] = corner[i] * unit[variable]
    return ended


@kernel
def entering_column(
    gain: np.ndarray, columns: np.ndarray, unit: np.ndarray, n: int, bland: bool
) -> int:
    """Column of the largest gain, or of the first one in variable order; −1 at the optimum."""
    chosen = -1
    best = 0.0
    for j in range(n):
        if gain[j] > best:
            variable = columns[j]
            if gain[j] > TOLERANCE * unit[variable]:
                if not bland:
                    best = gain[j]
                    chosen = j
                elif chosen < 0 or variable < columns[chosen]:
                    chosen = j
    return chosen


@kernel
def leaving_row(
    table: np.ndarray, corner: np.ndarray, rows: np.ndarray, column: int, n: int, bland: bool
) -> int:
    """The row that limits the entering variable; the largest pivot among near ties."""
    least = math.inf
    for i in range(n):
        if table[i, column] > PIVOT:
            least = min(least, corner[i] / table[i, column])
    accepted = least if bland else least + 1e-13 * max(least, 1.0)
    chosen = -1
    largest = 0.0
    for i in range(n):
        entry = table[i, column]
        if entry > PIVOT and corner[i] / entry <= accepted:
            if bland:
                if chosen < 0 or rows[i] < rows[chosen]:
                    chosen = i
            elif entry > largest:
                largest = entry
                chosen = i
    return chosen


@kernel
def pivot(
    table: np.ndarray, corner: np.ndarray, gain: np.ndarray, row: int, column: int, n: int
) -> None:
    """Exchange the variables of a row and a column."""
    inverse = 1.0 / table[row, column]
    first = n
    last = 0
    for j in range(n):
        if table[row, j] != 0.0:
            table[row, j] *= inverse
            first = min(first, j)
            last = j + 1
    corner[row] *= inverse
    for i in range(n):
        factor = table[i, column]
        if factor != 0.0 and i != row:
            add_multiple(table, row, -factor, table[i], first, last)
            table[i, column] = -factor * inverse
            corner[i] = max(0.0, corner[i] - factor * corner[row])
    table[row, column] = inverse
    factor = gain[column]
    add_multiple(table, row, -factor, gain, first, last)
    gain[column] = -factor * inverse
