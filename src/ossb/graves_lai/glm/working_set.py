"""One pass over all arms: who belongs in the working sets of arms to play and alternatives."""

import math

from ossb.graves_lai.glm.dense import product
from ossb.graves_lai.glm.frame import take_out
from ossb.graves_lai.glm.links import curvature, divergence_from, mean, rest
from ossb.graves_lai.glm.space import (
    BEST_V,
    COLUMNS,
    COORDINATE,
    COST,
    DIRECTION,
    HELD,
    INDEX,
    INFORMATION,
    LOAD,
    MARGIN,
    MEAN,
    OPEN,
    REST,
    ROWS,
    SCORE,
    SIDE,
    SPENT,
    TRIAL,
    WEIGHED,
    WEIGHT,
    Q,
    Space,
    V,
)
from ossb.kernels import kernel

_FEW = 8  # arms that all go into the working columns
_SIMILAR = 0.98  # cosine above which two arms are not added in the same round
_IDLE = 1e-9  # share of the total below which an arm may leave the working sets


@kernel
def read_means(link: int, space: Space) -> None:
    """Means at the indices: every divergence of a solve asks for them."""
    by_arm = space.by_arm
    for arm in range(by_arm.shape[1]):
        by_arm[MEAN, arm] = mean(link, by_arm[INDEX, arm])
        by_arm[REST, arm] = rest(link, by_arm[INDEX, arm])


@kernel
def clear(space: Space) -> None:
    """Empty working sets, no memory of directions."""
    vectors, by_arm, lists = space.vectors, space.by_arm, space.lists
    for arm in range(vectors.shape[1]):
        lists[COLUMNS + 2, arm] = 0
        lists[ROWS + 2, arm] = 0
        by_arm[SPENT, arm] = 0.0
        by_arm[WEIGHED, arm] = 0.0
        for i in range(vectors.shape[2]):
            vectors[DIRECTION, arm, i] = 0.0
            vectors[HELD, arm, i] = 0.0


@kernel
def store(n: int, m: int, space: Space) -> None:
    """Write the best rates and weights of the working sets to their arms."""
    by_arm, lists, work = space.by_arm, space.lists, space.work
    for arm in range(space.vectors.shape[1]):
        by_arm[SPENT, arm] = 0.0
        by_arm[WEIGHED, arm] = 0.0
    for j in range(n):
        by_arm[SPENT, lists[COLUMNS, j]] = work[BEST_V, j]
    for i in range(m):
        by_arm[WEIGHED, lists[ROWS, i]] = work[WEIGHT, i]


@kernel
def load(n: int, m: int, gap: float, mu: float, space: Space) -> None:
    """Stored rates and weights into the working sets, newcomers at what the gap asks.

    μ = 0 asks for a start from nothing.
    """
    by_arm, lists, work = space.by_arm, space.lists, space.work
    for j in range(n):
        arm = lists[COLUMNS, j]
        slack = max(1.0 - by_arm[LOAD, arm], gap)
        work[V, j] = 1.0 if mu == 0.0 else max(by_arm[SPENT, arm], mu / slack)
    for i in range(m):
        work[Q, i] = by_arm[WEIGHED, lists[ROWS, i]]


@kernel
def price_columns(link: int, m: int, rank: int, space: Space) -> float:
    """Σ_x w_x d_z(δ_x) / Δ_z for every arm z; returns the greatest."""
    vectors, by_arm, lists = space.vectors, space.by_arm, space.lists
    greatest = 0.0
    for arm in range(vectors.shape[1]):
        if lists[OPEN, arm] == 1:
            index, here, off = by_arm[INDEX, arm], by_arm[MEAN, arm], by_arm[REST, arm]
            total = 0.0
            for i in range(m):
                row = lists[ROWS, i]
                weight = by_arm[WEIGHED, row]
                if weight > 0.0:
                    shift = product(vectors, HELD, row, COORDINATE, arm, rank)
                    total += weight * divergence_from(link, index, here, off, shift)
            by_arm[LOAD, arm] = total / by_arm[COST, arm]
            greatest = max(greatest, by_arm[LOAD, arm])
    return greatest


@kernel
def total_over(side: int, values: int, count: int, space: Space) -> float:
    """Σ of a by-arm quantity over the working columns or rows."""
    total = 0.0
    for j in range(count):
        total += space.by_arm[values, space.lists[side, j]]
    return total


@kernel
def enlist(side: int, arm: int, count: int, space: Space) -> int:
    """Add an arm to the working columns or rows unless it is there; returns their number."""
    lists = space.lists
    if lists[side + 2, arm] == 1 or count >= space.limits[side]:
        return count
    lists[side + 2, arm] = 1
    lists[side, count] = arm
    return count + 1


