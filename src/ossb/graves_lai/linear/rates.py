"""The warm solver: rates at new means, from what is held.

``rates`` verifies the solution held for the leader, and keeps it, rescaled to feasibility, if
its certified gap is small enough; otherwise it re-solves by Newton on the held active set, else
by the interior-point method from the held solution, else from nothing.
"""

import numpy as np

from ossb.graves_lai.linear.generation import generate
from ossb.graves_lai.linear.held import held_bounds, verify
from ossb.graves_lai.linear.interior_point import SOLVED
from ossb.graves_lai.linear.memory import (
    ACTIVE,
    ARM_COST,
    CLOCK,
    COLD,
    DESIGN,
    FAILURES,
    HELD_COLUMNS,
    HELD_ROWS,
    LEADER,
    NEWTON,
    OMEGA,
    PLAYED,
    RANK,
    RHO,
    STAMP,
    SUPPORT,
    VERIFIED,
    WARM,
    WEIGHTED,
    LinearMemory,
)
from ossb.graves_lai.linear.newton import newton
from ossb.graves_lai.linear.search import keep, prepare
from ossb.graves_lai.linear.workspace import COUNT, HALT, INVERSE, INVERSE_COST, INVERSE_MARGIN
from ossb.kernels import kernel, separate_kernel

TARGET = 1e-6  # certified relative gap of every re-solve
NEAR = 0.999  # gap from which a held solution is not worth starting from
ROUGH = 1e-3  # gap at which the interior-point method hands over to Newton's
MANY = 5000  # arms
FLOOR = 1e-8  # smallest gap, relative to the largest


@kernel
def inverse_gaps(means: np.ndarray, leader: int, out: np.ndarray) -> None:
    """Write 1/(gap to the leader), 0 for the leader itself.

    Ties of estimates are common inside a policy: gaps are floored at FLOOR times the largest
    one, and above zero where all means agree, so that rates stay finite.
    """
    n_arms = means.shape[0]
    top = means[leader]
    l0, l1, l2, l3 = top, top, top, top
    blocks = n_arms - n_arms % 4
    for z in range(0, blocks, 4):
        l0 = min(l0, means[z])
        l1 = min(l1, means[z + 1])
        l2 = min(l2, means[z + 2])
        l3 = min(l3, means[z + 3])
    for z in range(blocks, n_arms):
        l0 = min(l0, means[z])
    lowest = min(min(l0, l1), min(l2, l3))
    floor = max(FLOOR * (top - lowest), max(1e-12 * abs(top), 1e-60))
    for z in range(n_arms):
        out[z] = 1.0 / max(top - means[z], floor)
    out[leader] = 0.0


@kernel
def bring_forward(active: np.ndarray, count: int, members: np.ndarray, held: int) -> int:
    """List the active arms first, in their order; the length of the list then."""
    for e in range(count):
        place = e
        while place < held and members[place] != active[e]:
            place += 1
        if place == held:
            held = min(held + 1, members.shape[0])
            place = held - 1
        members[place] = members[e]
        members[e] = active[e]
    return held


@kernel
def take_trial(
    coordinates: np.ndarray,
    held: np.ndarray,
    lists: np.ndarray,
    size: np.ndarray,
    trial: np.ndarray,
    active: np.ndarray,
    n: int,
    m: int,
    shape: np.ndarray,
) -> None:
    """Hold the solution that Newton's method has left in ``trial``."""
    n_arms, rank = held.shape[1], size[RANK]
    size[HELD_COLUMNS] = bring_forward(active[0], n, lists[0], size[HELD_COLUMNS])
    size[HELD_ROWS] = bring_forward(active[1], m, lists[1], size[HELD_ROWS])
    size[SUPPORT] = size[PLAYED] = n
    size[ACTIVE] = size[WEIGHTED] = m
    for z in range(n_arms):
        held[DESIGN, z] = 0.0
        held[OMEGA, z] = 0.0
        held[RHO, z] = trial[RHO, z]
        held[ARM_COST, z] = trial[ARM_COST, z]
    for e in range(n):
        held[DESIGN, active[0, e]] = trial[DESIGN, active[0, e]]
    for e in range(m):
        held[OMEGA, active[1, e]] = trial[OMEGA, active[1, e]]
    first = n_arms + coordinates.shape[0]
    for i in range(rank):
        for j in range(rank):
            coordinates[i, first + j] = shape[i, j]


