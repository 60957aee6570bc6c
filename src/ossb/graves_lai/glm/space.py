"""The arrays one solve works in, allocated once and passed around.

Vectors that belong together are the rows of one array, named by the constants below: numba
compiles a record of a few arrays several times faster than one of forty.
"""

from typing import NamedTuple

import numpy as np

from ossb.records import Flags, Floats, Ints, record

# by_arm: index, gap in reward, signed gap in index from the best arm, best rate times gap,
# weight as alternative, information about it, share of its cost that is explained, scratch
INDEX, COST, MARGIN, SPENT, WEIGHED, INFORMATION, LOAD, SCORE = range(8)
# by_column: rate times cost, its dual slack, best feasible value, steps, trial and scratch
V, S, BEST_V, STEP_V, STEP_S, TRIAL_V, SHARE, PLAIN = range(8)
# by_row: multiplier, log information, weight in the best lower bound, step, trial
Q, T, WEIGHT, STEP_Q, TRIAL_T = range(5)
# vectors: scratch of the search for the most confusing parameter
SLOPE, TOWARDS, BACK, STEP, TRIAL = range(5)
# lists and flags
COLUMNS, ROWS = range(2)
CURVATURE, WHITE = range(2)  # squares


@record
class Space(NamedTuple):
    """Arrays for K arms in dimension d, up to n columns (arms to play) and m rows (alternatives).

    The r ≤ d directions that the best arm tells nothing of are the rows of ``frame``; an arm's
    coordinates are its products with them, and a direction δ stands for the change of φ by
    Σ δ_i frame_i.
    """

    coordinates: Floats  # (K, d)
    frame: Floats  # (d, d)
    by_arm: Floats  # (8, K)
    directions: Floats  # (K, d) the most confusing change for each alternative, so far
    trial: Floats  # (K, d) the same at a trial point
    held: Floats  # (K, d) the same where the best lower bound was met
    lists: Ints  # (2, max(n, m)) working columns and rows
    taken: Flags  # (3, K) which arms these are; which arms can be told from the best
    by_column: Floats  # (8, n)
    by_row: Floats  # (5, m)
    gradient: Floats  # (m, n) of log F
    pushes: Floats  # (n, d) scratch
    system: Floats  # (n + m, n + m)
    solution: Floats  # (n + m,)
    vectors: Floats  # (5, d)
    squares: Floats  # (2, d, d)


OPEN = 2  # row of ``taken``


def capacities(n_arms: int, dimension: int) -> tuple[int, int]:
    """How many columns and rows the working sets may hold."""
    products = dimension * (dimension + 1) // 2
    return min(n_arms, 6 * products + 40), min(n_arms, 4 * products + 24)


def space(n_arms: int, dimension: int) -> Space:
    """Arrays for a number of arms and a dimension."""
    n, m = capacities(n_arms, dimension)
    return Space(
        coordinates=np.zeros((n_arms, dimension)),
        frame=np.zeros((dimension, dimension)),
        by_arm=np.zeros((8, n_arms)),
        directions=np.zeros((n_arms, dimension)),
        trial=np.zeros((n_arms, dimension)),
        held=np.zeros((n_arms, dimension)),
        lists=np.zeros((2, max(n, m)), np.int64),
        taken=np.zeros((3, n_arms), np.bool_),
        by_column=np.zeros((8, n)),
        by_row=np.zeros((5, m)),
        gradient=np.zeros((m, n)),
        pushes=np.zeros((n, dimension)),
        system=np.zeros((n + m, n + m)),
        solution=np.zeros(n + m),
        vectors=np.zeros((5, dimension)),
        squares=np.zeros((2, dimension, dimension)),
    )
