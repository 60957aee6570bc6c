"""Work arrays of the linear solver, allocated once in Python and named here.

Vectors of one kind are stacked in one array (compiled code passes arrays one by one), and the
constants below name their rows.
"""

from typing import NamedTuple

import numpy as np

from ossb.deadlines import Stop

# Rows of Workspace.column: one entry per arm that may be played (a "column").
PRIMAL, SLACK, PRICE, RESIDUAL, RIGHT, RATIO = 0, 1, 2, 3, 4, 5
STEP, SLACK_STEP, TRIAL, BEST, LOWER, ONES, START = 6, 7, 8, 9, 10, 11, 12
# Rows of Workspace.row: one entry per arm that must be ruled out (a "row").
MULTIPLIER, LOGARITHM, VALUE, WEIGHT = 0, 1, 2, 3
MULTIPLIER_STEP, CHANGE, BEST_WEIGHT, TRIAL_LOGARITHM = 4, 5, 6, 7
# Matrices of Workspace.wide, one column per column or row of the working set.
COLUMN_ARMS_T, ROW_ARMS, ROW_IMAGES, COLUMN_LIFT, ROW_LIFT = 0, 1, 2, 3, 4
# Matrices of Workspace.tall, one row per column or row of the working set.
COLUMN_ARMS, COLUMN_LIFT_T, ROW_LIFT_T = 0, 1, 2
ROWS_OF, IMAGES_OF = 1, 2  # the same two in Newton's method: the rows b_x and H⁻¹b_x
# Matrices of Workspace.cube: on symmetric matrices, on the arms' space, of the active system.
CURVATURE, NORMAL, SCRATCH, FACTOR, REDUCED, REDUCED_T = 0, 1, 2, 3, 4, 5
GRAM, INVERSE, WEIGHTS, SPARE = 6, 7, 8, 9
STACK, KEPT, IMAGES, IMAGES_T, KEPT_T, KKT, PRODUCTS, CROSSED = 10, 11, 12, 13, 14, 15, 16, 17
VECTORS = 18
DOTS, SHARES, BETWEEN = 10, 16, 0  # in Newton's method
# Rows of Workspace.cube[VECTORS].
GRADIENT, BARRIER, BEST_GRADIENT, PULL, LOAD, TOTAL, IMAGE, RESPONSE, MOVE = range(9)
SOLUTION, SPARE_VECTOR = 9, 10
# Rows of Workspace.arm: one entry per arm.
ARM_VALUE, ARM_PRICE, ARM_PLAYS, ARM_WEIGHT, ARM_LOWER, ARM_SCRATCH, ARM_GROUP = range(7)
INVERSE_COST, INVERSE_MARGIN = 7, 8
# Rows of Workspace.indices; those of columns and rows are MEMBER + COLUMNS, MEMBER + ROWS, …
MEMBER, WORKING, ACTIVE_COLUMNS, ACTIVE_ROWS, GROUP_BEST, GROUP_CHOSEN, COUNT = 0, 2, 4, 5, 6, 7, 8
# Entries of Workspace.indices[COUNT].
COLUMNS, ROWS, ROUNDS, ITERATIONS, HALT = range(5)

GROUPS = 256


class Workspace(NamedTuple):
    """Scratch arrays; nothing in them outlives one call.

    Few and large, and read once at the head of a kernel: every use of a field makes the
    compiler load the whole tuple.
    """

    column: np.ndarray  # (13, capacity)
    row: np.ndarray  # (8, capacity)
    wide: np.ndarray  # (5, p, capacity), p = r(r + 1)/2
    tall: np.ndarray  # (3, capacity, p)
    cube: np.ndarray  # (19, limit, limit)
    arm: np.ndarray  # (9, K)
    indices: np.ndarray  # int64 (9, at least K)
    directions: np.ndarray  # (n_directions, r): not scratch, and never written

    @property
    def scratch(self) -> bool:
        """A memory that is saved leaves these out."""
        return True

    @property
    def stop(self) -> Stop:
        """Where its loops look whether they shall end."""
        return Stop(self.indices[COUNT], HALT, 1)


def lifted_size(rank: int) -> int:
    """Dimension of the symmetric matrices of that rank."""
    return rank * (rank + 1) // 2


def complete_size(rank: int) -> int:
    """Arm sets up to this size are solved whole, without generation."""
    return max(24, 2 * lifted_size(rank))


def capacity(rank: int, n_arms: int) -> int:
    """Largest working set."""
    size = lifted_size(rank)
    return min(n_arms, complete_size(rank) + 20 * size + 4 * rank + 100)


def workspace(rank: int, n_arms: int) -> Workspace:
    """Work arrays for ``n_arms`` arms that span ``rank`` dimensions."""
    rank = max(rank, 1)
    size = lifted_size(rank)
    room = capacity(rank, n_arms)
    limit = max(size, min(3 * size, 2 * n_arms) + 12)
    return Workspace(
        column=np.zeros((13, max(room, rank))),
        row=np.zeros((8, room)),
        wide=np.zeros((5, size, room)),
        tall=np.zeros((3, room, size)),
        cube=np.zeros((19, limit, limit)),
        arm=np.zeros((9, n_arms)),
        indices=np.zeros((9, max(n_arms, limit, GROUPS)), np.int64),
        directions=start_directions(rank, n_arms),
    )


def start_directions(rank: int, n_arms: int) -> np.ndarray:
    """Directions whose extreme arms open the working sets: fixed, so that solves repeat."""
    few = rank + 7 if n_arms >= 50_000 else max(12, 2 * lifted_size(rank))
    directions = np.random.default_rng(0).normal(size=(few, rank))
    if rank > 2:
        directions[:rank] = np.eye(rank)
    angles = np.pi * np.arange(few) / few
    if rank in (2, 3):  # the plane is scanned evenly; rank 3 is a plane for most best arms
        directions[:, 0], directions[:, 1] = np.cos(angles), np.sin(angles)
    return directions
