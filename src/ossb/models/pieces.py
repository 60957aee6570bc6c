"""The pieces of a polytope or union as arrays, for compiled code.

Each piece is seen in coordinates z of its own affine hull, λ = middle + basis z, so that equalities
and rows that are tight all through are gone.  Components have the means shown₀ + seen z, and
arms the rewards paid₀ + paid z.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ossb.graves_lai.generic.piece import Piece
from ossb.graves_lai.linprog import solve_lp
from ossb.models.regions import LARGE, ROOM, Region, interior
from ossb.records import Floats, Ints, record

FLAT = 1e-10  # of a row's length: what of it is within the hull of its piece is none


@record
class Pieces(NamedTuple):
    """Polytopes side by side.

    Parameters
    ----------
    sizes, counts
        Dimension and number of rows of each piece; arrays are padded to the largest.
    rows, sides
        rows z ≤ sides; the ends of the mean space among them.
    walls, ends
        Of which component a row is such an end, −1 for none; and which, −1 or 1.
    shown, seen
        Mean of each component at z = 0, and its gradient.
    paid, pays
        The same of the reward of each arm.
    rivals
        1 where an arm (last) can beat a leader (second) by something in a piece.
    """

    sizes: Ints  # (p,)
    counts: Ints  # (p,)
    rows: Floats  # (p, m, r)
    sides: Floats  # (p, m)
    walls: Ints  # (p, m)
    ends: Ints  # (p, m)
    shown: Floats  # (p, C)
    seen: Floats  # (p, C, r)
    paid: Floats  # (p, K)
    pays: Floats  # (p, K, r)
    rivals: Ints  # (p, K, K)


class Within(NamedTuple):
    """One piece in its coordinates."""

    rows: np.ndarray
    sides: np.ndarray
    walls: np.ndarray
    ends: np.ndarray
    shown: np.ndarray
    seen: np.ndarray
    paid: np.ndarray
    pays: np.ndarray
    rivals: np.ndarray


def pieces_of(
    polytopes: Sequence[Piece], means: np.ndarray, lowest: float, highest: float
) -> Pieces:
    """The pieces that hold a parameter whose means lie in their space."""
    found = [
        within
        for piece in polytopes
        if (within := _within(piece, means, lowest, highest)) is not None
    ]
    sizes = np.array([within.seen.shape[1] for within in found])
    counts = np.array([within.sides.size for within in found])
    size, most = max(1, int(sizes.max())), max(1, int(counts.max()))

    def padded(arrays: list[np.ndarray], *shape: int) -> np.ndarray:
        answer = np.zeros((len(arrays), *shape), arrays[0].dtype)
        for place, array in zip(answer, arrays, strict=True):
            place[tuple(slice(n) for n in array.shape)] = array
        return answer

    n_arms, n_components = found[0].paid.size, found[0].shown.size
    return Pieces(
        sizes,
        counts,
        padded([within.rows for within in found], most, size),
        padded([within.sides for within in found], most),
        padded([within.walls for within in found], most),
        padded([within.ends for within in found], most),
        np.array([within.shown for within in found]),
        padded([within.seen for within in found], n_components, size),
        np.array([within.paid for within in found]),
        padded([within.pays for within in found], n_arms, size),
        np.array([within.rivals for within in found]),
    )


def showing_all(incidence: np.ndarray) -> list[int]:
    """A small set of arms that together show every component that any arm shows."""
    missing = incidence.any(axis=0)
    chosen: list[int] = []
    while missing.any():
        arm = int(np.argmax((incidence[:, missing] > 0).sum(axis=1)))
        chosen.append(arm)
        missing = missing & ~(incidence[arm] > 0)
    return sorted(chosen)


def _within(piece: Piece, means: np.ndarray, lowest: float, highest: float) -> Within | None:
    rows, sides = [piece.matrix], [piece.bounds]
    walls, ends = [np.full(piece.bounds.size, -1)], [np.zeros(piece.bounds.size, np.int64)]
    for end, limit in ((1, highest), (-1, lowest)):
        if math.isfinite(limit):
            rows.append(end * means)
            sides.append(np.full(means.shape[0], end * limit))
            walls.append(np.arange(means.shape[0]))
            ends.append(np.full(means.shape[0], end))
    every, limits = np.vstack(rows), np.concatenate(sides)
    region = interior(every, limits, piece.equal_matrix, piece.equal_bounds, False)
    if region is None:
        return None
    inside = every @ region.basis
    lengths = np.linalg.norm(inside, axis=1)
    keep = lengths > FLAT * np.linalg.norm(every, axis=1)
    inside, lengths = inside[keep] / lengths[keep, None], lengths[keep]
    room = np.maximum((limits[keep] - every[keep] @ region.middle) / lengths, 0.0)
    paid, pays = piece.rewards @ region.middle, piece.rewards @ region.basis
    return Within(
        inside,
        room,
        np.concatenate(walls)[keep],
        np.concatenate(ends)[keep],
        means @ region.middle,
        means @ region.basis,
        paid,
        pays,
        _rivals(region, inside, room, paid, pays),
    )


def _rivals(
    region: Region, rows: np.ndarray, sides: np.ndarray, paid: np.ndarray, pays: np.ndarray
) -> np.ndarray:
    """1 where an arm (second) beats another (first) somewhere, shown by points or a program."""
    n, size = pays.shape
    box = LARGE * (1.0 + float(np.abs(sides).max(initial=0.0)))

    def furthest(direction: np.ndarray) -> np.ndarray:
        below = np.full(rows.shape[0], -np.inf)
        limits = np.full(size, box)
        answer = solve_lp(-direction, rows, below, sides, -limits, limits)
        return answer.point if answer.status == "optimal" else np.zeros(size)

    points = [np.zeros(size)]
    points += [furthest(row) for row in pays if size and rows.shape[0] and row.any()]
    rewards = np.array([paid + pays @ point for point in points])
    table = np.zeros((n, n), np.int64)
    for leader in range(n):
        for arm in range(n):
            row = pays[arm] - pays[leader]
            least = ROOM * max(float(np.linalg.norm(row)), np.finfo(float).tiny)
            gains = rewards[:, arm] - rewards[:, leader]
            if arm == leader:
                continue
            if not gains.max() > least and rows.shape[0] and row.any():
                point = furthest(row)
                gains = paid[arm] - paid[leader] + row @ point[None].T
            elif not rows.shape[0] and row.any():
                gains = np.array([math.inf])
            table[leader, arm] = int(gains.max() > least)
    return table
