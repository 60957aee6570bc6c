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
from ossb.graves_lai.lipschitz.factor import factor, solve_columns, solve_rows
from ossb.graves_lai.lipschitz.loops import add_multiple
from ossb.graves_lai.lipschitz.workspace import (
    ALPHA,
    BASIC,
    BY_SLOT,
    CHANGES,
    ENTERING,
    MOST_CHANGES,
    PIVOTS,
    PRICES,
    RIGHT,
    ROW_FIRST,
    ROW_LAST,
    SLACK,
    SPEND,
    UNIT,
    VALUES,
    Workspace,
)
from ossb.kernels import kernel

AGREE = 1e-6  # relative difference of a pivot seen from its row and from its column


@kernel
def repair(space: Workspace, limit: int) -> bool:
    """Make the held basis optimal within ``limit`` pivots and leave its v and y."""
    n = space.matrix.shape[0]
    values, basic = space.vectors[VALUES], space.indices[BASIC]
    unit, slack = space.sides[UNIT], space.sides[SLACK]
    if not factor(space):
        return False
    refresh_values(space)
    refresh_slacks(space)
    raised = True  # costs are raised wherever a reduced cost is negative
    for _ in range(limit + 1):
        if raised:
            for i in range(2 * n):
                slack[i] = max(slack[i], 0.0)
            slot = most_negative_value(values, basic, unit)
            if slot >= 0:
                tableau_row(space, slot)
                scale = unit[basic[slot]]
                variable = blocking_slack(slack, space.sides[ALPHA], space.free, unit, scale)
                if variable < 0:
                    return False
                tableau_column(space, variable)
            else:
                raised = False
                refresh_slacks(space)
        if not raised:
            variable = most_negative_slack(slack, space.free, unit)
            if variable < 0:
                read_off(space)
                return True
            tableau_column(space, variable)
            slot = blocking_value(values, space.vectors[ENTERING], basic, unit)
            if slot < 0:
                return False
            tableau_row(space, slot)
        if not exchange(space, slot, variable):
            return False
        if space.state[CHANGES] == MOST_CHANGES:
            if not factor(space):
                return False
            refresh_values(space)
            if not raised:
                refresh_slacks(space)
    return False


@kernel
def refresh_values(space: Workspace) -> None:
    """Values of the basic variables, from the factors."""
    n = space.matrix.shape[0]
    for x in range(n):
        space.vectors[RIGHT, x] = 1.0 if space.active[x] else 0.0
    solve_columns(space)
    for slot in range(n):
        space.vectors[VALUES, slot] = space.vectors[BY_SLOT, slot]


@kernel
def refresh_slacks(space: Workspace) -> None:
    """Reduced costs of all variables at the true costs, from the factors."""
    n = space.matrix.shape[0]
    for slot in range(n):
        space.vectors[BY_SLOT, slot] = 1.0 if space.indices[BASIC, slot] < n else 0.0
    solve_rows(space)
    spread_prices(space, -1.0, SLACK)
    for i in range(2 * n):
        if not space.free[i]:
            space.sides[SLACK, i] = 0.0
        elif i < n:
            space.sides[SLACK, i] += 1.0


@kernel
def spread_prices(space: Workspace, sign: float, side: int) -> None:
    """From prices p of the rows in ``RIGHT``: sign · pᵀ A for columns, −sign · p for surpluses."""
    n = space.matrix.shape[0]
    goal = space.sides[side]
    for z in range(n):
        goal[z] = 0.0
    for x in range(n):
        price = sign * space.vectors[RIGHT, x]
        goal[n + x] = -price
        if price != 0.0:
            first, last = space.indices[ROW_FIRST, x], space.indices[ROW_LAST, x]
            add_multiple(space.matrix, x, price, goal, first, last)


@kernel
def tableau_row(space: Workspace, slot: int) -> None:
    """The row of the simplex tableau that belongs to a slot."""
    for i in range(space.matrix.shape[0]):
        space.vectors[BY_SLOT, i] = 0.0
    space.vectors[BY_SLOT, slot] = 1.0
    solve_rows(space)
    spread_prices(space, 1.0, ALPHA)


@kernel
def tableau_column(space: Workspace, variable: int) -> None:
    """The column of the simplex tableau that belongs to a variable."""
    n = space.matrix.shape[0]
    for x in range(n):
        space.vectors[RIGHT, x] = space.transpose[variable, x] if variable < n else 0.0
    if variable >= n:
        space.vectors[RIGHT, variable - n] = -1.0
    solve_columns(space)
    for slot in range(n):
        space.vectors[ENTERING, slot] = space.vectors[BY_SLOT, slot]


@kernel
def exchange(space: Workspace, slot: int, variable: int) -> bool:
    """Put a variable in a slot; its row and column of the tableau are at hand."""
    n = space.matrix.shape[0]
    values, entering = space.vectors[VALUES], space.vectors[ENTERING]
    slack, alpha = space.sides[SLACK], space.sides[ALPHA]
    pivot = entering[slot]
    if not abs(pivot - alpha[variable]) <= AGREE * abs(pivot):
        return False
    dual = slack[variable] / alpha[variable]
    for i in range(2 * n):
        if space.free[i]:
            slack[i] -= dual * alpha[i]
    primal = values[slot] / pivot
    change = space.state[CHANGES]
    for i in range(n):
        values[i] -= primal * entering[i]
        space.changes[change, i] = entering[i]
    values[slot] = primal
    space.change_slot[change] = slot
    leaving = space.indices[BASIC, slot]
    slack[leaving] = -dual
    slack[variable] = 0.0
    space.free[leaving] = True
    space.free[variable] = False
    space.indices[BASIC, slot] = variable
    space.state[CHANGES] = change + 1
    space.state[PIVOTS] += 1
    return True


@kernel
def read_off(space: Workspace) -> None:
    """v and y of the basis."""
    n = space.matrix.shape[0]
    for x in range(n):
        space.vectors[SPEND, x] = 0.0
        space.vectors[PRICES, x] = max(space.sides[SLACK, n + x], 0.0)
    for slot in range(n):
        variable = space.indices[BASIC, slot]
        if variable < n:
            space.vectors[SPEND, variable] = max(space.vectors[VALUES, slot], 0.0)
