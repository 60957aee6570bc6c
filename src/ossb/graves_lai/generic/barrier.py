"""Many small convex programs at once, by a primal–dual interior-point method.

For each program a of a batch: minimise f(y) = Σ_k w_k d(θ_k, θ_k + start_k + (slopes y)_k)
subject to rows y ≤ room.  y = 0 is strictly feasible, and stays so: a row's slack is never
left.  Every array has the batch as its first axis.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ossb.graves_lai.generic.cancel import BINDS
from ossb.graves_lai.generic.course import (
    BEND,
    DUAL,
    EVEN_DUAL,
    EVEN_SLOPE,
    OFF,
    POINT,
    SLACK,
    SLOPE,
    SPENT,
    VALUE,
    Course,
    course_of,
)
from ossb.graves_lai.generic.divergence import Divergence, inside
from ossb.graves_lai.generic.way import WAY

_RANK = 1e-11
_UNMOVED = 1e-9  # a row that changes by less, relatively, along a move does not change
_NULL = 1e-13
_STATIONARY = 1e-11
_CLOSE = 4.0  # times the tolerance: a proof that misses the value by more is looked for again


@dataclass(frozen=True, eq=False)
class Batch:
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

    def recast(self, transform: np.ndarray, null: np.ndarray | None) -> "Batch":
        """The same programs in coordinates y = transform ŷ; ``null`` are those without weight."""
        anchor = transform.transpose(0, 2, 1) @ self.anchor @ transform
        slopes, rows = self.slopes @ transform, self.rows @ transform
        if null is not None:
            slopes = _without_noise(self.slopes, slopes, null)
            rows = _without_noise(self.rows, rows, null)
        return Batch(self.divergence, self.theta, self.start, slopes, rows, self.room, anchor)


@dataclass(frozen=True, eq=False)
class Outcome:
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


class Proof(NamedTuple):
    """Slopes and multipliers that cancel, and the lower bounds that they prove."""

    proved: np.ndarray  # (a,)
    slopes: np.ndarray  # (a, C)
    duals: np.ndarray  # (a, m)


def minimise(batch: Batch, weights: np.ndarray, tolerance: float, proving: bool = True) -> Outcome:
    """Solve every program of the batch to a relative gap.

    ``weights`` are w ≥ 0, one row for each program, best scaled so that the values are of
    order one.  Without ``proving``, nothing is proved.
    """
    transform, null = _whitening(batch, weights)
    recast = batch.recast(transform, null)
    course = course_of(
        recast.theta, weights, recast.start, recast.slopes, recast.rows, recast.room, recast.anchor
    )
    WAY.go(batch.divergence.kind, batch.divergence.precision, tolerance, course)
    point, value = course.by_column[:, POINT], course.ends[:, VALUE]
    proof = _proof(recast, weights, course, tolerance, proving)
    if null is None:
        return Outcome(times(transform, point), np.zeros_like(point), value, *proof)
    # at the end of its space a mean may count without any curvature
    counts = ((recast.slopes != 0) & (weights > 0)[..., None]).any(axis=1)
    loose = np.where(null & ~counts, point, 0.0)
    return Outcome(times(transform, point - loose), times(transform, loose), value, *proof)


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


def _whitening(batch: Batch, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
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


def value_at_start(batch: Batch, weights: np.ndarray) -> np.ndarray:
    """f at y = 0, for each program."""
    means = inside(batch.divergence, batch.theta + batch.start)
    each = batch.divergence.value(batch.theta, means)
    return np.asarray(np.where(weights > 0, weights * each, 0.0).sum(axis=1))


def times(matrices: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """A matrix times a vector, for each program."""
    return np.asarray((matrices @ vectors[..., None])[..., 0])


def _across(rows: np.ndarray, values: np.ndarray) -> np.ndarray:
    return np.asarray((values[:, None, :] @ rows)[:, 0, :])


def _norm(values: np.ndarray) -> np.ndarray:
    return np.asarray(np.abs(values).max(axis=1, initial=0.0))


def _proof(
    batch: Batch, weights: np.ndarray, course: Course, tolerance: float, proving: bool
) -> Proof:
    """The proof at hand, if it is good; else the best there is."""
    if not proving:
        nothing = np.full(course.ends.shape[0], -np.inf)
        return Proof(nothing, course.by_component[:, SLOPE], course.by_row[:, DUAL])
    proof = _at_hand(batch, weights, course)
    if (proof.proved >= (1.0 - _CLOSE * tolerance) * course.ends[:, VALUE]).all():
        return proof
    return _better(proof, _careful(batch, weights, course))


def _at_hand(batch: Batch, weights: np.ndarray, course: Course) -> Proof:
    """The better one of what the kernel's two sets of multipliers prove."""
    slopes, duals = course.by_component[:, EVEN_SLOPE:], course.by_row[:, EVEN_DUAL:]
    each = batch.divergence.least(batch.theta, weights[:, None], slopes)
    proved = each.sum(axis=2) - course.ends[:, SPENT : SPENT + 2]
    proved = np.where(course.ends[:, OFF : OFF + 2] <= _STATIONARY, proved, -np.inf)
    programs, way = np.arange(proved.shape[0]), proved.argmax(axis=1)
    return Proof(proved[programs, way], slopes[programs, way], duals[programs, way])


