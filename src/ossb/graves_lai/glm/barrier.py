"""An interior-point method for the working sets: a few arms to play against a few alternatives.

With v_z = η_z Δ_z: minimise Σ v subject to t_x(v) = log F_x(v) ≥ 0 and v ≥ 0.  log F_x is
concave, and exact at every iterate, so that the iterates stay strictly feasible.  With
multipliers q (of t) and s (of v), Newton's equations for v s = q t = μ read

    (W + s/v) dv − Gᵀ dq = Gᵀ q − 1 + μ/v,        G dv + (t/q) dq = μ/q − t,

where G_x = ∇ log F_x and W = −Σ q_x ∇² log F_x ⪰ 0, of rank at most r per alternative by
implicit differentiation of the most confusing parameter.  They are solved as they stand:
eliminating either block loses the last digits of the gap.  Both sides of the bound hold at
every iterate: Σ v / min F from above, Σ (q/F) / max_z Σ_x q_x G_xz from below.

Everything above the search for confusing parameters is compiled once for each function that
reaches it, so few functions do.
"""

import math

import numpy as np

from ossb.graves_lai.glm.dense import product, solve_lower, solve_pivoted
from ossb.graves_lai.glm.links import change_from, divergence_from
from ossb.graves_lai.glm.oracle import most_confusing, newton
from ossb.graves_lai.glm.space import (
    BEST_V,
    COLUMNS,
    COORDINATE,
    COST,
    DIRECTION,
    FACTOR,
    HELD,
    INDEX,
    MEAN,
    PUSH,
    RATE,
    REST,
    ROWS,
    SHARE,
    SIDE,
    STEP_Q,
    STEP_S,
    STEP_V,
    TOWARDS,
    TRIAL,
    TRIAL_T,
    TRIAL_V,
    WEIGHT,
    Q,
    S,
    Space,
    T,
    V,
)
from ossb.kernels import kernel, separate_kernel

_ITERATIONS = 80
_BACKTRACKS = 40
_BOUNDARY = 0.98
_SPREAD = 1e3  # complementary products are kept within this factor of μ


@kernel
def fill_system(link: int, n: int, m: int, rank: int, space: Space) -> bool:
    """W into the system, G below it, and the shares Σ_x q_x G_xz explained so far."""
    vectors, by_arm, lists, work, small, system = (
        space.vectors,
        space.by_arm,
        space.lists,
        space.work,
        space.small,
        space.system,
    )
    below = n + m + 1
    for j in range(n):
        work[SHARE, j] = 0.0
        work[RATE, j] = work[V, j] / by_arm[COST, lists[COLUMNS, j]]
        for k in range(n):
            system[j, k] = 0.0
    for i in range(m):
        arm = lists[ROWS, i]
        regular, _ = newton(link, DIRECTION, arm, n, rank, space)
        if not regular:
            return False
        length = product(small, SIDE, TOWARDS, SIDE, TOWARDS, rank)
        information = math.exp(work[T, i])
        root = 1.0 / math.sqrt(information)
        for j in range(n):
            other = lists[COLUMNS, j]
            index, here, off = by_arm[INDEX, other], by_arm[MEAN, other], by_arm[REST, other]
            cost = by_arm[COST, other]
            shift = product(vectors, DIRECTION, arm, COORDINATE, other, rank)
            own = divergence_from(link, index, here, off, shift) / (cost * information)
            system[below + i, j] = own
            work[SHARE, j] += work[Q, i] * own
            scale = root * change_from(link, index, here, off, shift) / cost
            for k in range(rank):
                vectors[PUSH, j, k] = scale * vectors[COORDINATE, other, k]
            solve_lower(small, FACTOR, vectors, PUSH, j, rank)
            along = 0.0
            for k in range(rank):
                along += vectors[PUSH, j, k] * small[SIDE, TOWARDS, k]
            along = along / length if length > 0.0 else 0.0
            for k in range(rank):
                vectors[PUSH, j, k] -= along * small[SIDE, TOWARDS, k]
            for k in range(j + 1):
                curved = own * system[below + i, k] + product(vectors, PUSH, j, PUSH, k, rank)
                system[j, k] += work[Q, i] * curved
    for j in range(n):
        for k in range(j):
            system[k, j] = system[j, k]
    return True


