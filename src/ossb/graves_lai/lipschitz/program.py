"""Setting up the Lipschitz program: scaled entries, profiles and units.

Magureanu, Combes and Proutiere (2014): over suboptimal arms, row x (the alternative in which
x is best) and column z (the arm played), M[x, z] = d(θ_z, max(θ_z, θ* − ℓ(x, z))) and
c_z = θ* − θ_z.
"""

import numpy as np

from ossb.families import Family
from ossb.graves_lai.lipschitz.workspace import (
    COLUMN_FIRST,
    COLUMN_LAST,
    ROW_FIRST,
    ROW_LAST,
    UNIT,
    Workspace,
)
from ossb.kernels import kernel

FLOOR = 1e-8  # gap of an arm whose mean equals the best one, relative to max(|θ*|, 1)
LARGEST = 1e15  # stands for an infinite divergence: one play would tell


@kernel
def gap_below(best: float, mean: float) -> float:
    """θ* − θ_z, floored so that equal estimates give a large rate and no infinity."""
    floor = FLOOR * max(abs(best), 1.0)
    return max(best - mean, floor)


@kernel
def information(family: Family, best: float, mean: float, distance: float, gap: float) -> float:
    """d(θ_z, max(θ_z, θ* − ℓ)) for one play of z.

    At the floor, z tells what an arm of unit variance and that gap would.
    """
    target = best - distance
    value = 0.0
    if target > mean:
        value = min(family.kl(mean, target), LARGEST)
    if best - mean < gap and distance < gap:
        value = max(value, 0.5 * (gap - distance) * (gap - distance))
    return value


@kernel
def set_column(space: Workspace, z: int, column: np.ndarray) -> None:
    """Replace column z of the program by ``column`` = M[:, z] / c_z; profiles only grow."""
    row_first = space.indices[ROW_FIRST]
    row_last = space.indices[ROW_LAST]
    column_first = space.indices[COLUMN_FIRST]
    column_last = space.indices[COLUMN_LAST]
    n = space.matrix.shape[0]
    first = n
    last = 0
    for x in range(n):
        value = column[x]
        if value != 0.0:
            first = min(first, x)
            last = x + 1
            if z < row_first[x]:
                row_first[x] = z
            if z >= row_last[x]:
                row_last[x] = z + 1
        if value != space.transpose[z, x]:
            space.transpose[z, x] = value
            space.matrix[x, z] = value
    column_first[z] = min(first, last)
    column_last[z] = last


@kernel
def forget_profiles(space: Workspace) -> None:
    """Start the row profiles anew; every column must be set after it."""
    row_first = space.indices[ROW_FIRST]
    row_last = space.indices[ROW_LAST]
    n = space.matrix.shape[0]
    for x in range(n):
        row_first[x] = n
        row_last[x] = 0


@kernel
def set_units(space: Workspace) -> None:
    """The least cost of each row alone, after columns were set."""
    unit = space.sides[UNIT]
    row_first = space.indices[ROW_FIRST]
    row_last = space.indices[ROW_LAST]
    n = space.matrix.shape[0]
    for x in range(n):
        largest = 0.0
        for z in range(row_first[x], row_last[x]):
            largest = max(largest, space.matrix[x, z])
        unit[n + x] = 1.0 / largest if largest > 0.0 else 1.0