def _careful(batch: Batch, weights: np.ndarray, course: Course) -> Proof:
    """Multipliers made stationary to rounding, and the bound they prove.

    Twice: with all rows, and without the rows that do not bind, whose small multipliers may
    pull along directions in which nothing else holds.  The better proof of each is kept.
    """
    slack, dual = course.by_row[:, SLACK], course.by_row[:, DUAL]
    binding = np.where(dual > BINDS * slack, dual, 0.0)
    every = _cancelled(batch, weights, course, dual)
    return _better(every, _cancelled(batch, weights, course, binding))


def _better(first: Proof, second: Proof) -> Proof:
    """Of each program, the one that proves more."""
    other = second.proved > first.proved
    return Proof(
        np.where(other, second.proved, first.proved),
        np.where(other[:, None], second.slopes, first.slopes),
        np.where(other[:, None], second.duals, first.duals),
    )


def _cancelled(batch: Batch, weights: np.ndarray, course: Course, dual: np.ndarray) -> Proof:
    """Slopes and multipliers changed a little so that they cancel, and what they prove.

    The change is the least one, measured by the curvatures of f and of the barrier.
    """
    slope = course.by_component[:, SLOPE]
    give = np.sqrt(dual / course.by_row[:, SLACK])
    bend = np.sqrt(course.by_component[:, BEND])
    terms = np.concatenate(
        [batch.slopes * bend[..., None], batch.rows * give[..., None]], axis=1
    ).transpose(0, 2, 1)
    norms = np.sqrt((terms * terms).sum(axis=2, keepdims=True))
    norms = np.where(norms > 0, norms, 1.0)
    inverse = np.linalg.pinv(terms / norms, rcond=_RANK)
    count = bend.shape[1]
    for _ in range(4):
        residual = _across(batch.slopes, slope) + _across(batch.rows, dual)
        change = (inverse @ (-residual[..., None] / norms))[..., 0]
        slope = slope + bend * change[:, :count]
        dual = np.maximum(dual + give * change[:, count:], 0.0)
    each = batch.divergence.least(np.broadcast_to(batch.theta, slope.shape), weights, slope)
    proved = (each + slope * batch.start).sum(axis=1) - (dual * batch.room).sum(axis=1)
    residual = _across(batch.slopes, slope) + _across(batch.rows, dual)
    size = _across(np.abs(batch.slopes), np.abs(slope)) + _across(np.abs(batch.rows), dual)
    proved = np.where(_norm(residual) <= _STATIONARY * _norm(size), proved, -np.inf)
    return Proof(proved, slope, dual)
