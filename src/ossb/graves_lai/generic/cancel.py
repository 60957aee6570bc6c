"""Slopes and multipliers changed a little so that they cancel, as a kernel.

The change is the least one, measured by the curvatures of f and of the barrier: the matrix of
Newton's step gives it.  In two ways: with all rows, and without the rows that do not bind, whose
small multipliers may pull along directions in which nothing else holds.  What either comes to is
told, not promised; ``barrier`` has a slower way.
"""

import math

from ossb.graves_lai.generic.course import (
    BEND,
    DUAL,
    EVEN_DUAL,
    EVEN_SLOPE,
    OFF,
    OLD_DUAL,
    SLACK,
    SLOPE,
    SPENT,
    STEP,
    Course,
)
from ossb.graves_lai.generic.curvature import factor_system, solve_system
from ossb.kernels import kernel

EVERY, BINDING = 0, 1  # the two ways
BINDS = 1e-2  # of its slack, what a multiplier is at least where its row binds
_REFINED = 4


@kernel
def cancel(a: int, way: int, course: Course) -> None:
    """Changed slopes and multipliers, what they spend, and how far they are from cancelling."""
    state, rows, ends = course.by_component, course.by_row, course.ends
    for k in range(state.shape[2]):
        state[a, EVEN_SLOPE + way, k] = state[a, SLOPE, k]
    for i in range(rows.shape[2]):
        counts = way == EVERY or rows[a, DUAL, i] > BINDS * rows[a, SLACK, i]
        rows[a, OLD_DUAL, i] = rows[a, DUAL, i] if counts else 0.0
        rows[a, EVEN_DUAL + way, i] = rows[a, OLD_DUAL, i]
    ends[a, OFF + way] = math.inf
    if not factor_system(a, OLD_DUAL, course):
        return
    for _ in range(_REFINED):
        leave_residual(a, way, course)
        solve_system(a, course)
        spread_change(a, way, course)
    ends[a, OFF + way] = leave_residual(a, way, course)
    spent = 0.0
    for k in range(state.shape[2]):
        spent -= state[a, EVEN_SLOPE + way, k] * course.begin[a, k]
    for i in range(rows.shape[2]):
        spent += rows[a, EVEN_DUAL + way, i] * course.clearance[a, i]
    ends[a, SPENT + way] = spent


@kernel
def leave_residual(a: int, way: int, course: Course) -> float:
    """The step becomes what is left, negated; returns how large, of what is summed."""
    columns, greatest, most = course.by_column, 0.0, 0.0
    for j in range(columns.shape[2]):
        left, size = 0.0, 0.0
        for k in range(course.moves.shape[1]):
            part = course.by_component[a, EVEN_SLOPE + way, k] * course.moves[a, k, j]
            left, size = left + part, size + abs(part)
        for i in range(course.walls.shape[1]):
            part = course.by_row[a, EVEN_DUAL + way, i] * course.walls[a, i, j]
            left, size = left + part, size + abs(part)
        columns[a, STEP, j] = -left
        if math.isnan(left):
            return math.inf
        greatest, most = max(greatest, abs(left)), max(most, size)
    return greatest / most if most > 0.0 else 0.0


@kernel
def spread_change(a: int, way: int, course: Course) -> None:
    """Change slopes and multipliers by a step; no multiplier goes below 0."""
    state, rows, columns = course.by_component, course.by_row, course.by_column
    for k in range(state.shape[2]):
        along = 0.0
        for j in range(columns.shape[2]):
            along += course.moves[a, k, j] * columns[a, STEP, j]
        state[a, EVEN_SLOPE + way, k] += state[a, BEND, k] * along
    for i in range(rows.shape[2]):
        along = 0.0
        for j in range(columns.shape[2]):
            along += course.walls[a, i, j] * columns[a, STEP, j]
        changed = rows[a, EVEN_DUAL + way, i] + rows[a, OLD_DUAL, i] / rows[a, SLACK, i] * along
        rows[a, EVEN_DUAL + way, i] = max(changed, 0.0)
