"""The point of a polyhedron that is nearest in a metric: the dual method, one row at a time.

From the minimiser of a convex quadratic alone, the row that is broken most is brought in, those
whose multipliers fall to nothing let go, until none is broken.  No feasible point is needed to
begin with.  Goldfarb and Idnani (1983).
"""

import math
from typing import NamedTuple

import numpy as np

from ossb.kernels import kernel, separate_kernel
from ossb.numerics.dense import cholesky, inner, solve_lower, solve_upper

BROKEN = 1e-10  # relative to the size of what is compared
DEPENDENT = 1e-16  # of a squared length: what is left of a row beside those held is none


class Rows(NamedTuple):
    """rows · point ≤ sides, and room to work; sizes are passed apart."""

    rows: np.ndarray  # float64 (m, r)
    sides: np.ndarray  # float64 (m,)
    held: np.ndarray  # int64 (r + 1,): the rows that hold as equalities
    is_held: np.ndarray  # int64 (m,)
    multipliers: np.ndarray  # float64 (r + 1,)
    normals: np.ndarray  # float64 (r + 1, r): held rows, in the metric
    factor: np.ndarray  # float64 (r + 1, r + 1): of the products of these, upper
    step: np.ndarray  # float64 (r + 1,): what multipliers change by
    move: np.ndarray  # float64 (r,)


def new_rows(most: int, dimension: int) -> Rows:
    """Room for so many rows."""
    one = dimension + 1
    return Rows(
        np.zeros((most, dimension)),
        np.zeros(most),
        np.zeros(one, np.int64),
        np.zeros(most, np.int64),
        np.zeros(one),
        np.zeros((one, dimension)),
        np.zeros((one, one)),
        np.zeros(one),
        np.zeros(dimension),
    )


@kernel
def most_broken(space: Rows, count: int, size: int, point: np.ndarray) -> tuple[int, float]:
    """The row that is broken most, and by how much; −1 for none."""
    worst, place = 0.0, -1
    for i in range(count):
        if space.is_held[i] == 0:
            over, scale = -space.sides[i], abs(space.sides[i])
            for l in range(size):  # noqa: E741
                part = space.rows[i, l] * point[l]
                over += part
                scale += abs(part)
            if over > worst and over > BROKEN * scale:
                worst, place = over, i
    return place, worst


@kernel
def let_go(space: Rows, held: int, size: int, place: int) -> bool:
    """Take one of the rows that are held out; the normal after the last one moves up too."""
    space.is_held[space.held[place]] = 0
    for k in range(place, held):
        space.held[k] = space.held[k + 1]
        space.multipliers[k] = space.multipliers[k + 1]
        for l in range(size):  # noqa: E741
            space.normals[k, l] = space.normals[k + 1, l]
    for i in range(held - 1):
        for k in range(i, held - 1):
            space.factor[i, k] = inner(space.normals[i], space.normals[k], size)
    return cholesky(space.factor, held - 1)


@kernel
def split(space: Rows, held: int, size: int) -> float:
    """Split normal ``held``: the others' parts in ``step``, what they do not span in ``move``.

    Returns the squared length of the latter; the last column of the factor is made ready.
    """
    fresh = space.normals[held]
    for i in range(held):
        space.step[i] = inner(space.normals[i], fresh, size)
    solve_lower(space.factor, held, space.step)
    for i in range(held):
        space.factor[i, held] = space.step[i]
    solve_upper(space.factor, held, space.step)
    for l in range(size):  # noqa: E741
        space.move[l] = fresh[l]
    for i in range(held):
        for l in range(size):  # noqa: E741
            space.move[l] -= space.step[i] * space.normals[i, l]
    return inner(space.move, space.move, size)


@separate_kernel
def bring_inside(space: Rows, count: int, size: int, factor: np.ndarray, point: np.ndarray) -> bool:
    """Move a point to the nearest one that breaks no row; False where none is found.

    The squared length of a move is |R move|², R being in the upper triangle of ``factor``.
    """
    held = 0
    for i in range(count):
        space.is_held[i] = 0
    for _ in range(20 * (count + size) + 20):
        row, over = most_broken(space, count, size, point)
        if row < 0:
            return True
        for l in range(size):  # noqa: E741
            space.normals[held, l] = space.rows[row, l]
        solve_lower(factor, size, space.normals[held])
        length = inner(space.normals[held], space.normals[held], size)
        multiplier = 0.0
        while True:
            apart = split(space, held, size)
            far, place = math.inf, -1
            for k in range(held):
                if space.step[k] > 0.0 and space.multipliers[k] < far * space.step[k]:
                    far, place = space.multipliers[k] / space.step[k], k
            near = over / apart if apart > DEPENDENT * length else math.inf
            much = min(near, far)
            if much == math.inf:
                return False
            for k in range(held):
                space.multipliers[k] -= much * space.step[k]
            multiplier += much
            if near < math.inf:
                over -= much * apart
                solve_upper(factor, size, space.move)
                for l in range(size):  # noqa: E741
                    point[l] -= much * space.move[l]
            if near <= far:
                space.held[held], space.is_held[row] = row, 1
                space.factor[held, held] = math.sqrt(apart)
                space.multipliers[held] = multiplier
                held += 1
                break
            if not let_go(space, held, size, place):
                return False
            held -= 1
    return False
