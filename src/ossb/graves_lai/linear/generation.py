"""Row and column generation around the interior-point method.

Each round solves a small working set, then one pass over all arms gives the two certificates
of the whole problem (every bound returned is global) and the arms that violate them.
"""

import math

import numpy as np

from ossb.graves_lai.linear.interior_point import SINGULAR, SOLVED, UNBOUNDED, interior_point
from ossb.graves_lai.linear.oracle import unpack
from ossb.graves_lai.linear.passes import apply_whitening, largest, quadratic_forms
from ossb.graves_lai.linear.working_set import first_sets, shrink, violators
from ossb.graves_lai.linear.workspace import (
    ARM_LOWER,
    ARM_PLAYS,
    ARM_PRICE,
    ARM_SCRATCH,
    ARM_VALUE,
    ARM_WEIGHT,
    BEST,
    BEST_GRADIENT,
    BEST_WEIGHT,
    COLUMN_ARMS,
    COLUMN_ARMS_T,
    COLUMNS,
    COUNT,
    GRAM,
    GROUPS,
    HALT,
    INVERSE,
    INVERSE_COST,
    INVERSE_MARGIN,
    ITERATIONS,
    LOWER,
    MULTIPLIER,
    ONES,
    PRIMAL,
    ROUNDS,
    ROW_ARMS,
    ROWS,
    SPARE,
    START,
    VECTORS,
    WEIGHTS,
    WORKING,
    Workspace,
)
from ossb.kernels import kernel, separate_kernel
from ossb.numerics.dense import cholesky, inverse_of_factored

STALLED = 9
MOST_ROUNDS = 200
STRETCHED = 30.0  # ratio of H's pivots from which coordinates are changed again


@kernel
def gather(
    coordinates: np.ndarray,
    root_cost: np.ndarray,
    inverse_margin: np.ndarray,
    rank: int,
    ws: Workspace,
) -> None:
    """Copy the working columns a = z/√cost and rows b = z/margin."""
    wide, tall, index = ws.wide, ws.tall, ws.indices
    for e in range(index[COUNT, COLUMNS]):
        x = index[WORKING + COLUMNS, e]
        for i in range(rank):
            entry = coordinates[i, x] * root_cost[x]
            tall[COLUMN_ARMS, e, i] = entry
            wide[COLUMN_ARMS_T, i, e] = entry
    for e in range(index[COUNT, ROWS]):
        x = index[WORKING + ROWS, e]
        for i in range(rank):
            wide[ROW_ARMS, i, e] = coordinates[i, x] * inverse_margin[x]


@kernel
def design_gram(held: np.ndarray, rank: int, ws: Workspace) -> bool:
    """Factor H(held) of the working columns into small[GRAM]; False if singular."""
    tall, cube, index = ws.tall, ws.cube, ws.indices
    gram = cube[GRAM]
    for i in range(rank):
        for j in range(i, rank):
            gram[i, j] = 0.0
    for e in range(index[COUNT, COLUMNS]):
        for i in range(rank):
            factor = held[e] * tall[COLUMN_ARMS, e, i]
            for j in range(i, rank):
                gram[i, j] += factor * tall[COLUMN_ARMS, e, j]
    return cholesky(gram, rank)


@kernel
def price_arms(
    coordinates: np.ndarray,
    inverse_cost: np.ndarray,
    inverse_margin: np.ndarray,
    n_arms: int,
    rank: int,
    ws: Workspace,
) -> tuple[float, float]:
    """Fill h and c of every arm from H's factor and the best gradient; their maxima."""
    cube, arm = ws.cube, ws.arm
    value, price = arm[ARM_VALUE], arm[ARM_PRICE]
    inverse_of_factored(cube[GRAM], rank, cube[SPARE], cube[INVERSE])
    unpack(cube[VECTORS, BEST_GRADIENT], rank, cube[WEIGHTS])
    quadratic_forms(coordinates, cube[INVERSE], cube[WEIGHTS], n_arms, rank, value, price)
    for z in range(n_arms):
        value[z] *= inverse_margin[z] * inverse_margin[z]
        price[z] *= inverse_cost[z]
    return largest(value, n_arms), largest(price, n_arms)


@kernel
def restart(gap: float, upper: float, n_old: int, m_old: int, ws: Workspace) -> float:
    """Prepare v and q of the next, warm, round; the first μ."""
    column, row, arm, index = ws.column, ws.row, ws.arm, ws.indices
    n, m = index[COUNT, COLUMNS], index[COUNT, ROWS]
    barrier = 0.3 * gap * upper / (n + m)
    for e in range(n):
        slack = gap
        if e < n_old:
            slack = max(1.0 - arm[ARM_PRICE, index[WORKING + COLUMNS, e]], gap)
            column[PRIMAL, e] = max(column[START, e], barrier / slack)
        else:
            column[PRIMAL, e] = barrier / gap
    for e in range(m_old, m):
        row[MULTIPLIER, e] = 0.0
    return barrier


@kernel
def keep_best(
    highest: float, dearest: float, upper: float, lower: float, n_arms: int, ws: Workspace
) -> tuple[float, float]:
    """Update the global bounds, each with what proves it, in the per-arm arrays."""
    column, row, arm, index = ws.column, ws.row, ws.arm, ws.indices
    plays, weight, below = arm[ARM_PLAYS], arm[ARM_WEIGHT], arm[ARM_LOWER]
    n, m = index[COUNT, COLUMNS], index[COUNT, ROWS]
    total_v, total_w = 0.0, 0.0
    for e in range(n):
        total_v += column[START, e]
    for e in range(m):
        total_w += row[MULTIPLIER, e]
    if total_v * highest < upper:
        upper = total_v * highest
        for z in range(n_arms):
            plays[z] = 0.0
        for e in range(n):
            plays[index[WORKING + COLUMNS, e]] = column[START, e] * highest
    if total_w > lower * dearest:
        lower = total_w / dearest
        for z in range(n_arms):
            weight[z] = 0.0
            below[z] = 0.0
        for e in range(n):
            below[index[WORKING + COLUMNS, e]] = column[LOWER, e]
        for e in range(m):
            weight[index[WORKING + ROWS, e]] = row[MULTIPLIER, e] / dearest
    return upper, lower


