"""The arrays one solve works in, allocated once and passed around.

Arrays of one kind are the slices of one array, named by the constants below: compiled code
passes arrays one by one, and numba compiles a record of a few several times faster.
"""

from typing import NamedTuple

import numpy as np

from ossb.records import Floats, Ints, record

# vectors: coordinates of the arms; the most confusing direction for each alternative so far,
# at a trial point, and where the best lower bound was met; a scratch vector for each column
COORDINATE, DIRECTION, TRIAL, HELD, PUSH = range(5)
# by_arm: index, gap in reward, signed gap in index from the best arm, best rate times gap,
# weight as alternative, information about it, share of its cost that is explained, scratch;
# mean at the index and, for the logistic link, what is left to 1
INDEX, COST, MARGIN, SPENT, WEIGHED, INFORMATION, LOAD, SCORE, MEAN, REST = range(10)
# lists: working columns and rows, which arms these are, which can be told from the best at all
COLUMNS, ROWS, IS_COLUMN, IS_ROW, OPEN = range(5)
# work, by column: rate times cost, its dual slack, best value, steps, trial, scratch, plain rate
V, S, BEST_V, STEP_V, STEP_S, TRIAL_V, SHARE, RATE = range(8)
# work, by row: multiplier, log information, best weight, step, trial
Q, T, WEIGHT, STEP_Q, TRIAL_T = range(8, 13)
# small: the frame, a factor of the information matrix, scratch vectors in the rows of the last
FRAME, FACTOR, SIDE = range(3)
SLOPE, TOWARDS, STEP = range(3)  # rows of small[SIDE]


@record
class Space(NamedTuple):
    """Arrays for K arms in dimension d, up to n columns (arms to play) and m rows (alternatives).

    The r ≤ d directions that the best arm tells nothing of are the rows of the frame; an arm's
    coordinates are its products with them, and a direction δ stands for the change of φ by
    Σ δ_i frame_i.
    """

    vectors: Floats  # (5, K, d)
    by_arm: Floats  # (10, K)
    lists: Ints  # (5, K)
    work: Floats  # (13, max(n, m))
    small: Floats  # (3, max(d, 3), d)
    system: Floats  # (n + 2 m + 1, n + m): the matrix, its right-hand side, ∇ log F by row
    limits: Ints  # (2,) n and m


def space(n_arms: int, dimension: int) -> Space:
    """Arrays for a number of arms and a dimension."""
    products = dimension * (dimension + 1) // 2
    n, m = min(n_arms, 6 * products + 40), min(n_arms, 4 * products + 24)
    return Space(
        vectors=np.zeros((5, n_arms, dimension)),
        by_arm=np.zeros((10, n_arms)),
        lists=np.zeros((5, n_arms), np.int64),
        work=np.zeros((13, max(n, m))),
        small=np.zeros((3, max(dimension, 3), dimension)),
        system=np.zeros((n + 2 * m + 1, n + m)),
        limits=np.array([n, m]),
    )