@kernel
def solve_newton(n: int, m: int, mu: float, space: Space) -> bool:
    """Solve Newton's equations for the steps of v, q and s."""
    work, system = space.work, space.system
    right = n + m
    for j in range(n):
        system[j, j] += work[S, j] / work[V, j]
        system[right, j] = work[SHARE, j] - 1.0 + mu / work[V, j]
        for i in range(m):
            system[j, n + i] = -system[right + 1 + i, j]
            system[n + i, j] = system[right + 1 + i, j]
    for i in range(m):
        for k in range(m):
            system[n + i, n + k] = 0.0
        system[n + i, n + i] = work[T, i] / work[Q, i]
        system[right, n + i] = mu / work[Q, i] - work[T, i]
    if not solve_pivoted(system, n + m, right):
        return False
    for j in range(n):
        work[STEP_V, j] = system[right, j]
        slack = work[S, j] / work[V, j]
        work[STEP_S, j] = mu / work[V, j] - work[S, j] - slack * work[STEP_V, j]
    for i in range(m):
        work[STEP_Q, i] = system[right, n + i]
    return True


@kernel
def longest(work: np.ndarray, values: int, steps: int, n: int) -> float:
    """Largest share of a step, up to 1, that keeps the values well positive."""
    share = 1.0
    for j in range(n):
        if work[steps, j] < 0.0:
            share = min(share, -_BOUNDARY * work[values, j] / work[steps, j])
    return share


@kernel
def merit(work: np.ndarray, values: int, logs: int, n: int, m: int, mu: float) -> float:
    """Σ v − μ Σ log v − μ Σ log t; +∞ outside."""
    total = 0.0
    for j in range(n):
        if not work[values, j] > 0.0:
            return math.inf
        total += work[values, j] - mu * math.log(work[values, j])
    for i in range(m):
        if not work[logs, i] > 0.0:
            return math.inf
        total -= mu * math.log(work[logs, i])
    return total


@kernel
def merit_slope(n: int, m: int, mu: float, space: Space) -> float:
    """Derivative of the merit along the step of v."""
    work = space.work
    slope = 0.0
    for j in range(n):
        pull = 1.0 - mu / work[V, j]
        for i in range(m):
            pull -= mu / work[T, i] * space.system[n + m + 1 + i, j]
        slope += pull * work[STEP_V, j]
    return slope


@kernel
def move_dual(n: int, m: int, mu: float, space: Space) -> float:
    """Step the multipliers, then keep every complementary product near μ."""
    work = space.work
    share = min(longest(work, S, STEP_S, n), longest(work, Q, STEP_Q, m))
    for j in range(n):
        middle = mu / work[V, j]
        moved = work[S, j] + share * work[STEP_S, j]
        work[S, j] = min(max(moved, middle / _SPREAD), middle * _SPREAD)
    for i in range(m):
        middle = mu / work[T, i]
        moved = work[Q, i] + share * work[STEP_Q, i]
        work[Q, i] = min(max(moved, middle / _SPREAD), middle * _SPREAD)
    return share


@kernel
def keep_bounds(
    n: int, m: int, upper: float, lower: float, rank: int, space: Space
) -> tuple[float, float]:
    """Both bounds at the iterate; what proves the best of each is kept."""
    vectors, work = space.vectors, space.work
    total = 0.0
    heaviest = 0.0
    for j in range(n):
        total += work[V, j]
        heaviest = max(heaviest, work[SHARE, j])
    smallest = math.inf
    weights = 0.0
    for i in range(m):
        smallest = min(smallest, work[T, i])
        weights += work[Q, i] / math.exp(work[T, i])
    least = math.exp(smallest)
    if total / least < upper:
        upper = total / least
        for j in range(n):
            work[BEST_V, j] = work[V, j] / least
    if heaviest > 0.0:
        if weights / heaviest > lower:
            lower = weights / heaviest
            for i in range(m):
                arm = space.lists[ROWS, i]
                work[WEIGHT, i] = work[Q, i] / (heaviest * math.exp(work[T, i]))
                for k in range(rank):
                    vectors[HELD, arm, k] = vectors[DIRECTION, arm, k]
    return upper, lower


@kernel
def start(n: int, m: int, gap: float, mu: float, least: float, space: Space) -> bool:
    """Scale v into the interior and choose q; μ = 0 asks for a start from nothing."""
    work = space.work
    scale = 1.0
    if mu == 0.0:
        scale = 1.5 / least
    elif least <= 1.0 + 0.1 * gap:
        scale = (1.0 + 0.3 * gap) / least
    for j in range(n):
        work[V, j] *= scale
    for i in range(m):
        work[T, i] += math.log(scale)
        if not work[T, i] > 0.0:
            return False
        if mu == 0.0:
            work[Q, i] = 1.0 / work[T, i]
        else:
            work[Q, i] = max(work[Q, i], mu / work[T, i])
    return True


