"""Row and column generation around the interior-point method.

Each round solves a small working set, then one pass over all arms gives the two certificates
of the whole problem (every bound returned is global) and the arms that violate them.
"""

import math

import numpy as np

from ossb.graves_lai.linear.algebra import cholesky, inverse_of_factored
from ossb.graves_lai.linear.interior_point import SOLVED, UNBOUNDED, interior_point
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
    COLUMNS,
    GRAM,
    INVERSE,
    ITERATIONS,
    LOWER,
    MULTIPLIER,
    ONES,
    PRIMAL,
    ROUNDS,
    ROWS,
    SPARE,
    START,
    WEIGHTS,
    Workspace,
)
from ossb.kernels import kernel

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
    for e in range(ws.count[COLUMNS]):
        x = ws.working[COLUMNS, e]
        for i in range(rank):
            entry = coordinates[i, x] * root_cost[x]
            ws.column_arms[e, i] = entry
            ws.column_arms_t[i, e] = entry
    for e in range(ws.count[ROWS]):
        x = ws.working[ROWS, e]
        for i in range(rank):
            ws.row_arms[i, e] = coordinates[i, x] * inverse_margin[x]


@kernel
def design_gram(held: np.ndarray, rank: int, ws: Workspace) -> bool:
    """Factor H(held) of the working columns into small[GRAM]; False if singular."""
    gram = ws.small[GRAM]
    for i in range(rank):
        for j in range(i, rank):
            gram[i, j] = 0.0
    for e in range(ws.count[COLUMNS]):
        for i in range(rank):
            factor = held[e] * ws.column_arms[e, i]
            for j in range(i, rank):
                gram[i, j] += factor * ws.column_arms[e, j]
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
    value, price = ws.arm[ARM_VALUE], ws.arm[ARM_PRICE]
    inverse_of_factored(ws.small[GRAM], rank, ws.small[SPARE], ws.small[INVERSE])
    unpack(ws.lifted[BEST_GRADIENT], rank, ws.small[WEIGHTS])
    quadratic_forms(coordinates, ws.small[INVERSE], ws.small[WEIGHTS], n_arms, rank, value, price)
    for z in range(n_arms):
        value[z] *= inverse_margin[z] * inverse_margin[z]
        price[z] *= inverse_cost[z]
    return largest(value, n_arms), largest(price, n_arms)


@kernel
def restart(gap: float, upper: float, n_old: int, m_old: int, ws: Workspace) -> float:
    """Prepare v and q of the next, warm, round; the first μ."""
    n, m = ws.count[COLUMNS], ws.count[ROWS]
    barrier = 0.3 * gap * upper / (n + m)
    for e in range(n):
        slack = gap
        if e < n_old:
            slack = max(1.0 - ws.arm[ARM_PRICE, ws.working[COLUMNS, e]], gap)
            ws.column[PRIMAL, e] = max(ws.column[START, e], barrier / slack)
        else:
            ws.column[PRIMAL, e] = barrier / gap
    for e in range(m_old, m):
        ws.row[MULTIPLIER, e] = 0.0
    return barrier


@kernel
def solve_working_set(
    tolerance: float, rank: int, warm: bool, barrier: float, gap: float, ws: Workspace
) -> tuple[float, int]:
    """Solve the gathered sets, once more from cold if warm fails; best v in START, w in q."""
    n, m = ws.count[COLUMNS], ws.count[ROWS]
    upper, _, status, iterations = interior_point(
        n, m, rank, tolerance, 80, warm, barrier, 0.3 * gap, ws
    )
    ws.count[ITERATIONS] += iterations
    if status != SOLVED and warm:
        for e in range(n):
            ws.column[PRIMAL, e] = 1.0 / n
        upper, _, status, iterations = interior_point(
            n, m, rank, tolerance, 120, False, 0.0, 0.0, ws
        )
        ws.count[ITERATIONS] += iterations
    for e in range(n):
        ws.column[START, e] = ws.column[BEST, e]
    for e in range(m):
        ws.row[MULTIPLIER, e] = ws.row[BEST_WEIGHT, e]
    return upper, status


