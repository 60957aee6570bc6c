"""Row and column generation over listed arms, around the barrier method.

Only arms near the support of the optimum matter: the working problem starts with, for every
item outside x*, the arm of smallest gap that has it, and grows by the most violated rows and
columns.  Every pass over all arms renews both bounds, which therefore hold for the whole
problem and not for the working one alone.
"""

import math

import numpy as np

from ossb.graves_lai.semi_bandit.dense import multiply, multiply_transposed
from ossb.graves_lai.semi_bandit.gaussian_items import NO_CONSTRAINT
from ossb.graves_lai.semi_bandit.item_family import ItemFamily
from ossb.graves_lai.semi_bandit.memory import (
    COLLECTED,
    COLUMN_OF,
    GAP,
    HELD,
    INFORMATION,
    ITEMS,
    LEADER,
    LOWER,
    MULTIPLIER,
    ROW_OF,
    SCALE,
    UPPER,
    M,
    N,
    SemiBanditMemory,
)
from ossb.graves_lai.semi_bandit.workspace import (
    BEST_V,
    BEST_Y,
    BOUND_W,
    DIAGONAL,
    GRADIENT,
    MEANS,
    MEMBER,
    NEED,
    PULL,
    RANK_ONE,
    ROW_WORK,
    TRIAL_T,
    TRIAL_TAU,
    TRIAL_W,
    Q,
    V,
)
from ossb.kernels import kernel

TIE_FLOOR = 1e-12  # gaps are floored at this times the largest item mean
DROP = 1e-9
COMPLETE = 12  # up to this many arms the working problem is the whole problem


@kernel
def set_gaps(arms: np.ndarray, phi: np.ndarray, memory: SemiBanditMemory) -> int:
    """Fill the gaps and return the best arm, the first one on ties.

    Inside a policy estimates tie all the time: gaps are floored, so that rates stay finite.
    """
    by_arm = memory.by_arm
    leader = 0
    size = 0.0
    for x in range(arms.shape[0]):
        reward = 0.0
        for i in range(arms.shape[1]):
            if arms[x, i] != 0.0:
                reward += phi[i]
                size = max(size, abs(phi[i]))
        by_arm[GAP, x] = reward
        if reward > by_arm[GAP, leader]:
            leader = x
    best = by_arm[GAP, leader]
    floor = max(TIE_FLOOR * size, 1e-60)
    for x in range(arms.shape[0]):
        by_arm[GAP, x] = max(best - by_arm[GAP, x], floor)
    return leader


@kernel
def reduce_items(arms: np.ndarray, leader: int, memory: SemiBanditMemory) -> None:
    """Forget what is held; list the items outside the leader and every arm's membership."""
    p = 0
    for i in range(arms.shape[1]):
        if arms[leader, i] == 0.0:
            used = False
            for x in range(arms.shape[0]):
                entry = 1.0 if arms[x, i] != 0.0 else 0.0
                memory.member[p, x] = entry
                used = used or entry > 0.0
            if used:
                memory.outside[p] = i
                p += 1
    for kind in range(2):
        for x in range(arms.shape[0]):
            memory.position_of[kind, x] = -1
    memory.state[LEADER] = leader
    memory.state[ITEMS] = p
    memory.state[N] = 0
    memory.state[M] = 0
    memory.state[HELD] = 0


@kernel
def enter(memory: SemiBanditMemory, kind: int, arm: int) -> None:
    """Let an arm be played (COLUMN_OF), or require it to be told apart (ROW_OF)."""
    size = N + kind
    at = memory.state[size]
    if arm >= 0 and memory.position_of[kind, arm] < 0 and at < memory.held_v.shape[0]:
        memory.position_of[kind, arm] = at
        memory.state[size] = at + 1
        if kind == COLUMN_OF:
            memory.column_arm[at] = arm
            memory.held_v[at] = 0.0
            memory.work.by_column[V, at] = 1.0
        else:
            memory.row_arm[at] = arm
            memory.held_y[at] = 0.0


@kernel
def load(phi: np.ndarray, memory: SemiBanditMemory) -> None:
    """Copy the arms of the working sets into the working problem."""
    work = memory.work
    for i in range(memory.state[ITEMS]):
        work.by_item[MEANS, i] = phi[memory.outside[i]]
        for z in range(memory.state[N]):
            arm = memory.column_arm[z]
            work.columns[i, z] = memory.member[i, arm] / memory.by_arm[GAP, arm]
        for x in range(memory.state[M]):
            work.by_row_item[MEMBER, i, x] = memory.member[i, memory.row_arm[x]]
    for x in range(memory.state[M]):
        work.by_row[NEED, x] = memory.by_arm[GAP, memory.row_arm[x]]


@kernel
def seed(memory: SemiBanditMemory, phi: np.ndarray, n_arms: int) -> None:
    """The first working sets: every arm if they are few, else the nearest one per item.

    Arms that cannot be alternatives are entered as columns only: for families with a largest
    mean, those that would not beat the best arm even with that mean on all their items.
    """
    p = memory.state[ITEMS]
    item = memory.work.by_item
    by_arm = memory.by_arm
    for i in range(p):
        item[MEANS, i] = phi[memory.outside[i]]
        item[TRIAL_W, i] = 1.0
    memory.items.log_information(
        item[TRIAL_W], memory.member, by_arm[GAP], item[MEANS], p, n_arms,
        by_arm[INFORMATION], by_arm[MULTIPLIER],
    )  # fmt: skip
    for i in range(p):
        column = -1
        row = -1
        for x in range(n_arms):
            if memory.member[i, x] > 0.0:
                possible = by_arm[INFORMATION, x] < NO_CONSTRAINT
                if n_arms <= COMPLETE:
                    enter(memory, COLUMN_OF, x)
                    enter(memory, ROW_OF, x if possible else -1)
                if column < 0 or by_arm[GAP, x] < by_arm[GAP, column]:
                    column = x
                if possible and (row < 0 or by_arm[GAP, x] < by_arm[GAP, row]):
                    row = x
        enter(memory, COLUMN_OF, column)
        enter(memory, ROW_OF, row)


