"""The polyhedra of a model, each seen from a point well inside, and the programs they make."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ossb.graves_lai.generic.batch import Batch, batch_of
from ossb.graves_lai.generic.convex_programs import ConvexPrograms, Solutions, needed
from ossb.graves_lai.generic.divergence import Divergence
from ossb.graves_lai.linprog import solve_lp

ROOM = 1e-9  # a region without this much slack, at unit scale, holds no strict alternative
LARGE = 1e3  # unbounded regions are looked at this far out, in units of their data


class Region(NamedTuple):
    """{rows λ ≤ sides} within its own affine hull, from a point well inside."""

    middle: np.ndarray  # (n,)
    basis: np.ndarray  # (n, r)
    rows: np.ndarray  # (m, n), those that are not tight
    room: np.ndarray  # (m,), slack at the middle


def interior(
    matrix: np.ndarray,
    right: np.ndarray,
    equal: np.ndarray,
    equal_right: np.ndarray,
    strict: bool,
) -> Region | None:
    """A point that keeps the largest distance to every row; rows that allow none are equalities."""
    n = matrix.shape[1]
    norms = np.linalg.norm(matrix, axis=1)
    real = norms > 0
    matrix, right = matrix[real] / norms[real, None], right[real] / norms[real]
    tight = np.zeros(matrix.shape[0], dtype=bool)
    size = LARGE * (1.0 + float(np.abs(right).max(initial=0.0)))
    while True:
        loose = ~tight
        width = np.where(loose, 1.0, 0.0)
        table = np.vstack(
            [
                np.hstack([matrix, width[:, None]]),
                np.hstack([equal, np.zeros((equal.shape[0], 1))]),
            ]
        )
        lower = np.concatenate([np.where(tight, right, -np.inf), equal_right])
        upper = np.concatenate([right, equal_right])
        bounds = np.full(n, size)
        answer = solve_lp(
            np.append(np.zeros(n), -1.0),
            table,
            lower,
            upper,
            np.append(-bounds, 0.0),
            np.append(bounds, size / LARGE),
        )
        if answer.status != "optimal":
            return None
        point, room = answer.point[:n], float(answer.point[n])
        if room > ROOM:
            break
        slack = right - matrix @ point
        bound_rows = loose & (slack <= ROOM) & (np.abs(answer.duals[: matrix.shape[0]]) > 1e-9)
        if not bound_rows.any() or (strict and bound_rows[-1]):
            return None
        tight |= bound_rows
    fixed = np.vstack([matrix[tight], equal])
    basis = np.eye(n)
    if fixed.shape[0]:
        _, singular, directions = np.linalg.svd(fixed)
        rank = int((singular > 1e-10 * singular[0]).sum())
        basis = directions[rank:].T
    loose = ~tight
    return Region(point, basis, matrix[loose], right[loose] - matrix[loose] @ point)


@dataclass(frozen=True, eq=False)
class Regions:
    """Regions of a model side by side: what of their programs does not depend on the data."""

    places: list[int]  # of these regions among those asked for
    each: list[Region]
    batch: Batch
    middles: np.ndarray  # (a, n)
    shown: np.ndarray  # (a, C) component means of the middles
    room: np.ndarray  # (a, m)

    def programs(
        self, divergence: Divergence, means: np.ndarray, inside: np.ndarray
    ) -> ConvexPrograms:
        """The programs at empirical means, and the nearest ones inside the mean space."""
        start, batch = self.shown - means, self.batch
        return ConvexPrograms(
            divergence, inside, start, batch.seen, batch.walls, self.room, batch.anchor
        )

    def at(self, solutions: Solutions) -> np.ndarray:
        """λ of where the programs ended, with as much of their loose parts as the rows need.

        The loose part moves nothing that is observed, and may be as long as the rows allow.
        """
        basis = self.batch.basis
        change = (basis @ solutions.point[..., None])[..., 0]
        for a in np.flatnonzero(solutions.loose.any(axis=1)):
            region, move = self.each[a], basis[a] @ solutions.loose[a]
            change[a] += needed(region.rows, region.rows @ change[a] - region.room, move)
        return np.asarray(self.middles + change)


def side_by_side(means: np.ndarray, regions: Sequence[Region | None]) -> Regions | None:
    """The regions that there are, and their places; None if there are none."""
    places = [place for place, region in enumerate(regions) if region is not None]
    each = [region for region in regions if region is not None]
    if not each:
        return None
    batch = batch_of(
        [region.basis for region in each],
        [means @ region.basis for region in each],
        [region.rows @ region.basis for region in each],
    )
    room = np.ones(batch.walls.shape[:2])
    for a, region in enumerate(each):
        room[a, : region.room.size] = region.room
    middles = np.array([region.middle for region in each])
    return Regions(places, each, batch, middles, middles @ means.T, room)
