"""Multipliers of a solution changed a little so that they cancel, as a kernel.

Any slopes and multipliers u ≥ 0 with mean_mapᵀ slopes + rowsᵀ u = 0 prove a lower bound of the
program (weak duality); those at which an interior-point method ends cancel up to its tolerance
only.  The change made here is the least one, measured by the curvatures of f and of the barrier:
the matrix of Newton's step gives it.  It is made in two ways, with all rows, and without the rows
that do not bind, whose small multipliers may pull along directions in which nothing else holds.
What each comes to is written down, not promised; ``dual_proof`` has a slower way.
"""

import math

from ossb.graves_lai.generic.iterate import Iterate
from ossb.graves_lai.generic.newton import factor_system, solve_system
from ossb.kernels import kernel

EVERY, BINDING = 0, 1  # the two ways
BINDS = 1e-2  # of its slack, what a multiplier is at least where its row binds
_REFINED = 4  # each refinement takes off what rounding left of the one before


@kernel
def repair(p: Iterate, way: int) -> None:
    """Write down repaired multipliers, what they spend, and how far they are from cancelling."""
    slopes, duals = p.repaired_slopes[way], p.repaired_duals[way]
    for k in range(slopes.shape[0]):
        slopes[k] = p.slopes[k]
    for i in range(duals.shape[0]):
        counts = way == EVERY or p.dual[i] > BINDS * p.slack[i]
        p.old_dual[i] = p.dual[i] if counts else 0.0
        duals[i] = p.old_dual[i]
    p.off[way] = math.inf
    if not factor_system(p, p.old_dual):
        return
    for _ in range(_REFINED):
        leave_residual(p, way)
        solve_system(p)
        spread_change(p, way)
    p.off[way] = leave_residual(p, way)
    spent = 0.0
    for k in range(slopes.shape[0]):
        spent -= slopes[k] * p.offset[k]
    for i in range(duals.shape[0]):
        spent += duals[i] * p.limits[i]
    p.spent[way] = spent


@kernel
def leave_residual(p: Iterate, way: int) -> float:
    """Put what does not cancel, negated, into ``step``; return how large, of what is summed."""
    greatest, most = 0.0, 0.0
    for j in range(p.step.shape[0]):
        left, size = 0.0, 0.0
        for k in range(p.mean_map.shape[0]):
            part = p.repaired_slopes[way, k] * p.mean_map[k, j]
            left, size = left + part, size + abs(part)
        for i in range(p.rows.shape[0]):
            part = p.repaired_duals[way, i] * p.rows[i, j]
            left, size = left + part, size + abs(part)
        p.step[j] = -left
        if math.isnan(left):
            return math.inf
        greatest, most = max(greatest, abs(left)), max(most, size)
    return greatest / most if most > 0.0 else 0.0


@kernel
def spread_change(p: Iterate, way: int) -> None:
    """Change slopes and multipliers by a step; no multiplier goes below 0."""
    for k in range(p.mean_map.shape[0]):
        along = 0.0
        for j in range(p.step.shape[0]):
            along += p.mean_map[k, j] * p.step[j]
        p.repaired_slopes[way, k] += p.curvatures[k] * along
    for i in range(p.rows.shape[0]):
        along = 0.0
        for j in range(p.step.shape[0]):
            along += p.rows[i, j] * p.step[j]
        changed = p.repaired_duals[way, i] + p.old_dual[i] / p.slack[i] * along
        p.repaired_duals[way, i] = max(changed, 0.0)
