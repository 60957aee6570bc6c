"""What was held for leaders of before, for when they lead again.

Two arms that are nearly alike take turns at the lead for long.  A slot keeps for its leader all
that does not depend on the estimate: coordinates, working sets, rates and what proves them.
"""

from typing import NamedTuple

import numpy as np

from ossb.graves_lai.information.index_minimiser import RANK
from ossb.graves_lai.information.quadratic import Quadratic
from ossb.graves_lai.program.newton import COLUMNS, ROWS
from ossb.graves_lai.program.warm import LEADER, Held
from ossb.kernels import kernel, separate_kernel

MOST = 32  # slots
BUDGET = 2**25  # numbers in all of them: 256 MiB
SETTLED, BEHIND, QUOTED, FEASIBLE = range(4)  # of ``numbers``
COLUMN, ROW = range(2)  # of ``flags`` and ``members``
STAMP, OWN_RANK, SIZES = 0, 1, 2  # of ``sizes``; from SIZES on those of ``Held``


class Slots(NamedTuple):
    """One slot for each of the leaders of late; the least recently used one is replaced."""

    points: np.ndarray  # (slots, K, d)
    kept: np.ndarray  # (slots, K, d)
    frames: np.ndarray  # (slots, d, d)
    numbers: np.ndarray  # (slots, 4, K)
    flags: np.ndarray  # int64 (slots, 2, K): which columns and rows are open
    members: np.ndarray  # int64 (slots, 2, K): the working sets
    sizes: np.ndarray  # int64 (slots, 7)
    slot_of: np.ndarray  # int64 (K,) −1 where there is none
    clock: np.ndarray  # int64 (1,)


def slots(n_arms: int, dimension: int, most: int = MOST) -> Slots:
    """Empty slots, fewer where their coordinates would be too many numbers."""
    count = max(1, min(most, n_arms, BUDGET // max(1, 2 * n_arms * dimension)))
    sizes = np.zeros((count, 7), np.int64)
    sizes[:, SIZES + LEADER] = -1
    return Slots(
        np.zeros((count, n_arms, dimension)),
        np.zeros((count, n_arms, dimension)),
        np.zeros((count, dimension, dimension)),
        np.zeros((count, 4, n_arms)),
        np.zeros((count, 2, n_arms), np.int64),
        np.zeros((count, 2, n_arms), np.int64),
        sizes,
        np.full(n_arms, -1, np.int64),
        np.zeros(1, np.int64),
    )


@kernel
def claim(leader: int, slots: Slots) -> int:
    """The slot of a leader: its own, or an empty one, or the least recently used."""
    if slots.slot_of[leader] >= 0:
        return slots.slot_of[leader]
    oldest = 0
    for slot in range(slots.sizes.shape[0]):
        if slots.sizes[slot, STAMP] < slots.sizes[oldest, STAMP]:
            oldest = slot
    if slots.sizes[oldest, SIZES + LEADER] >= 0:
        slots.slot_of[slots.sizes[oldest, SIZES + LEADER]] = -1
    slots.slot_of[leader] = oldest
    return oldest


@kernel
def copy_matrix(source: np.ndarray, rows: int, columns: int, target: np.ndarray) -> None:
    """Copy the first rows and columns."""
    for i in range(rows):
        for j in range(columns):
            target[i, j] = source[i, j]


@kernel
def copy_vector(source: np.ndarray, count: int, target: np.ndarray) -> None:
    """Copy the first entries."""
    for i in range(count):
        target[i] = source[i]


@kernel
def save(slot: int, information: Quadratic, held: Held, slots: Slots) -> None:
    """Copy what is held to a slot."""
    plays, alternatives, sizes = held.work.plays, held.work.alternatives, slots.sizes[slot]
    n_arms, dimension = information.points.shape
    rank, numbers = information.sizes[RANK], slots.numbers[slot]
    sizes[STAMP], sizes[OWN_RANK] = slots.clock[0], rank
    copy_vector(held.sizes, held.sizes.shape[0], sizes[SIZES:])
    copy_matrix(information.points, n_arms, rank, slots.points[slot])
    copy_matrix(information.kept, n_arms, rank, slots.kept[slot])
    copy_matrix(information.frame, rank, dimension, slots.frames[slot])
    copy_vector(information.settled, n_arms, numbers[SETTLED])
    copy_vector(information.behind, n_arms, numbers[BEHIND])
    copy_vector(information.quoted, n_arms, numbers[QUOTED])
    copy_vector(held.feasible, n_arms, numbers[FEASIBLE])
    copy_vector(plays.is_open, n_arms, slots.flags[slot, COLUMN])
    copy_vector(alternatives.is_open, n_arms, slots.flags[slot, ROW])
    copy_vector(held.work.columns.members, held.sizes[COLUMNS], slots.members[slot, COLUMN])
    copy_vector(held.work.rows.members, held.sizes[ROWS], slots.members[slot, ROW])


@kernel
def restore(slot: int, information: Quadratic, held: Held, slots: Slots) -> None:
    """Hold what was copied to a slot."""
    work, sizes, numbers = held.work, slots.sizes[slot], slots.numbers[slot]
    columns, rows = work.columns.members, work.rows.members
    n_arms, dimension = information.points.shape
    rank = sizes[OWN_RANK]
    for e in range(held.sizes[COLUMNS]):
        work.plays.is_working[columns[e]] = 0
    for j in range(held.sizes[ROWS]):
        work.alternatives.is_working[rows[j]] = 0
    information.sizes[RANK] = rank
    copy_vector(sizes[SIZES:], held.sizes.shape[0], held.sizes)
    copy_matrix(slots.points[slot], n_arms, rank, information.points)
    copy_matrix(slots.points[slot], n_arms, rank, information.apart)
    copy_matrix(slots.kept[slot], n_arms, rank, information.kept)
    copy_matrix(slots.frames[slot], rank, dimension, information.frame)
    information.turn()
    copy_vector(numbers[SETTLED], n_arms, information.settled)
    copy_vector(numbers[BEHIND], n_arms, information.behind)
    copy_vector(numbers[QUOTED], n_arms, information.quoted)
    copy_vector(numbers[FEASIBLE], n_arms, held.feasible)
    copy_vector(slots.flags[slot, COLUMN], n_arms, work.plays.is_open)
    copy_vector(slots.flags[slot, ROW], n_arms, work.alternatives.is_open)
    copy_vector(slots.members[slot, COLUMN], held.sizes[COLUMNS], columns)
    copy_vector(slots.members[slot, ROW], held.sizes[ROWS], rows)
    for e in range(held.sizes[COLUMNS]):
        work.plays.is_working[columns[e]] = 1
    for j in range(held.sizes[ROWS]):
        work.alternatives.is_working[rows[j]] = 1


@separate_kernel
def change_leader(leader: int, information: Quadratic, held: Held, slots: Slots) -> None:
    """Keep what is held in its leader's slot, and hold what the new leader's has, if any."""
    own = slots.slot_of[leader]
    slots.clock[0] += 1
    if own >= 0:
        slots.sizes[own, STAMP] = slots.clock[0]
    if held.sizes[LEADER] >= 0:
        save(claim(held.sizes[LEADER], slots), information, held, slots)
    if own >= 0 and slots.slot_of[leader] == own:  # the only slot may be another's by now
        restore(own, information, held, slots)
