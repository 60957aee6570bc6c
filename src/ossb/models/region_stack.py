"""Regions of a model side by side, as the batch of convex programs they make."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ossb.graves_lai.generic.convex_programs import ConvexPrograms, Solutions, needed
from ossb.graves_lai.generic.divergence import Divergence
from ossb.models.regions import Region


@dataclass(frozen=True, eq=False)
class RegionStack:
    """What of the programs does not depend on the data; smaller regions are padded."""

    places: list[int]
    regions: list[Region]
    middles: np.ndarray  # (a, n)
    basis: np.ndarray  # (a, n, r)
    shown: np.ndarray  # (a, C) component means of the middles
    slopes: np.ndarray  # (a, C, r)
    rows: np.ndarray  # (a, m, r)
    room: np.ndarray  # (a, m)
    anchor: np.ndarray  # (a, r, r)

    def programs(
        self, divergence: Divergence, means: np.ndarray, inside: np.ndarray
    ) -> ConvexPrograms:
        """The programs at empirical means, and the nearest ones inside the mean space."""
        start = self.shown - means
        return ConvexPrograms(
            divergence, inside, start, self.slopes, self.rows, self.room, self.anchor
        )

    def at(self, solutions: Solutions) -> np.ndarray:
        """λ of where the programs ended, with as much of their loose parts as the rows need.

        The loose part moves nothing that is observed, and may be as long as the rows allow.
        """
        change = (self.basis @ solutions.point[..., None])[..., 0]
        for a in np.flatnonzero(solutions.loose.any(axis=1)):
            region, move = self.regions[a], self.basis[a] @ solutions.loose[a]
            change[a] += needed(region.rows, region.rows @ change[a] - region.room, move)
        return np.asarray(self.middles + change)


def stack_of(means: np.ndarray, regions: Sequence[Region | None]) -> RegionStack | None:
    """The regions that there are, and their places; None if there are none."""
    places = [place for place, region in enumerate(regions) if region is not None]
    there = [region for region in regions if region is not None]
    if not there:
        return None
    count, (components, n) = len(there), means.shape
    columns = max(1, *(region.basis.shape[1] for region in there))
    rows = max(1, *(region.rows.shape[0] for region in there))
    middles = np.array([region.middle for region in there])
    stack = RegionStack(
        places,
        there,
        middles,
        np.zeros((count, n, columns)),
        middles @ means.T,
        np.zeros((count, components, columns)),
        np.zeros((count, rows, columns)),
        np.ones((count, rows)),
        np.zeros((count, columns, columns)),
    )
    for a, region in enumerate(there):
        free, m = region.basis.shape[1], region.rows.shape[0]
        stack.basis[a, :, :free] = region.basis
        stack.slopes[a, :, :free] = means @ region.basis
        stack.rows[a, :m, :free] = region.rows @ region.basis
        stack.room[a, :m] = region.room
        padding = np.arange(free, columns)
        stack.anchor[a, padding, padding] = 1.0
    return stack
