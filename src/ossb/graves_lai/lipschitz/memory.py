"""What is held from one estimate to the next: the program, its last solution, its basis.

The program is written in money: with v_z = c_z η_z and A[x, z] = M[x, z] / c_z it reads

    min Σ v_z   subject to   A v − s = 1, v ≥ 0, s ≥ 0,

and its dual max Σ y_x subject to Aᵀ y ≤ 1, y ≥ 0.  Variable z is the column v_z, variable
n + x the surplus s_x.  The surplus of row x is worth 1 / max_z A[x, z], the least cost of that
row alone: its ``UNIT``; tolerances refer to it.  Rows and columns that do not take part (the
best arm) stay in place, empty and inactive, so that a basis keeps its meaning.  Positions
0 … n − 1 follow the metric, not arm numbers: see ``ARM``.

Vectors of one kind share an array, each a named row of it: a kernel's compile time grows with
the number of arrays it is handed.
"""

from typing import NamedTuple

import numpy as np

from ossb.deadlines import Stop
from ossb.records import Flags, Floats, Ints, record

# rows of ``vectors``: a solution v, y, and what it covers, A v, and loads, Aᵀ y
SPEND, PRICES, COVERED, LOAD = 0, 1, 2, 3
# value of the variable in each slot of the basis; a column of the simplex tableau
VALUES, ENTERING = 4, 5
# right-hand sides by row and by slot; work of the solves
RIGHT, BY_SLOT, CORE, SCATTER = 6, 7, 8, 9
# border of the condensed tableau
CORNER, GAIN = 10, 11
# means and gaps the program was set up for, the last rates
THETA, COSTS, RATES = 12, 13, 14
N_VECTORS = 15

# planes of ``squares``: A, Aᵀ, and L and U of the core (in a cold start the condensed tableau)
MATRIX, TRANSPOSE, FACTORS = 0, 1, 2
N_SQUARES = 3

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
# arm in each position
ARM = 13
N_INDICES = 14

# entries of ``bounds``: the certificate, and the best mean the program was set up for
UPPER, LOWER, LEAST, GREATEST, BEST = 0, 1, 2, 3, 4
N_BOUNDS = 5
# entries of ``state``: size of the core, basis changes since it was factored, pivots ever made,
# best arm the program was set up for; from SLOTS on, the slot of each change
CORE_SIZE, CHANGES, PIVOTS, LEADER, SLOTS = 0, 1, 2, 3, 4

MOST_CHANGES = 48  # basis changes before the basis is factored anew


@record
class LipschitzMemory(NamedTuple):
    """Plain arrays for n arms, changed by ``rates`` alone."""

    squares: Floats  # (N_SQUARES, n, n)
    changes: Floats  # (MOST_CHANGES, n) columns of the tableau that came into the basis
    vectors: Floats  # (N_VECTORS, n)
    sides: Floats  # (N_SIDES, 2n)
    indices: Ints  # (N_INDICES, n)
    active: Flags  # (n,) rows and columns that take part
    free: Flags  # (2n,) variables outside the basis
    bounds: Floats  # (N_BOUNDS,)
    state: Ints  # (SLOTS + MOST_CHANGES,)

    @property
    def stop(self) -> Stop:
        """Where its loops look whether they shall end: no core is that small."""
        return Stop(self.state, CORE_SIZE, -1)


def blank(n: int) -> LipschitzMemory:
    """A memory for n arms, none active, with the basis of all surpluses."""
    memory = LipschitzMemory(
        squares=np.zeros((N_SQUARES, n, n)),
        changes=np.zeros((MOST_CHANGES, n)),
        vectors=np.zeros((N_VECTORS, n)),
        sides=np.zeros((N_SIDES, 2 * n)),
        indices=np.zeros((N_INDICES, n), np.int64),
        active=np.zeros(n, np.bool_),
        free=np.arange(2 * n) < n,
        bounds=np.zeros(N_BOUNDS),
        state=np.zeros(SLOTS + MOST_CHANGES, np.int64),
    )
    memory.sides[UNIT] = 1.0
    memory.indices[ARM] = np.arange(n)
    memory.state[LEADER] = -1
    return memory


def start(distances: np.ndarray) -> LipschitzMemory:
    """An empty memory for arms at these distances.

    Arms are placed outwards from an end of the metric, so that an arm's few informative
    neighbours have near positions and the factors stay narrow.
    """
    memory = blank(distances.shape[0])
    end = int(np.argmax(distances[0]))
    memory.indices[ARM] = np.argsort(distances[end], kind="stable")
    return memory
