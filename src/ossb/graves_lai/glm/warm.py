"""Rates for policies: keep the last solution while it is provably good enough, else solve again.

The proof of the held rates does not depend on the estimate except through its divergences:
the directions of the lower bound are stretched to the new margins, and the pulls p of the
upper bound, with Σ_y p_y z_y = τ z_x, stay dual feasible whatever the indices are.  One pass
over the arms gives both bounds at a new estimate, with nothing allocated.
"""

import math
from typing import NamedTuple

import numpy as np

from ossb.graves_lai.glm.generation import generate
from ossb.graves_lai.glm.links import IDENTITY, LARGEST, admissible, change, conjugate, divergence
from ossb.graves_lai.glm.oracle import reach, stretch
from ossb.graves_lai.glm.solution import prepare
from ossb.graves_lai.glm.space import (
    COLUMNS,
    COST,
    HELD,
    INDEX,
    MARGIN,
    MEAN,
    OPEN,
    REST,
    ROWS,
    SPENT,
    WEIGHED,
    Space,
    space,
)
from ossb.graves_lai.glm.working_set import price_columns, read_means, total_over
from ossb.kernels import kernel, separate_kernel
from ossb.records import Floats, Ints, record

EXACT = 1e-6  # relative gap of a solve
FLOOR = 1e-6  # indices of estimates closer than this count as this far apart
LEADER, RANK, N_COLUMNS, N_ROWS = range(4)  # numbers
RATES, MARGINS = range(2)  # held
_NOBODY = -1


@record
class GlmMemory(NamedTuple):
    """What is held between calls: the last solution and its proofs, for one leader."""

    space: Space
    pulls: Floats  # (K, n + 1) p for each alternative, and τ
    held: Floats  # (2, K) rates, and the margins they were found at
    numbers: Ints  # (4,)


def start(arms: np.ndarray) -> GlmMemory:
    """An empty memory for some arms."""
    n_arms, dimension = arms.shape
    workspace = space(n_arms, dimension)
    return GlmMemory(
        space=workspace,
        pulls=np.zeros((n_arms, workspace.work.shape[1] + 1)),
        held=np.zeros((2, n_arms)),
        numbers=np.array([_NOBODY, 0, 0, 0]),
    )


@kernel
def leader_of(index: np.ndarray, sign: float) -> int:
    """The arm of greatest signed index, the first of them."""
    leader = 0
    for arm in range(1, index.shape[0]):
        if sign * index[arm] > sign * index[leader]:
            leader = arm
    return leader


@kernel
def pose(link: int, index: np.ndarray, sign: float, leader: int, space: Space) -> None:
    """Indices, margins and costs of an estimate, within what doubles can tell apart.

    Where the index is the reward it has a unit, and the least margin is relative to its range.
    """
    largest, floor, top = LARGEST, FLOOR, index[leader]
    if link == IDENTITY:
        largest, reach = math.inf, 0.0
        for arm in range(index.shape[0]):
            reach = max(reach, abs(top - index[arm]))
        floor = FLOOR * reach if reach > 0.0 else FLOOR
    top = min(max(top, -largest), largest)
    for arm in range(index.shape[0]):
        at = min(max(index[arm], -largest), largest)
        margin = sign * max(sign * (top - at), floor)
        space.by_arm[INDEX, arm] = top - margin if arm != leader else top
        space.by_arm[MARGIN, arm] = margin
        space.by_arm[COST, arm] = abs(change(link, top, -margin))


@kernel
def prove_held(link: int, n: int, arm: int, memory: GlmMemory) -> float:
    """A lower bound of F_x at the held rates, from the held pulls scaled to the new margin."""
    space, pulls = memory.space, memory.pulls
    margin = space.by_arm[MARGIN, arm]
    scale = margin / memory.held[MARGINS, arm]
    within = 1.0
    for j in range(n):
        other = space.lists[COLUMNS, j]
        rate = memory.held[RATES, other]
        if rate > 0.0:
            slope = scale * pulls[arm, j] / rate
            here, off = space.by_arm[MEAN, other], space.by_arm[REST, other]
            within = min(within, admissible(link, here, off, slope))
    scale *= within
    total = scale * pulls[arm, pulls.shape[1] - 1] * margin
    for j in range(n):
        other = space.lists[COLUMNS, j]
        rate = memory.held[RATES, other]
        if rate > 0.0:
            slope = scale * pulls[arm, j] / rate
            here, off = space.by_arm[MEAN, other], space.by_arm[REST, other]
            total -= rate * conjugate(link, here, off, slope)
    return total


