"""A feasible primal–dual interior-point method on one working set.

Minimise Σ v − μ Σ ln v − μ Σ ln t with t_j = ln F_j(v/κ): F_j is concave and homogeneous, so is
ln F_j concave, and a point can always be scaled to be strictly feasible, so a line search on the
merit applies.  Newton's step solves

    (Σ_j q_j (−∇² ln F_j) + diag(s/v) + Σ_j (q_j/t_j) g_j g_jᵀ) dv = −1 + Σ_j (μ/t_j) g_j + μ/v,

g_j = ∇ ln F_j.  Every iterate carries its own certificate: Σ v / min F above,
Σ (q_j/F_j) / max_x c_x below, c = Σ q_j g_j, since y_j = q_j/F_j are weights of the minimisers.
"""

import math
from typing import Any

import numpy as np

from ossb.graves_lai.program.work import Columns, Rows, Work
from ossb.kernels import kernel, separate_kernel
from ossb.numerics.dense import add_square, cholesky, inner, solve_lower, solve_upper

STEPS = 80
BACKTRACKS = 40
STUCK = 3  # steps in a row without descent after which it ends
SPREAD = 1e3  # products of duals and their slacks stay within this factor of μ
SPARE = 0.98  # share of the way to the boundary
ARMIJO = 1e-4
ROUNDING = 1e-13  # of the merit: what rounding may add
INSIDE = 1.5  # F of the least alternative where a start is from nothing
SHORT = 0.6  # by which a step without descent is shortened


@kernel
def look(information: Any, n: int, m: int, v: np.ndarray, logs: np.ndarray, work: Work) -> float:
    """Fill ln F of every row at v; the least F, 0 where one has none."""
    columns, rows = work.columns, work.rows
    for e in range(n):
        columns.plays[e] = v[e] * columns.inverse[e]
    information.play(columns.members, n, columns.plays)
    least = math.inf
    for j in range(m):
        told = information.inform(rows.members[j], math.inf)
        if not 0.0 < told < math.inf:
            return 0.0
        logs[j] = math.log(told)
        least = min(least, told)
    return least


@kernel
def linearise(information: Any, n: int, m: int, work: Work) -> None:
    """Fill the slopes of ln F where it was last looked at, and the prices at the multipliers."""
    columns, rows = work.columns, work.rows
    for e in range(n):
        columns.price[e] = 0.0
    for j in range(m):
        slopes = work.slopes[j]
        information.gradient_at(rows.members[j], columns.members, n, slopes)
        scale = math.exp(-rows.slack[j])
        for e in range(n):
            slopes[e] *= scale * columns.inverse[e]
            columns.price[e] += rows.multiplier[j] * slopes[e]


@kernel
def start_point(
    n: int, m: int, gap: float, mu: float, least: float, columns: Columns, rows: Rows
) -> bool:
    """Scale v into the interior and choose q; μ = 0 asks for a start from nothing."""
    scale = 1.0
    if mu == 0.0:
        scale = INSIDE / least
    elif least <= 1.0 + 0.1 * gap:
        scale = (1.0 + 0.3 * gap) / least
    for e in range(n):
        columns.spent[e] *= scale
        columns.plays[e] *= scale
    for j in range(m):
        rows.slack[j] += math.log(scale)
        if not rows.slack[j] > 0.0:
            return False
        central = max(mu, 1.0) if mu == 0.0 else mu
        q = 0.0 if mu == 0.0 else rows.multiplier[j]
        rows.multiplier[j] = max(q, central / rows.slack[j])
    return True


@kernel
def start_slacks(n: int, m: int, mu: float, columns: Columns, rows: Rows) -> None:
    """Choose s, and scale q with it where the start is from nothing."""
    dearest = 0.0
    for e in range(n):
        dearest = max(dearest, columns.price[e])
    if mu == 0.0 and dearest > 0.0:
        for j in range(m):
            rows.multiplier[j] *= 0.5 / dearest
        for e in range(n):
            columns.price[e] *= 0.5 / dearest
    for e in range(n):
        columns.slack[e] = max(1.0 - columns.price[e], mu / columns.spent[e])


@kernel
def record_bounds(
    information: Any, n: int, m: int, upper: float, lower: float, work: Work
) -> tuple[float, float]:
    """Both sides at this point; the best of each is kept, with what proves it."""
    columns, rows = work.columns, work.rows
    spent, dearest, weights, nearest = 0.0, 0.0, 0.0, math.inf
    for e in range(n):
        spent += columns.spent[e]
        dearest = max(dearest, columns.price[e])
    for j in range(m):
        rows.curving[j] = rows.multiplier[j] * math.exp(-rows.slack[j])
        weights += rows.curving[j]
        nearest = min(nearest, rows.slack[j])
    scale = math.exp(-nearest)
    if spent * scale < upper:
        upper = spent * scale
        for e in range(n):
            columns.best[e] = columns.spent[e] * scale
    if dearest > 0.0 and weights > lower * dearest:
        lower = weights / dearest
        for j in range(m):
            rows.weight[j] = rows.curving[j] / dearest
            information.keep(rows.members[j])
    return upper, lower