@kernel
def prune(side: int, count: int, total: float, space: Space) -> int:
    """Drop arms that carry nothing and are far from wanted; returns how many are left."""
    by_arm, lists = space.by_arm, space.lists
    kept = 0
    for j in range(count):
        arm = lists[side, j]
        if side == COLUMNS:
            idle = by_arm[SPENT, arm] < _IDLE * total and by_arm[LOAD, arm] < 0.7
        else:
            idle = by_arm[WEIGHED, arm] < _IDLE * total and by_arm[INFORMATION, arm] > 2.0
        if idle:
            lists[side + 2, arm] = 0
        else:
            lists[side, kept] = arm
            kept += 1
    return kept


@kernel
def add_best(side: int, count: int, most: int, rank: int, space: Space) -> int:
    """Add up to ``most`` arms of positive score, best first, no two alike; returns the number."""
    vectors, by_arm = space.vectors, space.by_arm
    n_arms = vectors.shape[1]
    for _ in range(most):
        chosen = -1
        largest = 0.0
        for arm in range(n_arms):
            if by_arm[SCORE, arm] > largest and space.lists[side + 2, arm] == 0:
                largest = by_arm[SCORE, arm]
                chosen = arm
        if chosen < 0:
            break
        count = enlist(side, chosen, count, space)
        size = product(vectors, COORDINATE, chosen, COORDINATE, chosen, rank)
        for arm in range(n_arms):
            if by_arm[SCORE, arm] > 0.0:
                along = product(vectors, COORDINATE, chosen, COORDINATE, arm, rank)
                other = product(vectors, COORDINATE, arm, COORDINATE, arm, rank)
                if along * along > _SIMILAR * _SIMILAR * size * other:
                    by_arm[SCORE, arm] = 0.0
    return count


@kernel
def score(side: int, tolerance: float, space: Space) -> None:
    """How much more than its cost an arm would explain; how much an alternative lacks."""
    by_arm = space.by_arm
    for arm in range(space.vectors.shape[1]):
        by_arm[SCORE, arm] = 0.0
        if space.lists[OPEN, arm] == 1:
            load = by_arm[LOAD, arm]
            found = by_arm[INFORMATION, arm]
            if side == COLUMNS and load > 1.0 + tolerance:
                by_arm[SCORE, arm] = load
            if side == ROWS and found < 1.0 - tolerance:
                by_arm[SCORE, arm] = 1.0 / max(found, 1e-200)


@kernel
def extreme(side: int, link: int, i: int, j: int, mix: float, space: Space) -> int:
    """The arm reaching furthest along axis i (plus ``mix`` times axis j), as column or as row.

    A column counts by the information it brings per unit of cost, a row by how near it is to
    being best.
    """
    vectors, by_arm = space.vectors, space.by_arm
    chosen = -1
    largest = 0.0
    for arm in range(vectors.shape[1]):
        if space.lists[OPEN, arm] == 1:
            along = vectors[COORDINATE, arm, i] + mix * vectors[COORDINATE, arm, j]
            if side == COLUMNS:
                weight = curvature(link, by_arm[INDEX, arm], 0.0) / by_arm[COST, arm]
            else:
                weight = 1.0 / (by_arm[MARGIN, arm] * by_arm[MARGIN, arm])
            if along * along * weight > largest:
                largest = along * along * weight
                chosen = arm
    return chosen


@kernel
def span(link: int, n: int, rank: int, space: Space) -> int:
    """Columns that span the space, by pivoted Gram–Schmidt: without them nothing is finite."""
    vectors, by_arm, small = space.vectors, space.by_arm, space.small
    n_arms = vectors.shape[1]
    for arm in range(n_arms):
        root = 0.0
        if space.lists[OPEN, arm] == 1:
            root = math.sqrt(curvature(link, by_arm[INDEX, arm], 0.0) / by_arm[COST, arm])
        for i in range(rank):
            vectors[TRIAL, arm, i] = root * vectors[COORDINATE, arm, i]
    for _ in range(rank):
        pivot = 0
        largest = -1.0
        for arm in range(n_arms):
            size = product(vectors, TRIAL, arm, TRIAL, arm, rank)
            if size > largest:
                largest = size
                pivot = arm
        for i in range(rank):
            small[SIDE, 0, i] = vectors[TRIAL, pivot, i]
        if not take_out(n_arms, rank, SIDE, 0, space):
            break
        n = enlist(COLUMNS, pivot, n, space)
    return n


@kernel
def first_sets(link: int, rank: int, space: Space) -> tuple[int, int]:
    """Extreme arms along axes and their sums and differences; returns columns and rows."""
    n_arms = space.vectors.shape[1]
    n = span(link, 0, rank, space)
    m = 0
    if n_arms <= _FEW + 1:
        for arm in range(n_arms):
            if space.lists[OPEN, arm] == 1:
                n = enlist(COLUMNS, arm, n, space)
    for i in range(rank):
        for j in range(i + 1):
            for sign in range(2):
                mix = 0.0 if j == i else 1.0 - 2.0 * sign
                column = extreme(COLUMNS, link, i, j, mix, space)
                row = extreme(ROWS, link, i, j, mix, space)
                if column >= 0:
                    n = enlist(COLUMNS, column, n, space)
                if row >= 0:
                    n = enlist(COLUMNS, row, n, space)
                    m = enlist(ROWS, row, m, space)
    return n, m
