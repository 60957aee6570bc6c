"""What a listed semi-bandit solver holds between calls: the reduced problem and a solution.

Items of the best arm x* are known (x* is free to play), so the program lives on the p items
outside x*; arms inside x* drop out.
"""

from typing import NamedTuple

import numpy as np

from ossb.graves_lai.semi_bandit.gaussian_items import GaussianItems
from ossb.graves_lai.semi_bandit.item_family import ItemFamily
from ossb.graves_lai.semi_bandit.workspace import Workspace, workspace
from ossb.records import Floats, Ints, record

# by_arm: reward gap to the best arm, log information and its multiplier at the held weights,
# information collected at the held certificate, cached Σ 1/w and Σ g of the held solution
GAP, INFORMATION, MULTIPLIER, COLLECTED, SPREAD_SUM, PULL_SUM = range(6)
COLUMN_OF, ROW_OF = range(2)  # position_of: where an arm stands in the working sets, or -1
# state: the best arm, items outside it, sizes of the working sets, whether a solution is held,
# and how many calls kept it, re-solved from it, or started from nothing
LEADER, ITEMS, N, M, HELD, KEPT, WARM, COLD = range(8)
# bounds: both bounds of the held solution, the gap that a re-solve certifies, and the factor
# that makes the held rates feasible
UPPER, LOWER, TARGET, SCALE = range(4)


@record
class SemiBanditMemory(NamedTuple):
    """Buffers, working sets and the held solution, for one list of arms."""

    items: ItemFamily
    work: Workspace
    member: Floats  # (d, K) membership of the arms, items outside x* first
    by_arm: Floats  # (6, K)
    position_of: Ints  # (2, K)
    column_arm: Ints  # (n,) arms of the columns
    row_arm: Ints  # (m,) arms of the rows
    outside: Ints  # (d,) items outside x* that some arm has
    state: Ints  # (8,)
    bounds: Floats  # (4,)
    held_v: Floats  # (n,) rates times gaps, feasible up to a factor
    held_rate: Floats  # (n,) rates, feasible up to a factor
    held_y: Floats  # (m,) weights of the alternatives in the lower bound
    held_omega: Floats  # (m,) the same times gap squared


def capacity(n_arms: int, n_items: int) -> int:
    """How many columns, and how many rows, a working problem may have."""
    return min(n_arms, 8 * n_items + 32)


def start(
    arms: np.ndarray, items: ItemFamily | None = None, target: float = 1e-6
) -> SemiBanditMemory:
    """An empty memory for a 0/1 matrix with one row per arm.

    Parameters
    ----------
    arms
        The matrix.
    items
        How items are observed; Gaussian with unit variance by default.
    target
        Relative gap that every re-solve certifies.
    """
    n_arms, n_items = arms.shape
    size = capacity(n_arms, n_items)
    return SemiBanditMemory(
        items=GaussianItems(1.0) if items is None else items,
        work=workspace(n_items, size, size),
        member=np.zeros((n_items, n_arms)),
        by_arm=np.zeros((6, n_arms)),
        position_of=np.full((2, n_arms), -1, np.int64),
        column_arm=np.zeros(size, np.int64),
        row_arm=np.zeros(size, np.int64),
        outside=np.zeros(n_items, np.int64),
        state=np.array([-1, 0, 0, 0, 0, 0, 0, 0]),
        bounds=np.array([0.0, 0.0, target, 1.0]),
        held_v=np.zeros(size),
        held_rate=np.zeros(size),
        held_y=np.zeros(size),
        held_omega=np.zeros(size),
    )
