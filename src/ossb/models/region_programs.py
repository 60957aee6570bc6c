"""The convex programs over the regions of a model: in a piece, where an arm beats the leader.

With m the empirical means and N the counts, each minimises Σ_k N_k d(m_k, (M λ)_k) over a region.
Regions do not depend on the data, so their interiors are found once.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ossb.graves_lai.generic.divergence import Divergence, inside
from ossb.graves_lai.generic.minimise import minimise
from ossb.graves_lai.generic.piece import Piece
from ossb.models.regions import Region, Regions, interior, side_by_side

TOLERANCE = 1e-7

Key = tuple[int, int, int]  # piece, leader, arm; −1 for no leader and no arm: the whole piece


class Proofs(NamedTuple):
    """Solutions and multipliers of a batch of regions, and what of them never changes."""

    points: np.ndarray  # (a, C), component means of the solutions
    slopes: np.ndarray  # (a, C), times the counts
    middles: np.ndarray  # (a, C), component means in the middle of each region
    spent: np.ndarray  # (a,), multipliers times room


class RegionPrograms:
    """Programs over regions of some pieces, whose interiors and arrays are kept.

    Parameters
    ----------
    means
        Component means are means λ.
    """

    def __init__(self, divergence: Divergence, means: np.ndarray, pieces: Sequence[Piece]) -> None:
        self._divergence, self._means, self._pieces = divergence, means, tuple(pieces)
        self._regions: dict[Key, Region | None] = {}
        self._batches: dict[tuple[Key, ...], Regions | None] = {}

    def rivals(self, leader: int) -> list[Key]:
        """The regions where some arm beats the leader."""
        return [
            (piece, leader, arm)
            for piece in range(len(self._pieces))
            for arm in range(len(self._pieces[piece].rewards))
            if arm != leader
        ]

    def alternatives(
        self, leader: int, means: np.ndarray, counts: np.ndarray
    ) -> list[tuple[int, float, np.ndarray]]:
        """For each arm that could be better: the least loss, and the component means there."""
        keys = self.rivals(leader)
        best: dict[int, tuple[float, np.ndarray]] = {}
        found, _ = self.solve(keys, means, counts, False)
        for place, value, point in found:
            arm = keys[place][2]
            if arm not in best or value < best[arm][0]:
                best[arm] = (value, self.inside(self._means @ point))
        return [(arm, value, components) for arm, (value, components) in best.items()]

    def solve(
        self,
        keys: list[Key],
        means: np.ndarray,
        counts: np.ndarray,
        proving: bool,
    ) -> tuple[list[tuple[int, float, np.ndarray]], Proofs | None]:
        """(place of the key, least loss, λ) for every region that is not empty, and proofs."""
        regions = self._batch(tuple(keys))
        if regions is None:
            return [], None
        programs = regions.programs(self._divergence, means, self.inside(means))
        most = max(counts.max(initial=0.0), 1e-300)
        weights = np.broadcast_to(counts / most, programs.start.shape)
        solutions = minimise(programs, weights, TOLERANCE, proving)
        parameters = regions.at(solutions)
        points = self.inside(parameters @ self._means.T)
        losses = self.losses(means, counts, points)
        answer = [
            (place, float(losses[a]), parameters[a]) for a, place in enumerate(regions.places)
        ]
        if not (proving and np.isfinite(solutions.proved).all()):
            return answer, None
        spent = most * (solutions.multipliers * regions.room).sum(axis=1)
        return answer, Proofs(points, most * solutions.slopes, regions.shown, spent)

    def proved(self, proofs: Proofs, means: np.ndarray, counts: np.ndarray) -> float:
        """A number that no alternative loses less than, by weak duality."""
        each = self._divergence.least(self.inside(means), counts, proofs.slopes)
        bounds = (each + proofs.slopes * (proofs.middles - means)).sum(axis=1) - proofs.spent
        return float(bounds.min(initial=math.inf))

    def reached(self, proofs: Proofs, means: np.ndarray, counts: np.ndarray) -> float:
        """A number that some alternative does not lose more than."""
        losses = self.losses(self.inside(means), counts, proofs.points)
        return float(losses.min(initial=math.inf))

    def losses(self, means: np.ndarray, counts: np.ndarray, components: np.ndarray) -> np.ndarray:
        """What each row of component means loses."""
        each = self._divergence.value(means, components)
        weighed = np.zeros_like(each)
        np.multiply(counts, each, out=weighed, where=counts > 0)  # of the unseen it may be infinite
        return np.asarray(weighed.sum(axis=1))

    def inside(self, means: np.ndarray) -> np.ndarray:
        return inside(self._divergence, means)

    def _batch(self, keys: tuple[Key, ...]) -> Regions | None:
        if keys not in self._batches:
            self._batches[keys] = side_by_side(self._means, [self._region(key) for key in keys])
        return self._batches[keys]

    def _region(self, key: Key) -> Region | None:
        if key not in self._regions:
            self._regions[key] = self._find(*key)
        return self._regions[key]

    def _find(self, piece: int, leader: int, arm: int) -> Region | None:
        """The region of a piece where ``arm`` may beat ``leader``; None where it cannot."""
        polytope = self._pieces[piece]
        rows, sides = [polytope.matrix], [polytope.bounds]
        low, high = self._divergence.lowest, self._divergence.highest
        for limit, sign in ((high, 1.0), (low, -1.0)):
            if math.isfinite(limit):
                rows.append(sign * self._means)
                sides.append(np.full(self._means.shape[0], sign * limit))
        if arm >= 0:
            gain = polytope.rewards[arm] - polytope.rewards[leader]
            if not np.abs(gain).max(initial=0.0) > 0.0:
                return None
            rows.append(-gain[None, :] / np.linalg.norm(gain))
            sides.append(np.zeros(1))
        matrix, right = np.vstack(rows), np.concatenate(sides)
        return interior(matrix, right, polytope.equal_matrix, polytope.equal_bounds, arm >= 0)
