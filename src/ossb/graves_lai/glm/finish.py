"""The last pass of a solve: rates made feasible by proof, not by the word of the minimiser."""

import math

import numpy as np

from ossb.graves_lai.glm.oracle import most_confusing, proved_information
from ossb.graves_lai.glm.pricing import ENOUGH
from ossb.graves_lai.glm.space import COLUMNS, COST, INFORMATION, OPEN, PLAIN, SPENT, Space
from ossb.kernels import kernel

SMALL = 1e-8  # share of the cost below which a rate is dropped if the bound allows


@kernel
def thin_out(n: int, share: float, space: Space) -> float:
    """Rates of the working columns without those of the smallest cost; returns what is left."""
    total = 0.0
    for j in range(n):
        total += space.by_arm[SPENT, space.lists[COLUMNS, j]]
    kept = 0.0
    for j in range(n):
        arm = space.lists[COLUMNS, j]
        spent = space.by_arm[SPENT, arm]
        space.by_column[PLAIN, j] = 0.0
        if spent > share * total:
            space.by_column[PLAIN, j] = spent / space.by_arm[COST, arm]
            kept += spent
    return kept


@kernel
def prove_rows(link: int, n: int, rank: int, space: Space, pulls: np.ndarray) -> float:
    """A proved lower bound of min_x F_x at the rates in ``PLAIN``; −1 if there is none.

    ``pulls`` receives the proof for each alternative; with a single row, none is kept.
    """
    columns = space.lists[COLUMNS]
    rates = space.by_column[PLAIN]
    least = math.inf
    for arm in range(space.coordinates.shape[0]):
        if space.taken[OPEN, arm]:
            direction = space.directions[arm]
            found = most_confusing(
                link, columns, n, rates, arm, ENOUGH, direction, rank, space
            )
            if not found > 0.0:
                return -1.0
            row = arm if pulls.shape[0] > 1 else 0
            found = proved_information(
                link, columns, n, rates, arm, direction, rank, space, pulls[row]
            )
            space.by_arm[INFORMATION, arm] = found
            least = min(least, found)
    return least


@kernel
def finish(
    link: int, n: int, gap: float, lower: float, rank: int, space: Space, pulls: np.ndarray
) -> float:
    """Feasible rates times costs into ``SPENT``; returns their total, a proved upper bound."""
    total = thin_out(n, SMALL, space)
    least = prove_rows(link, n, rank, space, pulls)
    if not least > 0.0 or total / least - lower > gap * total / least:
        total = thin_out(n, 0.0, space)
        least = prove_rows(link, n, rank, space, pulls)
    if not least > 0.0:
        return math.inf
    for j in range(n):
        arm = space.lists[COLUMNS, j]
        space.by_column[PLAIN, j] /= least
        space.by_arm[SPENT, arm] = space.by_column[PLAIN, j] * space.by_arm[COST, arm]
        if pulls.shape[0] > 1:
            for other in range(space.coordinates.shape[0]):
                pulls[other, j] /= least
    return total / least
