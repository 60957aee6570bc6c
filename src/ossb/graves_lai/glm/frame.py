"""Coordinates in which the best arm vanishes and the information matrix is near the identity.

A confusing parameter keeps the best arm's index, so φ moves only across the complement of x*
within the span of the arms: pivoted Gram–Schmidt finds it.  Near ties make rates differ by
many orders of magnitude; coordinates are then rescaled by the information matrix itself, or
its small directions would drown in rounding.
"""

import math

import numpy as np

from ossb.graves_lai.glm.dense import cholesky, product, solve_lower
from ossb.graves_lai.glm.links import curvature
from ossb.graves_lai.glm.space import (
    COORDINATE,
    DIRECTION,
    FACTOR,
    FRAME,
    HELD,
    INDEX,
    OPEN,
    SCORE,
    SIDE,
    TRIAL,
    Space,
)
from ossb.kernels import kernel

NEGLIGIBLE = 1e-11  # of the largest arm: what is left of an arm in the span of the others


@kernel
def take_out(n_arms: int, dimension: int, at: int, row: int, space: Space) -> bool:
    """Make small[at, row] a unit vector and remove it from the rest of every arm, in ``TRIAL``."""
    vectors, small = space.vectors, space.small
    length = math.sqrt(product(small, at, row, at, row, dimension))
    if not length > 0.0:
        return False
    for i in range(dimension):
        small[at, row, i] /= length
    for arm in range(n_arms):
        for _ in range(2):  # twice: what rounding left
            along = 0.0
            for i in range(dimension):
                along += vectors[TRIAL, arm, i] * small[at, row, i]
            for i in range(dimension):
                vectors[TRIAL, arm, i] -= along * small[at, row, i]
    return True


@kernel
def set_frame(arms: np.ndarray, best: int, space: Space) -> int:
    """Fill frame, coordinates and the arms that can be told from the best; returns r."""
    vectors, small = space.vectors, space.small
    n_arms, dimension = arms.shape
    scale = 0.0
    for arm in range(n_arms):
        for i in range(dimension):
            vectors[TRIAL, arm, i] = arms[arm, i]
        scale = max(scale, product(vectors, TRIAL, arm, TRIAL, arm, dimension))
    least = NEGLIGIBLE * NEGLIGIBLE * scale
    for i in range(dimension):
        small[SIDE, 0, i] = arms[best, i]
    if product(small, SIDE, 0, SIDE, 0, dimension) > least:
        take_out(n_arms, dimension, SIDE, 0, space)
    rank = 0
    while rank < dimension:
        pivot = 0
        largest = 0.0
        for arm in range(n_arms):
            size = product(vectors, TRIAL, arm, TRIAL, arm, dimension)
            if size > largest:
                largest = size
                pivot = arm
        if not largest > least:
            break
        for i in range(dimension):
            small[FRAME, rank, i] = vectors[TRIAL, pivot, i]
        take_out(n_arms, dimension, FRAME, rank, space)
        rank += 1
    for arm in range(n_arms):
        size = 0.0
        for j in range(rank):
            along = 0.0
            for i in range(dimension):
                along += arms[arm, i] * small[FRAME, j, i]
            vectors[COORDINATE, arm, j] = along
            size += along * along
        told = arm != best and size > least
        space.lists[OPEN, arm] = 1 if told else 0
        if not told:
            for j in range(rank):
                vectors[COORDINATE, arm, j] = 0.0
    return rank


@kernel
def whiten(link: int, rank: int, stretched: float, space: Space) -> None:
    """Rescale coordinates, frame and directions by the information matrix of rates in ``SCORE``.

    Left as they are where the matrix is within ``stretched`` of being well conditioned.
    """
    vectors, by_arm, small = space.vectors, space.by_arm, space.small
    n_arms, dimension = vectors.shape[1], vectors.shape[2]
    for i in range(rank):
        for j in range(rank):
            small[FACTOR, i, j] = 0.0
    for arm in range(n_arms):
        rate = by_arm[SCORE, arm]
        if rate > 0.0:
            weight = rate * curvature(link, by_arm[INDEX, arm], 0.0)
            for i in range(rank):
                scaled = weight * vectors[COORDINATE, arm, i]
                for j in range(i + 1):
                    small[FACTOR, i, j] += scaled * vectors[COORDINATE, arm, j]
    if not cholesky(small, FACTOR, rank):
        return
    largest = 0.0
    least = math.inf
    for i in range(rank):
        largest = max(largest, small[FACTOR, i, i])
        least = min(least, small[FACTOR, i, i])
    if largest <= stretched * least:
        return
    for arm in range(n_arms):
        solve_lower(small, FACTOR, vectors, COORDINATE, arm, rank)
        turn(DIRECTION, arm, rank, space)
        turn(HELD, arm, rank, space)
    for i in range(rank):  # the same elimination on the rows of the frame
        for k in range(i):
            for j in range(dimension):
                small[FRAME, i, j] -= small[FACTOR, i, k] * small[FRAME, k, j]
        for j in range(dimension):
            small[FRAME, i, j] /= small[FACTOR, i, i]


@kernel
def turn(which: int, arm: int, n: int, space: Space) -> None:
    """vector ← Lᵀ vector: what keeps products with L⁻¹ z unchanged."""
    vectors = space.vectors
    for i in range(n):
        entry = 0.0
        for k in range(i, n):
            entry += space.small[FACTOR, k, i] * vectors[which, arm, k]
        vectors[which, arm, i] = entry
