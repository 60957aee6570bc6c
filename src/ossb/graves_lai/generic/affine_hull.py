"""The directions in which one region extends, wherever θ is."""

from dataclasses import dataclass

import numpy as np

from ossb.graves_lai.generic.polyhedron import UnitRows

UNHELD = 1e-12  # a direction along which unit rows change by less is held by none of them
NOISE = 1e-14  # what rounding leaves, of a row's length, along a direction it does not have


@dataclass(frozen=True, eq=False)
class AffineHull:
    """An orthonormal basis of the directions left free, and the rows along them.

    Directions on which nothing depends are left out.
    """

    unit_rows: UnitRows
    tight: np.ndarray  # (m,) rows that count as equalities
    fixed: np.ndarray  # (f, n) the equalities, then these rows
    inverse: np.ndarray  # (n, f) its pseudo-inverse
    basis: np.ndarray  # (n, r)
    seen: np.ndarray  # (C, r) what arms show, along the basis
    walls: np.ndarray  # (m + 1, r) the rows, 0 if tight, and the negative advantage

    def settled(self, point: np.ndarray, fixed_to: np.ndarray) -> np.ndarray:
        """The point moved onto the equalities, exactly."""
        if not self.fixed.shape[0]:
            return point
        for _ in range(2):
            point = point + self.inverse @ (fixed_to - self.fixed @ point)
        return point


def affine_hull(unit_rows: UnitRows, seen: np.ndarray, tight: np.ndarray) -> AffineHull:
    """The hull of a region in which some rows are tight everywhere."""
    fixed = np.vstack([unit_rows.equal, unit_rows.rows[tight]])
    basis, inverse = _free_directions(fixed)
    basis = _held(np.vstack([seen, unit_rows.rows[~tight], unit_rows.gain]), basis)
    walls = np.where(tight[:, None], 0.0, along(unit_rows.rows, basis))
    gain = along(unit_rows.gain[None], basis)
    return AffineHull(
        unit_rows, tight, fixed, inverse, basis, along(seen, basis), np.vstack([walls, -gain])
    )


def along(rows: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """Rows along each direction of an orthonormal basis; 0 where that is rounding."""
    moved = rows @ basis
    lengths = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    return np.asarray(np.where(np.abs(moved) <= NOISE * lengths, 0.0, moved))


def _free_directions(fixed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Directions along which equalities stay, and the pseudo-inverse that restores them."""
    if not fixed.shape[0]:
        return np.eye(fixed.shape[1]), fixed.T
    _, singular, right = np.linalg.svd(fixed)
    rank = int((singular > 1e-10 * singular[0]).sum())
    basis = right[rank:].T
    basis[np.abs(basis) < 1e-15] = 0.0
    return basis, np.linalg.pinv(fixed, rcond=1e-10)


def _held(rows: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """The directions of a basis without those on which no row depends, where there are any.

    Nothing would hold a program there but rounding.
    """
    lengths = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    unit = (rows / np.where(lengths > 0, lengths, 1.0)) @ basis
    _, singular, right = np.linalg.svd(unit, full_matrices=False)
    kept = singular > UNHELD * singular.max(initial=0.0)
    if kept.sum() == basis.shape[1]:
        return basis
    return np.asarray(basis @ right[kept].T)
