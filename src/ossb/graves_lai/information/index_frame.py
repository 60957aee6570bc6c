"""Coordinates of ``Indices`` in which what is free vanishes and rates tell equally much.

φ moves only across the arms whose plays are free, within the span of the others: pivoted
Gram–Schmidt finds it.  Near ties make rates differ by many orders of magnitude; coordinates are
then rescaled by what the rates tell, or its small directions would drown in rounding.
"""

import math
from typing import TYPE_CHECKING

import numpy as np

from ossb.graves_lai.information.index_minimiser import ACTIVE, RANK
from ossb.graves_lai.information.links import curvature
from ossb.graves_lai.program.work import Alternatives, Plays
from ossb.kernels import kernel
from ossb.numerics.dense import add_square, cholesky, inner, solve_lower

if TYPE_CHECKING:
    from ossb.graves_lai.information.indices import Indices

NEGLIGIBLE = 1e-11  # of the largest arm: what is left of an arm in the span of the others
FEW = 8  # arms that are all columns to begin with
SIMILAR = 0.98  # cosine above which two arms are not added in the same round


@kernel
def take_out(rest: np.ndarray, unit: np.ndarray, dimension: int) -> bool:
    """Make a vector a unit vector and remove it from every row; False if it is 0."""
    length = math.sqrt(inner(unit, unit, dimension))
    if not length > 0.0:
        return False
    for i in range(dimension):
        unit[i] /= length
    for row in range(rest.shape[0]):
        for _ in range(2):  # twice: what rounding left
            along = inner(rest[row], unit, dimension)
            for i in range(dimension):
                rest[row, i] -= along * unit[i]
    return True


@kernel
def longest_row(rest: np.ndarray, dimension: int) -> int:
    """The row of greatest length, the first of them."""
    chosen, largest = 0, -1.0
    for row in range(rest.shape[0]):
        size = inner(rest[row], rest[row], dimension)
        if size > largest:
            chosen, largest = row, size
    return chosen


@kernel
def set_frame(info: "Indices") -> float:
    """Fill the frame; the square of the length below which a point is rounding."""
    n_arms, dimension = info.arms.shape
    scale = 0.0
    for x in range(n_arms):
        for i in range(dimension):
            info.remains[x, i] = info.arms[x, i]
        scale = max(scale, inner(info.remains[x], info.remains[x], dimension))
    least = NEGLIGIBLE * NEGLIGIBLE * scale
    for x in range(n_arms):
        if info.is_free[x] == 1 and inner(info.remains[x], info.remains[x], dimension) > least:
            for i in range(dimension):
                info.step[i] = info.remains[x, i]
            take_out(info.remains, info.step, dimension)
    rank = 0
    while rank < dimension:
        pivot = info.remains[longest_row(info.remains, dimension)]
        if not inner(pivot, pivot, dimension) > least:
            break
        for i in range(dimension):
            info.frame[rank, i] = pivot[i]
        take_out(info.remains, info.frame[rank], dimension)
        rank += 1
    info.sizes[RANK] = rank
    return least


@kernel
def open_apart(info: "Indices", plays: Plays, alternatives: Alternatives) -> None:
    """Fill coordinates, and open the columns that show something, and the rows that need it."""
    n_arms, dimension = info.arms.shape
    least = set_frame(info)
    rank = info.sizes[RANK]
    for x in range(n_arms):
        size = 0.0
        for i in range(rank):
            info.points[x, i] = inner(info.arms[x], info.frame[i], dimension)
            info.deltas[x, i] = 0.0
            info.kept[x, i] = 0.0
            size += info.points[x, i] * info.points[x, i]
        shows = info.is_free[x] == 0 and size > least
        plays.is_open[x] = 1 if shows else 0
        info.active[x], info.played[x] = x, 0.0
        if shows:
            info.played[x] = 1.0 / plays.costs[x]
        else:
            for i in range(rank):
                info.points[x, i] = 0.0
    for x in range(n_arms):
        size = 0.0
        for i in range(rank):
            info.apart[x, i] = info.points[x, i] - info.points[info.leaders[x], i]
            size += info.apart[x, i] * info.apart[x, i]
        alternatives.is_open[x] = 1 if info.leaders[x] != x and size > least else 0
    info.sizes[ACTIVE] = n_arms
    rescaled(info, 0.0)


