"""The way of each program of a batch to its solution, as a kernel; ``barrier`` says what they are.

Mehrotra's predictor and corrector from a strictly feasible point; a step is halved while it
makes the dual residual worse, since f is not quadratic.
"""

import math

from ossb.graves_lai.generic.cancel import BINDING, EVERY, cancel
from ossb.graves_lai.generic.course import (
    BEND,
    CHANGE,
    DUAL,
    DUAL_STEP,
    GRADIENT,
    OLD_DUAL,
    OLD_POINT,
    OLD_SLACK,
    POINT,
    RESIDUAL,
    SLACK,
    SLACK_STEP,
    SLOPE,
    STEP,
    TARGET,
    VALUE,
    Course,
)
from ossb.graves_lai.generic.curvature import factor_system, solve_system
from ossb.graves_lai.generic.terms import BERNOULLI, GAUSSIAN, bend_at, divergence_at, slope_at
from ossb.kernels import kernel, separate_kernel

_STEPS = 60
_CAREFUL = 25  # steps after which a program that is not done goes on with care
_CENTRAL = 0.3  # of the mean gap, that a careful step leaves at least
_SHORT = 0.7  # how far towards the nearest wall a careful step goes
_BACK = 0.995
# A gap that closes long before the residual leaves the point jammed between walls.  Where that
# happens a program begins again, and its gap keeps pace with the residual.
_JAMMED = 1e-3  # of the residual at the start, what is left of it by then
_PACE = 0.1  # of the residual, in lengths along which f changes by its value
_AHEAD = 10.0  # times the value at the start, by as much as the residual has become less
_HALVINGS = 6
_LOW_END = 1e-100
_HIGH_END = 1e-16


@kernel
def refresh(kind: int, precision: float, a: int, course: Course) -> float:
    """Derivatives and residual at the point; returns the residual's greatest entry."""
    moves, walls = course.moves, course.walls
    state, columns, rows = course.by_component, course.by_column, course.by_row
    lowest = -math.inf if kind == GAUSSIAN else _LOW_END
    highest = 1.0 - _HIGH_END if kind == BERNOULLI else math.inf
    for j in range(moves.shape[2]):
        columns[a, GRADIENT, j] = 0.0
    for k in range(moves.shape[1]):
        change = course.begin[a, k]
        for j in range(moves.shape[2]):
            change += moves[a, k, j] * columns[a, POINT, j]
        state[a, CHANGE, k] = change
        theta, load = course.truth[k], course.loads[a, k]
        # a mean at the very end of its space would give 0 · ∞
        mean = min(max(theta + change, lowest), highest)
        state[a, SLOPE, k] = load * slope_at(kind, precision, theta, mean)
        state[a, BEND, k] = load * bend_at(kind, precision, theta, mean)
        for j in range(moves.shape[2]):
            columns[a, GRADIENT, j] += state[a, SLOPE, k] * moves[a, k, j]
    for j in range(moves.shape[2]):
        columns[a, RESIDUAL, j] = columns[a, GRADIENT, j]
    for i in range(walls.shape[1]):
        for j in range(moves.shape[2]):
            columns[a, RESIDUAL, j] += rows[a, DUAL, i] * walls[a, i, j]
    greatest = 0.0
    for j in range(moves.shape[2]):
        size = abs(columns[a, RESIDUAL, j])
        if math.isnan(size):
            return size
        greatest = max(greatest, size)
    return greatest


@kernel
def value_of(kind: int, precision: float, a: int, course: Course) -> float:
    """f at the point."""
    total = 0.0
    for k in range(course.truth.shape[0]):
        if course.loads[a, k] > 0.0:
            theta = course.truth[k]
            mean = theta + course.by_component[a, CHANGE, k]
            if kind != GAUSSIAN:  # rounding may carry it out of its space
                mean = max(mean, 0.0)
            if kind == BERNOULLI:
                mean = min(mean, 1.0)
            total += course.loads[a, k] * divergence_at(kind, precision, theta, mean)
    return total


@kernel
def find_step(a: int, course: Course) -> float:
    """Newton's step for the targets; returns the longest one that keeps inside, at most 1/_BACK."""
    walls, columns, rows = course.walls, course.by_column, course.by_row
    n = columns.shape[2]
    for j in range(n):
        columns[a, STEP, j] = -columns[a, GRADIENT, j]
    for i in range(walls.shape[1]):
        pull = rows[a, TARGET, i] / rows[a, SLACK, i]
        if pull != 0.0:
            for j in range(n):
                columns[a, STEP, j] -= pull * walls[a, i, j]
    solve_system(a, course)
    shrink = _BACK
    for i in range(walls.shape[1]):
        step = 0.0
        for j in range(n):
            step -= walls[a, i, j] * columns[a, STEP, j]
        slack, dual = rows[a, SLACK, i], rows[a, DUAL, i]
        rows[a, SLACK_STEP, i] = step
        rows[a, DUAL_STEP, i] = (rows[a, TARGET, i] - dual * step) / slack - dual
        shrink = max(shrink, -step / slack, -rows[a, DUAL_STEP, i] / dual)
    return 1.0 / shrink