@kernel
def unstretch(coordinates: np.ndarray, rank: int, ws: Workspace) -> None:
    """Whiten by H(v) where its pivots are far apart: near ties need it."""
    column, cube, arm = ws.column, ws.cube, ws.arm
    gram = cube[GRAM]
    low, high = gram[0, 0], gram[0, 0]
    for i in range(1, rank):
        low = min(low, gram[i, i])
        high = max(high, gram[i, i])
    if high > STRETCHED * low:
        n_vectors = arm.shape[1] + coordinates.shape[0]
        apply_whitening(gram, column[ONES], n_vectors, rank, coordinates)


@separate_kernel
def generate(
    coordinates: np.ndarray, rank: int, tolerance: float, warm: bool, gap: float, ws: Workspace
) -> tuple[float, float, int]:
    """Solve to a certified relative gap; bounds of Σ v, status, proofs in ``ws.arm``.

    ``coordinates`` (rank, K + anything) must be whitened and are changed in place.  A warm
    start finds its working sets, v (START) and weights (MULTIPLIER) in the workspace, and
    ``gap`` says how good they are.
    """
    column, row, arm, index = ws.column, ws.row, ws.arm, ws.indices
    inverse_cost, inverse_margin = arm[INVERSE_COST], arm[INVERSE_MARGIN]
    root_cost, n_arms = arm[ARM_SCRATCH], arm.shape[1]
    size = rank * (rank + 1) // 2
    complete = False
    barrier = 0.0
    if warm:
        total = 0.0
        for e in range(index[COUNT, COLUMNS]):
            total += column[START, e]
        barrier = 0.3 * gap * total / (index[COUNT, COLUMNS] + index[COUNT, ROWS])
        for e in range(index[COUNT, COLUMNS]):
            column[PRIMAL, e] = max(column[START, e], barrier)
    else:
        gap = 1.0
        complete = first_sets(coordinates, inverse_cost, inverse_margin, n_arms, rank, ws)
        for e in range(index[COUNT, COLUMNS]):
            column[PRIMAL, e] = 1.0 / index[COUNT, COLUMNS]
    for z in range(n_arms):
        root_cost[z] = math.sqrt(inverse_cost[z])
    upper, lower = UNBOUNDED, 0.0
    settled = complete
    stalls = 0
    index[COUNT, ITERATIONS] = 0
    for rounds in range(1, MOST_ROUNDS):
        if index[COUNT, HALT] != 0:
            return upper, lower, STALLED
        index[COUNT, ROUNDS] = rounds
        gather(coordinates, root_cost, inverse_margin, rank, ws)
        inner = 0.5 * tolerance
        if not settled:
            inner = max(inner, min(0.05, 0.1 * gap))
        n, m = index[COUNT, COLUMNS], index[COUNT, ROWS]
        bound, status = UNBOUNDED, SINGULAR
        for attempt in range(2):
            if attempt == 1:
                if status == SOLVED or not warm:
                    break
                warm = False
                for e in range(n):
                    column[PRIMAL, e] = 1.0 / n
            bound, _, status, iterations = interior_point(
                n, m, rank, inner, 80 + 40 * attempt, warm, barrier, 0.3 * gap, ws
            )
            index[COUNT, ITERATIONS] += iterations
        for e in range(n):
            column[START, e] = column[BEST, e]
        for e in range(m):
            row[MULTIPLIER, e] = row[BEST_WEIGHT, e]
        if bound >= UNBOUNDED or not design_gram(column[START], rank, ws):
            return upper, lower, 10 + status
        highest, dearest = price_arms(coordinates, inverse_cost, inverse_margin, n_arms, rank, ws)
        before = gap
        upper, lower = keep_best(highest, dearest, upper, lower, n_arms, ws)
        gap = (upper - lower) / upper
        if gap <= tolerance:
            return upper, lower, SOLVED
        if complete:
            return upper, lower, STALLED
        unstretch(coordinates, rank, ws)
        room = column.shape[1] - max(4, size)
        if index[COUNT, COLUMNS] > 4 * size + 24:
            shrink(COLUMNS, column[START], arm[ARM_PRICE], 0.7, room, ws)
        if index[COUNT, ROWS] > 4 * size + 24:
            shrink(ROWS, row[MULTIPLIER], arm[ARM_VALUE], 0.5, room, ws)
        n_old, m_old = index[COUNT, COLUMNS], index[COUNT, ROWS]
        most = max(4, size)
        groups = min(min(4 * most, GROUPS), n_arms)
        threshold = 1.0 + 0.1 * gap
        added = violators(
            COLUMNS, arm[ARM_PRICE], threshold, groups, most, coordinates, n_arms, rank, ws
        ) + violators(ROWS, arm[ARM_VALUE], threshold, groups, most, coordinates, n_arms, rank, ws)
        if added == 0 and settled and gap > 0.999 * before:
            stalls += 1
        else:
            stalls = 0
        if stalls >= 3:
            return upper, lower, STALLED
        settled = added == 0
        warm = True
        gap = max(gap, 1e-7)
        barrier = restart(gap, upper, n_old, m_old, ws)
    return upper, lower, STALLED