@kernel
def rescaled(info: "Indices", stretched: float) -> None:
    """Rescale coordinates, frame and directions by what is played tells at no change.

    Left as they are where that is within ``stretched`` of being well conditioned.
    """
    n_arms, dimension = info.arms.shape
    rank, factor = info.sizes[RANK], info.factor
    for i in range(rank):
        for k in range(i, rank):
            factor[i, k] = 0.0
    for e in range(info.sizes[ACTIVE]):
        if info.played[e] > 0.0:
            x = info.active[e]
            weight = info.played[e] * curvature(info.law, info.index_of[x], 0.0)
            add_square(weight, info.points[x], rank, factor)
    if not cholesky(factor, rank):
        return
    largest, least = 0.0, math.inf
    for i in range(rank):
        largest, least = max(largest, factor[i, i]), min(least, factor[i, i])
    if largest <= stretched * least:
        return
    for x in range(n_arms):
        solve_lower(factor, rank, info.points[x])
        solve_lower(factor, rank, info.apart[x])
        turn(factor, rank, info.deltas[x])
        turn(factor, rank, info.kept[x])
    for i in range(rank):  # the same elimination on the rows of the frame
        for j in range(dimension):
            info.frame[i, j] /= factor[i, i]
        for k in range(i + 1, rank):
            for j in range(dimension):
                info.frame[k, j] -= factor[i, k] * info.frame[i, j]


@kernel
def turn(factor: np.ndarray, rank: int, vector: np.ndarray) -> None:
    """Replace a vector by R vector, which keeps its products with R⁻ᵀ x."""
    for i in range(rank):
        entry = 0.0
        for k in range(i, rank):
            entry += factor[i, k] * vector[k]
        vector[i] = entry


@kernel
def rule_out_alike(info: "Indices", chosen: int, scores: np.ndarray) -> None:
    """Clear the scores of arms in nearly the direction of the chosen one."""
    rank = info.sizes[RANK]
    size = inner(info.points[chosen], info.points[chosen], rank)
    for x in range(scores.shape[0]):
        if scores[x] > 0.0:
            along = inner(info.points[chosen], info.points[x], rank)
            other = inner(info.points[x], info.points[x], rank)
            if along * along > SIMILAR * SIMILAR * size * other:
                scores[x] = 0.0


@kernel
def extreme_column(info: "Indices", i: int, j: int, mix: float, plays: Plays) -> int:
    """The arm that tells most for its cost along axis i, plus ``mix`` times axis j; or −1."""
    chosen, largest = -1, 0.0
    for x in range(info.arms.shape[0]):
        if plays.is_open[x] == 1:
            along = info.points[x, i] + mix * info.points[x, j]
            weight = curvature(info.law, info.index_of[x], 0.0) / plays.costs[x]
            if along * along * weight > largest:
                chosen, largest = x, along * along * weight
    return chosen


@kernel
def extreme_row(info: "Indices", i: int, j: int, mix: float, alternatives: Alternatives) -> int:
    """The arm nearest to being best along axis i, plus ``mix`` times axis j; or −1."""
    chosen, largest = -1, 0.0
    for x in range(info.arms.shape[0]):
        if alternatives.is_open[x] == 1:
            along = (info.apart[x, i] + mix * info.apart[x, j]) / info.margins[x]
            if along * along > largest:
                chosen, largest = x, along * along
    return chosen


@kernel
def span(info: "Indices", plays: Plays) -> None:
    """Score columns that span the space, by pivoted Gram–Schmidt: else nothing is finite."""
    rank = info.sizes[RANK]
    for x in range(info.arms.shape[0]):
        root = 0.0
        if plays.is_open[x] == 1:
            root = math.sqrt(curvature(info.law, info.index_of[x], 0.0) / plays.costs[x])
        for i in range(rank):
            info.remains[x, i] = root * info.points[x, i]
    for _ in range(rank):
        pivot = longest_row(info.remains, rank)
        for i in range(rank):
            info.step[i] = info.remains[pivot, i]
        if not take_out(info.remains, info.step, rank):
            break
        plays.score[pivot] = 1.0


@kernel
def score_first(info: "Indices", plays: Plays, alternatives: Alternatives) -> None:
    """Score arms that span the space, and extreme ones along axes, their sums and differences."""
    n_arms, rank = info.arms.shape[0], info.sizes[RANK]
    span(info, plays)
    if n_arms <= FEW + 1:
        for x in range(n_arms):
            plays.score[x] = 1.0 if plays.is_open[x] == 1 else 0.0
    for i in range(rank):
        for j in range(i + 1):
            for sign in range(2):
                mix = 0.0 if j == i else 1.0 - 2.0 * sign
                column = extreme_column(info, i, j, mix, plays)
                row = extreme_row(info, i, j, mix, alternatives)
                if column >= 0:
                    plays.score[column] = 1.0
                if row >= 0:
                    plays.score[row] = 1.0 if plays.is_open[row] == 1 else 0.0
                    alternatives.score[row] = 1.0
