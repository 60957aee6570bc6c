"""Newton's method on the optimality conditions of a held active set.

With the columns that are played and the rows that are tight known, the optimum solves ln F_j = 0
for these rows and c_x = 1 for these columns, c = Σ q_j ∂ ln F_j/∂v:

    Σ_j q_j (−∇² ln F_j) dv − Gᵀ dq = c − 1,    G dv = −ln F,    G the slopes of ln F.

From the solution of a slightly different estimate that takes a few steps.  Where an unknown would
change sign it leaves the set, and where a look at the whole program finds what the set misses, that
enters it: most changes of the active set are small, and cost less than a solve.
"""

import math
from typing import Any

import numpy as np

from ossb.graves_lai.program.barrier import linearise, look
from ossb.graves_lai.program.generation import price_all
from ossb.graves_lai.program.work import Work
from ossb.graves_lai.program.working_set import enter
from ossb.kernels import kernel, separate_kernel
from ossb.numerics.dense import add_square, solve_general

STEPS = 20
CHANGES = 8
FAR_OFF = 10.0  # residual from which the held active set says little
NOWHERE = 1e100  # and from which numbers are of no use
INNER = 0.1  # share of the tolerance to which conditions are met
RIDGE = 1e-12
FAILED = 2.0  # no gap is as large
WHOLE, BROKEN = -1, -2  # steps that no unknown stops
COLUMNS, ROWS, SUPPORT, TIGHT = range(4)  # sizes of working sets, and of what is active of them


@kernel
def exchange(members: np.ndarray, one: int, other: int) -> None:
    """Let two members of a working set change places."""
    held = members[one]
    members[one] = members[other]
    members[other] = held


@kernel
def bring_forward(chosen: int, active: int, members: np.ndarray, size: int) -> bool:
    """Put a member of the working set right behind the active ones; False if it is none."""
    for e in range(active, size):
        if members[e] == chosen:
            exchange(members, active, e)
            return True
    return False


@kernel
def list_active(n: int, m: int, work: Work) -> tuple[int, int]:
    """List the columns and rows that the optimum seems to rest on first; how many there are."""
    plays, alternatives = work.plays, work.alternatives
    columns, rows = work.columns.members, work.rows.members
    spent, dearest, weight, least = 0.0, 0.0, 0.0, math.inf
    for e in range(n):
        spent += plays.spent[columns[e]]
        dearest = max(dearest, plays.price[columns[e]])
    for j in range(m):
        weight += alternatives.weight[rows[j]]
        least = min(least, alternatives.told[rows[j]])
    support, tight = 0, 0
    for e in range(n):
        x = columns[e]
        if plays.spent[x] > spent * (1.0 - plays.price[x] / dearest):
            exchange(columns, support, e)
            support += 1
    for j in range(m):
        row = rows[j]
        if alternatives.weight[row] > weight * math.log(alternatives.told[row] / least):
            exchange(rows, tight, j)
            tight += 1
    return support, tight


@kernel
def load_active(
    feasible: np.ndarray, least: float, dearest: float, n: int, m: int, work: Work
) -> bool:
    """Copy what is held of the active set; False if some of it is not positive."""
    columns, rows = work.columns, work.rows
    for e in range(n):
        x = columns.members[e]
        columns.inverse[e] = 1.0 / work.plays.costs[x]
        columns.spent[e] = feasible[x] * work.plays.costs[x] / least
        if not columns.spent[e] > 0.0:
            return False
    for j in range(m):
        rows.multiplier[j] = work.alternatives.weight[rows.members[j]] / dearest
        if not rows.multiplier[j] > 0.0:
            return False
    return True


@kernel
def residual(information: Any, n: int, m: int, work: Work) -> float:
    """Fill values, slopes and the right-hand side; the largest residual, ∞ where there is none."""
    columns, rows, solution = work.columns, work.rows, work.solution
    if not look(information, n, m, columns.spent, rows.slack, work) > 0.0:
        return math.inf
    linearise(information, n, m, work)
    worst = 0.0
    for e in range(n):
        solution[e] = columns.price[e] - 1.0
        worst = max(worst, abs(solution[e]))
    for j in range(m):
        solution[n + j] = -rows.slack[j]
        worst = max(worst, abs(solution[n + j]))
    return worst


@kernel
def fill_system(information: Any, n: int, m: int, work: Work) -> None:
    """Fill the matrix of Newton's equations, with ridges in the units of their rows."""
    columns, rows, system, slopes = work.columns, work.rows, work.system, work.slopes
    for e in range(n):
        for f in range(e, n):
            system[e, f] = 0.0
    for j in range(m):
        rows.curving[j] = rows.multiplier[j] * math.exp(-rows.slack[j])
    information.add_bends(
        rows.members, rows.curving, m, columns.members, n, columns.inverse, system
    )
    for j in range(m):
        add_square(rows.multiplier[j], slopes[j], n, system)
    curvature, coupling = 0.0, 0.0
    for e in range(n):
        curvature = max(curvature, abs(system[e, e]))
        for j in range(m):
            coupling = max(coupling, slopes[j, e])
    if not curvature > 0.0:
        curvature = 1.0
    for e in range(n):
        system[e, e] += RIDGE * curvature
        for f in range(e):
            system[e, f] = system[f, e]
        for j in range(m):
            system[e, n + j] = -slopes[j, e]
            system[n + j, e] = slopes[j, e]
    for j in range(m):
        for k in range(m):
            system[n + j, n + k] = 0.0
        system[n + j, n + j] = RIDGE * coupling * coupling / curvature


