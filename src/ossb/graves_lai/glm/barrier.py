"""An interior-point method for the working sets: a few arms to play against a few alternatives.

With v_z = η_z Δ_z: minimise Σ v subject to t_x(v) = log F_x(v) ≥ 0 and v ≥ 0.  log F_x is
concave, and exact at every iterate, so that the iterates stay strictly feasible.  With
multipliers q (of t) and s (of v), Newton's equations for v s = q t = μ read

    (W + s/v) dv − Gᵀ dq = Gᵀ q − 1 + μ/v,        G dv + (t/q) dq = μ/q − t,

where G_x = ∇ log F_x and W = −Σ q_x ∇² log F_x ⪰ 0, of rank at most r per alternative by
implicit differentiation of the most confusing parameter.  They are solved as they stand:
eliminating either block loses the last digits of the gap.  Both sides of the bound hold at
every iterate: Σ v / min F from above, Σ (q/F) / max_z Σ_x q_x G_xz from below.
"""

import math

import numpy as np

from ossb.graves_lai.glm.dense import product, solve_lower, solve_pivoted
from ossb.graves_lai.glm.links import change, divergence
from ossb.graves_lai.glm.oracle import fill_newton, most_confusing
from ossb.graves_lai.glm.space import (
    BEST_V,
    COLUMNS,
    COST,
    CURVATURE,
    INDEX,
    PLAIN,
    Q,
    ROWS,
    S,
    SHARE,
    STEP_Q,
    STEP_S,
    STEP_V,
    T,
    TOWARDS,
    TRIAL_T,
    TRIAL_V,
    V,
    WEIGHT,
    Space,
)
from ossb.kernels import kernel

_ITERATIONS = 80
_BACKTRACKS = 40
_BOUNDARY = 0.98
_SPREAD = 1e3  # complementary products are kept within this factor of μ


@kernel
def inform(
    link: int, n: int, m: int, values: np.ndarray, directions: np.ndarray, rank: int,
    space: Space, out: np.ndarray,
) -> float:  # fmt: skip
    """log F_x at ``values`` for every working row; returns the least F, −1 if one fails."""
    columns = space.lists[COLUMNS]
    rates = space.by_column[PLAIN]
    for j in range(n):
        rates[j] = values[j] / space.by_arm[COST, columns[j]]
    least = math.inf
    for i in range(m):
        arm = space.lists[ROWS, i]
        found = most_confusing(
            link, columns, n, rates, arm, math.inf, directions[arm], rank, space
        )
        if not 0.0 < found < math.inf:
            return -1.0
        out[i] = math.log(found)
        least = min(least, found)
    return least


@kernel
def fill_row(link: int, i: int, n: int, rank: int, space: Space) -> bool:
    """Gradient of log F for row i, and the pushes whose products give its second derivative."""
    columns = space.lists[COLUMNS]
    arm = space.lists[ROWS, i]
    rates = space.by_column[PLAIN]
    direction = space.directions[arm]
    if not fill_newton(link, columns, n, rates, direction, rank, space):
        return False
    square = space.squares[CURVATURE]
    towards = space.vectors[TOWARDS]
    for k in range(rank):
        towards[k] = space.coordinates[arm, k]
    solve_lower(square, towards, rank)
    length = product(towards, towards, rank)
    information = math.exp(space.by_row[T, i])
    root = 1.0 / math.sqrt(information)
    for j in range(n):
        other = columns[j]
        at = space.coordinates[other]
        index = space.by_arm[INDEX, other]
        shift = product(direction, at, rank)
        cost = space.by_arm[COST, other]
        space.gradient[i, j] = divergence(link, index, shift) / (cost * information)
        push = space.pushes[j]
        scale = root * change(link, index, shift) / cost
        for k in range(rank):
            push[k] = scale * at[k]
        solve_lower(square, push, rank)
        along = product(push, towards, rank) / length if length > 0.0 else 0.0
        for k in range(rank):
            push[k] -= along * towards[k]
    return True


@kernel
def fill_system(link: int, n: int, m: int, rank: int, space: Space) -> bool:
    """W and G, into the system and the gradient; the shares Σ_x q_x G_xz explained so far."""
    columns = space.lists[COLUMNS]
    system = space.system
    share = space.by_column[SHARE]
    for j in range(n):
        share[j] = 0.0
        space.by_column[PLAIN, j] = space.by_column[V, j] / space.by_arm[COST, columns[j]]
        for k in range(n):
            system[j, k] = 0.0
    for i in range(m):
        if not fill_row(link, i, n, rank, space):
            return False
        q = space.by_row[Q, i]
        for j in range(n):
            own = space.gradient[i, j]
            share[j] += q * own
            push = space.pushes[j]
            for k in range(j + 1):
                curved = own * space.gradient[i, k] + product(push, space.pushes[k], rank)
                system[j, k] += q * curved
    for j in range(n):
        for k in range(j):
            system[k, j] = system[j, k]
    return True


