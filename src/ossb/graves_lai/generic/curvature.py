"""The matrix of Newton's step, in factors, as a kernel."""

import math

from ossb.graves_lai.generic.course import BEND, SCALE, SLACK, STEP, Course
from ossb.graves_lai.generic.lu import factorise, solve_factored
from ossb.kernels import kernel

_RIDGE = 1e-15


@kernel
def factor_system(a: int, at: int, course: Course) -> bool:
    """The curvature of f and the barrier, its diagonal brought to one, in factors.

    ``at`` says which multipliers are those of the barrier.
    """
    moves, walls, system = course.moves, course.walls, course.system
    columns, rows = course.by_column, course.by_row
    n = moves.shape[2]
    for j in range(n):
        for i in range(n):
            system[j, i] = course.anchor[a, j, i]
    for k in range(moves.shape[1]):
        bend = course.by_component[a, BEND, k]
        for j in range(n):
            tilted = bend * moves[a, k, j]
            for i in range(j + 1):
                system[j, i] += tilted * moves[a, k, i]
    for k in range(walls.shape[1]):
        bend = rows[a, at, k] / rows[a, SLACK, k]
        for j in range(n):
            tilted = bend * walls[a, k, j]
            for i in range(j + 1):
                system[j, i] += tilted * walls[a, k, i]
    for j in range(n):
        diagonal = system[j, j] + _RIDGE * system[j, j]
        if diagonal <= 0.0:
            diagonal = 1.0  # directions that nothing depends on
        system[j, j] = diagonal
        columns[a, SCALE, j] = 1.0 / math.sqrt(diagonal)
    for j in range(n):
        for i in range(j + 1):
            system[j, i] *= columns[a, SCALE, j] * columns[a, SCALE, i]
            system[i, j] = system[j, i]
    return factorise(system, course.swaps, n)


@kernel
def solve_system(a: int, course: Course) -> None:
    """The step becomes the one for which it is the right side, by the factors."""
    columns = course.by_column
    n = columns.shape[2]
    for j in range(n):
        columns[a, STEP, j] *= columns[a, SCALE, j]
    solve_factored(course.system, course.swaps, columns, a, STEP, n)
    for j in range(n):
        columns[a, STEP, j] *= columns[a, SCALE, j]
