"""Solves with a basis of A v − s = 1, through the LU factors of its core.

A basis consists of k columns of A and the surplus variables of the rows that are not tight.
With the k tight rows first it is [[C, 0], [D, −I]], so only the core C (tight rows, columns in
use) is factored: row pivoting, row by row within the profile of the matrix, which stays narrow
because arms are numbered along the metric.  Later changes of the basis are kept in product
form: each replaces one slot by its column of the simplex tableau (Dantzig and Orchard-Hays,
1954).  Slots are named after rows: a surplus starts in the slot of its row, the i-th column in
use in that of the i-th tight row.
"""

import numpy as np

from ossb.graves_lai.lipschitz.loops import add_multiple, dot
from ossb.graves_lai.lipschitz.workspace import (
    BASIC,
    BY_SLOT,
    CHANGES,
    CORE,
    CORE_COLUMNS,
    CORE_ROWS,
    CORE_SIZE,
    ORDER,
    PROFILE_FIRST,
    PROFILE_LAST,
    REACH,
    RIGHT,
    ROW_FIRST,
    ROW_LAST,
    SCATTER,
    UNIT,
    Workspace,
)
from ossb.kernels import kernel

SINGULAR = 1e-13  # a core entry is at most 1


@kernel
def factor(space: Workspace) -> bool:
    """Factor the core of the basis held in ``free``; False if it is singular."""
    n = space.matrix.shape[0]
    rows, columns = space.indices[CORE_ROWS], space.indices[CORE_COLUMNS]
    first, last = space.indices[PROFILE_FIRST], space.indices[PROFILE_LAST]
    reach = space.indices[REACH]
    k = 0
    n_columns = 0
    for i in range(n):
        space.indices[BASIC, i] = n + i
        if space.free[n + i]:
            rows[k] = i
            k += 1
        if not space.free[i]:
            columns[n_columns] = i
            n_columns += 1
    space.state[CORE_SIZE] = k
    space.state[CHANGES] = 0
    if k != n_columns:
        return False
    for i in range(k):
        reach[i] = 0
    for i in range(k):
        x = rows[i]
        space.indices[BASIC, x] = columns[i]
        space.indices[ORDER, i] = i
        first[i] = k
        last[i] = 0
        for j in range(k):
            z = columns[j]
            if space.indices[ROW_FIRST, x] <= z and z < space.indices[ROW_LAST, x]:
                value = space.matrix[x, z] * space.sides[UNIT, n + x]
                space.factors[i, j] = value
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
    return eliminate(space.factors, space.indices, k)


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
                add_multiple(factors, step, -multiplier, factors[i], step + 1, end)
    return True


@kernel
def solve_columns(space: Workspace) -> None:
    """Basis · ``BY_SLOT`` = ``RIGHT``: the coordinates of a column, slot by slot."""
    n = space.matrix.shape[0]
    k = space.state[CORE_SIZE]
    factors, indices = space.factors, space.indices
    by_slot, right = space.vectors[BY_SLOT], space.vectors[RIGHT]
    core, scatter = space.vectors[CORE], space.vectors[SCATTER]
    for i in range(k):
        x = indices[CORE_ROWS, indices[ORDER, i]]
        core[i] = right[x] * space.sides[UNIT, n + x]
        core[i] -= dot(factors, i, core, indices[PROFILE_FIRST, i], i)
    for i in range(k - 1, -1, -1):
        rest = core[i] - dot(factors, i, core, i + 1, indices[PROFILE_LAST, i])
        core[i] = rest / factors[i, i]
    for z in range(n):
        scatter[z] = 0.0
    for j in range(k):
        scatter[indices[CORE_COLUMNS, j]] = core[j]
    j = 0
    for x in range(n):
        if j < k and indices[CORE_ROWS, j] == x:
            by_slot[x] = core[j]
            j += 1
        else:
            known = dot(space.matrix, x, scatter, indices[ROW_FIRST, x], indices[ROW_LAST, x])
            by_slot[x] = known - right[x]
    for t in range(space.state[CHANGES]):
        slot = space.change_slot[t]
        value = by_slot[slot] / space.changes[t, slot]
        if value != 0.0:
            add_multiple(space.changes, t, -value, by_slot, 0, n)
        by_slot[slot] = value


@kernel
def solve_rows(space: Workspace) -> None:
    """Basisᵀ · ``RIGHT`` = ``BY_SLOT``: prices of the rows; ``BY_SLOT`` is used up."""
    n = space.matrix.shape[0]
    k = space.state[CORE_SIZE]
    factors, indices = space.factors, space.indices
    by_slot, right = space.vectors[BY_SLOT], space.vectors[RIGHT]
    core, scatter = space.vectors[CORE], space.vectors[SCATTER]
    for t in range(space.state[CHANGES] - 1, -1, -1):
        slot = space.change_slot[t]
        value = by_slot[slot]
        by_slot[slot] = 0.0
        others = dot(space.changes, t, by_slot, 0, n)
        by_slot[slot] = (value - others) / space.changes[t, slot]
    for z in range(n):
        scatter[z] = 0.0
    j = 0
    for x in range(n):
        if j < k and indices[CORE_ROWS, j] == x:
            j += 1
        else:
            price = -by_slot[x]
            right[x] = price
            if price != 0.0:
                ends = indices[ROW_FIRST, x], indices[ROW_LAST, x]
                add_multiple(space.matrix, x, price, scatter, ends[0], ends[1])
    for i in range(k):
        core[i] = by_slot[indices[CORE_ROWS, i]] - scatter[indices[CORE_COLUMNS, i]]
    for i in range(k):
        if core[i] != 0.0:
            core[i] /= factors[i, i]
            add_multiple(factors, i, -core[i], core, i + 1, indices[PROFILE_LAST, i])
    for i in range(k - 1, -1, -1):
        if core[i] != 0.0:
            add_multiple(factors, i, -core[i], core, indices[PROFILE_FIRST, i], i)
        x = indices[CORE_ROWS, indices[ORDER, i]]
        right[x] = core[i] * space.sides[UNIT, n + x]
