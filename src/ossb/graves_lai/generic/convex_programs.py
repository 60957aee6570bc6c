"""Many small convex programs of one shape, and coordinates in which they are well scaled.

For each program a of a batch: minimise f(y) = Σ_k w_k d(θ_k, θ_k + start_k + (slopes y)_k)
subject to rows y ≤ room.  y = 0 is strictly feasible, and stays so: a row's slack is never
left.  Every array has the batch as its first axis.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ossb.graves_lai.generic.divergence import Divergence, inside

_UNMOVED = 1e-9  # a row that changes by less, relatively, along a move does not change
_NULL = 1e-13  # directions whose weight is less than this share of the heaviest have none


@dataclass(frozen=True, eq=False)
class ConvexPrograms:
    """Programs of one shape; smaller ones are padded with rows 0 · y ≤ 1 and unused columns."""

    divergence: Divergence
    theta: np.ndarray  # (C,)
    start: np.ndarray  # (a, C)
    slopes: np.ndarray  # (a, C, r)
    rows: np.ndarray  # (a, m, r)
    room: np.ndarray  # (a, m), positive
    anchor: np.ndarray  # (a, r, r), positive on the padding, so that it stays where it is

    @cached_property
    def bend(self) -> np.ndarray:
        """Curvatures of the divergence at θ, or near it where it is at an end of the space."""
        divergence = self.divergence
        near = np.clip(self.theta, divergence.lowest + 1e-3, divergence.highest - 1e-3)
        return divergence.curvature(self.theta, near)

    def recast(self, transform: np.ndarray, null: np.ndarray | None) -> "ConvexPrograms":
        """Programs equal to these in coordinates ŷ, y = transform ŷ; ``null`` have no weight."""
        anchor = transform.transpose(0, 2, 1) @ self.anchor @ transform
        slopes, rows = self.slopes @ transform, self.rows @ transform
        if null is not None:
            slopes = _without_noise(self.slopes, slopes, null)
            rows = _without_noise(self.rows, rows, null)
        return ConvexPrograms(
            self.divergence, self.theta, self.start, slopes, rows, self.room, anchor
        )


@dataclass(frozen=True, eq=False)
class Solutions:
    """Where the programs ended, and lower bounds of their values from exact multipliers.

    What moves along directions without weight is kept apart: rows alone may let it go far,
    where rounding would drown the means.
    """

    point: np.ndarray  # (a, r)
    loose: np.ndarray  # (a, r), to be added to the point
    value: np.ndarray  # (a,) f at the point
    proved: np.ndarray  # (a,) ≤ the least value
    slopes: np.ndarray  # (a, C) p
    multipliers: np.ndarray  # (a, m) u ≥ 0


def needed(rows: np.ndarray, short: np.ndarray, move: np.ndarray) -> np.ndarray:
    """As much of a loose move as brings inside the unit rows that are ``short`` by so much."""
    helps = -(rows @ move)
    moved = (short > 0) & (helps > _UNMOVED * np.abs(move).max(initial=0.0))
    share = float((short[moved] / helps[moved]).max(initial=0.0))
    return np.asarray(min(1.0, share) * move)


def _without_noise(rows: np.ndarray, moved: np.ndarray, null: np.ndarray) -> np.ndarray:
    """Rows in new coordinates, 0 where only rounding says that they depend on a null one.

    Nothing else may hold that coordinate, so that its rounding would be taken for its size.
    """
    lengths = np.sqrt((rows * rows).sum(axis=2, keepdims=True))
    return np.asarray(np.where(null[:, None, :] & (np.abs(moved) <= _NULL * lengths), 0.0, moved))


def whitening(batch: ConvexPrograms, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Coordinates in which f bends by one in every direction at θ; those without weight, if any.

    Weights span many decades: without this the light directions drown in the rounding of the
    heavy ones.  Directions without any weight keep their length.
    """
    bend = weights * batch.bend
    terms = np.concatenate([batch.slopes * np.sqrt(bend)[..., None], batch.anchor], axis=1)
    _, singular, right = np.linalg.svd(terms, full_matrices=False)
    null = singular <= _NULL * singular[:, :1]
    length = np.where(null, 1.0, singular)
    transform = right.transpose(0, 2, 1) / length[:, None, :]
    if not null.any():
        return transform, None
    # of the directions without weight, those that no row holds are told from the others
    for a in np.flatnonzero(null.sum(axis=1) > 1):
        free = transform[a][:, null[a]]
        transform[a][:, null[a]] = free @ np.linalg.svd(batch.rows[a] @ free)[2].T
    return transform, null


def value_at_start(batch: ConvexPrograms, weights: np.ndarray) -> np.ndarray:
    """f at y = 0, for each program."""
    means = inside(batch.divergence, batch.theta + batch.start)
    each = batch.divergence.value(batch.theta, means)
    return np.asarray(np.where(weights > 0, weights * each, 0.0).sum(axis=1))


def times(matrices: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """A matrix times a vector, for each program."""
    return np.asarray((matrices @ vectors[..., None])[..., 0])
