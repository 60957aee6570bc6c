"""One region as rows of unit norm, in the coordinates z of λ − θ = scale · columns z."""

from dataclasses import dataclass

import numpy as np

from ossb.graves_lai.generic.outline import Outline
from ossb.graves_lai.generic.program import Program


@dataclass(frozen=True, eq=False)
class Shape:
    """rows z ≤ slacks, equal z = equal_to, gain · z ≥ need."""

    outline: Outline
    slacks: np.ndarray
    equal_to: np.ndarray
    need: float

    @property
    def rows(self) -> np.ndarray:
        return self.outline.rows

    @property
    def equal(self) -> np.ndarray:
        return self.outline.equal

    @property
    def gain(self) -> np.ndarray:
        return self.outline.gain

    def scaled(self, scale: float) -> "Shape":
        return Shape(self.outline, self.slacks / scale, self.equal_to / scale, self.need / scale)


def shape_of(program: Program, piece: int, arm: int) -> Shape:
    """The region in the coordinates of λ − θ = columns z, rows of unit norm."""
    outline = program.ground.outline(piece, arm)
    slacks, equal_to = program.sides_of(piece)
    return Shape(
        outline,
        slacks / outline.row_norms,
        equal_to / outline.equal_norms,
        program.need(piece, arm) / outline.gain_norm,
    )


def least_movement(shape: Shape) -> float:
    """What θ must move at least to enter the region: a first scale."""
    least = max(
        shape.need,
        float((-shape.slacks).max(initial=0.0)),
        float(np.abs(shape.equal_to).max(initial=0.0)),
    )
    return least if least > 0 else 1.0
