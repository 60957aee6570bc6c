"""Programs of a batch, and where each of them is on its way; ``barrier`` says what they are."""

from typing import NamedTuple

import numpy as np

from ossb.records import Floats, Ints, record

# by_component: change of the mean from θ, w φ′, w φ″, and w φ′ changed in two ways to cancel
CHANGE, SLOPE, BEND, EVEN_SLOPE = range(4)
# by_row: slack and multiplier, their steps, where these began, what their products are to be,
# and multipliers changed in two ways to cancel
SLACK, DUAL, SLACK_STEP, DUAL_STEP, OLD_SLACK, OLD_DUAL, TARGET, EVEN_DUAL = range(8)
# by_column: the point, its step, where it began, ∇f and the residual, the matrix's own units
POINT, STEP, OLD_POINT, GRADIENT, RESIDUAL, SCALE = range(6)
# ends: f, and of either way what it spends and how far it is from cancelling
VALUE, SPENT, OFF = 0, 1, 3


@record
class Course(NamedTuple):
    """Programs with the batch as first axis, and where each of them is."""

    truth: Floats  # (C,) θ
    loads: Floats  # (a, C) w
    begin: Floats  # (a, C)
    moves: Floats  # (a, C, r)
    walls: Floats  # (a, m, r)
    clearance: Floats  # (a, m)
    anchor: Floats  # (a, r, r)
    by_component: Floats  # (a, 5, C)
    by_row: Floats  # (a, 9, m)
    by_column: Floats  # (a, 6, r)
    ends: Floats  # (a, 5)
    system: Floats  # (r, r)
    swaps: Ints  # (r,)
    halt: Ints  # (1,) 1 where it shall end


def course_of(
    truth: np.ndarray,
    loads: np.ndarray,
    begin: np.ndarray,
    moves: np.ndarray,
    walls: np.ndarray,
    room: np.ndarray,
    anchor: np.ndarray,
) -> Course:
    """Room for some programs' ways."""
    count, components, columns = moves.shape
    return Course(
        truth,
        np.array(loads),  # a broadcast array is read-only, which would be another type
        begin,
        moves,
        walls,
        room,
        anchor,
        np.zeros((count, 5, components)),
        np.zeros((count, 9, walls.shape[1])),
        np.zeros((count, 6, columns)),
        np.zeros((count, 5)),
        np.zeros((columns, columns)),
        np.zeros(columns, np.int64),
        np.zeros(1, np.int64),
    )
