"""A polyhedron by rows of unit norm, and what of it stays the same wherever θ is."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class UnitRows:
    """Inequalities, equalities and the advantage as rows of unit norm, and what was divided out.

    They do not depend on θ: only the right sides do.
    """

    rows: np.ndarray  # (m, n)
    row_norms: np.ndarray  # (m,)
    equal: np.ndarray  # (q, n)
    equal_norms: np.ndarray  # (q,)
    gain: np.ndarray  # (n,)
    gain_norm: float


@dataclass(frozen=True, eq=False)
class Polyhedron:
    """{z : rows z ≤ slacks, equal z = equal_to, gain · z ≥ need}."""

    unit_rows: UnitRows
    slacks: np.ndarray  # (m,)
    equal_to: np.ndarray  # (q,)
    need: float

    @property
    def rows(self) -> np.ndarray:
        return self.unit_rows.rows

    @property
    def equal(self) -> np.ndarray:
        return self.unit_rows.equal

    @property
    def gain(self) -> np.ndarray:
        return self.unit_rows.gain

    @property
    def distance(self) -> float:
        """How far the origin is from it, at least: a first scale.  1 where that is 0."""
        least = max(
            self.need,
            float((-self.slacks).max(initial=0.0)),
            float(np.abs(self.equal_to).max(initial=0.0)),
        )
        return least if least > 0 else 1.0

    def scaled(self, scale: float) -> "Polyhedron":
        """The image of the polyhedron under z → z / scale."""
        slacks, equal_to = self.slacks / scale, self.equal_to / scale
        return Polyhedron(self.unit_rows, slacks, equal_to, self.need / scale)


def unit_rows(rows: np.ndarray, equal: np.ndarray, gain: np.ndarray) -> UnitRows:
    """Rows divided by their norms; those of 0 stay."""
    row_norms, equal_norms = _norms(rows), _norms(equal)
    gain_norm = float(_norms(gain[None])[0])
    return UnitRows(
        rows / row_norms[:, None],
        row_norms,
        equal / equal_norms[:, None],
        equal_norms,
        gain / gain_norm,
        gain_norm,
    )


def _norms(rows: np.ndarray) -> np.ndarray:
    norms = np.sqrt((rows * rows).sum(axis=1))
    return np.where(norms > 0, norms, 1.0)
