"""One pass over all arms: both sides of the bound, and who belongs in the working sets."""

import math

from ossb.graves_lai.glm.dense import product
from ossb.graves_lai.glm.links import curvature, divergence
from ossb.graves_lai.glm.oracle import most_confusing
from ossb.graves_lai.glm.space import (
    BEST_V,
    COLUMNS,
    COST,
    INDEX,
    INFORMATION,
    LOAD,
    MARGIN,
    OPEN,
    PLAIN,
    ROWS,
    SCORE,
    SPENT,
    WEIGHED,
    WEIGHT,
    Space,
)
from ossb.kernels import kernel

_SIMILAR = 0.98  # cosine above which two arms are not added in the same round
ENOUGH = 4.0  # information about an alternative, where 1 is needed, that makes it irrelevant
_IDLE = 1e-9  # share of the total below which an arm may leave the working sets


@kernel
def store(n: int, m: int, space: Space) -> None:
    """Write the best rates and weights of the working sets to their arms."""
    for arm in range(space.coordinates.shape[0]):
        space.by_arm[SPENT, arm] = 0.0
        space.by_arm[WEIGHED, arm] = 0.0
    for j in range(n):
        space.by_arm[SPENT, space.lists[COLUMNS, j]] = space.by_column[BEST_V, j]
    for i in range(m):
        space.by_arm[WEIGHED, space.lists[ROWS, i]] = space.by_row[WEIGHT, i]


@kernel
def price_rows(link: int, n: int, rank: int, space: Space) -> float:
    """F_x for every alternative at the stored rates; returns the least, −1 if one fails."""
    columns = space.lists[COLUMNS]
    rates = space.by_column[PLAIN]
    for j in range(n):
        rates[j] = space.by_arm[SPENT, columns[j]] / space.by_arm[COST, columns[j]]
    least = math.inf
    for arm in range(space.coordinates.shape[0]):
        if space.taken[OPEN, arm]:
            found = most_confusing(
                link, columns, n, rates, arm, ENOUGH, space.directions[arm], rank, space
            )
            space.by_arm[INFORMATION, arm] = found
            least = min(least, found)
    return least


@kernel
def price_columns(link: int, m: int, rank: int, space: Space) -> float:
    """Σ_x w_x d_z(δ_x) / Δ_z for every arm z; returns the greatest."""
    greatest = 0.0
    for arm in range(space.coordinates.shape[0]):
        if space.taken[OPEN, arm]:
            total = 0.0
            for i in range(m):
                row = space.lists[ROWS, i]
                weight = space.by_arm[WEIGHED, row]
                if weight > 0.0:
                    shift = product(space.held[row], space.coordinates[arm], rank)
                    total += weight * divergence(link, space.by_arm[INDEX, arm], shift)
            space.by_arm[LOAD, arm] = total / space.by_arm[COST, arm]
            greatest = max(greatest, space.by_arm[LOAD, arm])
    return greatest


@kernel
def total_spent(n: int, space: Space) -> float:
    total = 0.0
    for j in range(n):
        total += space.by_arm[SPENT, space.lists[COLUMNS, j]]
    return total


@kernel
def total_weight(m: int, space: Space) -> float:
    total = 0.0
    for i in range(m):
        total += space.by_arm[WEIGHED, space.lists[ROWS, i]]
    return total


@kernel
def enlist(side: int, arm: int, count: int, space: Space) -> int:
    """Add an arm to the working columns or rows unless it is there; returns their number."""
    capacity = space.by_column.shape[1] if side == COLUMNS else space.by_row.shape[1]
    if space.taken[side, arm] or count >= capacity:
        return count
    space.taken[side, arm] = True
    space.lists[side, count] = arm
    return count + 1


@kernel
def prune(side: int, count: int, total: float, space: Space) -> int:
    """Drop arms that carry nothing and are far from wanted; returns how many are left."""
    kept = 0
    for j in range(count):
        arm = space.lists[side, j]
        if side == COLUMNS:
            idle = space.by_arm[SPENT, arm] < _IDLE * total and space.by_arm[LOAD, arm] < 0.7
        else:
            idle = (
                space.by_arm[WEIGHED, arm] < _IDLE * total and space.by_arm[INFORMATION, arm] > 2.0
            )
        if idle:
            space.taken[side, arm] = False
        else:
            space.lists[side, kept] = arm
            kept += 1
    return kept


@kernel
def add_best(side: int, count: int, most: int, rank: int, space: Space) -> int:
    """Add up to ``most`` arms of positive score, best first, no two alike; returns the number."""
    score = space.by_arm[SCORE]
    n_arms = space.coordinates.shape[0]
    for _ in range(most):
        chosen = -1
        largest = 0.0
        for arm in range(n_arms):
            if score[arm] > largest:
                if not space.taken[side, arm]:
                    largest = score[arm]
                    chosen = arm
        if chosen < 0:
            break
        count = enlist(side, chosen, count, space)
        at = space.coordinates[chosen]
        size = product(at, at, rank)
        for arm in range(n_arms):
            if score[arm] > 0.0:
                other = space.coordinates[arm]
                along = product(at, other, rank)
                limit = _SIMILAR * _SIMILAR * size * product(other, other, rank)
                if along * along > limit:
                    score[arm] = 0.0
    return count


@kernel
def score_columns(tolerance: float, space: Space) -> None:
    """How much more than its cost an arm would explain."""
    for arm in range(space.coordinates.shape[0]):
        space.by_arm[SCORE, arm] = 0.0
        if space.taken[OPEN, arm]:
            if space.by_arm[LOAD, arm] > 1.0 + tolerance:
                space.by_arm[SCORE, arm] = space.by_arm[LOAD, arm]


@kernel
def score_rows(tolerance: float, space: Space) -> None:
    """How much information an alternative lacks."""
    for arm in range(space.coordinates.shape[0]):
        space.by_arm[SCORE, arm] = 0.0
        if space.taken[OPEN, arm]:
            found = space.by_arm[INFORMATION, arm]
            if found < 1.0 - tolerance:
                space.by_arm[SCORE, arm] = 1.0 / max(found, 1e-200)


@kernel
def extreme(side: int, link: int, i: int, j: int, mix: float, rank: int, space: Space) -> int:
    """The arm reaching furthest along axis i (plus ``mix`` times axis j), as column or as row.

    A column counts by the information it brings per unit of cost, a row by how near it is to
    being best.
    """
    chosen = -1
    largest = 0.0
    for arm in range(space.coordinates.shape[0]):
        if space.taken[OPEN, arm]:
            along = space.coordinates[arm, i] + mix * space.coordinates[arm, j]
            if side == COLUMNS:
                weight = curvature(link, space.by_arm[INDEX, arm], 0.0) / space.by_arm[COST, arm]
            else:
                weight = 1.0 / (space.by_arm[MARGIN, arm] * space.by_arm[MARGIN, arm])
            if along * along * weight > largest:
                largest = along * along * weight
                chosen = arm
    return chosen