@kernel
def renew_bounds(items: ItemFamily, memory: SemiBanditMemory, n_arms: int) -> tuple[float, float]:
    """Both bounds of the working solution over all arms; fills information and collected."""
    work = memory.work
    by_arm = memory.by_arm
    p, n, m = memory.state[ITEMS], memory.state[N], memory.state[M]
    item = work.by_item
    multiply(work.columns, work.by_column[BEST_V], p, n, item[TRIAL_W])
    items.log_information(
        item[TRIAL_W], memory.member, by_arm[GAP], item[MEANS], p, n_arms,
        by_arm[INFORMATION], by_arm[MULTIPLIER],
    )  # fmt: skip
    lowest = 1e300
    for x in range(n_arms):
        lowest = min(lowest, by_arm[INFORMATION, x])
    upper = 0.0
    for z in range(n):
        upper += work.by_column[BEST_V, z]
    upper *= math.exp(-lowest)
    row = work.by_row
    items.log_information(
        item[BOUND_W], work.by_row_item[MEMBER], row[NEED], item[MEANS], p, m,
        row[TRIAL_T], row[TRIAL_TAU],
    )  # fmt: skip
    items.gradients(
        item[BOUND_W], work.by_row_item[MEMBER], row[NEED], item[MEANS], row[TRIAL_TAU], p, m,
        work.by_row_item[GRADIENT], work.by_row_item[RANK_ONE], work.by_row_item[DIAGONAL],
    )  # fmt: skip
    total = 0.0
    for x in range(m):
        total += row[BEST_Y, x]
        row[ROW_WORK, x] = row[BEST_Y, x] * math.exp(row[TRIAL_T, x])
    multiply(work.by_row_item[GRADIENT], row[ROW_WORK], p, m, item[PULL])
    multiply_transposed(memory.member, item[PULL], p, n_arms, by_arm[COLLECTED])
    highest = 1e-300
    for x in range(n_arms):
        by_arm[COLLECTED, x] /= by_arm[GAP, x]
        highest = max(highest, by_arm[COLLECTED, x])
    return upper, total / highest


@kernel
def hold(memory: SemiBanditMemory, upper: float, lower: float) -> None:
    """Keep the working solution."""
    work = memory.work
    for z in range(memory.state[N]):
        memory.held_v[z] = work.by_column[BEST_V, z]
    for x in range(memory.state[M]):
        memory.held_y[x] = work.by_row[BEST_Y, x]
    total = 0.0
    for z in range(memory.state[N]):
        total += memory.held_v[z]
    memory.bounds[SCALE] = upper / total
    memory.bounds[UPPER] = upper
    memory.bounds[LOWER] = lower
    memory.state[HELD] = 1


@kernel
def extend(memory: SemiBanditMemory, n_arms: int, slack: float) -> None:
    """Add, for every item, the most violated row and column that have it."""
    by_arm = memory.by_arm
    for i in range(memory.state[ITEMS]):
        row = -1
        column = -1
        least = -slack
        most = 1.0 + slack
        for x in range(n_arms):
            if memory.member[i, x] > 0.0:
                if by_arm[INFORMATION, x] < least:
                    least = by_arm[INFORMATION, x]
                    row = x
                if by_arm[COLLECTED, x] > most:
                    most = by_arm[COLLECTED, x]
                    column = x
        enter(memory, ROW_OF, row)
        enter(memory, COLUMN_OF, column)


@kernel
def compact(memory: SemiBanditMemory) -> None:
    """Drop the columns and rows that play no part, to make room."""
    total = 0.0
    for z in range(memory.state[N]):
        total += memory.held_v[z]
    kept = 0
    for z in range(memory.state[N]):
        arm = memory.column_arm[z]
        if memory.held_v[z] > DROP * total or memory.by_arm[COLLECTED, arm] > 0.7:
            memory.column_arm[kept] = arm
            memory.held_v[kept] = memory.held_v[z]
            memory.position_of[COLUMN_OF, arm] = kept
            kept += 1
        else:
            memory.position_of[COLUMN_OF, arm] = -1
    memory.state[N] = kept
    total = 0.0
    for x in range(memory.state[M]):
        total += memory.held_y[x]
    kept = 0
    for x in range(memory.state[M]):
        arm = memory.row_arm[x]
        if memory.held_y[x] > DROP * total or memory.by_arm[INFORMATION, arm] < 0.4:
            memory.row_arm[kept] = arm
            memory.held_y[kept] = memory.held_y[x]
            memory.position_of[ROW_OF, arm] = kept
            kept += 1
        else:
            memory.position_of[ROW_OF, arm] = -1
    memory.state[M] = kept


@kernel
def restart(memory: SemiBanditMemory, relative: float) -> float:
    """Starting point from the held solution, for a gap of ``relative``; returns its μ."""
    work = memory.work
    n, m = memory.state[N], memory.state[M]
    total = 0.0
    for z in range(n):
        total += memory.held_v[z]
    mu = 0.3 * relative * total / (n + m)
    for z in range(n):
        collected = memory.by_arm[COLLECTED, memory.column_arm[z]]
        work.by_column[V, z] = max(memory.held_v[z], mu / max(1.0 - collected, relative))
    for x in range(m):
        work.by_row[Q, x] = memory.held_y[x]
    return mu