@kernel
def verify(link: int, memory: GlmMemory) -> tuple[float, float, float]:
    """Least information of the held rates, and both bounds, at the posed estimate."""
    space = memory.space
    n, m, rank = memory.numbers[N_COLUMNS], memory.numbers[N_ROWS], memory.numbers[RANK]
    least = math.inf
    cost = 0.0
    for arm in range(space.vectors.shape[1]):
        if space.lists[OPEN, arm] == 1:
            least = min(least, prove_held(link, n, arm, memory))
            cost += memory.held[RATES, arm] * space.by_arm[COST, arm]
    for i in range(m):
        row = space.lists[ROWS, i]
        along = reach(HELD, row, rank, space)
        if along > 0.0:
            stretch(HELD, row, 1.0 / along, rank, space)
        else:
            space.by_arm[WEIGHED, row] = 0.0
    greatest = price_columns(link, m, rank, space)
    upper = cost / least if least > 0.0 else math.inf
    lower = 0.0
    if 0.0 < greatest < math.inf:
        lower = total_over(ROWS, WEIGHED, m, space) / greatest
        for i in range(m):
            space.by_arm[WEIGHED, space.lists[ROWS, i]] /= greatest
    return least, upper, lower


@kernel
def fall_back(link: int, memory: GlmMemory, out: np.ndarray) -> None:
    """Rates that are feasible whatever happened: every alternative watched by its own arm."""
    space = memory.space
    for arm in range(out.shape[0]):
        out[arm] = 0.0
        if space.lists[OPEN, arm] == 1:
            margin = space.by_arm[MARGIN, arm]
            own = divergence(link, space.by_arm[INDEX, arm], margin)
            out[arm] = 1.0 / max(own, 1e-280)


@separate_kernel
def rates(
    arms: np.ndarray,
    index: np.ndarray,
    sign: float,
    reward_link: int,
    observed_link: int,
    kappa: float,
    memory: GlmMemory,
    out: np.ndarray,
) -> float:
    """Feasible rates at an estimate into ``out``; returns their certified relative gap.

    Parameters
    ----------
    index
        ⟨φ, x⟩ of every arm; the leader is the greatest, or the least where ``sign`` is −1.
    reward_link, observed_link
        Links of the rewards and of what is observed: IDENTITY where plays show the index.
    kappa
        Gap up to which the held rates are kept, scaled to be feasible; 0 solves every time.
    """
    space, numbers = memory.space, memory.numbers
    leader = leader_of(index, sign)
    pose(reward_link, index, sign, leader, space)
    read_means(observed_link, space)
    upper = math.inf
    lower = 0.0
    if numbers[LEADER] == leader:
        if numbers[RANK] == 0:
            for arm in range(out.shape[0]):
                out[arm] = 0.0
            return 0.0
        least, upper, lower = verify(observed_link, memory)
        if upper < math.inf and lower > 0.0:
            gap = max(0.0, (upper - lower) / upper)
            if gap <= kappa:
                for arm in range(out.shape[0]):
                    out[arm] = memory.held[RATES, arm] / least
                return gap
            for arm in range(out.shape[0]):
                spent = memory.held[RATES, arm] * space.by_arm[COST, arm]
                space.by_arm[SPENT, arm] = spent / least
    for _ in range(2):  # from what is held if that helps, else from nothing
        if not (upper < math.inf and lower > 0.0):
            rank, n, m = prepare(observed_link, arms, leader, space)
            numbers[LEADER] = leader
            numbers[RANK] = rank
            numbers[N_COLUMNS] = n
            numbers[N_ROWS] = m
            upper = math.inf
            lower = 0.0
            if rank == 0:
                break
        n, m, upper, lower = generate(
            observed_link, numbers[N_COLUMNS], numbers[N_ROWS], EXACT, upper, lower,
            numbers[RANK], space, memory.pulls,
        )  # fmt: skip
        numbers[N_COLUMNS] = n
        numbers[N_ROWS] = m
        if upper - lower <= 10.0 * EXACT * upper and upper < math.inf:
            break
        lower = 0.0
    if numbers[RANK] > 0 and not (upper < math.inf and lower > 0.0):
        numbers[LEADER] = _NOBODY
        fall_back(observed_link, memory, out)
        return 1.0
    for arm in range(out.shape[0]):
        out[arm] = 0.0
        if space.lists[OPEN, arm] == 1:
            out[arm] = space.by_arm[SPENT, arm] / space.by_arm[COST, arm]
        memory.held[RATES, arm] = out[arm]
        memory.held[MARGINS, arm] = space.by_arm[MARGIN, arm]
    return max(0.0, (upper - lower) / upper) if upper > 0.0 else 0.0
