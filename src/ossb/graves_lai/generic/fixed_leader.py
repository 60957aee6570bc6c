"""What programs with the same best arm have in common, whatever θ is: computed once."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ossb.graves_lai.generic.affine_hull import AffineHull, affine_hull
from ossb.graves_lai.generic.batch import HullBatch, hull_batch
from ossb.graves_lai.generic.divergence import Divergence
from ossb.graves_lai.generic.feasibility import Feasibility, feasibility_of
from ossb.graves_lai.generic.piece import Piece
from ossb.graves_lai.generic.polyhedron import UnitRows, unit_rows


@dataclass(frozen=True, eq=False)
class FixedLeader:
    """The pieces and what the arms show, seen from a best arm; as in ``Program``."""

    divergence: Divergence
    means: np.ndarray
    reveals: np.ndarray
    pieces: Sequence[Piece]
    best: int
    _unit_rows: dict[tuple[int, int], UnitRows] = field(default_factory=dict)
    _hulls: dict[tuple[int, int, bytes], AffineHull] = field(default_factory=dict)
    _batches: dict[tuple[tuple[int, int, bytes], ...], HullBatch] = field(default_factory=dict)

    @cached_property
    def shown(self) -> np.ndarray:
        """Which components the best arm reveals."""
        return np.asarray(self.reveals[self.best] > 0)

    @cached_property
    def others(self) -> np.ndarray:
        """Every arm but the best."""
        return np.flatnonzero(np.arange(self.reveals.shape[0]) != self.best)

    @cached_property
    def informative(self) -> np.ndarray:
        """Components that some arm reveals and the best one does not."""
        return np.flatnonzero((self.reveals.sum(axis=0) > 0) & ~self.shown)

    @cached_property
    def columns(self) -> np.ndarray:
        """What one unit of each entry of λ is to the engine, so that means change by about one.

        Powers of two: nothing is rounded.  Users choose the units of λ as they like.
        """
        size = np.abs(self.means).max(axis=0, initial=0.0)
        for piece in self.pieces:
            rows = np.vstack([piece.matrix, piece.equal_matrix, piece.rewards])
            largest = np.abs(rows).max(axis=1, initial=0.0, keepdims=True)
            unit = np.abs(rows / np.where(largest > 0, largest, 1.0)).max(axis=0, initial=0.0)
            size = np.where(size > 0, size, unit)
        return np.asarray(2.0 ** -np.round(np.log2(np.where(size > 0, size, 1.0))))

    @cached_property
    def seen(self) -> np.ndarray:
        """Informative means, in the engine's units."""
        return np.asarray(self.means[self.informative] * self.columns)

    @cached_property
    def ends(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The mean space as rows: component of each row, its sign, and the end of the space."""
        hidden = np.flatnonzero(~self.shown)
        sides = [(self.divergence.lowest, -1.0), (self.divergence.highest, 1.0)]
        finite = [(end, sign) for end, sign in sides if np.isfinite(end)]
        component = np.tile(hidden, len(finite))
        sign = np.repeat([sign for _, sign in finite], hidden.size)
        return component, sign, np.repeat([end for end, _ in finite], hidden.size)

    @cached_property
    def feasibility(self) -> list[Feasibility]:
        """The user's own rows of each piece."""
        return [
            feasibility_of(piece, self.means, self.shown, self.divergence) for piece in self.pieces
        ]

    def advantage_row(self, piece: int, arm: int) -> np.ndarray:
        """The c with c · λ = reward of ``arm`` − reward of x*."""
        rewards = self.pieces[piece].rewards
        return np.asarray(rewards[arm] - rewards[self.best])

    def rows_of(self, piece: int, arm: int) -> np.ndarray:
        """Rows that multipliers make cancel: means, inequalities, equalities, − advantage."""
        polytope = self.pieces[piece]
        gain = self.advantage_row(piece, arm)
        return np.vstack([self.means, polytope.matrix, polytope.equal_matrix, -gain[None]])

    def unit_rows(self, piece: int, arm: int) -> UnitRows:
        """The rows of a region, in the engine's units."""
        if (piece, arm) not in self._unit_rows:
            polytope = self.pieces[piece]
            component, sign, _ = self.ends
            rows = np.vstack([polytope.matrix, sign[:, None] * self.means[component]])
            equal = np.vstack([polytope.equal_matrix, self.means[self.shown]])
            self._unit_rows[piece, arm] = unit_rows(
                rows * self.columns,
                equal * self.columns,
                self.advantage_row(piece, arm) * self.columns,
            )
        return self._unit_rows[piece, arm]

    def hull(self, piece: int, arm: int, tight: np.ndarray) -> AffineHull:
        """The directions of a region in which some rows are tight everywhere."""
        key = piece, arm, tight.tobytes()
        if key not in self._hulls:
            self._hulls[key] = affine_hull(self.unit_rows(piece, arm), self.seen, tight)
        return self._hulls[key]

    def batch(self, regions: tuple[tuple[int, int, AffineHull], ...]) -> HullBatch:
        """Regions (piece, arm, hull) side by side; the last ones asked for are kept."""
        key = tuple((piece, arm, hull.tight.tobytes()) for piece, arm, hull in regions)
        if key not in self._batches:
            self._batches.clear()
            self._batches[key] = hull_batch([hull for _, _, hull in regions])
        return self._batches[key]
