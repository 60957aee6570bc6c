"""Which piece the true parameter lies in, decided in rationals: its rewards are the true ones.

A parameter of a union is a point together with a piece that holds it.  Where θ lies in several
pieces, or in none but, for rounding, near several, these have to agree on its rewards.
"""

from collections.abc import Sequence

import numpy as np
from flint import fmpq

from ossb.graves_lai.generic.piece import Piece
from ossb.graves_lai.generic.rational import ZERO, dot, rational, rationals, sparse

Truth = Sequence[fmpq]


def broken_by(piece: Piece, theta: Truth) -> fmpq:
    """By how much the worst row of a piece is broken, exactly; 0 where it holds θ."""
    worst = ZERO
    for row, side in zip(piece.matrix, rationals(piece.bounds), strict=True):
        worst = max(worst, dot(sparse(row), theta) - side)
    for row, side in zip(piece.equal_matrix, rationals(piece.equal_bounds), strict=True):
        worst = max(worst, abs(dot(sparse(row), theta) - side))
    return worst


def home_of(pieces: Sequence[Piece], theta: np.ndarray) -> int:
    """The piece that θ breaks least, the first of those."""
    if len(pieces) == 1:
        return 0
    exactly = rationals(theta)
    broken = [broken_by(piece, exactly) for piece in pieces]
    return broken.index(min(broken))


def disputed_at(pieces: Sequence[Piece], theta: np.ndarray, near: float) -> tuple[int, int] | None:
    """A piece that may hold θ as well as its home does, and an arm whose reward there is another.

    Where no piece holds θ exactly, all do that θ breaks by at most ``near``.
    """
    if all(np.array_equal(piece.rewards, pieces[0].rewards) for piece in pieces):
        return None
    exactly = rationals(theta)
    broken = [broken_by(piece, exactly) for piece in pieces]
    limit = ZERO if min(broken) == 0 else max(rational(near), min(broken))
    home = broken.index(min(broken))
    for k, piece in enumerate(pieces):
        if broken[k] > limit:
            continue
        pairs = zip(pieces[home].rewards, piece.rewards, strict=True)
        for arm, (mine, theirs) in enumerate(pairs):
            if dot(sparse(mine), exactly) != dot(sparse(theirs), exactly):
                return k, arm
    return None