@kernel
def newton_step(n: int, m: int, mu: float, space: Space) -> bool:
    """Solve Newton's equations for the steps of v, q and s."""
    system = space.system
    right = space.solution
    v, s = space.by_column[V], space.by_column[S]
    q, t = space.by_row[Q], space.by_row[T]
    for j in range(n):
        system[j, j] += s[j] / v[j]
        right[j] = space.by_column[SHARE, j] - 1.0 + mu / v[j]
        for i in range(m):
            system[j, n + i] = -space.gradient[i, j]
            system[n + i, j] = space.gradient[i, j]
    for i in range(m):
        for k in range(m):
            system[n + i, n + k] = 0.0
        system[n + i, n + i] = t[i] / q[i]
        right[n + i] = mu / q[i] - t[i]
    if not solve_pivoted(system, right, n + m):
        return False
    for j in range(n):
        space.by_column[STEP_V, j] = right[j]
        space.by_column[STEP_S, j] = mu / v[j] - s[j] - s[j] / v[j] * right[j]
    for i in range(m):
        space.by_row[STEP_Q, i] = right[n + i]
    return True


@kernel
def longest(values: np.ndarray, steps: np.ndarray, n: int) -> float:
    """Largest share of a step, up to 1, that keeps the values well positive."""
    share = 1.0
    for j in range(n):
        if steps[j] < 0.0:
            share = min(share, -_BOUNDARY * values[j] / steps[j])
    return share


@kernel
def merit(values: np.ndarray, logs: np.ndarray, n: int, m: int, mu: float) -> float:
    """Σ v − μ Σ log v − μ Σ log t; +∞ outside."""
    total = 0.0
    for j in range(n):
        if not values[j] > 0.0:
            return math.inf
        total += values[j] - mu * math.log(values[j])
    for i in range(m):
        if not logs[i] > 0.0:
            return math.inf
        total -= mu * math.log(logs[i])
    return total


@kernel
def search_line(link: int, n: int, m: int, mu: float, rank: int, space: Space) -> float:
    """Move v as far along its step as the merit falls; returns the share of the step taken."""
    v, trial = space.by_column[V], space.by_column[TRIAL_V]
    t, logs = space.by_row[T], space.by_row[TRIAL_T]
    slope = 0.0
    for j in range(n):
        pull = 1.0 - mu / v[j]
        for i in range(m):
            pull -= mu / t[i] * space.gradient[i, j]
        slope += pull * space.by_column[STEP_V, j]
    start = merit(v, t, n, m, mu)
    slack = 1e-13 * abs(start)
    length = longest(v, space.by_column[STEP_V], n)
    for _ in range(_BACKTRACKS):
        for j in range(n):
            trial[j] = v[j] + length * space.by_column[STEP_V, j]
        for i in range(m):
            arm = space.lists[ROWS, i]
            for k in range(rank):
                space.trial[arm, k] = space.directions[arm, k]
        least = inform(link, n, m, trial, space.trial, rank, space, logs)
        if least > 1.0:
            if merit(trial, logs, n, m, mu) <= start + 1e-4 * length * slope + slack:
                accept(n, m, rank, space)
                return length
        length *= 0.6
    return 0.0


@kernel
def accept(n: int, m: int, rank: int, space: Space) -> None:
    """Make the trial point the iterate."""
    for j in range(n):
        space.by_column[V, j] = space.by_column[TRIAL_V, j]
    for i in range(m):
        arm = space.lists[ROWS, i]
        space.by_row[T, i] = space.by_row[TRIAL_T, i]
        for k in range(rank):
            space.directions[arm, k] = space.trial[arm, k]


@kernel
def move_dual(n: int, m: int, mu: float, space: Space) -> float:
    """Step the multipliers, then keep every complementary product near μ."""
    s, q = space.by_column[S], space.by_row[Q]
    share = min(
        longest(s, space.by_column[STEP_S], n),
        longest(q, space.by_row[STEP_Q], m),
    )
    for j in range(n):
        s[j] += share * space.by_column[STEP_S, j]
        middle = mu / space.by_column[V, j]
        s[j] = min(max(s[j], middle / _SPREAD), middle * _SPREAD)
    for i in range(m):
        q[i] += share * space.by_row[STEP_Q, i]
        middle = mu / space.by_row[T, i]
        q[i] = min(max(q[i], middle / _SPREAD), middle * _SPREAD)
    return share


