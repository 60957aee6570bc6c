"""Coordinates of ``Indices`` in which what is free vanishes and rates tell equally much.

φ moves only across the arms whose plays are free, within the span of the others: pivoted
Gram–Schmidt finds it.  Near ties make rates differ by many orders of magnitude; coordinates are
then rescaled by what the rates tell, or its small directions would drown in rounding.
"""

import math
from typing import Any

import numpy as np

from ossb.graves_lai.information.index_minimiser import ACTIVE, RANK
from ossb.graves_lai.program.work import Alternatives, Plays
from ossb.kernels import kernel
from ossb.numerics.dense import add_square, cholesky, inner, solve_lower

NEGLIGIBLE = 1e-12  # of an arm's own length: what is left of it in the span of the others
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
def set_frame(info: Any) -> None:
    """Fill the frame: what plays that are not free add to those that are, longest part first."""
    n_arms, dimension = info.arms.shape
    for x in range(n_arms):
        largest = 0.0
        for i in range(dimension):
            largest = max(largest, abs(info.arms[x, i]))
        _, power = math.frexp(largest)
        for i in range(dimension):  # an arm counts by its direction, however short it is
            info.remains[x, i] = math.ldexp(info.arms[x, i], -power)  # exactly
    least = NEGLIGIBLE * NEGLIGIBLE
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


@kernel
def place(info: Any, vector: np.ndarray, out: np.ndarray) -> bool:
    """Write the coordinates of a vector in the frame; False, and 0, where it has none."""
    dimension, rank = vector.shape[0], info.sizes[RANK]
    size = 0.0
    for i in range(rank):
        out[i] = inner(vector, info.frame[i], dimension)
        size += out[i] * out[i]
    if size > NEGLIGIBLE * NEGLIGIBLE * inner(vector, vector, dimension):
        return True
    for i in range(rank):
        out[i] = 0.0
    return False


@kernel
def open_columns(info: Any, plays: Plays) -> None:
    """Choose the frame, place every arm in it, and open those that cost and show something."""
    set_frame(info)
    for x in range(info.arms.shape[0]):
        shows = place(info, info.arms[x], info.points[x]) and info.is_free[x] == 0
        plays.is_open[x] = 1 if shows else 0
        info.active[x] = x
        info.played[x] = 1.0 / plays.costs[x] if shows else 0.0
    info.sizes[ACTIVE] = info.arms.shape[0]


@kernel
def forget(info: Any) -> None:
    """Leave no minimiser of before, which was in other coordinates."""
    for row in range(info.apart.shape[0]):
        for i in range(info.sizes[RANK]):
            info.deltas[row, i] = 0.0
            info.kept[row, i] = 0.0


@kernel
def rescaled(info: Any, stretched: float) -> bool:
    """Rescale coordinates, frame and directions by what is played tells at no change.

    Left as they are (False) where that is within ``stretched`` of being well conditioned.
    """
    n_arms, dimension = info.arms.shape
    rank, factor = info.sizes[RANK], info.factor
    for i in range(rank):
        for k in range(i, rank):
            factor[i, k] = 0.0
    for e in range(info.sizes[ACTIVE]):
        if info.played[e] > 0.0:
            x = info.active[e]
            add_square(info.played[e] * info.weight_of(x), info.points[x], rank, factor)
    if not cholesky(factor, rank):
        return False
    largest, least = 0.0, math.inf
    for i in range(rank):
        largest, least = max(largest, factor[i, i]), min(least, factor[i, i])
    if largest <= stretched * least:
        return False
    for x in range(n_arms):
        solve_lower(factor, rank, info.points[x])
    for row in range(info.apart.shape[0]):
        solve_lower(factor, rank, info.apart[row])
        turn(factor, rank, info.deltas[row])
        turn(factor, rank, info.kept[row])
    for i in range(rank):  # the same elimination on the rows of the frame
        for j in range(dimension):
            info.frame[i, j] /= factor[i, i]
        for k in range(i + 1, rank):
            for j in range(dimension):
                info.frame[k, j] -= factor[i, k] * info.frame[i, j]
    return True


@kernel
def turn(factor: np.ndarray, rank: int, vector: np.ndarray) -> None:
    """Replace a vector by R vector, which keeps its products with R⁻ᵀ x."""
    for i in range(rank):
        entry = 0.0
        for k in range(i, rank):
            entry += factor[i, k] * vector[k]
        vector[i] = entry


@kernel
def rule_out_alike(vectors: np.ndarray, rank: int, chosen: int, scores: np.ndarray) -> None:
    """Clear the scores of those in nearly the direction of the chosen one."""
    size = inner(vectors[chosen], vectors[chosen], rank)
    for x in range(scores.shape[0]):
        if scores[x] > 0.0:
            along = inner(vectors[chosen], vectors[x], rank)
            other = inner(vectors[x], vectors[x], rank)
            if along * along > SIMILAR * SIMILAR * size * other:
                scores[x] = 0.0


@kernel
def score_extremes(info: Any, i: int, j: int, plays: Plays, alternatives: Alternatives) -> None:
    """Score what is extreme along axis i plus axis j, and along their difference.

    That is the arm that tells most for its cost, and the alternative that is nearest, which is also
    the natural arm to play where it is one.
    """
    n_arms, n_rows = info.arms.shape[0], info.apart.shape[0]
    plus, minus, most_plus, most_minus = -1, -1, 0.0, 0.0
    for x in range(n_arms):
        if plays.is_open[x] == 1:
            weight = info.weight_of(x) / plays.costs[x]
            one, two = info.points[x, i], info.points[x, j] if j != i else 0.0
            if (one + two) * (one + two) * weight > most_plus:
                plus, most_plus = x, (one + two) * (one + two) * weight
            if (one - two) * (one - two) * weight > most_minus:
                minus, most_minus = x, (one - two) * (one - two) * weight
    if plus >= 0:
        plays.score[plus] = 1.0
    if minus >= 0:
        plays.score[minus] = 1.0
    plus, minus, most_plus, most_minus = -1, -1, 0.0, 0.0
    for row in range(n_rows):
        if alternatives.is_open[row] == 1:
            scale = 1.0 / info.margins[row]
            one, two = info.apart[row, i] * scale, info.apart[row, j] * scale if j != i else 0.0
            if (one + two) * (one + two) > most_plus:
                plus, most_plus = row, (one + two) * (one + two)
            if (one - two) * (one - two) > most_minus:
                minus, most_minus = row, (one - two) * (one - two)
    for sign in range(2):
        row = plus if sign == 0 else minus
        if row >= 0:
            alternatives.score[row] = 1.0
            if n_rows == n_arms and plays.is_open[row] == 1:
                plays.score[row] = 1.0


@kernel
def span(info: Any, plays: Plays) -> None:
    """Score columns that span the space, by pivoted Gram–Schmidt: else nothing is finite."""
    rank = info.sizes[RANK]
    for x in range(info.arms.shape[0]):
        root = 0.0
        if plays.is_open[x] == 1:
            root = math.sqrt(info.weight_of(x) / plays.costs[x])
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
def score_first(info: Any, plays: Plays, alternatives: Alternatives) -> None:
    """Score arms that span the space, and extreme ones along axes, their sums and differences."""
    n_arms, rank = info.arms.shape[0], info.sizes[RANK]
    span(info, plays)
    if n_arms <= FEW + 1:
        for x in range(n_arms):
            plays.score[x] = 1.0 if plays.is_open[x] == 1 else 0.0
    for i in range(rank):
        for j in range(i + 1):
            score_extremes(info, i, j, plays, alternatives)
