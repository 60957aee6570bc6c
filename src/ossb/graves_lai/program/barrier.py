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

SOLVED, STOPPED, SINGULAR, NO_DESCENT = range(4)
UNBOUNDED = 1e300
CLIP = 1e3  # products of duals and their slacks stay within this factor of μ
SPARE = 0.98  # share of the way to the boundary
ARMIJO = 1e-4
SLACK = 1e-13  # of the merit: what rounding may add


@kernel
def look(information: Any, n: int, m: int, v: np.ndarray, curved: bool, work: Work) -> float:
    """F of every row at v, and where ``curved`` slopes and curvatures; the least F."""
    columns, rows = work.columns, work.rows
    for e in range(n):
        columns.plays[e] = v[e] * columns.inverse[e]
    least = UNBOUNDED
    for j in range(m):
        told = information.inform(
            rows.members[j],
            columns.members,
            n,
            columns.plays,
            curved,
            columns.gradient,
            work.factors[j],
        )
        rows.told[j] = told
        if not 1e-290 < told < 1e290:
            return 0.0
        least = min(least, told)
        if curved:
            for e in range(n):
                work.slopes[j, e] = columns.gradient[e] * columns.inverse[e] / told
            for k in range(work.factors.shape[1]):
                for e in range(n):
                    work.factors[j, k, e] *= columns.inverse[e]
    return least


@kernel
def price(n: int, m: int, columns: Columns, rows: Rows, slopes: np.ndarray) -> float:
    """c = Σ q_j g_j of every column; the largest."""
    for e in range(n):
        columns.price[e] = 0.0
    for j in range(m):
        for e in range(n):
            columns.price[e] += rows.multiplier[j] * slopes[j, e]
    dearest = 1e-300
    for e in range(n):
        dearest = max(dearest, columns.price[e])
    return dearest


@kernel
def add_square(factor: float, vector: np.ndarray, n: int, normal: np.ndarray) -> None:
    """Add factor · vector vectorᵀ to the lower triangle."""
    for i in range(n):
        weighed = factor * vector[i]
        if weighed != 0.0:
            for k in range(i + 1):
                normal[i, k] += weighed * vector[k]


@kernel
def newton_matrix(n: int, m: int, work: Work) -> None:
    """The lower triangle of the matrix of Newton's step."""
    columns, rows, normal = work.columns, work.rows, work.normal
    for i in range(n):
        for k in range(i):
            normal[i, k] = 0.0
        normal[i, i] = columns.slack[i] / columns.spent[i]
    for j in range(m):
        q = rows.multiplier[j]
        add_square(q + q / rows.slack[j], work.slopes[j], n, normal)
        for k in range(work.factors.shape[1]):
            add_square(q / rows.told[j], work.factors[j, k], n, normal)


@kernel
def factor_in_place(normal: np.ndarray, n: int) -> bool:
    """Cholesky's factor of the lower triangle; False where it is not positive."""
    for i in range(n):
        for k in range(i + 1):
            rest = normal[i, k]
            for e in range(k):
                rest -= normal[i, e] * normal[k, e]
            if k == i:
                if not rest > 0.0:
                    return False
                normal[i, i] = math.sqrt(rest)
            else:
                normal[i, k] = rest / normal[k, k]
    return True


@kernel
def solve_factored(normal: np.ndarray, n: int, right: np.ndarray, out: np.ndarray) -> None:
    """The solution, from Cholesky's factor."""
    for i in range(n):
        rest = right[i]
        for k in range(i):
            rest -= normal[i, k] * out[k]
        out[i] = rest / normal[i, i]
    for i in range(n - 1, -1, -1):
        out[i] /= normal[i, i]
        for k in range(i):
            out[k] -= normal[i, k] * out[i]


@kernel
def direction(n: int, m: int, mu: float, work: Work) -> float:
    """Fill the steps of v, s and q; the merit's slope along them, or 1 where there is none."""
    columns, rows = work.columns, work.rows
    newton_matrix(n, m, work)
    if not factor_in_place(work.normal, n):
        return 1.0
    for e in range(n):
        columns.right[e] = mu / columns.spent[e] - 1.0
    for j in range(m):
        pull = mu / rows.slack[j]
        for e in range(n):
            columns.right[e] += pull * work.slopes[j, e]
    solve_factored(work.normal, n, columns.right, columns.step)
    slope = 0.0
    for e in range(n):
        slope -= columns.right[e] * columns.step[e]
        ratio = columns.slack[e] / columns.spent[e]
        columns.slack_step[e] = mu / columns.spent[e] - columns.slack[e] - ratio * columns.step[e]
    for j in range(m):
        along = 0.0
        for e in range(n):
            along += work.slopes[j, e] * columns.step[e]
        q, t = rows.multiplier[j], rows.slack[j]
        rows.step[j] = mu / t - q - q / t * along
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
    """Move v along its step until the merit falls; the length of the step, 0 if it does not.

    What is told at the new point is there then, slopes and curvatures included.
    """
    columns, rows = work.columns, work.rows
    v, trial = columns.spent, columns.trial
    length = longest_step(columns.step, v, n)
    total, size = 0.0, mu * (n + m)
    for e in range(n):
        total += columns.step[e]
        size += v[e]
    for _ in range(30):
        for e in range(n):
            trial[e] = v[e] + length * columns.step[e]
        if look(information, n, m, trial, True, work) > 1.0:
            change = length * total
            for e in range(n):
                change -= mu * math.log(trial[e] / v[e])
            for j in range(m):
                rows.trial[j] = math.log(rows.told[j])
                change -= mu * math.log(rows.trial[j] / rows.slack[j])
            if change <= ARMIJO * length * slope + SLACK * size:
                for e in range(n):
                    v[e] = trial[e]
                return length
        length *= 0.5
    return 0.0


