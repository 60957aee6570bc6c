"""The arrays the Lipschitz simplex works in, allocated once and passed around.

The program is written in money: with v_z = c_z η_z and A[x, z] = M[x, z] / c_z it reads

    min Σ v_z   subject to   A v − s = 1, v ≥ 0, s ≥ 0,

and its dual max Σ y_x subject to Aᵀ y ≤ 1, y ≥ 0.  Variable z is the column v_z, variable
n + x the surplus s_x.  The surplus of row x is worth 1 / max_z A[x, z], the least cost of that
row alone: its ``UNIT``; tolerances refer to it.  Rows and columns that do not take part (the
best arm) stay in place, empty and inactive, so that a basis keeps its meaning.

Vectors of one kind share an array, each a named row of it: a kernel's compile time grows with
the number of arrays it is handed.
"""

from typing import NamedTuple

import numpy as np

from ossb.records import Flags, Floats, Ints, record

# rows of ``vectors``: a solution v, y, and what it covers, A v, and loads, Aᵀ y
SPEND, PRICES, COVERED, LOAD = 0, 1, 2, 3
# value of the variable in each slot of the basis; a column of the simplex tableau
VALUES, ENTERING = 4, 5
# right-hand sides by row and by slot; work of the solves
RIGHT, BY_SLOT, CORE, SCATTER = 6, 7, 8, 9
# border of the condensed tableau
CORNER, GAIN = 10, 11
N_VECTORS = 12

# rows of ``sides``, by variable: unit, reduced cost, a row of the simplex tableau
UNIT, SLACK, ALPHA = 0, 1, 2
N_SIDES = 3

# rows of ``indices``: A[x, z] = 0 unless ROW_FIRST[x] ≤ z < ROW_LAST[x]; likewise by column
ROW_FIRST, ROW_LAST, COLUMN_FIRST, COLUMN_LAST = 0, 1, 2, 3
# variable in each slot of the basis
BASIC = 4
# the core and its factors: rows, columns, row order, profile, lowest row with an entry
CORE_ROWS, CORE_COLUMNS, ORDER, PROFILE_FIRST, PROFILE_LAST, REACH = 5, 6, 7, 8, 9, 10
# variables of the condensed tableau
TABLE_ROWS, TABLE_COLUMNS = 11, 12
N_INDICES = 13

# entries of ``bounds``
UPPER, LOWER, LEAST, GREATEST = 0, 1, 2, 3
# entries of ``state``: size of the core, basis changes since it was factored, pivots ever made
CORE_SIZE, CHANGES, PIVOTS = 0, 1, 2

MOST_CHANGES = 48  # basis changes before the basis is factored anew


@record
class Workspace(NamedTuple):
    """Arrays for n rows and n columns."""

    matrix: Floats  # (n, n) A[x, z]
    transpose: Floats  # (n, n)
    factors: Floats  # (n, n) L and U of the core; the condensed tableau during a cold start
    changes: Floats  # (MOST_CHANGES, n)
    change_slot: Ints  # (MOST_CHANGES,)
    vectors: Floats  # (N_VECTORS, n)
    sides: Floats  # (N_SIDES, 2n)
    indices: Ints  # (N_INDICES, n)
    active: Flags  # (n,) rows and columns that take part
    free: Flags  # (2n,) variables outside the basis
    bounds: Floats  # (4,)
    state: Ints  # (3,)


def workspace(n: int) -> Workspace:
    """A workspace for n rows and columns, all inactive, with the basis of all surpluses."""
    space = Workspace(
        matrix=np.zeros((n, n)),
        transpose=np.zeros((n, n)),
        factors=np.zeros((n, n)),
        changes=np.zeros((MOST_CHANGES, n)),
        change_slot=np.zeros(MOST_CHANGES, np.int64),
        vectors=np.zeros((N_VECTORS, n)),
        sides=np.zeros((N_SIDES, 2 * n)),
        indices=np.zeros((N_INDICES, n), np.int64),
        active=np.zeros(n, np.bool_),
        free=np.arange(2 * n) < n,
        bounds=np.zeros(4),
        state=np.zeros(3, np.int64),
    )
    space.sides[UNIT] = 1.0
    return space
