"""The warm solver: rates at new means, from what is held.

``rates`` verifies the solution held for the leader, and keeps it, rescaled to feasibility, if
its certified gap is small enough; otherwise it re-solves by Newton on the held active set, else
by the interior-point method from the held solution, else from nothing.
"""

import numpy as np

from ossb.graves_lai.linear.generation import generate
from ossb.graves_lai.linear.held import hold, list_held, verify
from ossb.graves_lai.linear.interior_point import SOLVED, UNBOUNDED
from ossb.graves_lai.linear.memory import (
    ACTIVE,
    CLOCK,
    COLD,
    FAILURES,
    HELD_COLUMNS,
    HELD_ROWS,
    INVERSE_COST,
    INVERSE_MARGIN,
    NEWTON,
    PLAYED,
    RANK,
    SUPPORT,
    VERIFIED,
    WARM,
    WEIGHTED,
    LinearMemory,
)
from ossb.graves_lai.linear.newton import (
    TRIAL_DESIGN,
    TRIAL_OMEGA,
    TRIAL_PRICE,
    TRIAL_RHO,
    newton,
)
from ossb.graves_lai.linear.passes import whiten
from ossb.graves_lai.linear.projection import project
from ossb.graves_lai.linear.working_set import enter
from ossb.graves_lai.linear.workspace import (
    ARM_LOWER,
    ARM_PLAYS,
    ARM_WEIGHT,
    COLUMNS,
    GRAM,
    INVERSE,
    MULTIPLIER,
    ROWS,
    START,
    TOTAL,
    Workspace,
)
from ossb.kernels import kernel

TARGET = 1e-6  # certified relative gap of every re-solve
NEAR = 0.5  # gap from which a held solution is not worth starting from
FLOOR = 1e-8  # smallest gap, relative to the largest


@kernel
def inverse_gaps(means: np.ndarray, leader: int, out: np.ndarray) -> None:
    """Write 1/(gap to the leader), 0 for the leader itself.

    Ties of estimates are common inside a policy: gaps are floored at FLOOR times the largest
    one, and above zero where all means agree, so that rates stay finite.
    """
    n_arms = means.shape[0]
    top = means[leader]
    lowest = top
    for z in range(n_arms):
        lowest = min(lowest, means[z])
    floor = max(FLOOR * (top - lowest), max(1e-12 * abs(top), 1e-60))
    for z in range(n_arms):
        out[z] = 1.0 / max(top - means[z], floor)
    out[leader] = 0.0


@kernel
def polish(slot: int, target: float, best: float, memory: LinearMemory) -> float:
    """Newton on the held active set; the certified gap, and what is held, improve or stay."""
    n, m = memory.size[slot, SUPPORT], memory.size[slot, ACTIVE]
    rank = memory.size[slot, RANK]
    columns, rows, trial = memory.columns[slot], memory.rows[slot], memory.trial
    upper, lower = newton(
        memory.gap,
        rank,
        memory.coordinates[slot],
        columns,
        n,
        rows,
        m,
        memory.design[slot],
        memory.omega[slot],
        trial,
        memory.work,
    )
    if not upper < UNBOUNDED:
        return best
    gap = 1.0 - lower / upper
    if not (gap <= target or gap < best):
        return best
    for e in range(memory.size[slot, PLAYED]):
        memory.design[slot, columns[e]] = 0.0
    for e in range(memory.size[slot, WEIGHTED]):
        memory.omega[slot, rows[e]] = 0.0
    for e in range(n):
        memory.design[slot, columns[e]] = trial[TRIAL_DESIGN, columns[e]]
    for e in range(m):
        memory.omega[slot, rows[e]] = trial[TRIAL_OMEGA, rows[e]]
    memory.size[slot, PLAYED] = n
    memory.size[slot, WEIGHTED] = m
    for z in range(memory.rho.shape[1]):
        memory.rho[slot, z] = trial[TRIAL_RHO, z]
        memory.price[slot, z] = trial[TRIAL_PRICE, z]
    for i in range(rank):
        for j in range(rank):
            memory.shape[slot, i, j] = memory.work.small[INVERSE, i, j]
    return gap


@kernel
def load_warm(slot: int, memory: LinearMemory) -> None:
    """Make the held columns and rows the working sets, with their weights at the new gaps."""
    ws = memory.work
    inverse_cost, inverse_margin = memory.gap[INVERSE_COST], memory.gap[INVERSE_MARGIN]
    for z in range(ws.member.shape[1]):
        ws.member[COLUMNS, z] = 0
        ws.member[ROWS, z] = 0
    n, m = memory.size[slot, HELD_COLUMNS], memory.size[slot, HELD_ROWS]
    ws.count[COLUMNS] = n
    ws.count[ROWS] = m
    for e in range(n):
        z = memory.columns[slot, e]
        ws.working[COLUMNS, e] = z
        ws.member[COLUMNS, z] = 1
        ws.column[START, e] = memory.design[slot, z] / inverse_cost[z]
    for e in range(m):
        x = memory.rows[slot, e]
        ws.working[ROWS, e] = x
        ws.member[ROWS, x] = 1
        ws.row[MULTIPLIER, e] = memory.omega[slot, x] * inverse_margin[x] * inverse_margin[x]


@kernel
def spread(ws: Workspace) -> None:
    """Every working column alike: a feasible design, if a dear one, where no other was found."""
    for z in range(ws.member.shape[1]):
        ws.arm[ARM_PLAYS, z] = 0.0
        ws.arm[ARM_WEIGHT, z] = 0.0
        ws.arm[ARM_LOWER, z] = 0.0
    for e in range(ws.count[COLUMNS]):
        ws.arm[ARM_PLAYS, ws.working[COLUMNS, e]] = 1.0


