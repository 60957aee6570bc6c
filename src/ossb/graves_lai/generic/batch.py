"""Polyhedra side by side in arrays, the polyhedron as first axis, for programs solved together.

Smaller ones are padded with rows of 0 and with directions that nothing depends on.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ossb.graves_lai.generic.affine_hull import AffineHull


@dataclass(frozen=True, eq=False)
class Batch:
    """Polyhedra along directions of their own, r at most."""

    basis: np.ndarray  # (a, n, r) orthonormal
    seen: np.ndarray  # (a, C, r) means along the basis
    walls: np.ndarray  # (a, m, r) inequalities along it
    anchor: np.ndarray  # (a, r, r) positive on the padding, which keeps programs from moving there


@dataclass(frozen=True, eq=False)
class HullBatch(Batch):
    """The regions of a program: also their rows in all directions, and their equalities."""

    rows: np.ndarray  # (a, m + 1, n) inequalities and the negative advantage, 0 if tight
    norms: np.ndarray  # (a, m + 1) what these were divided by
    fixed: np.ndarray  # (a, q, n) equalities
    inverse: np.ndarray  # (a, n, q) their pseudo-inverses
    fixed_norms: np.ndarray  # (a, q)


def batch_of(
    bases: Sequence[np.ndarray], seen: Sequence[np.ndarray], walls: Sequence[np.ndarray]
) -> Batch:
    """Polyhedra given by their directions, and by means and rows along these."""
    columns = max(1, *(basis.shape[1] for basis in bases))
    rows = max(1, *(some.shape[0] for some in walls))
    anchor = np.zeros((len(bases), columns, columns))
    for a, basis in enumerate(bases):
        padding = np.arange(basis.shape[1], columns)
        anchor[a, padding, padding] = 1.0
    return Batch(
        _padded(bases, (bases[0].shape[0], columns)),
        _padded(seen, (seen[0].shape[0], columns)),
        _padded(walls, (rows, columns)),
        anchor,
    )


def hull_batch(hulls: Sequence[AffineHull]) -> HullBatch:
    """The regions of a program; the advantage is the last row of each, after the padding."""
    units = [hull.unit_rows for hull in hulls]
    entries = units[0].gain.size
    m = max(hull.tight.size for hull in hulls)
    q = max(hull.fixed.shape[0] for hull in hulls)
    rows = [
        np.where(hull.tight[:, None], 0.0, unit.rows)
        for hull, unit in zip(hulls, units, strict=True)
    ]
    batch = batch_of(
        [hull.basis for hull in hulls],
        [hull.seen for hull in hulls],
        [_spread(hull.walls[:-1], hull.walls[-1:], m) for hull in hulls],
    )
    return HullBatch(
        batch.basis,
        batch.seen,
        batch.walls,
        batch.anchor,
        np.array(
            [_spread(own, -unit.gain[None], m) for own, unit in zip(rows, units, strict=True)]
        ),
        np.array([[*_ones(unit.row_norms, m), unit.gain_norm] for unit in units]),
        _padded([hull.fixed for hull in hulls], (q, entries)),
        _padded([hull.inverse for hull in hulls], (entries, q)),
        np.array([_ones(unit.equal_norms, q) for unit in units]),
    )


def _padded(parts: Sequence[np.ndarray], shape: tuple[int, int]) -> np.ndarray:
    """Matrices as one array, zeros after each."""
    answer = np.zeros((len(parts), *shape))
    for a, part in enumerate(parts):
        answer[a, : part.shape[0], : part.shape[1]] = part
    return answer


def _spread(rows: np.ndarray, last: np.ndarray, count: int) -> np.ndarray:
    """Rows, zeros up to a number of rows, and one more row."""
    return np.vstack([rows, np.zeros((count - rows.shape[0], rows.shape[1])), last])


def _ones(values: np.ndarray, count: int) -> np.ndarray:
    """Values with ones after them."""
    return np.concatenate([values, np.ones(count - values.size)])