@kernel
def keep_central(
    value: np.ndarray, dual: np.ndarray, step: np.ndarray, length: float, count: int, mu: float
) -> None:
    """Move duals, and keep each product with its slack within a factor of μ."""
    for e in range(count):
        moved = (dual[e] + length * step[e]) * value[e]
        dual[e] = min(max(moved, mu / CLIP), mu * CLIP) / value[e]


@kernel
def first_point(
    information: Any, n: int, m: int, warm: bool, margin: float, barrier: float, work: Work
) -> bool:
    """Scale v to be strictly feasible, and choose q and s."""
    columns, rows = work.columns, work.rows
    least = look(information, n, m, columns.spent, True, work)
    if not least > 0.0:
        return False
    if not warm or least <= 1.0 + 1e-12:
        scale = (1.0 + margin if warm else 1.5) / least
        for e in range(n):
            columns.spent[e] *= scale
        if not look(information, n, m, columns.spent, True, work) > 1.0:
            return False
    for j in range(m):
        rows.slack[j] = math.log(rows.told[j])
        q = rows.multiplier[j] if warm else 0.0
        rows.multiplier[j] = max(q, barrier / rows.slack[j]) if warm else 1.0 / rows.slack[j]
    dearest = price(n, m, columns, rows, work.slopes)
    for j in range(m):
        rows.multiplier[j] *= 1.0 if warm else 0.5 / dearest
    for e in range(n):
        left = 1.0 - columns.price[e] * (1.0 if warm else 0.5 / dearest)
        columns.slack[e] = max(left, barrier / columns.spent[e]) if warm else left
    return True


@kernel
def record_bounds(n: int, m: int, upper: float, lower: float, work: Work) -> tuple[float, float]:
    """Both sides at this point; the best of each is kept, with what proves it."""
    columns, rows = work.columns, work.rows
    dearest = price(n, m, columns, rows, work.slopes)
    spent, weights, least = 0.0, 0.0, UNBOUNDED
    for e in range(n):
        spent += columns.spent[e]
    for j in range(m):
        weights += rows.multiplier[j] / rows.told[j]
        least = min(least, rows.told[j])
    if spent < upper * least:
        upper = spent / least
        for e in range(n):
            columns.best[e] = columns.spent[e] / least
    if weights > lower * dearest:
        lower = weights / dearest
        for e in range(n):
            columns.below[e] = columns.spent[e]
        for j in range(m):
            rows.weight[j] = rows.multiplier[j] / (rows.told[j] * dearest)
    return upper, lower


@separate_kernel
def interior_point(
    information: Any,
    n: int,
    m: int,
    tolerance: float,
    limit: int,
    warm: bool,
    gap: float,
    work: Work,
) -> tuple[float, float, int]:
    """Solve the working set from the v (and, warm, the q) in place; both sides, and a status.

    ``gap`` says how good a warm start is.
    """
    columns, rows = work.columns, work.rows
    upper, lower, total = UNBOUNDED, 0.0, 0.0
    for e in range(n):
        total += columns.spent[e]
    if not first_point(information, n, m, warm, 0.3 * gap, 0.3 * gap * total / (n + m), work):
        return upper, lower, SINGULAR
    centring = 0.05
    for _ in range(limit):
        upper, lower = record_bounds(n, m, upper, lower, work)
        if upper - lower <= tolerance * upper:
            return upper, lower, SOLVED
        product = 0.0
        for e in range(n):
            product += columns.spent[e] * columns.slack[e]
        for j in range(m):
            product += rows.multiplier[j] * rows.slack[j]
        mu = centring * product / (n + m)
        slope = direction(n, m, mu, work)
        if not slope < 0.0:
            return upper, lower, SINGULAR
        length = min(
            longest_step(columns.slack_step, columns.slack, n),
            longest_step(rows.step, rows.multiplier, m),
        )
        moved = line_search(information, n, m, mu, slope, work)
        if moved == 0.0:
            return upper, lower, NO_DESCENT
        for j in range(m):
            rows.slack[j] = math.log(rows.told[j])
        keep_central(columns.spent, columns.slack, columns.slack_step, length, n, mu)
        keep_central(rows.slack, rows.multiplier, rows.step, length, m, mu)
        shortest = min(moved, length)
        floor = 0.05 if shortest < 0.95 else 0.01
        centring = min(0.9, max(floor, (1.0 - shortest) * (1.0 - shortest)))
    return upper, lower, STOPPED
