"""Multipliers of one region, in the terms of the user's own rows."""

from dataclasses import dataclass

import numpy as np

from ossb.graves_lai.generic.program import Program


@dataclass(frozen=True, eq=False)
class Dual:
    """Multipliers of one region, in the coordinates of λ − θ.

    means p + matrixᵀ u + equal_matrixᵀ v − tau · gain = 0, u ≥ 0, tau ≥ 0.
    """

    piece: int
    arm: int
    tau: float
    bounds: np.ndarray  # u (m,)
    equal: np.ndarray  # v (q,)
    means: np.ndarray  # p (C,)

    def scaled(self, factor: float) -> "Dual":
        """The same proof for rates multiplied by a factor."""
        return Dual(
            self.piece,
            self.arm,
            factor * self.tau,
            factor * self.bounds,
            factor * self.equal,
            factor * self.means,
        )


def mean_rows(program: Program) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The mean space as rows on λ − θ: component of each row, its sign, and its slack."""
    hidden = np.flatnonzero(~program.shown)
    component, sign, slack = [], [], []
    for end, direction in ((program.divergence.lowest, -1.0), (program.divergence.highest, 1.0)):
        if np.isfinite(end):
            component.append(hidden)
            sign.append(np.full(hidden.size, direction))
            slack.append(direction * (end - (program.means @ program.theta)[hidden]))
    if not component:
        return np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0)
    return np.concatenate(component), np.concatenate(sign), np.concatenate(slack)


def gathered(
    program: Program,
    piece: int,
    arm: int,
    tau: float,
    rows: np.ndarray,
    equal: np.ndarray,
    slopes: np.ndarray,
) -> Dual:
    """Multipliers of the user's own rows, from those of a region's.

    ``rows`` are those of the piece's inequalities, then of the mean space; ``equal`` those of
    the piece's equalities, then of agreement with what the best arm reveals; ``slopes`` those
    of the objective in the means, if any.
    """
    polytope = program.pieces[piece]
    n_bounds, n_equal = polytope.matrix.shape[0], polytope.equal_matrix.shape[0]
    component, sign, _ = mean_rows(program)
    means = np.zeros(program.means.shape[0])
    if slopes.size:
        means += slopes
    np.add.at(means, component, sign * rows[n_bounds:])
    means[program.shown] = equal[n_equal:]
    return Dual(piece, arm, tau, rows[:n_bounds], equal[:n_equal], means)
