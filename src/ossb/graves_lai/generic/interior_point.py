"""Many small convex programs, each by a primal–dual interior-point method, as a kernel.

The programs are those of ``iterate``.  Mehrotra's predictor and corrector from a strictly feasible
point, the origin; a step is halved while it makes the dual residual worse, since f is not
quadratic.
"""

import math

import numpy as np

from ossb.graves_lai.generic.divergence_kernels import (
    BERNOULLI,
    GAUSSIAN,
    bend_at,
    divergence_at,
    slope_at,
)
from ossb.graves_lai.generic.dual_repair import BINDING, EVERY, repair
from ossb.graves_lai.generic.iterate import BatchIterate, Iterate, program_of
from ossb.graves_lai.generic.newton import factor_system, solve_system
from ossb.kernels import kernel, separate_kernel

_STEPS = 60
_PATIENCE = 150  # steps of a program that begins again for a proof
_CAREFUL = 25  # steps after which a program that is not done goes on with care
_CENTRAL = 0.3  # of the mean gap, that a careful step leaves at least
_SHORT = 0.7  # how far towards the nearest wall a careful step goes
_BACK = 0.995
# A gap that closes long before the residual leaves the point jammed between walls.  Where that
# happens, or, for a proof, where all steps are taken, a program begins again, and its gap keeps
# pace with the residual.
_JAMMED = 1e-3  # of the residual at the start, what is left of it by then
_PACE = 0.1  # of the residual, in lengths along which f changes by its value
_AHEAD = 10.0  # times the value at the start, by as much as the residual has become less
_HALVINGS = 6
_LOW_END = 1e-100
_HIGH_END = 1e-16


@kernel
def refresh(kind: int, precision: float, p: Iterate) -> float:
    """Derivatives and residual at the point; returns the residual's greatest entry."""
    mean_map, rows, n = p.mean_map, p.rows, p.point.shape[0]
    lowest = -math.inf if kind == GAUSSIAN else _LOW_END
    highest = 1.0 - _HIGH_END if kind == BERNOULLI else math.inf
    for j in range(n):
        p.gradient[j] = 0.0
    for k in range(mean_map.shape[0]):
        change = p.offset[k]
        for j in range(n):
            change += mean_map[k, j] * p.point[j]
        p.change[k] = change
        theta, load = p.theta[k], p.loads[k]
        # a mean at the very end of its space would give 0 · ∞
        mean = min(max(theta + change, lowest), highest)
        p.slopes[k] = load * slope_at(kind, precision, theta, mean)
        p.curvatures[k] = load * bend_at(kind, precision, theta, mean)
        for j in range(n):
            p.gradient[j] += p.slopes[k] * mean_map[k, j]
    for j in range(n):
        p.residual[j] = p.gradient[j]
    for i in range(rows.shape[0]):
        for j in range(n):
            p.residual[j] += p.dual[i] * rows[i, j]
    greatest = 0.0
    for j in range(n):
        size = abs(p.residual[j])
        if math.isnan(size):
            return size
        greatest = max(greatest, size)
    return greatest


@kernel
def value_of(kind: int, precision: float, p: Iterate) -> float:
    """f at the point."""
    total = 0.0
    for k in range(p.theta.shape[0]):
        if p.loads[k] > 0.0:
            theta = p.theta[k]
            mean = theta + p.change[k]
            if kind != GAUSSIAN:  # rounding may carry it out of its space
                mean = max(mean, 0.0)
            if kind == BERNOULLI:
                mean = min(mean, 1.0)
            total += p.loads[k] * divergence_at(kind, precision, theta, mean)
    return total


@kernel
def gap_of(p: Iterate) -> float:
    """Slacks times multipliers: how far f is from its least value where the residual is 0."""
    gap = 0.0
    for i in range(p.slack.shape[0]):
        gap += p.slack[i] * p.dual[i]
    return gap


@kernel
def find_step(p: Iterate) -> float:
    """Newton's step for the targets; returns the longest one that keeps inside, at most 1/_BACK."""
    rows, n = p.rows, p.step.shape[0]
    for j in range(n):
        p.step[j] = -p.gradient[j]
    for i in range(rows.shape[0]):
        pull = p.targets[i] / p.slack[i]
        if pull != 0.0:
            for j in range(n):
                p.step[j] -= pull * rows[i, j]
    solve_system(p)
    shrink = _BACK
    for i in range(rows.shape[0]):
        step = 0.0
        for j in range(n):
            step -= rows[i, j] * p.step[j]
        slack, dual = p.slack[i], p.dual[i]
        p.slack_step[i] = step
        p.dual_step[i] = (p.targets[i] - dual * step) / slack - dual
        shrink = max(shrink, -step / slack, -p.dual_step[i] / dual)
    return 1.0 / shrink