@kernel
def list_all(ws: Workspace) -> None:
    """Enter every arm that carries weight; the best bounds may stem from earlier rounds."""
    for z in range(ws.member.shape[1]):
        if ws.arm[ARM_PLAYS, z] > 0.0:
            enter(COLUMNS, z, ws)
            if ws.member[COLUMNS, z] == 0:
                ws.arm[ARM_PLAYS, z] = 0.0
        if ws.arm[ARM_WEIGHT, z] > 0.0:
            enter(ROWS, z, ws)
            if ws.member[ROWS, z] == 0:
                ws.arm[ARM_WEIGHT, z] = 0.0


@kernel
def search(slot: int, leader: int, tolerance: float, gap: float, memory: LinearMemory) -> bool:
    """Solve, warm if ``gap`` is small and else cold, and hold the solution; False on failure."""
    ws = memory.work
    coordinates = memory.coordinates[slot]
    n_arms = memory.rho.shape[1]
    inverse_cost, inverse_margin = memory.gap[INVERSE_COST], memory.gap[INVERSE_MARGIN]
    warm = gap < NEAR
    if warm:
        load_warm(slot, memory)
        memory.statistic[WARM] += 1
    else:
        memory.statistic[COLD] += 1
        memory.size[slot, RANK] = project(memory.arms, leader, coordinates)
    rank = memory.size[slot, RANK]
    if rank == 0:
        return True
    if not warm:
        whiten(
            coordinates,
            inverse_cost,
            n_arms,
            coordinates.shape[1],
            rank,
            ws.small[GRAM],
            ws.lifted[TOTAL],
        )
    upper, _, status = generate(
        coordinates, inverse_cost, inverse_margin, n_arms, rank, tolerance, warm, gap, ws
    )
    if status != SOLVED:
        memory.statistic[FAILURES] += 1
        if warm:
            return False
    for attempt in range(2):
        if attempt == 1 or upper >= UNBOUNDED:
            spread(ws)
        list_all(ws)
        if hold(
            memory.gap,
            rank,
            coordinates,
            memory.rho[slot],
            memory.price[slot],
            memory.design[slot],
            memory.omega[slot],
            memory.shape[slot],
            ws,
        ):
            list_held(
                memory.gap,
                memory.rho[slot],
                memory.price[slot],
                n_arms,
                memory.columns[slot],
                memory.rows[slot],
                memory.size[slot],
                ws,
            )
            return status == SOLVED
    memory.size[slot, PLAYED] = 0
    memory.size[slot, SUPPORT] = 0
    return False


@kernel
def held_gap(slot: int, memory: LinearMemory) -> tuple[float, float]:
    """Certified gap of what a slot holds at the gaps of the round, and its feasible scale."""
    upper, lower, highest = verify(
        memory.gap[INVERSE_COST],
        memory.gap[INVERSE_MARGIN],
        memory.rho[slot],
        memory.price[slot],
        memory.design[slot],
        memory.omega[slot],
        memory.columns[slot],
        memory.size[slot, PLAYED],
        memory.rows[slot],
        memory.size[slot, WEIGHTED],
    )
    if not upper > 0.0:
        return 1.0, highest
    return max(0.0, 1.0 - lower / upper), highest


@kernel
def resolve(slot: int, leader: int, tolerance: float, gap: float, memory: LinearMemory) -> float:
    """Re-solve for the leader at the gaps of the round; the certified gap now held."""
    if gap < NEAR:
        gap = polish(slot, tolerance, gap, memory)
        if gap <= tolerance:
            memory.statistic[NEWTON] += 1
            return gap
    solved = gap < NEAR and search(slot, leader, tolerance, gap, memory)
    if not solved:
        search(slot, leader, tolerance, 1.0, memory)
    if memory.size[slot, RANK] == 0:
        return 0.0
    gap, _ = held_gap(slot, memory)
    return polish(slot, 0.0, gap, memory)


@kernel
def claim(leader: int, memory: LinearMemory) -> int:
    """A slot for a new leader: an empty one, or the least recently used."""
    oldest = 0
    for slot in range(memory.leader.shape[0]):
        if memory.stamp[slot] < memory.stamp[oldest]:
            oldest = slot
    if memory.leader[oldest] >= 0:
        memory.slot_of[memory.leader[oldest]] = -1
    memory.leader[oldest] = leader
    memory.slot_of[leader] = oldest
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
    n_arms = means.shape[0]
    leader = 0
    for z in range(n_arms):
        out[z] = 0.0
        if means[z] > means[leader]:
            leader = z
    inverse_gaps(means, leader, memory.gap[INVERSE_MARGIN])
    inverse_gaps(rewards, leader, memory.gap[INVERSE_COST])
    memory.statistic[CLOCK] += 1
    slot = memory.slot_of[leader]
    gap, highest = 1.0, 0.0
    if slot >= 0:
        if memory.size[slot, RANK] == 0:
            return 0.0
        gap, highest = held_gap(slot, memory)
    else:
        slot = claim(leader, memory)
    memory.stamp[slot] = memory.statistic[CLOCK]
    if gap <= max(kappa, TARGET):
        memory.statistic[VERIFIED] += 1
    else:
        resolve(slot, leader, TARGET, gap, memory)
        if memory.size[slot, RANK] == 0:
            return 0.0
        gap, highest = held_gap(slot, memory)
    factor = 2.0 * highest
    for e in range(memory.size[slot, PLAYED]):
        z = memory.columns[slot, e]
        out[z] = factor * memory.design[slot, z]
    return gap