@kernel
def newton_matrix(information: Any, n: int, m: int, work: Work) -> None:
    """Fill the upper triangle of the matrix of Newton's step."""
    columns, rows, normal = work.columns, work.rows, work.normal
    for i in range(n):
        for k in range(i, n):
            normal[i, k] = 0.0
    scale = columns.inverse
    information.add_bends(rows.members, rows.curving, m, columns.members, n, scale, normal)
    for i in range(n):
        normal[i, i] += columns.slack[i] / columns.spent[i]
    for j in range(m):
        q = rows.multiplier[j]
        add_square(q + q / rows.slack[j], work.slopes[j], n, normal)


@kernel
def direction(information: Any, n: int, m: int, mu: float, work: Work) -> float:
    """Fill the steps of v, s and q; the merit's slope along them, or 1 where there is none."""
    columns, rows = work.columns, work.rows
    newton_matrix(information, n, m, work)
    if not cholesky(work.normal, n):
        return 1.0
    for e in range(n):
        columns.right[e] = mu / columns.spent[e] - 1.0
    for j in range(m):
        pull = mu / rows.slack[j]
        for e in range(n):
            columns.right[e] += pull * work.slopes[j, e]
    for e in range(n):
        columns.step[e] = columns.right[e]
    solve_lower(work.normal, n, columns.step)
    solve_upper(work.normal, n, columns.step)
    slope = 0.0
    for e in range(n):
        slope -= columns.right[e] * columns.step[e]
        ratio = columns.slack[e] / columns.spent[e]
        columns.slack_step[e] = mu / columns.spent[e] - columns.slack[e] - ratio * columns.step[e]
    for j in range(m):
        q, t = rows.multiplier[j], rows.slack[j]
        rows.step[j] = mu / t - q - q / t * inner(work.slopes[j], columns.step, n)
    return slope


@kernel
def longest_step(step: np.ndarray, value: np.ndarray, count: int) -> float:
    """How far the values stay positive, with a little to spare, at most 1."""
    worst = SPARE
    for e in range(count):
        if -step[e] > worst * value[e]:
            worst = -step[e] / value[e]
    return SPARE / worst


@kernel
def line_search(information: Any, n: int, m: int, mu: float, slope: float, work: Work) -> float:
    """Move v along its step until the merit falls; the length of the step, 0 if it does not."""
    columns, rows = work.columns, work.rows
    v, trial = columns.spent, columns.trial
    length = longest_step(columns.step, v, n)
    total, size = 0.0, mu * (n + m)
    for e in range(n):
        total += columns.step[e]
        size += v[e]
    for _ in range(BACKTRACKS):
        for e in range(n):
            trial[e] = v[e] + length * columns.step[e]
        if look(information, n, m, trial, rows.trial, work) > 1.0:
            change = length * total
            for e in range(n):
                change -= mu * math.log(trial[e] / v[e])
            for j in range(m):
                change -= mu * math.log(rows.trial[j] / rows.slack[j])
            if change <= ARMIJO * length * slope + ROUNDING * size:
                for e in range(n):
                    v[e] = trial[e]
                for j in range(m):
                    rows.slack[j] = rows.trial[j]
                return length
        length *= SHORT
    look(information, n, m, v, rows.slack, work)  # back to where the minimisers belong
    return 0.0


@kernel
def keep_central(
    value: np.ndarray, dual: np.ndarray, step: np.ndarray, length: float, count: int, mu: float
) -> None:
    """Move duals, and keep each product with its slack within a factor of μ."""
    for e in range(count):
        middle = mu / value[e]
        moved = dual[e] + length * step[e]
        dual[e] = min(max(moved, middle / SPREAD), middle * SPREAD)


@separate_kernel
def interior_point(
    information: Any, n: int, m: int, tolerance: float, gap: float, begin: float, work: Work
) -> tuple[float, float]:
    """Solve the working set; both sides of its value, ∞ and 0 at worst.

    Parameters
    ----------
    gap
        How far off the start is.
    begin
        The first μ of a start from the v and q in place; 0 starts from nothing but their v.
    """
    columns, rows = work.columns, work.rows
    upper, lower = math.inf, 0.0
    least = look(information, n, m, columns.spent, rows.slack, work)
    if not least > 0.0 or not start_point(n, m, gap, begin, least, columns, rows):
        return upper, lower
    centring, stuck = 0.1, 0
    for iteration in range(STEPS):
        linearise(information, n, m, work)
        if iteration == 0:
            start_slacks(n, m, begin, columns, rows)
        upper, lower = record_bounds(information, n, m, upper, lower, work)
        if upper - lower <= tolerance * upper or work.halt[0] != 0:
            break
        product = inner(columns.spent, columns.slack, n) + inner(rows.multiplier, rows.slack, m)
        mu = centring * product / (n + m)
        slope = direction(information, n, m, mu, work)
        if not slope < 0.0:
            break
        dual = min(
            longest_step(columns.slack_step, columns.slack, n),
            longest_step(rows.step, rows.multiplier, m),
        )
        moved = line_search(information, n, m, mu, slope, work)
        stuck = 0 if moved > 0.0 else stuck + 1
        if stuck == STUCK:
            break
        keep_central(columns.spent, columns.slack, columns.slack_step, dual, n, mu)
        keep_central(rows.slack, rows.multiplier, rows.step, dual, m, mu)
        shortest = min(moved, dual)
        floor = 0.01 if shortest >= 0.95 else 0.05
        centring = min(0.9, max(floor, (1.0 - shortest) * (1.0 - shortest)))
    return upper, lower