@kernel
def advance(
    kind: int, precision: float, floor: float, careful: bool, before: float, p: Iterate
) -> float:
    """One step; returns the greatest entry of the residual.

    The corrector can go round in circles: careful steps do without it, and keep off the walls.
    """
    n, m = p.point.shape[0], p.slack.shape[0]
    if not factor_system(p, p.dual):
        return before
    gap = gap_of(p)
    for i in range(m):
        p.targets[i] = 0.0
    mean_gap = gap / m
    length = find_step(p)
    ahead = 0.0
    for i in range(m):
        slack = p.slack[i] + length * p.slack_step[i]
        ahead += slack * (p.dual[i] + length * p.dual_step[i])
    centring = min(max(ahead / gap, 1e-4), 1.0)
    centring = centring * centring * centring
    # the corrector counts as far as the predictor could go: in full it may bounce between walls
    trust = min(length, 1.0) * min(length, 1.0)
    if careful:
        centring = max(centring, _CENTRAL)
        trust = 0.0
    middle = max(centring * mean_gap, floor)
    for i in range(m):
        corrector = trust * p.slack_step[i] * p.dual_step[i]
        p.targets[i] = middle - corrector
    length = min(1.0, (_SHORT if careful else _BACK) * find_step(p))
    for j in range(n):
        p.old_point[j] = p.point[j]
    for i in range(m):
        p.old_slack[i] = p.slack[i]
        p.old_dual[i] = p.dual[i]
    allowed = 2.0 * before + 1e-3 * gap
    greatest = before
    for _ in range(_HALVINGS):
        for j in range(n):
            p.point[j] = p.old_point[j] + length * p.step[j]
        for i in range(m):
            p.slack[i] = p.old_slack[i] + length * p.slack_step[i]
            p.dual[i] = p.old_dual[i] + length * p.dual_step[i]
        greatest = refresh(kind, precision, p)
        if greatest <= allowed:
            break
        length *= 0.5
    return greatest


@kernel
def begin(kind: int, precision: float, p: Iterate) -> float:
    """Go to the origin; returns the greatest entry of the residual there."""
    m = p.slack.shape[0]
    for j in range(p.point.shape[0]):
        p.point[j] = 0.0
    for k in range(p.theta.shape[0]):
        p.change[k] = p.offset[k]
    value = value_of(kind, precision, p)
    for i in range(m):
        p.slack[i] = p.limits[i]
        p.dual[i] = max(value / m / p.limits[i], 1e-12)
    return refresh(kind, precision, p)


@kernel
def is_done(greatest: float, gap: float, value: float, tolerance: float) -> bool:
    """Whether the gap is small, and so is what the residual can cost: half its square."""
    small = greatest <= 0.1 * math.sqrt(tolerance * max(value, 0.0))
    return gap <= tolerance * value and small


@kernel
def solve_one(
    kind: int, precision: float, tolerance: float, patient: bool, halt: np.ndarray, p: Iterate
) -> None:
    """Bring one program to a relative gap, unless told to end."""
    m = p.slack.shape[0]
    first = begin(kind, precision, p)
    greatest, most = first, value_of(kind, precision, p)
    held, step, steps = False, 0, _STEPS
    while step < steps and halt[0] == 0:
        gap = gap_of(p)
        # half of slope times change is the value where f is quadratic; near the ends it may be
        # any number of times that, which the value at the start is not
        value = 0.0
        for k in range(p.slopes.shape[0]):
            value += 0.5 * p.slopes[k] * p.change[k]
        value = min(value, most)
        if is_done(greatest, gap, value, tolerance):
            value = min(value, value_of(kind, precision, p))
            if is_done(greatest, gap, value, tolerance):
                break
        jammed = step == _CAREFUL and greatest > _JAMMED * first
        spent = patient and step == _STEPS - 1
        if not held and (jammed or spent):
            held, step = True, 0
            steps = _PATIENCE if patient else _STEPS
            greatest = begin(kind, precision, p)
            continue
        # further down the barrier's terms would drown the curvature of f
        floor = 0.1 * tolerance * value / m
        if held:
            pace = min(_PACE * math.sqrt(most), _AHEAD * most / first)
            floor = max(floor, pace * greatest / m)
        careful = step >= _CAREFUL
        greatest = advance(kind, precision, floor, careful, greatest, p)
        step += 1


@separate_kernel
def solve_batch(
    kind: int, precision: float, tolerance: float, patient: bool, batch: BatchIterate
) -> None:
    """Bring every program of the batch to a relative gap, and its multipliers to cancel.

    A proof is ``patient``.  A policy is not: it plays as well by what it has, and where it gave up
    at one estimate and not at its mirror image, rounding would decide what it plays.
    """
    for a in range(batch.rows.shape[0]):
        p = program_of(batch, a)
        solve_one(kind, precision, tolerance, patient, batch.halt, p)
        if batch.halt[0] != 0:
            break
        p.least[0] = value_of(kind, precision, p)
        repair(p, EVERY)
        repair(p, BINDING)