@kernel
def keep_best(
    highest: float, dearest: float, upper: float, lower: float, n_arms: int, ws: Workspace
) -> tuple[float, float]:
    """Update the global bounds, each with what proves it, in the per-arm arrays."""
    plays, weight, below = ws.arm[ARM_PLAYS], ws.arm[ARM_WEIGHT], ws.arm[ARM_LOWER]
    n, m = ws.count[COLUMNS], ws.count[ROWS]
    total_v, total_w = 0.0, 0.0
    for e in range(n):
        total_v += ws.column[START, e]
    for e in range(m):
        total_w += ws.row[MULTIPLIER, e]
    if total_v * highest < upper:
        upper = total_v * highest
        for z in range(n_arms):
            plays[z] = 0.0
        for e in range(n):
            plays[ws.working[COLUMNS, e]] = ws.column[START, e] * highest
    if total_w > lower * dearest:
        lower = total_w / dearest
        for z in range(n_arms):
            weight[z] = 0.0
            below[z] = 0.0
        for e in range(n):
            below[ws.working[COLUMNS, e]] = ws.column[LOWER, e]
        for e in range(m):
            weight[ws.working[ROWS, e]] = ws.row[MULTIPLIER, e] / dearest
    return upper, lower


@kernel
def unstretch(coordinates: np.ndarray, rank: int, ws: Workspace) -> None:
    """Whiten by H(v) where its pivots are far apart: near ties need it."""
    gram = ws.small[GRAM]
    low, high = gram[0, 0], gram[0, 0]
    for i in range(1, rank):
        low = min(low, gram[i, i])
        high = max(high, gram[i, i])
    if high > STRETCHED * low:
        apply_whitening(gram, ws.column[ONES], coordinates.shape[1], rank, coordinates)


@kernel
def generate(
    coordinates: np.ndarray,
    inverse_cost: np.ndarray,
    inverse_margin: np.ndarray,
    n_arms: int,
    rank: int,
    tolerance: float,
    warm: bool,
    gap: float,
    ws: Workspace,
) -> tuple[float, float, int]:
    """Solve to a certified relative gap; bounds of Σ v, status, proofs in ``ws.arm``.

    ``coordinates`` (rank, K + anything) must be whitened and are changed in place.  A warm
    start finds its working sets, v (START) and weights (MULTIPLIER) in the workspace, and
    ``gap`` says how good they are.
    """
    root_cost = ws.arm[ARM_SCRATCH]
    size = rank * (rank + 1) // 2
    complete = False
    barrier = 0.0
    if warm:
        total = 0.0
        for e in range(ws.count[COLUMNS]):
            total += ws.column[START, e]
        barrier = 0.3 * gap * total / (ws.count[COLUMNS] + ws.count[ROWS])
        for e in range(ws.count[COLUMNS]):
            ws.column[PRIMAL, e] = max(ws.column[START, e], barrier)
    else:
        gap = 1.0
        complete = first_sets(coordinates, inverse_cost, inverse_margin, n_arms, rank, ws)
        for e in range(ws.count[COLUMNS]):
            ws.column[PRIMAL, e] = 1.0 / ws.count[COLUMNS]
    for z in range(n_arms):
        root_cost[z] = math.sqrt(inverse_cost[z])
    upper, lower = UNBOUNDED, 0.0
    settled = complete
    stalls = 0
    ws.count[ITERATIONS] = 0
    for rounds in range(1, MOST_ROUNDS):
        ws.count[ROUNDS] = rounds
        gather(coordinates, root_cost, inverse_margin, rank, ws)
        inner = 0.5 * tolerance
        if not settled:
            inner = max(inner, min(0.05, 0.1 * gap))
        bound, status = solve_working_set(inner, rank, warm, barrier, gap, ws)
        if bound >= UNBOUNDED or not design_gram(ws.column[START], rank, ws):
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
        room = ws.working.shape[1] - max(4, size)
        if ws.count[COLUMNS] > 4 * size + 24:
            shrink(COLUMNS, ws.column[START], ws.arm[ARM_PRICE], 0.7, room, ws)
        if ws.count[ROWS] > 4 * size + 24:
            shrink(ROWS, ws.row[MULTIPLIER], ws.arm[ARM_VALUE], 0.5, room, ws)
        n_old, m_old = ws.count[COLUMNS], ws.count[ROWS]
        most = max(4, size)
        groups = min(4 * most, ws.group_value.shape[0])
        threshold = 1.0 + 0.1 * gap
        added = violators(
            COLUMNS, ws.arm[ARM_PRICE], threshold, groups, most, coordinates, n_arms, rank, ws
        ) + violators(
            ROWS, ws.arm[ARM_VALUE], threshold, groups, most, coordinates, n_arms, rank, ws
        )
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
