"""The cold start: primal simplex on the dual program, in a condensed dense tableau.

max Σ y_x subject to Aᵀ y ≤ 1 has the feasible start y = 0, so there is no first phase.  The
tableau holds one row per basic and one column per non-basic variable; rows with a zero in the
entering column are skipped, which makes sparse programs cheap.  The entering variable is the
one of largest gain in its unit, until a run of degenerate pivots calls for Bland's rule (lowest
index in, lowest index out), under which the simplex method cannot cycle (Bland, 1977).
"""

import math

import numpy as np

from ossb.graves_lai.lipschitz.memory import (
    CORE_SIZE,
    CORNER,
    FACTORS,
    GAIN,
    PIVOTS,
    PRICES,
    SPEND,
    TABLE_COLUMNS,
    TABLE_ROWS,
    TRANSPOSE,
    UNIT,
    LipschitzMemory,
)
from ossb.kernels import kernel

TOLERANCE = 1e-11  # gain, in units of its own row, that is worth a pivot
PIVOT = 1e-10  # entries are at most 1 at the start; smaller ones are taken for rounding
TIE = 1e-13  # ratios this close are tied; the right-hand sides are 1 at the start
DEGENERATE = 1e-14  # step, next to a right-hand side of 1, that gets nowhere
PATIENCE = 30  # degenerate pivots in a row before Bland's rule


@kernel
def cold(memory: LipschitzMemory) -> bool:
    """Solve from nothing; leave v, y and the basis, and tell whether it ended by itself."""
    size = memory.active.shape[0]
    unit = memory.sides[UNIT]
    corner, gain = memory.vectors[CORNER], memory.vectors[GAIN]
    rows, columns = memory.indices[TABLE_ROWS], memory.indices[TABLE_COLUMNS]
    n = 0
    for x in range(size):
        memory.vectors[SPEND, x] = 0.0
        memory.vectors[PRICES, x] = 0.0
        memory.free[x] = True
        memory.free[size + x] = False
        if memory.active[x]:
            rows[n] = x
            columns[n] = size + x  # y_x, which has the unit of the surplus of row x
            corner[n] = 1.0
            gain[n] = unit[size + x]
            n += 1
    memory.state[CORE_SIZE] = n
    n = memory.state[CORE_SIZE]  # a typed number: kernels compile once more for a literal
    for i in range(n):
        for j in range(n):
            memory.squares[FACTORS, i, j] = (
                memory.squares[TRANSPOSE, rows[i], rows[j]] * unit[size + rows[j]]
            )
    stalled = 0
    ended = False
    for _ in range(50 * n + 1000):
        if memory.state[CORE_SIZE] < 0:
            break
        bland = stalled > PATIENCE
        column = entering_column(gain, columns, unit, n, bland)
        if column < 0:
            ended = True
            break
        row = leaving_row(memory.squares[FACTORS], corner, rows, column, n, bland)
        if row < 0:
            gain[column] = 0.0  # every entry is rounding, and so is the gain
            continue
        stalled = stalled + 1 if corner[row] <= DEGENERATE else 0
        pivot(memory.squares[FACTORS], corner, gain, row, column, n)
        variable = rows[row]
        rows[row] = columns[column]
        columns[column] = variable
        memory.state[PIVOTS] += 1
    for i in range(n):
        variable = columns[i]
        if variable < size:
            memory.free[variable] = False
            memory.vectors[SPEND, variable] = max(0.0, -gain[i])
        variable = rows[i]
        if variable >= size:
            memory.free[variable] = True
            memory.vectors[PRICES, variable - size] = corner[i] * unit[variable]
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
    chosen = -1
    least = math.inf
    largest = 0.0
    for i in range(n):
        entry = table[i, column]
        if entry > PIVOT:
            ratio = corner[i] / entry
            if bland:
                if ratio < least or (ratio == least and rows[i] < rows[chosen]):
                    least = ratio
                    chosen = i
            elif ratio < least - TIE or (ratio <= least + TIE and entry > largest):
                least = min(least, ratio)
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
    entries = table[row, first:last]
    for i in range(n):
        factor = table[i, column]
        if factor != 0.0 and i != row:
            goal = table[i, first:last]
            for j in range(goal.shape[0]):
                goal[j] -= factor * entries[j]
            table[i, column] = -factor * inverse
            corner[i] = max(0.0, corner[i] - factor * corner[row])
    table[row, column] = inverse
    factor = gain[column]
    for j in range(n):
        if j != column:
            gain[j] -= factor * table[row, j]
    gain[column] = -factor * inverse
