"""The Lipschitz program of an estimate, kept up to date column by column.

Magureanu, Combes and Proutiere (2014): over suboptimal arms, row x (the alternative in which
x is best) and column z (the arm played), M[x, z] = d(θ_z, max(θ_z, θ* − ℓ(x, z))) and
c_z = θ* − θ_z.  A column depends on its own mean and on θ* alone, so one that did not move is
not computed again.  Row profiles only grow until θ* moves.

Estimates may tie: a gap below ``FLOOR`` counts as that gap, seen through unit variance, which
gives a large finite rate.  An arm at distance 0 from the best one can never be better; it has
neither row nor column.
"""

import numpy as np

from ossb.families import Family
from ossb.graves_lai.lipschitz.memory import (
    ARM,
    BEST,
    COLUMN_FIRST,
    COLUMN_LAST,
    COSTS,
    LEADER,
    MATRIX,
    PRICES,
    RATES,
    ROW_FIRST,
    ROW_LAST,
    THETA,
    TRANSPOSE,
    UNIT,
    LipschitzMemory,
)
from ossb.kernels import kernel

FLOOR = 1e-8  # least gap, relative to |θ*| or the unit of observations
LARGEST = 1e15  # stands for an infinite divergence: one play would tell


@kernel
def update(
    distances: np.ndarray, family: Family, theta: np.ndarray, memory: LipschitzMemory
) -> bool:
    """Bring the program to a new estimate; whether the best arm is still the same.

    The first of several best arms counts as the best.
    """
    costs, held = memory.vectors[COSTS], memory.vectors[THETA]
    indices, order = memory.indices, memory.indices[ARM]
    n = theta.shape[0]
    leader = 0
    for arm in range(n):
        if theta[arm] > theta[leader]:
            leader = arm
    best = theta[leader]
    same = memory.state[LEADER] == leader
    afresh = not (same and memory.bounds[BEST] == best)
    memory.state[LEADER] = leader
    memory.bounds[BEST] = best
    unit = family.yardstick(best)
    floor = FLOOR * max(abs(best), unit)
    if afresh:
        for x in range(n):
            memory.active[x] = distances[leader, order[x]] > 0.0
            indices[ROW_FIRST, x] = n
            indices[ROW_LAST, x] = 0
            if not same:  # what is held refers to other rows
                memory.vectors[RATES, x] = 0.0
                memory.vectors[PRICES, x] = 0.0
    for z in range(n):
        mean = theta[order[z]]
        if afresh or mean != held[z]:
            held[z] = mean
            costs[z] = max(best - mean, floor)
            indices[COLUMN_FIRST, z] = n
            indices[COLUMN_LAST, z] = 0
            for x in range(n):
                distance = distances[order[z], order[x]]
                entry = 0.0
                if distance < costs[z] and memory.active[x] and memory.active[z]:
                    told = 0.0
                    if best - distance > mean:
                        told = min(family.kl(mean, best - distance), LARGEST)
                    if best - mean < costs[z]:
                        short = (costs[z] - distance) / unit
                        told = max(told, 0.5 * short * short)
                    entry = told / costs[z]
                    indices[COLUMN_FIRST, z] = min(indices[COLUMN_FIRST, z], x)
                    indices[COLUMN_LAST, z] = x + 1
                    indices[ROW_FIRST, x] = min(indices[ROW_FIRST, x], z)
                    indices[ROW_LAST, x] = max(indices[ROW_LAST, x], z + 1)
                if entry != memory.squares[TRANSPOSE, z, x]:
                    memory.squares[TRANSPOSE, z, x] = entry
                    memory.squares[MATRIX, x, z] = entry
    return same


@kernel
def set_units(memory: LipschitzMemory) -> None:
    """The least cost of each row alone, once its entries are set."""
    n = memory.active.shape[0]
    for x in range(n):
        largest = 0.0
        for z in range(memory.indices[ROW_FIRST, x], memory.indices[ROW_LAST, x]):
            largest = max(largest, memory.squares[MATRIX, x, z])
        memory.sides[UNIT, n + x] = 1.0 / largest if largest > 0.0 else 1.0
