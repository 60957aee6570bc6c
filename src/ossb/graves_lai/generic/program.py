"""The Graves–Lai program over a union of polytopes, in its general form.

A parameter λ gives component means ``means`` λ and, in each piece, rewards ``rewards`` λ.
Arm x reveals the components R(x): D(θ, λ, x) = Σ over k in R(x) of d(m_k(θ), m_k(λ)).
Confusing for the best arm x*: λ in a piece, with the means of R(x*) unchanged, under which an
arm j is strictly better than x*.  One convex program for each pair (piece, j).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ossb.graves_lai.generic.divergence import Divergence, inside
from ossb.graves_lai.generic.fixed_leader import FixedLeader
from ossb.graves_lai.generic.piece import Piece
from ossb.graves_lai.generic.polyhedron import Polyhedron


@dataclass(frozen=True, eq=False)
class Program:
    """The program at one parameter.

    Parameters
    ----------
    means
        Component means are means λ.
    reveals
        reveals[x, k] is 1 if arm x shows component k, else 0.
    theta
        The true parameter, or an estimate: it need not lie in a piece.
    best
        x*.
    gaps
        Δ(x), positive but for x*.
    margin
        Estimates may tie: an arm this close to the best one, or closer, counts as this far.
    known
        What does not depend on θ, if it is at hand.
    """

    divergence: Divergence
    means: np.ndarray  # (C, n)
    reveals: np.ndarray  # (K, C)
    pieces: tuple[Piece, ...]
    theta: np.ndarray  # (n,)
    best: int
    gaps: np.ndarray  # (K,)
    margin: float = 0.0
    known: FixedLeader | None = None

    @cached_property
    def fixed_leader(self) -> FixedLeader:
        """What does not depend on θ."""
        if self.known is not None:
            return self.known
        return FixedLeader(self.divergence, self.means, self.reveals, self.pieces, self.best)

    @cached_property
    def shift(self) -> np.ndarray:
        """Component means under θ, wherever they are."""
        return np.asarray(self.means @ self.theta)

    @cached_property
    def truth(self) -> np.ndarray:
        """Component means under θ, inside the mean space."""
        return inside(self.divergence, self.shift)

    @property
    def shown(self) -> np.ndarray:
        """Which components the best arm reveals."""
        return self.fixed_leader.shown

    @property
    def others(self) -> np.ndarray:
        """Every arm but the best."""
        return self.fixed_leader.others

    @property
    def informative(self) -> np.ndarray:
        """Components that some arm reveals and the best one does not."""
        return self.fixed_leader.informative

    def rows_of(self, piece: int, arm: int) -> np.ndarray:
        """Rows that multipliers make cancel: means, inequalities, equalities, − advantage."""
        return self.fixed_leader.rows_of(piece, arm)

    @cached_property
    def slacks(self) -> list[np.ndarray]:
        """Slack of each piece's inequalities under θ."""
        return [piece.bounds - piece.matrix @ self.theta for piece in self.pieces]

    @cached_property
    def rests(self) -> list[np.ndarray]:
        """What θ leaves of each piece's equalities."""
        return [piece.equal_bounds - piece.equal_matrix @ self.theta for piece in self.pieces]

    @cached_property
    def mean_slacks(self) -> np.ndarray:
        """Slack of the mean space's rows under θ."""
        component, sign, end = self.fixed_leader.ends
        return np.asarray(sign * (end - self.shift[component]))

    @cached_property
    def agreed(self) -> np.ndarray:
        """How what the best arm reveals moves: an estimate agrees with the clipped one."""
        return np.asarray((self.truth - self.shift)[self.shown])

    def sides_of(self, piece: int) -> tuple[np.ndarray, np.ndarray]:
        """Slacks of a region's inequalities under θ, and what it leaves of its equalities."""
        return self._sides[piece]

    @cached_property
    def _sides(self) -> list[tuple[np.ndarray, np.ndarray]]:
        return [
            (np.concatenate([slack, self.mean_slacks]), np.concatenate([rest, self.agreed]))
            for slack, rest in zip(self.slacks, self.rests, strict=True)
        ]

    def polyhedron(self, piece: int, arm: int) -> Polyhedron:
        """The region of an alternative in the coordinates z of λ − θ = columns z."""
        rows = self.fixed_leader.unit_rows(piece, arm)
        slacks, equal_to = self.sides_of(piece)
        return Polyhedron(
            rows,
            slacks / rows.row_norms,
            equal_to / rows.equal_norms,
            self.need(piece, arm) / rows.gain_norm,
        )

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Every (piece, arm) that may hold confusing parameters."""
        for piece in range(len(self.pieces)):
            for arm in self.others:
                yield piece, int(arm)

    def weights(self, rates: np.ndarray) -> np.ndarray:
        """w_k: how often component k is seen when arms are played at these rates."""
        return np.asarray(rates @ self.reveals)

    def advantage_row(self, piece: int, arm: int) -> np.ndarray:
        """The c with c · λ = reward of ``arm`` − reward of x*."""
        return self.fixed_leader.advantage_row(piece, arm)

    def need(self, piece: int, arm: int) -> float:
        """What ``arm`` lacks to x* under θ, by the rewards of a piece."""
        lacks = -float(self.advantage_row(piece, arm) @ self.theta)
        return self.margin if abs(lacks) < self.margin else lacks

    def divergences(self, parameters: np.ndarray) -> np.ndarray:
        """D(θ, λ, x) of every arm, for one parameter or each row of several."""
        means = inside(self.divergence, parameters @ self.means.T)
        each = self.divergence.value(self.truth, means)
        each = np.where(self.shown, 0.0, each)
        endless = np.isinf(each)
        if not endless.any():
            return np.asarray(each @ self.reveals.T)
        finite = np.where(endless, 0.0, each)  # what is not seen tells nothing: 0 · ∞ is 0
        seen = endless.astype(np.float64) @ self.reveals.T > 0
        return np.asarray(np.where(seen, np.inf, finite @ self.reveals.T))