@kernel
def start_slacks(n: int, m: int, mu: float, space: Space) -> None:
    """Choose s, and scale q with it where the start is from nothing."""
    work = space.work
    heaviest = 0.0
    for j in range(n):
        heaviest = max(heaviest, work[SHARE, j])
    if mu == 0.0 and heaviest > 0.0:
        for i in range(m):
            work[Q, i] *= 0.5 / heaviest
        for j in range(n):
            work[SHARE, j] *= 0.5 / heaviest
            for k in range(n):
                space.system[j, k] *= 0.5 / heaviest
    for j in range(n):
        work[S, j] = max(1.0 - work[SHARE, j], mu / work[V, j])


@kernel
def inform(
    link: int, values: int, logs: int, which: int, n: int, m: int, rank: int, space: Space
) -> float:
    """log F_x at v in work[values] for every working row; returns the least F, −1 if one fails."""
    vectors, lists, work = space.vectors, space.lists, space.work
    for j in range(n):
        rate = work[values, j] / space.by_arm[COST, lists[COLUMNS, j]]
        work[RATE, j] = rate
    least = math.inf
    for i in range(m):
        arm = lists[ROWS, i]
        if which == TRIAL:
            for k in range(rank):
                vectors[TRIAL, arm, k] = vectors[DIRECTION, arm, k]
        found = most_confusing(link, which, arm, math.inf, n, rank, space)
        if not 0.0 < found < math.inf:
            return -1.0
        work[logs, i] = math.log(found)
        least = min(least, found)
    return least


@kernel
def accept(n: int, m: int, rank: int, space: Space) -> None:
    """Make the trial point the iterate."""
    vectors, work = space.vectors, space.work
    for j in range(n):
        work[V, j] = work[TRIAL_V, j]
    for i in range(m):
        arm = space.lists[ROWS, i]
        work[T, i] = work[TRIAL_T, i]
        for k in range(rank):
            vectors[DIRECTION, arm, k] = vectors[TRIAL, arm, k]


@separate_kernel
def minimize(
    link: int, n: int, m: int, target: float, gap: float, begin: float, rank: int, space: Space
) -> tuple[float, float]:
    """To a relative gap on the working sets; returns upper and lower bound there, ∞ and 0 at worst.

    v (and q, where ``begin``, the first μ, is not 0) hold the start, off by about ``gap``.
    """
    work = space.work
    upper = math.inf
    lower = 0.0
    least = inform(link, V, T, DIRECTION, n, m, rank, space)
    if not least > 0.0:
        return upper, lower
    if not start(n, m, gap, begin, least, space):
        return upper, lower
    sigma = 0.1
    stuck = 0
    for iteration in range(_ITERATIONS):
        if not fill_system(link, n, m, rank, space):
            break
        if iteration == 0:
            start_slacks(n, m, begin, space)
        upper, lower = keep_bounds(n, m, upper, lower, rank, space)
        if upper - lower <= target * upper:
            break
        mu = 0.0
        for j in range(n):
            mu += work[V, j] * work[S, j]
        for i in range(m):
            mu += work[Q, i] * work[T, i]
        mu *= sigma / (n + m)
        if not mu > 0.0:
            break
        if not solve_newton(n, m, mu, space):
            break
        slope = merit_slope(n, m, mu, space)
        before = merit(work, V, T, n, m, mu)
        length = longest(work, V, STEP_V, n)
        share = 0.0
        for _ in range(_BACKTRACKS):
            for j in range(n):
                work[TRIAL_V, j] = work[V, j] + length * work[STEP_V, j]
            least = inform(link, TRIAL_V, TRIAL_T, TRIAL, n, m, rank, space)
            if least > 1.0:
                allowed = before + 1e-4 * length * slope + 1e-13 * abs(before)
                if merit(work, TRIAL_V, TRIAL_T, n, m, mu) <= allowed:
                    accept(n, m, rank, space)
                    share = length
                    break
            length *= 0.6
        stuck = 0 if share > 0.0 else stuck + 1
        if stuck > 2:
            break
        share = min(share, move_dual(n, m, mu, space))
        floor = 0.01 if share >= 0.95 else 0.05
        sigma = min(0.9, max(floor, (1.0 - share) * (1.0 - share)))
    return upper, lower