@kernel
def keep_bounds(
    n: int, m: int, least: float, upper: float, lower: float, rank: int, space: Space
) -> tuple[float, float]:
    """Both bounds at the iterate; what proves the best of each is kept."""
    total = 0.0
    heaviest = 0.0
    for j in range(n):
        total += space.by_column[V, j]
        heaviest = max(heaviest, space.by_column[SHARE, j])
    if total / least < upper:
        upper = total / least
        for j in range(n):
            space.by_column[BEST_V, j] = space.by_column[V, j] / least
    weights = 0.0
    for i in range(m):
        weights += space.by_row[Q, i] / math.exp(space.by_row[T, i])
    if heaviest > 0.0:
        if weights / heaviest > lower:
            lower = weights / heaviest
            for i in range(m):
                arm = space.lists[ROWS, i]
                scale = heaviest * math.exp(space.by_row[T, i])
                space.by_row[WEIGHT, i] = space.by_row[Q, i] / scale
                for k in range(rank):
                    space.held[arm, k] = space.directions[arm, k]
    return upper, lower


@kernel
def start_cold(link: int, n: int, m: int, rank: int, space: Space) -> bool:
    """A strictly feasible start with v from the caller, and multipliers to match."""
    v = space.by_column[V]
    least = inform(link, n, m, v, space.directions, rank, space, space.by_row[T])
    if not least > 0.0:
        return False
    for j in range(n):
        v[j] *= 1.5 / least
    for i in range(m):
        space.by_row[T, i] += math.log(1.5 / least)
        space.by_row[Q, i] = 1.0 / space.by_row[T, i]
    if not fill_system(link, n, m, rank, space):
        return False
    heaviest = 0.0
    for j in range(n):
        heaviest = max(heaviest, space.by_column[SHARE, j])
    if not heaviest > 0.0:
        return False
    for i in range(m):
        space.by_row[Q, i] *= 0.5 / heaviest
    for j in range(n):
        space.by_column[S, j] = 1.0 - 0.5 * space.by_column[SHARE, j] / heaviest
    return True


@kernel
def start_warm(
    link: int, n: int, m: int, gap: float, mu: float, rank: int, space: Space
) -> bool:
    """A start from v and q near the optimum, pushed off the boundary as far as the gap asks."""
    v = space.by_column[V]
    least = inform(link, n, m, v, space.directions, rank, space, space.by_row[T])
    if not least > 0.0:
        return False
    if least <= 1.0 + 0.1 * gap:
        scale = (1.0 + 0.3 * gap) / least
        for j in range(n):
            v[j] *= scale
        for i in range(m):
            space.by_row[T, i] += math.log(scale)
    for i in range(m):
        if not space.by_row[T, i] > 0.0:
            return False
        space.by_row[Q, i] = max(space.by_row[Q, i], mu / space.by_row[T, i])
    if not fill_system(link, n, m, rank, space):
        return False
    for j in range(n):
        space.by_column[S, j] = max(1.0 - space.by_column[SHARE, j], mu / v[j])
    return True


@kernel
def complementarity(n: int, m: int, space: Space) -> float:
    """Mean of v s and q t."""
    total = 0.0
    for j in range(n):
        total += space.by_column[V, j] * space.by_column[S, j]
    for i in range(m):
        total += space.by_row[Q, i] * space.by_row[T, i]
    return total / (n + m)


@kernel
def minimize(
    link: int, n: int, m: int, gap: float, rank: int, space: Space
) -> tuple[float, float]:
    """From a start, to a relative gap on the working sets; returns upper and lower bound there."""
    upper = math.inf
    lower = 0.0
    sigma = 0.1
    stuck = 0
    for _ in range(_ITERATIONS):
        if not fill_system(link, n, m, rank, space):
            break
        least = math.inf
        for i in range(m):
            least = min(least, space.by_row[T, i])
        upper, lower = keep_bounds(n, m, math.exp(least), upper, lower, rank, space)
        if upper - lower <= gap * upper:
            break
        mu = sigma * complementarity(n, m, space)
        if not mu > 0.0:
            break
        if not newton_step(n, m, mu, space):
            break
        primal = search_line(link, n, m, mu, rank, space)
        dual = move_dual(n, m, mu, space)
        share = min(primal, dual)
        if share >= 0.95:
            sigma = max(0.01, (1.0 - share) * (1.0 - share))
        else:
            sigma = min(0.9, max(0.05, (1.0 - share) * (1.0 - share)))
        if primal > 0.0:
            stuck = 0
        else:
            stuck += 1
            if stuck > 2:
                break
    return upper, lower


