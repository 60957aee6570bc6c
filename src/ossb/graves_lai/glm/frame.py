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
from ossb.graves_lai.glm.space import CURVATURE, INDEX, OPEN, WHITE, Space
from ossb.kernels import kernel

NEGLIGIBLE = 1e-11  # of the largest arm: what is left of an arm in the span of the others


@kernel
def take_out(arms: np.ndarray, space: Space, direction: np.ndarray) -> None:
    """Remove a unit direction from what is left of every arm, which ``trial`` holds."""
    n_arms, dimension = arms.shape
    for arm in range(n_arms):
        along = product(space.trial[arm], direction, dimension)
        for i in range(dimension):
            space.trial[arm, i] -= along * direction[i]


@kernel
def normalise(vector: np.ndarray, n: int) -> float:
    """Scale to length 1; returns the length."""
    length = math.sqrt(product(vector, vector, n))
    if length > 0.0:
        for i in range(n):
            vector[i] /= length
    return length


@kernel
def set_frame(arms: np.ndarray, best: int, space: Space) -> int:
    """Fill frame, coordinates and the arms that can be told from the best; returns r."""
    n_arms, dimension = arms.shape
    scale = 0.0
    for arm in range(n_arms):
        for i in range(dimension):
            space.trial[arm, i] = arms[arm, i]
        scale = max(scale, math.sqrt(product(arms[arm], arms[arm], dimension)))
    direction = space.vectors[0]
    for i in range(dimension):
        direction[i] = arms[best, i]
    if normalise(direction, dimension) > NEGLIGIBLE * scale:
        take_out(arms, space, direction)
        take_out(arms, space, direction)  # once more: what rounding left
    rank = 0
    while rank < dimension:
        pivot = 0
        largest = 0.0
        for arm in range(n_arms):
            size = product(space.trial[arm], space.trial[arm], dimension)
            if size > largest:
                largest = size
                pivot = arm
        if not math.sqrt(largest) > NEGLIGIBLE * scale:
            break
        for i in range(dimension):
            space.frame[rank, i] = space.trial[pivot, i]
        normalise(space.frame[rank], dimension)
        take_out(arms, space, space.frame[rank])
        take_out(arms, space, space.frame[rank])
        rank += 1
    for arm in range(n_arms):
        size = 0.0
        for j in range(rank):
            along = product(arms[arm], space.frame[j], dimension)
            space.coordinates[arm, j] = along
            size += along * along
        space.taken[OPEN, arm] = arm != best and math.sqrt(size) > NEGLIGIBLE * scale
        if not space.taken[OPEN, arm]:
            for j in range(rank):
                space.coordinates[arm, j] = 0.0
    return rank


@kernel
def whiten(link: int, rates: np.ndarray, rank: int, space: Space) -> bool:
    """Rescale coordinates, frame and directions by the information matrix at some rates."""
    square = space.squares[WHITE]
    n_arms, dimension = space.coordinates.shape
    for i in range(rank):
        for j in range(rank):
            square[i, j] = 0.0
    for arm in range(n_arms):
        if rates[arm] > 0.0:
            weight = rates[arm] * curvature(link, space.by_arm[INDEX, arm], 0.0)
            for i in range(rank):
                for j in range(i + 1):
                    square[i, j] += (
                        weight * space.coordinates[arm, i] * space.coordinates[arm, j]
                    )
    if not cholesky(square, rank):
        return False
    for arm in range(n_arms):
        solve_lower(square, space.coordinates[arm], rank)
        turn(square, space.directions[arm], rank)
        turn(square, space.held[arm], rank)
    for i in range(rank):  # the same elimination on the rows of the frame
        for k in range(i):
            for j in range(dimension):
                space.frame[i, j] -= square[i, k] * space.frame[k, j]
        for j in range(dimension):
            space.frame[i, j] /= square[i, i]
    return True


@kernel
def turn(factor: np.ndarray, vector: np.ndarray, n: int) -> None:
    """vector ← Lᵀ vector, in place: what keeps products with L⁻¹ z unchanged."""
    for i in range(n):
        entry = 0.0
        for k in range(i, n):
            entry += factor[k, i] * vector[k]
        vector[i] = entry


@kernel
def conditioning(rank: int, space: Space) -> float:
    """Ratio of the extreme diagonal entries of the last Cholesky factor in ``CURVATURE``."""
    largest = 0.0
    least = math.inf
    for i in range(rank):
        largest = max(largest, space.squares[CURVATURE, i, i])
        least = min(least, space.squares[CURVATURE, i, i])
    return largest / least if least > 0.0 else math.inf
