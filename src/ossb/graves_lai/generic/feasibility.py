"""The user's own rows, by which it is told whether a parameter lies where it should."""

from typing import NamedTuple

import numpy as np

from ossb.graves_lai.generic.divergence import Divergence
from ossb.graves_lai.generic.piece import Piece


class Feasibility(NamedTuple):
    """rows λ ≤ sides: agreement from above and from below, the piece, the mean space.

    The sides of agreement depend on θ: they are left open, the first 2s of them.
    """

    rows: np.ndarray  # (k, n)
    sizes: np.ndarray  # (k, n) their absolute values
    sides: np.ndarray  # (k,)


def feasibility_of(
    piece: Piece, means: np.ndarray, shown: np.ndarray, divergence: Divergence
) -> Feasibility:
    """The rows of a piece, with those on all means and on the ``shown`` ones."""
    agree, equal, to = means[shown], piece.equal_matrix, piece.equal_bounds
    rows = np.vstack([agree, -agree, piece.matrix, equal, -equal, -means, means])
    low = np.full(means.shape[0], -divergence.lowest)
    high = np.full(means.shape[0], divergence.highest)
    sides = [np.zeros(2 * agree.shape[0]), piece.bounds, to, -to, low, high]
    return Feasibility(rows, np.abs(rows), np.concatenate(sides))