@separate_kernel
def resolve(slot: int, leader: int, tolerance: float, gap: float, memory: LinearMemory) -> float:
    """Re-solve for the leader at the gaps in the workspace; the certified gap now held.

    ``gap`` is that of the solution held for the leader, 1 where there is none.  In turn: Newton's
    method on the held active set; the interior-point method from what is held, roughly, and
    Newton; the same to the end; both from nothing.  Rough solutions know the active set well
    enough for Newton's method, which is cheaper; its passes over all arms are not where there
    are very many.
    """
    ws, statistic = memory.work, memory.statistic
    arms, coordinates = memory.arms, memory.coordinates[slot]
    held, trial = memory.held[slot], memory.held[memory.held.shape[0] - 1]
    lists, size = memory.lists[slot], memory.size[slot]
    active = memory.lists[memory.lists.shape[0] - 1]
    arm, cube = ws.arm, ws.cube
    solved = False
    ws.indices[COUNT, HALT] = 0
    for stage in range(6):
        if ws.indices[COUNT, HALT] != 0:
            break
        warm = stage in (1, 2, 4)
        rough = stage in (1, 3)
        if (stage < 3 or warm) and gap >= NEAR:
            continue
        if rough and held.shape[1] > MANY:
            continue
        if stage > 0:
            statistic[WARM if warm else COLD] += 1
            if prepare(warm, leader, arms, coordinates, held, lists, size, ws) == 0:
                return 0.0
            inner = max(tolerance, ROUGH) if rough else tolerance
            upper, _, status = generate(coordinates, size[RANK], inner, warm, gap, ws)
            solved = status == SOLVED and not rough
            if status != SOLVED:
                statistic[FAILURES] += 1
                if warm:
                    gap = 1.0  # the coordinates have changed under what was held
                    continue
            keep(upper, coordinates, held, lists, size, ws)
            gap = verify(arm, held, lists, size[PLAYED], size[WEIGHTED])
        n, m = size[SUPPORT], size[ACTIVE]
        for e in range(n):
            active[0, e] = lists[0, e]
        for e in range(m):
            active[1, e] = lists[1, e]
        fresh, n, m = newton(size[RANK], coordinates, held, n, m, trial, active, tolerance, ws)
        if fresh < gap:
            gap = fresh
            take_trial(coordinates, held, lists, size, trial, active, n, m, cube[INVERSE])
            if stage == 0 and gap <= tolerance:
                statistic[NEWTON] += 1
        if solved or gap <= tolerance:
            return gap
    return gap


@kernel
def claim(leader: int, slot_of: np.ndarray, size: np.ndarray) -> int:
    """A slot for a new leader: an empty one, or the least recently used."""
    oldest = 0
    for slot in range(size.shape[0]):
        if size[slot, STAMP] < size[oldest, STAMP]:
            oldest = slot
    if size[oldest, LEADER] >= 0:
        slot_of[size[oldest, LEADER]] = -1
    size[oldest, LEADER] = leader
    slot_of[leader] = oldest
    return oldest


@kernel
def rates(
    means: np.ndarray, rewards: np.ndarray, kappa: float, memory: LinearMemory, out: np.ndarray
) -> float:
    """Fill ``out`` with feasible rates at the means and return their certified relative gap.

    Parameters
    ----------
    means
        ⟨φ, x⟩ of every arm; the best one (the first of several) is the leader.
    rewards
        What regret is counted in: the means again for linear arms, g(means) for a
        generalised linear model observed through its index.
    kappa
        Largest gap at which a held solution is kept; a re-solve always goes to TARGET.
    """
    statistic, sizes, slot_of = memory.statistic, memory.size, memory.slot_of
    arm = memory.work.arm
    leader, top, same = 0, means[0], True
    for z in range(means.shape[0]):
        out[z] = 0.0
        if rewards[z] != means[z]:
            same = False
        if means[z] > top:
            leader, top = z, means[z]
    inverse_gaps(means, leader, arm[INVERSE_MARGIN])
    if same:
        for z in range(means.shape[0]):
            arm[INVERSE_COST, z] = arm[INVERSE_MARGIN, z]
    else:
        inverse_gaps(rewards, leader, arm[INVERSE_COST])
    statistic[CLOCK] += 1
    slot = slot_of[leader]
    known = slot >= 0
    if not known:
        slot = claim(leader, slot_of, sizes)
    held, lists, size = memory.held[slot], memory.lists[slot], sizes[slot]
    size[STAMP] = statistic[CLOCK]
    if known and size[RANK] == 0:
        return 0.0
    gap, upper, highest = 1.0, 0.0, 0.0
    if known:
        upper, lower, highest = held_bounds(arm, held, lists, size[PLAYED], size[WEIGHTED])
        gap = max(0.0, 1.0 - lower / upper) if upper > 0.0 else 1.0
    if gap <= max(kappa, TARGET):
        statistic[VERIFIED] += 1
    else:
        gap = resolve(slot, leader, TARGET, gap, memory)
        if size[RANK] == 0:
            return 0.0
        upper, _, highest = held_bounds(arm, held, lists, size[PLAYED], 0)
    if upper > 0.0:
        for e in range(size[PLAYED]):
            out[lists[0, e]] = 2.0 * highest * held[DESIGN, lists[0, e]]
    return gap