@kernel
def advance(
    kind: int, precision: float, a: int, floor: float, careful: bool, before: float, course: Course
) -> float:
    """One step; returns the greatest entry of the residual.

    The corrector can go round in circles: careful steps do without it, and keep off the walls.
    """
    columns, rows = course.by_column, course.by_row
    n, m = columns.shape[2], rows.shape[2]
    if not factor_system(a, DUAL, course):
        return before
    gap = 0.0
    for i in range(m):
        gap += rows[a, SLACK, i] * rows[a, DUAL, i]
        rows[a, TARGET, i] = 0.0
    mean_gap = gap / m
    length = find_step(a, course)
    ahead = 0.0
    for i in range(m):
        slack = rows[a, SLACK, i] + length * rows[a, SLACK_STEP, i]
        ahead += slack * (rows[a, DUAL, i] + length * rows[a, DUAL_STEP, i])
    centring = min(max(ahead / gap, 1e-4), 1.0)
    centring = centring * centring * centring
    # the corrector counts as far as the predictor could go: in full it may bounce between walls
    trust = min(length, 1.0) * min(length, 1.0)
    if careful:
        centring = max(centring, _CENTRAL)
        trust = 0.0
    middle = max(centring * mean_gap, floor)
    for i in range(m):
        corrector = trust * rows[a, SLACK_STEP, i] * rows[a, DUAL_STEP, i]
        rows[a, TARGET, i] = middle - corrector
    length = min(1.0, (_SHORT if careful else _BACK) * find_step(a, course))
    for j in range(n):
        columns[a, OLD_POINT, j] = columns[a, POINT, j]
    for i in range(m):
        rows[a, OLD_SLACK, i] = rows[a, SLACK, i]
        rows[a, OLD_DUAL, i] = rows[a, DUAL, i]
    allowed = 2.0 * before + 1e-3 * gap
    greatest = before
    for _ in range(_HALVINGS):
        for j in range(n):
            columns[a, POINT, j] = columns[a, OLD_POINT, j] + length * columns[a, STEP, j]
        for i in range(m):
            rows[a, SLACK, i] = rows[a, OLD_SLACK, i] + length * rows[a, SLACK_STEP, i]
            rows[a, DUAL, i] = rows[a, OLD_DUAL, i] + length * rows[a, DUAL_STEP, i]
        greatest = refresh(kind, precision, a, course)
        if greatest <= allowed:
            break
        length *= 0.5
    return greatest


@kernel
def set_out(kind: int, precision: float, a: int, course: Course) -> float:
    """Begin at the origin; returns the greatest entry of the residual."""
    rows = course.by_row
    m = rows.shape[2]
    for j in range(course.by_column.shape[2]):
        course.by_column[a, POINT, j] = 0.0
    for k in range(course.truth.shape[0]):
        course.by_component[a, CHANGE, k] = course.begin[a, k]
    value = value_of(kind, precision, a, course)
    for i in range(m):
        rows[a, SLACK, i] = course.clearance[a, i]
        rows[a, DUAL, i] = max(value / m / course.clearance[a, i], 1e-12)
    return refresh(kind, precision, a, course)


@kernel
def is_done(greatest: float, gap: float, value: float, tolerance: float) -> bool:
    """Whether the gap is small, and so is what the residual can cost: half its square."""
    small = greatest <= 0.1 * math.sqrt(tolerance * max(value, 0.0))
    return gap <= tolerance * value and small


@separate_kernel
def follow(kind: int, precision: float, tolerance: float, course: Course) -> None:
    """Bring every program of the batch to a relative gap, and its multipliers to cancel."""
    rows, state = course.by_row, course.by_component
    m = rows.shape[2]
    for a in range(rows.shape[0]):
        first = set_out(kind, precision, a, course)
        greatest, most = first, value_of(kind, precision, a, course)
        held, step = False, 0
        while step < _STEPS and course.halt[0] == 0:
            gap = 0.0
            for i in range(m):
                gap += rows[a, SLACK, i] * rows[a, DUAL, i]
            # half of slope times change is the value where f is quadratic; near the ends it may be
            # any number of times that, which the value at the start is not
            value = 0.0
            for k in range(state.shape[2]):
                value += 0.5 * state[a, SLOPE, k] * state[a, CHANGE, k]
            value = min(value, most)
            if is_done(greatest, gap, value, tolerance):
                value = min(value, value_of(kind, precision, a, course))
                if is_done(greatest, gap, value, tolerance):
                    break
            if step == _CAREFUL and not held and greatest > _JAMMED * first:
                held, step = True, 0
                greatest = set_out(kind, precision, a, course)
                continue
            # further down the barrier's terms would drown the curvature of f
            floor = 0.1 * tolerance * value / m
            if held:
                pace = min(_PACE * math.sqrt(most), _AHEAD * most / first)
                floor = max(floor, pace * greatest / m)
            careful = step >= _CAREFUL
            greatest = advance(kind, precision, a, floor, careful, greatest, course)
            step += 1
        if course.halt[0] != 0:
            break
        course.ends[a, VALUE] = value_of(kind, precision, a, course)
        cancel(a, EVERY, course)
        cancel(a, BINDING, course)
