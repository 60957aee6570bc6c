"""Work arrays of the linear solver, allocated once in Python and named here.

Vectors of one kind are stacked in one array (compiled code passes arrays one by one), and the
constants below name their rows.
"""

from typing import NamedTuple

import numpy as np

# Rows of Workspace.column: one entry per arm that may be played (a "column").
PRIMAL, SLACK, PRICE, RESIDUAL, RIGHT, RATIO = 0, 1, 2, 3, 4, 5
STEP, SLACK_STEP, TRIAL, BEST, LOWER, ONES, START = 6, 7, 8, 9, 10, 11, 12
# Rows of Workspace.row: one entry per arm that must be ruled out (a "row").
MULTIPLIER, LOGARITHM, VALUE, WEIGHT = 0, 1, 2, 3
MULTIPLIER_STEP, CHANGE, BEST_WEIGHT, TRIAL_LOGARITHM = 4, 5, 6, 7
# Rows of Workspace.lifted: vectors in the space of symmetric matrices.
GRADIENT, BARRIER, BEST_GRADIENT, PULL, LOAD, TOTAL, IMAGE, RESPONSE, MOVE = range(9)
# Matrices of Workspace.square, acting on that space.
CURVATURE, NORMAL, SCRATCH, FACTOR, REDUCED, REDUCED_T = range(6)
# Matrices of Workspace.small, rank × rank.
GRAM, INVERSE, WEIGHTS, SPARE = range(4)
# Rows of Workspace.arm: one entry per arm.
ARM_VALUE, ARM_PRICE, ARM_PLAYS, ARM_WEIGHT, ARM_LOWER, ARM_SCRATCH = range(6)
# Entries of Workspace.count.
COLUMNS, ROWS, ROUNDS, ITERATIONS = range(4)

GROUPS = 256


class Workspace(NamedTuple):
    """Scratch arrays; nothing in them outlives one call."""

    column: np.ndarray  # (13, capacity)
    row: np.ndarray  # (8, capacity)
    lifted: np.ndarray  # (9, p), p = r(r + 1)/2
    square: np.ndarray  # (6, p, p)
    small: np.ndarray  # (4, r, r)
    column_arms: np.ndarray  # (capacity, r)
    column_arms_t: np.ndarray  # (r, capacity)
    row_arms: np.ndarray  # (r, capacity)
    row_images: np.ndarray  # (r, capacity)
    column_lift: np.ndarray  # (p, capacity)
    column_lift_t: np.ndarray  # (capacity, p)
    row_lift: np.ndarray  # (p, capacity)
    row_lift_t: np.ndarray  # (capacity, p)
    stack: np.ndarray  # (4, limit, p)
    stack_t: np.ndarray  # (2, p, limit)
    kkt: np.ndarray  # (3, limit, limit)
    solution: np.ndarray  # (2, limit)
    active: np.ndarray  # int64 (2, limit)
    arm: np.ndarray  # (6, K)
    member: np.ndarray  # int64 (2, K), 1 where an arm is in the working columns / rows
    working: np.ndarray  # int64 (2, capacity), the working columns and rows
    group: np.ndarray  # int64 (2, GROUPS)
    group_value: np.ndarray  # (GROUPS,)
    count: np.ndarray  # int64 (4,)
    directions: np.ndarray  # (n_directions, r)


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
    limit = 4 * size + 4
    return Workspace(
        column=np.zeros((13, room)),
        row=np.zeros((8, room)),
        lifted=np.zeros((9, size)),
        square=np.zeros((6, size, size)),
        small=np.zeros((4, rank, rank)),
        column_arms=np.zeros((room, rank)),
        column_arms_t=np.zeros((rank, room)),
        row_arms=np.zeros((rank, room)),
        row_images=np.zeros((rank, room)),
        column_lift=np.zeros((size, room)),
        column_lift_t=np.zeros((room, size)),
        row_lift=np.zeros((size, room)),
        row_lift_t=np.zeros((room, size)),
        stack=np.zeros((4, limit, size)),
        stack_t=np.zeros((2, size, limit)),
        kkt=np.zeros((3, limit, limit)),
        solution=np.zeros((2, limit)),
        active=np.zeros((2, limit), np.int64),
        arm=np.zeros((6, n_arms)),
        member=np.zeros((2, n_arms), np.int64),
        working=np.zeros((2, room), np.int64),
        group=np.zeros((2, GROUPS), np.int64),
        group_value=np.zeros(GROUPS),
        count=np.zeros(4, np.int64),
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
