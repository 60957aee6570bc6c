"""Slopes and multipliers changed a little so that they cancel, as a kernel.

The change is the least one, measured by the curvatures of f and of the barrier: the matrix of
Newton's step gives it.  What it comes to is told, not promised; ``barrier`` has a slower way.
"""

import math

from ossb.graves_lai.generic.course import (
    BEND,
    DUAL,
    EVEN_DUAL,
    EVEN_SLOPE,
    OFF,
    SLACK,
    SLOPE,
    SPENT,
    STEP,
    Course,
)
from ossb.graves_lai.generic.curvature import factor_system, solve_system
from ossb.kernels import kernel

_REFINED = 4


@kernel
def cancel(a: int, course: Course) -> None:
    """Changed slopes and multipliers, what they spend, and how far they are from cancelling."""
    state, rows = course.by_component, course.by_row
    spent = 0.0
    for k in range(state.shape[2]):
        state[a, EVEN_SLOPE, k] = state[a, SLOPE, k]
    for i in range(rows.shape[2]):
        rows[a, EVEN_DUAL, i] = rows[a, DUAL, i]
    course.ends[a, OFF] = math.inf
    if not factor_system(a, course):
        return
    course.ends[a, OFF] = leave_residual(a, course)
    for _ in range(_REFINED):
        solve_system(a, course)
        spread_change(a, course)
        course.ends[a, OFF] = leave_residual(a, course)
    for k in range(state.shape[2]):
        spent -= state[a, EVEN_SLOPE, k] * course.begin[a, k]
    for i in range(rows.shape[2]):
        spent += rows[a, EVEN_DUAL, i] * course.clearance[a, i]
    course.ends[a, SPENT] = spent


@kernel
def leave_residual(a: int, course: Course) -> float:
    """The step becomes what is left, negated; returns how large, of what is summed."""
    columns, greatest, most = course.by_column, 0.0, 0.0
    for j in range(columns.shape[2]):
        left, size = 0.0, 0.0
        for k in range(course.moves.shape[1]):
            part = course.by_component[a, EVEN_SLOPE, k] * course.moves[a, k, j]
            left, size = left + part, size + abs(part)
        for i in range(course.walls.shape[1]):
            part = course.by_row[a, EVEN_DUAL, i] * course.walls[a, i, j]
            left, size = left + part, size + abs(part)
        columns[a, STEP, j] = -left
        if math.isnan(left):
            return math.inf
        greatest, most = max(greatest, abs(left)), max(most, size)
    return greatest / most if most > 0.0 else 0.0


@kernel
def spread_change(a: int, course: Course) -> None:
    """Change slopes and multipliers by a step; no multiplier goes below 0."""
    state, rows, columns = course.by_component, course.by_row, course.by_column
    for k in range(state.shape[2]):
        along = 0.0
        for j in range(columns.shape[2]):
            along += course.moves[a, k, j] * columns[a, STEP, j]
        state[a, EVEN_SLOPE, k] += state[a, BEND, k] * along
    for i in range(rows.shape[2]):
        along = 0.0
        for j in range(columns.shape[2]):
            along += course.walls[a, i, j] * columns[a, STEP, j]
        changed = rows[a, EVEN_DUAL, i] + rows[a, DUAL, i] / rows[a, SLACK, i] * along
        rows[a, EVEN_DUAL, i] = max(changed, 0.0)
