"""The arrays one interior-point solve works in, allocated once and passed around.

Vectors that belong together are the rows of one array, named by the constants below: numba
compiles a record of a few arrays several times faster than one of forty.
"""

from typing import NamedTuple

import numpy as np

from ossb.records import Flags, Floats, Ints, record

# by_column: rate times gap, its dual slack, the information the arm collects (at most 1 at
# the optimum), the best feasible v, steps and scratch
V, S, COST, BEST_V, STEP_V, STEP_S, SHARE, RIGHT, COLUMN_WORK, TRIAL_V = range(10)
# by_row: what the items of an alternative must gain in total, its multiplier, log information
# and item multiplier, its weight in the best lower bound, steps and scratch
NEED, Q, T, TAU, BEST_Y, STEP_Q, ROW_WORK, TRIAL_T, TRIAL_TAU = range(9)
# by_item: means, weights, Σ q G, the weights that belong to best_y, steps and scratch
MEANS, W, PULL, BOUND_W, STEP_W, TRIAL_W, FORCE, ALL_ROWS, INACTIVE, BARRIER = range(10)
# by_row_item: membership of the alternatives, gradient and curvature of log F
MEMBER, GRADIENT, RANK_ONE, DIAGONAL = range(4)
CURVATURE, SPREAD = range(2)  # squares
COLUMNS, ROWS = range(2)  # active


@record
class Workspace(NamedTuple):
    """Arrays for up to p items, n columns (arms to play) and m rows (alternatives)."""

    columns: Floats  # (p, n) membership / gap of the arms that may be played
    by_column: Floats  # (10, n)
    by_row: Floats  # (9, m)
    by_item: Floats  # (10, p)
    by_row_item: Floats  # (4, p, m)
    squares: Floats  # (2, p, p)
    active: Ints  # (2, 2p + 2)
    is_active: Flags  # (2, max(n, m))
    system: Floats  # (6p + 4, 6p + 4)
    solution: Floats  # (6p + 4,)


def workspace(p: int, n: int, m: int) -> Workspace:
    """A workspace for p items, at most n columns and at most m rows."""
    limit = 2 * p + 2
    return Workspace(
        columns=np.zeros((p, n)),
        by_column=np.zeros((10, n)),
        by_row=np.ones((9, m)),
        by_item=np.zeros((10, p)),
        by_row_item=np.zeros((4, p, m)),
        squares=np.zeros((2, p, p)),
        active=np.zeros((2, limit), np.int64),
        is_active=np.zeros((2, max(n, m)), np.bool_),
        system=np.zeros((6 * p + 4, 6 * p + 4)),
        solution=np.zeros(6 * p + 4),
    )
