"""A program with its numbers as the rationals that they are, in the coordinates δ = λ − θ.

The set of parameters is the one that was given, widened row by row just enough to hold θ, which
may have been rounded: in the piece that holds θ a row A λ ≤ b reads A λ ≤ max(b, A θ), an equality
reads E λ = E θ, and a mean of θ outside the mean space widens it up to there.  A component
whose mean is outside shows what the nearest end of the mean space would.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import fmpq

from ossb.graves_lai.generic.conjugate import Conjugate
from ossb.graves_lai.generic.piece import Piece
from ossb.graves_lai.generic.rational import ZERO, Row, difference, dot, rationals, sparse
from ossb.graves_lai.proof import ProofError


@dataclass(frozen=True, eq=False)
class ExactPiece:
    """rows δ ≤ slacks, equal δ = rests, and the rewards' rows."""

    rows: list[Row]
    slacks: list[fmpq]
    equal: list[Row]
    rests: list[fmpq]
    rewards: list[Row]


@dataclass(frozen=True, eq=False)
class Walls:
    """rows δ ≤ slacks of a piece and of the mean space, and the same in doubles."""

    rows: list[Row]
    slacks: list[fmpq]
    matrix: np.ndarray
    sizes: np.ndarray  # its absolute values
    sides: np.ndarray


class ExactProgram:
    """The program at θ, as in ``Program``.

    Parameters
    ----------
    home
        The piece that holds θ, and is widened to hold it.
    gaps
        Δ(x), or what else a play costs, where it is not what rewards lack.
    twin
        An arm that earns what ``best`` does by definition: ``best`` only stands for it.
    """

    def __init__(
        self,
        conjugate: Conjugate,
        means: np.ndarray,
        reveals: np.ndarray,
        pieces: Sequence[Piece],
        theta: np.ndarray,
        best: int,
        home: int,
        gaps: np.ndarray | list[fmpq] | None = None,
        twin: int | None = None,
    ) -> None:
        self.conjugate, self.best, self.home = conjugate, best, home
        self.size = int(theta.size)
        self.theta = rationals(theta)
        self.means = [sparse(row) for row in means]
        self.shown = [bool(one) for one in reveals[best] > 0]
        self.reveals = [[int(k) for k in np.flatnonzero(row)] for row in reveals]
        self._pieces = pieces
        self._gaps = rationals(gaps) if isinstance(gaps, np.ndarray) else gaps
        self._read: dict[int, ExactPiece] = {}
        self._walls: dict[int, Walls] = {}
        for arm in range(self.n_arms):
            if arm not in (best, twin) and not self.need(home, arm) > 0:
                raise ProofError(f"instance: arm {arm} is as good as the best arm, {best}")

    @cached_property
    def shift(self) -> list[fmpq]:
        """Component means under θ, wherever they are."""
        return [dot(row, self.theta) for row in self.means]

    @cached_property
    def truth(self) -> list[fmpq]:
        """Component means under θ, inside the mean space."""
        return [self.inside(mean) for mean in self.shift]

    def inside(self, mean: fmpq) -> fmpq:
        """A mean brought into its space."""
        low, high = self.conjugate.lowest, self.conjugate.highest
        mean = mean if low is None else max(mean, low)
        return mean if high is None else min(mean, high)

    @cached_property
    def hidden(self) -> list[int]:
        """The components that the best arm does not show."""
        return [k for k, shown in enumerate(self.shown) if not shown]

    @cached_property
    def agreement(self) -> list[Row]:
        """Means that the best arm shows, and that must not change."""
        return [self.means[k] for k, shown in enumerate(self.shown) if shown]

    def ends(self, k: int) -> tuple[fmpq | None, fmpq | None]:
        """How far component k may go down and up from its mean under θ, None if endlessly."""
        low, high = self.conjugate.lowest, self.conjugate.highest
        down = None if low is None else max(self.shift[k] - low, ZERO)
        return down, None if high is None else max(high - self.shift[k], ZERO)

    def piece(self, number: int) -> ExactPiece:
        """A piece in the coordinates δ; the one that holds θ is widened to hold it."""
        if number not in self._read:
            piece: Piece = self._pieces[number]
            rows, equal = [[sparse(row) for row in m] for m in (piece.matrix, piece.equal_matrix)]
            slacks = [
                side - dot(row, self.theta)
                for row, side in zip(rows, rationals(piece.bounds), strict=True)
            ]
            rests = [
                side - dot(row, self.theta)
                for row, side in zip(equal, rationals(piece.equal_bounds), strict=True)
            ]
            if number == self.home:
                slacks = [max(slack, ZERO) for slack in slacks]
                rests = [ZERO] * len(rests)
            rewards = [sparse(row) for row in piece.rewards]
            self._read[number] = ExactPiece(rows, slacks, equal, rests, rewards)
        return self._read[number]

    def walls(self, number: int) -> Walls:
        """The inequalities of a piece and of the means that the best arm does not show."""
        if number not in self._walls:
            piece = self.piece(number)
            rows, slacks = list(piece.rows), list(piece.slacks)
            for k in self.hidden:
                down, up = self.ends(k)
                if up is not None:
                    rows.append(self.means[k])
                    slacks.append(up)
                if down is not None:
                    rows.append([(j, -entry) for j, entry in self.means[k]])
                    slacks.append(down)
            matrix = np.zeros((len(rows), self.size))
            for i, row in enumerate(rows):
                for j, entry in row:
                    matrix[i, j] = float(entry)
            sides = np.array([float(slack) for slack in slacks])
            self._walls[number] = Walls(rows, slacks, matrix, np.abs(matrix), sides)
        return self._walls[number]

    @property
    def n_pieces(self) -> int:
        return len(self._pieces)

    @property
    def n_arms(self) -> int:
        return len(self.reveals)

    def pairs(self) -> list[tuple[int, int]]:
        """Every (piece, arm) that may hold confusing parameters."""
        arms = [arm for arm in range(self.n_arms) if arm != self.best]
        return [(piece, arm) for piece in range(self.n_pieces) for arm in arms]

    def gain(self, piece: int, arm: int) -> Row:
        """The c with c · λ = reward of ``arm`` − reward of x*."""
        rewards = self.piece(piece).rewards
        return difference(rewards[arm], rewards[self.best])

    def need(self, piece: int, arm: int) -> fmpq:
        """What ``arm`` lacks to x* under θ, by the rewards of a piece."""
        return -dot(self.gain(piece, arm), self.theta)

    def gap(self, arm: int) -> fmpq:
        """Δ(arm)."""
        return self.need(self.home, arm) if self._gaps is None else self._gaps[arm]

    def weights(self, rates: Sequence[fmpq]) -> list[fmpq]:
        """w_k: how often component k is seen when arms are played at these rates."""
        weights = [ZERO] * len(self.means)
        for rate, shown in zip(rates, self.reveals, strict=True):
            for k in shown if rate != 0 else ():
                weights[k] += rate
        return weights
