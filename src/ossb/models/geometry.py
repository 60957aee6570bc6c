"""Arms in coordinates of their own: what features say of them, and nothing of their units.

Features x and A x, A invertible, describe the same set of mean vectors, and so do features with
copies, zeros or combinations of others among them.  All that matters is the space spanned by the
columns of the K × d matrix of arms.  Its orthonormal basis, rotated so that a spanning set of arms
is triangular in it, is the same for all of these but for rounding, and for powers of two to the
bit: columns are scaled by a power of two first.
"""

import math
from typing import NamedTuple

import numpy as np

ABSENT = 1e-11  # a direction shorter than this, relative to the longest, is rounding
TIED = 1e-9  # lengths within this of the largest are as large: the first of them is taken
CONSTANT = 1e-9  # a constant closer than this to the span of the features, squared, lies in it


class Geometry(NamedTuple):
    """Arms as K rows of r orthogonal coordinates of mean square 1.

    ``centre`` is their mean: of length 1 where a constant is a combination of the features, so that
    rewards may have any level, and shorter where not.
    """

    rows: np.ndarray  # float64 (K, r)
    spanning: list[int]  # r arms that span the others, the longest first
    centre: np.ndarray  # float64 (r,)
    has_level: bool
    n_directions: int  # in which arms differ; at least 1
    n_distinct: int  # arms


def geometry(arms: np.ndarray) -> Geometry:
    """The geometry of arms given as K rows of d numbers."""
    rows, spanning = _coordinates(np.asarray(arms, dtype=np.float64))
    n_distinct = _join_twins(rows)
    centre = rows.mean(axis=0)
    square = float(centre @ centre)
    has_level = 1.0 - square < CONSTANT
    if has_level:
        centre /= math.sqrt(square)
    directions = max(rows.shape[1] - int(has_level), 1)
    return Geometry(rows, spanning, centre, has_level, directions, n_distinct)


def _coordinates(arms: np.ndarray) -> tuple[np.ndarray, list[int]]:
    basis = _basis(arms)
    n_arms, rank = basis.shape
    if rank == 0:
        return np.zeros((n_arms, 1)), [0]
    rest, rotation = basis.copy(), np.zeros((rank, rank))
    spanning: list[int] = []
    for place in range(rank):
        squares = (rest * rest).sum(axis=1)
        arm = int(np.flatnonzero(squares >= (1.0 - TIED) * squares.max())[0])
        direction = rest[arm] / math.sqrt(squares[arm])
        for _ in range(2):  # once more, against rounding
            rest -= np.outer(rest @ direction, direction)
        rotation[:, place] = direction
        spanning.append(arm)
    return math.sqrt(n_arms) * (basis @ rotation), spanning


def _basis(arms: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the span of the features, as columns."""
    largest = np.abs(arms).max(axis=0)
    columns = arms[:, largest > 0.0]
    columns = np.ldexp(columns, -np.frexp(largest[largest > 0.0])[1])
    if not columns.size:
        return np.zeros((arms.shape[0], 0))
    left, lengths, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(left[:, lengths > ABSENT * lengths[0]])


def _join_twins(rows: np.ndarray) -> int:
    """Make arms that are equal but for rounding equal; returns the number of those left.

    They are neighbours on a line on which arms that differ fall together with probability 0.
    """
    order = np.argsort(rows @ np.random.default_rng(0).normal(size=rows.shape[1]), kind="stable")
    apart = np.abs(np.diff(rows[order], axis=0)).max(axis=1)
    twins = np.flatnonzero(apart <= TIED * np.abs(rows).max())
    for place in twins:
        rows[order[place + 1]] = rows[order[place]]
    return len(rows) - len(twins)
