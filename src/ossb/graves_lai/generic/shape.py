"""One region as rows of unit norm, in the coordinates z of λ − θ = scale · columns z."""

from dataclasses import dataclass

import numpy as np

from ossb.graves_lai.generic.duals import mean_rows
from ossb.graves_lai.generic.program import Program


@dataclass(frozen=True, eq=False)
class Shape:
    """rows z ≤ slacks, equal z = equal_to, gain · z ≥ need, and the norms divided out."""

    rows: np.ndarray
    slacks: np.ndarray
    row_norms: np.ndarray
    equal: np.ndarray
    equal_to: np.ndarray
    equal_norms: np.ndarray
    gain: np.ndarray
    need: float
    gain_norm: float

    def scaled(self, scale: float) -> "Shape":
        return Shape(
            self.rows,
            self.slacks / scale,
            self.row_norms,
            self.equal,
            self.equal_to / scale,
            self.equal_norms,
            self.gain,
            self.need / scale,
            self.gain_norm,
        )


def shape_of(program: Program, piece: int, arm: int) -> Shape:
    """The region in the coordinates of λ − θ = columns z, rows of unit norm."""
    polytope = program.pieces[piece]
    component, sign, mean_slack = mean_rows(program)
    rows = np.vstack([polytope.matrix, sign[:, None] * program.means[component]])
    slacks = np.concatenate([polytope.bounds - polytope.matrix @ program.theta, mean_slack])
    shown = program.means[program.shown]
    # an estimate outside the mean space agrees with the clipped one
    moved = program.truth[program.shown] - shown @ program.theta
    equal = np.vstack([polytope.equal_matrix, shown])
    equal_to = np.concatenate(
        [polytope.equal_bounds - polytope.equal_matrix @ program.theta, moved]
    )
    rows, equal = rows * program.columns, equal * program.columns
    gain = program.advantage_row(piece, arm) * program.columns
    row_norms, equal_norms = _norms(rows), _norms(equal)
    gain_norm = float(_norms(gain[None])[0])
    return Shape(
        rows / row_norms[:, None],
        slacks / row_norms,
        row_norms,
        equal / equal_norms[:, None],
        equal_to / equal_norms,
        equal_norms,
        gain / gain_norm,
        program.need(piece, arm) / gain_norm,
        gain_norm,
    )


def _norms(rows: np.ndarray) -> np.ndarray:
    norms = np.sqrt((rows * rows).sum(axis=1))
    return np.where(norms > 0, norms, 1.0)


def least_movement(shape: Shape) -> float:
    """What θ must move at least to enter the region: a first scale."""
    least = max(
        shape.need,
        float((-shape.slacks).max(initial=0.0)),
        float(np.abs(shape.equal_to).max(initial=0.0)),
    )
    return least if least > 0 else 1.0
