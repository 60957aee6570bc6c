"""Rows and columns of the simplex tableau, from the factors of the basis.

B x = a and Bᵀ p = b are solved by the factors of the core.  Changes of the basis since it was
factored are kept in product form: each replaced the variable of one slot and is stored as the
column of the tableau that came in (Dantzig and Orchard-Hays, 1954).

The right-hand side counts as the tableau's last column, variable 2n, and the reduced costs as
its last row, slot n.
"""

from ossb.graves_lai.lipschitz.loops import add_multiple, dot
from ossb.graves_lai.lipschitz.memory import (
    ALPHA,
    BASIC,
    BY_SLOT,
    CHANGES,
    CORE,
    CORE_COLUMNS,
    CORE_ROWS,
    CORE_SIZE,
    ENTERING,
    FACTORS,
    MATRIX,
    ORDER,
    PROFILE_FIRST,
    PROFILE_LAST,
    RIGHT,
    ROW_FIRST,
    ROW_LAST,
    SCATTER,
    SLACK,
    SLOTS,
    TRANSPOSE,
    UNIT,
    VALUES,
    LipschitzMemory,
)
from ossb.kernels import kernel


@kernel
def tableau_column(memory: LipschitzMemory, variable: int) -> None:
    """B⁻¹ a for the column a of a variable, by slot, to ``ENTERING``.

    For ``variable`` 2n, the values of the basic variables, to ``VALUES``.
    """
    n = memory.active.shape[0]
    k = memory.state[CORE_SIZE]
    factors, indices = memory.squares[FACTORS], memory.indices
    by_slot = memory.vectors[VALUES if variable == 2 * n else ENTERING]
    right = memory.vectors[RIGHT]
    core, scatter = memory.vectors[CORE], memory.vectors[SCATTER]
    for x in range(n):
        scatter[x] = 0.0
        right[x] = 0.0
        if variable < n:
            right[x] = memory.squares[TRANSPOSE, variable, x]
        elif variable == 2 * n and memory.active[x]:
            right[x] = 1.0
        elif variable == n + x:
            right[x] = -1.0
    for i in range(k):
        x = indices[CORE_ROWS, indices[ORDER, i]]
        first = indices[PROFILE_FIRST, i]
        core[i] = right[x] * memory.sides[UNIT, n + x]
        core[i] -= dot(factors[i, first:i], core[first:i])
    for i in range(k - 1, -1, -1):
        last = indices[PROFILE_LAST, i]
        rest = core[i] - dot(factors[i, i + 1 : last], core[i + 1 : last])
        core[i] = rest / factors[i, i]
        scatter[indices[CORE_COLUMNS, i]] = core[i]
    j = 0
    for x in range(n):
        if j < k and indices[CORE_ROWS, j] == x:
            by_slot[x] = core[j]
            j += 1
        else:
            first, last = indices[ROW_FIRST, x], indices[ROW_LAST, x]
            by_slot[x] = dot(memory.squares[MATRIX, x, first:last], scatter[first:last]) - right[x]
    for t in range(memory.state[CHANGES]):
        slot = memory.state[SLOTS + t]
        value = by_slot[slot] / memory.changes[t, slot]
        if value != 0.0:
            add_multiple(by_slot, -value, memory.changes[t])
        by_slot[slot] = value


@kernel
def tableau_row(memory: LipschitzMemory, slot: int) -> None:
    """The row of a slot, by variable, to ``ALPHA``; for ``slot`` n, reduced costs to ``SLACK``.

    Both come from prices of the rows, p = B⁻ᵀ e for a slot and p = B⁻ᵀ c for costs c.
    """
    n = memory.active.shape[0]
    k = memory.state[CORE_SIZE]
    factors, indices = memory.squares[FACTORS], memory.indices
    by_slot, right = memory.vectors[BY_SLOT], memory.vectors[RIGHT]
    core, scatter = memory.vectors[CORE], memory.vectors[SCATTER]
    costs = slot == n
    for i in range(n):
        scatter[i] = 0.0
        by_slot[i] = 1.0 if i == slot or (costs and indices[BASIC, i] < n) else 0.0
    for t in range(memory.state[CHANGES] - 1, -1, -1):
        changed = memory.state[SLOTS + t]
        value = by_slot[changed]
        by_slot[changed] = 0.0
        others = dot(memory.changes[t], by_slot)
        by_slot[changed] = (value - others) / memory.changes[t, changed]
    j = 0
    for x in range(n):
        if j < k and indices[CORE_ROWS, j] == x:
            j += 1
        else:
            right[x] = -by_slot[x]
            if right[x] != 0.0:
                first, last = indices[ROW_FIRST, x], indices[ROW_LAST, x]
                add_multiple(scatter[first:last], right[x], memory.squares[MATRIX, x, first:last])
    for i in range(k):
        core[i] = by_slot[indices[CORE_ROWS, i]] - scatter[indices[CORE_COLUMNS, i]]
    for i in range(k):
        if core[i] != 0.0:
            last = indices[PROFILE_LAST, i]
            core[i] /= factors[i, i]
            add_multiple(core[i + 1 : last], -core[i], factors[i, i + 1 : last])
    for i in range(k - 1, -1, -1):
        if core[i] != 0.0:
            first = indices[PROFILE_FIRST, i]
            add_multiple(core[first:i], -core[i], factors[i, first:i])
        x = indices[CORE_ROWS, indices[ORDER, i]]
        right[x] = core[i] * memory.sides[UNIT, n + x]
    goal = memory.sides[SLACK if costs else ALPHA]
    for z in range(n):
        goal[z] = 1.0 if costs else 0.0
    for x in range(n):
        price = -right[x] if costs else right[x]
        goal[n + x] = -price
        if price != 0.0:
            first, last = indices[ROW_FIRST, x], indices[ROW_LAST, x]
            add_multiple(goal[first:last], price, memory.squares[MATRIX, x, first:last])
    if costs:
        for i in range(n):
            goal[indices[BASIC, i]] = 0.0
