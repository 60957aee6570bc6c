"""A basis of A v − s = 1, through the LU factors of its core.

A basis consists of k columns of A and the surplus variables of the rows that are not tight.
With the k tight rows first it is [[C, 0], [D, −I]], so only the core C (tight rows, columns in
use) is factored: row pivoting, row by row within the profile of the matrix, which stays narrow
because arms are numbered along the metric.  Slots are named after rows: a surplus starts in the
slot of its row, the i-th column in use in that of the i-th tight row.
"""

import numpy as np

from ossb.graves_lai.lipschitz.loops import add_multiple
from ossb.graves_lai.lipschitz.memory import (
    BASIC,
    CHANGES,
    CORE_COLUMNS,
    CORE_ROWS,
    CORE_SIZE,
    FACTORS,
    MATRIX,
    ORDER,
    PROFILE_FIRST,
    PROFILE_LAST,
    REACH,
    ROW_FIRST,
    ROW_LAST,
    UNIT,
    LipschitzMemory,
)
from ossb.kernels import kernel

SINGULAR = 1e-13  # a core entry is at most 1


@kernel
def factor(memory: LipschitzMemory) -> bool:
    """Factor the core of the basis held in ``free``; False if it is singular."""
    n = memory.active.shape[0]
    rows, columns = memory.indices[CORE_ROWS], memory.indices[CORE_COLUMNS]
    first, last = memory.indices[PROFILE_FIRST], memory.indices[PROFILE_LAST]
    reach = memory.indices[REACH]
    k = 0
    n_columns = 0
    for i in range(n):
        memory.indices[BASIC, i] = n + i
        if memory.free[n + i]:
            rows[k] = i
            k += 1
        if not memory.free[i]:
            columns[n_columns] = i
            n_columns += 1
    memory.state[CORE_SIZE] = k
    memory.state[CHANGES] = 0
    if k != n_columns:
        return False
    for i in range(k):
        reach[i] = 0
    for i in range(k):
        x = rows[i]
        memory.indices[BASIC, x] = columns[i]
        memory.indices[ORDER, i] = i
        first[i] = k
        last[i] = 0
        for j in range(k):
            z = columns[j]
            if memory.indices[ROW_FIRST, x] <= z and z < memory.indices[ROW_LAST, x]:
                value = memory.squares[MATRIX, x, z] * memory.sides[UNIT, n + x]
                memory.squares[FACTORS, i, j] = value
                if value != 0.0:
                    first[i] = min(first[i], j)
                    last[i] = j + 1
        if last[i] == 0:
            return False
        reach[first[i]] = max(reach[first[i]], i + 1)
    deepest = 0
    for step in range(k):
        deepest = max(deepest, reach[step], step + 1)
        reach[step] = deepest
    return eliminate(memory.squares[FACTORS], memory.indices, memory.state[CORE_SIZE])


@kernel
def eliminate(factors: np.ndarray, indices: np.ndarray, k: int) -> bool:
    """LU factors in place, with row pivoting, within the profile."""
    first, last = indices[PROFILE_FIRST], indices[PROFILE_LAST]
    order, reach = indices[ORDER], indices[REACH]
    for step in range(k):
        chosen = -1
        largest = SINGULAR
        for i in range(step, reach[step]):
            if first[i] <= step and step < last[i] and abs(factors[i, step]) > largest:
                largest = abs(factors[i, step])
                chosen = i
        if chosen < 0:
            return False
        if chosen != step:
            for j in range(min(first[chosen], first[step]), max(last[chosen], last[step])):
                value = factors[chosen, j]
                factors[chosen, j] = factors[step, j]
                factors[step, j] = value
            first[chosen], first[step] = first[step], first[chosen]
            last[chosen], last[step] = last[step], last[chosen]
            order[chosen], order[step] = order[step], order[chosen]
        end = last[step]
        inverse = 1.0 / factors[step, step]
        for i in range(step + 1, reach[step]):
            if first[i] <= step and step < last[i] and factors[i, step] != 0.0:
                multiplier = factors[i, step] * inverse
                factors[i, step] = multiplier
                for j in range(last[i], end):
                    factors[i, j] = 0.0
                last[i] = max(last[i], end)
                goal, entries = factors[i, step + 1 : end], factors[step, step + 1 : end]
                add_multiple(goal, -multiplier, entries)
    return True
