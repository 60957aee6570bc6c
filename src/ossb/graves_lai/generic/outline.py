"""The rows of one region, wherever θ is."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Outline:
    """Rows of unit norm: inequalities, equalities and the advantage; and the norms divided out."""

    rows: np.ndarray  # (m, n)
    row_norms: np.ndarray  # (m,)
    equal: np.ndarray  # (q, n)
    equal_norms: np.ndarray  # (q,)
    gain: np.ndarray  # (n,)
    gain_norm: float


def outline_of(rows: np.ndarray, equal: np.ndarray, gain: np.ndarray) -> Outline:
    """Rows brought to unit norm."""
    row_norms, equal_norms = _norms(rows), _norms(equal)
    gain_norm = float(_norms(gain[None])[0])
    return Outline(
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