@kernel
def step(information: Any, n: int, m: int, work: Work) -> int:
    """One step: WHOLE, BROKEN, or short of whole, to where an unknown (its number) reaches 0."""
    v, q, solution = work.columns.spent, work.rows.multiplier, work.solution
    fill_system(information, n, m, work)
    if not solve_general(work.system, solution, n + m):
        return BROKEN
    length, blocker = 1.0, WHOLE
    for e in range(n + m):
        weight = v[e] if e < n else q[e - n]
        if not abs(solution[e]) < NOWHERE:
            return BROKEN
        if weight + solution[e] <= 0.0:
            ratio = weight / -solution[e] if solution[e] < 0.0 else 0.0
            if blocker == WHOLE or ratio < length:
                length, blocker = ratio, e
    for e in range(n):
        v[e] += length * solution[e]
    for j in range(m):
        q[j] += length * solution[n + j]
    return blocker


@kernel
def leave(place: int, n: int, m: int, work: Work) -> tuple[int, int]:
    """Take an unknown out of the active set: the last of its kind moves to its place."""
    columns, rows = work.columns, work.rows
    if place < n:
        n -= 1
        exchange(columns.members, place, n)
        columns.spent[place] = columns.spent[n]
        columns.inverse[place] = columns.inverse[n]
    else:
        m -= 1
        exchange(rows.members, place - n, m)
        rows.multiplier[place - n] = rows.multiplier[m]
    return n, m


@kernel
def certify(information: Any, n: int, m: int, work: Work) -> tuple[float, float]:
    """Look at the whole program with the solution; its certified gap, and the least F."""
    columns, rows, alternatives = work.columns, work.rows, work.alternatives
    spent, total = 0.0, 0.0
    for e in range(n):
        spent += columns.spent[e]
    for j in range(m):
        information.keep(rows.members[j])
        alternatives.weight[rows.members[j]] = rows.multiplier[j] * math.exp(-rows.slack[j])
        total += alternatives.weight[rows.members[j]]
    dearest = price_all(information, m, work)
    least = information.inform_all(True, alternatives)
    if not (least > 0.0 and 0.0 < dearest < math.inf):
        return FAILED, 0.0
    return max(0.0, 1.0 - total / dearest * least / spent), least


@kernel
def take_in(n: int, m: int, tolerance: float, sizes: np.ndarray, work: Work) -> tuple[int, int]:
    """Put what the last look missed most into the active set, at 0; the numbers of its members."""
    columns, rows, plays, alternatives = work.columns, work.rows, work.plays, work.alternatives
    column, price, row, told = -1, 1.0 + tolerance, -1, 1.0 - tolerance
    for x in range(plays.costs.shape[0]):
        if plays.is_open[x] == 1 and plays.price[x] > price:
            column, price = x, plays.price[x]
    for j in range(alternatives.told.shape[0]):
        if alternatives.is_open[j] == 1 and alternatives.told[j] < told:
            row, told = j, alternatives.told[j]
    if column >= 0:
        sizes[COLUMNS] = enter(column, columns.members, sizes[COLUMNS], plays.is_working)
        if bring_forward(column, n, columns.members, sizes[COLUMNS]):
            columns.spent[n] = 0.0
            columns.inverse[n] = 1.0 / plays.costs[column]
            n += 1
    if row >= 0:
        sizes[ROWS] = enter(row, rows.members, sizes[ROWS], alternatives.is_working)
        if bring_forward(row, m, rows.members, sizes[ROWS]):
            rows.multiplier[m] = 0.0
            m += 1
    return n, m


@kernel
def take(information: Any, n: int, m: int, least: float, sizes: np.ndarray, work: Work) -> None:
    """Make the solution the one that is held."""
    columns, rows, plays, alternatives = work.columns, work.rows, work.plays, work.alternatives
    for e in range(sizes[COLUMNS]):
        plays.spent[columns.members[e]] = columns.spent[e] / least if e < n else 0.0
    for j in range(m, sizes[ROWS]):
        alternatives.weight[rows.members[j]] = 0.0
    information.settle(least, sizes[ROWS], work)
    sizes[SUPPORT], sizes[TIGHT] = n, m


@separate_kernel
def newton(
    information: Any,
    tolerance: float,
    feasible: np.ndarray,
    least: float,
    dearest: float,
    sizes: np.ndarray,
    work: Work,
) -> float:
    """Solve again on the active set; the certified gap of what is then held, or FAILED.

    It starts from the rates that are feasible where divided by ``least``, and from the weights
    that are worth their price where divided by ``dearest``.
    """
    n, m, room = sizes[SUPPORT], sizes[TIGHT], work.solution.shape[0]
    if n == 0 or m == 0 or n + m > room or not load_active(feasible, least, dearest, n, m, work):
        return FAILED
    changes = 0
    for iteration in range(STEPS):
        worst = residual(information, n, m, work)
        if not worst < (FAR_OFF if iteration == 0 else NOWHERE) or work.halt[0] != 0:
            return FAILED
        if worst < INNER * tolerance:
            gap, least = certify(information, n, m, work)
            if gap <= tolerance:
                take(information, n, m, least, sizes, work)
                return gap
            before = n + m
            if before + 2 <= room:
                n, m = take_in(n, m, tolerance, sizes, work)
            if n + m == before:
                return FAILED
            changes += 1
            continue
        blocker = step(information, n, m, work)
        if blocker == BROKEN:
            return FAILED
        if blocker >= 0:
            n, m = leave(blocker, n, m, work)
            changes += 1
        if changes > CHANGES or n == 0 or m == 0:
            return FAILED
    return FAILED
