"""Multipliers of one region, in the terms of the user's own rows."""

from dataclasses import dataclass

import numpy as np

from ossb.graves_lai.generic.program import Program

REFINED = 10  # how often multipliers are corrected
CANCELLED = 1e-15  # of a column's size: rounding
VANISHED = 1e-6  # a multiplier of which a smaller share is left was rounding itself
RANK = 1e-12  # of the columns, brought to one size


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
        """The proof that results where rates are multiplied by a factor."""
        return Dual(
            self.piece,
            self.arm,
            factor * self.tau,
            factor * self.bounds,
            factor * self.equal,
            factor * self.means,
        )


def settled(program: Program, dual: Dual, limit: np.ndarray | float = np.inf) -> Dual:
    """The multipliers changed, each in proportion to itself, so that the columns cancel.

    An entry of λ may be as large as it likes, so each column has to cancel to rounding, however
    small beside the others.  Signs stay, and so do zeros; slopes of means stay below ``limit``.
    """
    rows = program.rows_of(dual.piece, dual.arm)
    factors = np.concatenate([dual.means, dual.bounds, dual.equal, [dual.tau]])
    cap = np.full(factors.size, np.inf)
    cap[: dual.means.size] = limit
    for _ in range(REFINED):
        terms = rows * factors[:, None]
        size = np.abs(terms).sum(axis=0)
        residual = terms.sum(axis=0)
        if (np.abs(residual) <= CANCELLED * size).all():
            break
        size = np.where(size > 0, size, 1.0)
        change = np.linalg.lstsq((terms / size).T, -residual / size, rcond=RANK)[0]
        kept = np.where(change > VANISHED - 1.0, 1.0 + change, 0.0)
        factors = np.minimum(factors * kept, cap)
    means, bounds, equal = np.split(
        factors[:-1], [dual.means.size, dual.means.size + dual.bounds.size]
    )
    return Dual(dual.piece, dual.arm, float(factors[-1]), bounds, equal, means)


def mean_rows(program: Program) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The mean space as rows on λ − θ: component of each row, its sign, and its slack."""
    component, sign, _ = program.fixed_leader.ends
    return component, sign, program.mean_slacks


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
