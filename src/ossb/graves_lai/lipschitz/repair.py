"""From a basis that was optimal for another θ to one that is optimal for this one.

The basis is factored for the new program.  Where a reduced cost has turned negative the cost is
raised to make up for it, which leaves a dual feasible basis; dual simplex pivots then restore
primal feasibility, and primal simplex pivots at the true costs remove what the raised costs
spoiled.  Neither phase has anything to do when the basis is still optimal.  A repair that takes
more pivots than a cold start is worth, or meets a singular basis, gives up.
"""

from ossb.graves_lai.lipschitz.choices import (
    blocking_slack,
    blocking_value,
    most_negative_slack,
    most_negative_value,
)
from ossb.graves_lai.lipschitz.factor import factor
from ossb.graves_lai.lipschitz.memory import (
    ALPHA,
    BASIC,
    CHANGES,
    ENTERING,
    MOST_CHANGES,
    PIVOTS,
    PRICES,
    SLACK,
    SLOTS,
    SPEND,
    UNIT,
    VALUES,
    LipschitzMemory,
)
from ossb.graves_lai.lipschitz.tableau_rows import tableau_column, tableau_row
from ossb.kernels import kernel, separate_kernel

AGREE = 1e-6  # relative difference of a pivot seen from its row and from its column


@separate_kernel
def repair(memory: LipschitzMemory, limit: int) -> bool:
    """Make the held basis optimal within ``limit`` pivots and leave its v and y."""
    n = memory.active.shape[0]
    values, basic = memory.vectors[VALUES], memory.indices[BASIC]
    unit, slack = memory.sides[UNIT], memory.sides[SLACK]
    if not factor(memory):
        return False
    tableau_column(memory, 2 * n)
    tableau_row(memory, n)
    raised = True  # costs are raised wherever a reduced cost is negative
    for pivots in range(limit + 1):
        if raised:
            for i in range(2 * n):
                slack[i] = max(slack[i], 0.0)
            slot = most_negative_value(values, basic, unit)
            if slot >= 0:
                tableau_row(memory, slot)
                scale = unit[basic[slot]]
                variable = blocking_slack(slack, memory.sides[ALPHA], memory.free, unit, scale)
                if variable < 0:
                    return False
                tableau_column(memory, variable)
            else:
                raised = False
                tableau_row(memory, n)
        if not raised:
            variable = most_negative_slack(slack, memory.free, unit)
            if variable < 0:
                break
            tableau_column(memory, variable)
            slot = blocking_value(values, memory.vectors[ENTERING], basic, unit)
            if slot < 0:
                return False
            tableau_row(memory, slot)
        if pivots == limit or not exchange(memory, slot, variable):
            return False
        if memory.state[CHANGES] == MOST_CHANGES:
            if not factor(memory):
                return False
            tableau_column(memory, 2 * n)
            if not raised:
                tableau_row(memory, n)
    for x in range(n):
        memory.vectors[SPEND, x] = 0.0
        memory.vectors[PRICES, x] = max(slack[n + x], 0.0)
    for slot in range(n):
        if basic[slot] < n:
            memory.vectors[SPEND, basic[slot]] = max(values[slot], 0.0)
    return True


@kernel
def exchange(memory: LipschitzMemory, slot: int, variable: int) -> bool:
    """Put a variable in a slot; its row and column of the tableau are at hand."""
    n = memory.active.shape[0]
    values, entering = memory.vectors[VALUES], memory.vectors[ENTERING]
    slack, alpha = memory.sides[SLACK], memory.sides[ALPHA]
    pivot = entering[slot]
    if not abs(pivot - alpha[variable]) <= AGREE * abs(pivot):
        return False
    dual = slack[variable] / alpha[variable]
    for i in range(2 * n):
        if memory.free[i]:
            slack[i] -= dual * alpha[i]
    primal = values[slot] / pivot
    change = memory.state[CHANGES]
    for i in range(n):
        values[i] -= primal * entering[i]
        memory.changes[change, i] = entering[i]
    values[slot] = primal
    memory.state[SLOTS + change] = slot
    leaving = memory.indices[BASIC, slot]
    slack[leaving] = -dual
    slack[variable] = 0.0
    memory.free[leaving] = True
    memory.free[variable] = False
    memory.indices[BASIC, slot] = variable
    memory.state[CHANGES] = change + 1
    memory.state[PIVOTS] += 1
    return True
