"""Cheapest covers: minimise Σ u over u ≥ 0 with rows u ≥ 1, by pivots on the inverse of a basis.

The simplex method goes over the weights of the rows (maximise Σ y with rowsᵀ y ≤ 1), of which 0 is
feasible; rows that come later leave it so.  With u scaled to sum to 1 it is the mixed strategy of
the matrix game whose pay-offs are the rows, and 1 / Σ u is the value of the game.
"""

from typing import NamedTuple

import numpy as np

from ossb.kernels import kernel, separate_kernel

FEASIBLE = 1e-9  # a row may lack so much
LEVEL = 1e-11  # what differs by less does so by rounding: the first is taken
FLAT = 1e-11  # an entry below this is no pivot


class Cover(NamedTuple):
    """Rows, and where the search stands."""

    rows: np.ndarray  # float64 (room, n): not negative
    sizes: np.ndarray  # int64 (1,): how many rows there are
    basis: np.ndarray  # int64 (n,): its rows; −1 − k stands for u_k ≥ 0
    inverse: np.ndarray  # float64 (n, n)
    weights: np.ndarray  # float64 (n,): of the rows in the basis
    point: np.ndarray  # float64 (n,): u
    column: np.ndarray  # float64 (n,): work


def new_cover(n: int, room: int) -> Cover:
    """Of n columns and at most so many rows."""
    return Cover(
        np.zeros((room, n)),
        np.zeros(1, np.int64),
        np.zeros(n, np.int64),
        np.zeros((n, n)),
        np.zeros(n),
        np.zeros(n),
        np.zeros(n),
    )


@kernel
def begin_cover(cover: Cover) -> None:
    """No rows: u = 0."""
    cover.sizes[0] = 0
    for i in range(cover.point.shape[0]):
        cover.basis[i] = -1 - i
        cover.weights[i] = 1.0
        cover.point[i] = 0.0
        for k in range(cover.point.shape[0]):
            cover.inverse[i, k] = 1.0 if i == k else 0.0


@kernel
def forget_rows(cover: Cover) -> None:
    """Drop the rows that do not stand in the basis."""
    n, kept = cover.point.shape[0], 0
    for row in range(cover.sizes[0]):
        place = -1
        for i in range(n):
            if cover.basis[i] == row:
                place = i
        if place >= 0:
            cover.basis[place] = kept
            if kept != row:
                for k in range(n):
                    cover.rows[kept, k] = cover.rows[row, k]
            kept += 1
    cover.sizes[0] = kept


@kernel
def most_lacking(cover: Cover) -> tuple[int, float]:
    """The row that the point misses by most, and by how much; −1 − k for u_k ≥ 0."""
    n, enters, lack = cover.point.shape[0], 0, 0.0
    for row in range(cover.sizes[0]):
        missing = 1.0
        for k in range(n):
            missing -= cover.rows[row, k] * cover.point[k]
        if missing > lack + LEVEL:
            enters, lack = row, missing
    for k in range(n):
        if -cover.point[k] > lack + LEVEL:
            enters, lack = -1 - k, -cover.point[k]
    return enters, lack


@separate_kernel
def cheapest_cover(cover: Cover) -> float:
    """Σ u of the cheapest u, from the last basis; at least a bound from below if cut short."""
    n, column = cover.point.shape[0], cover.column
    for _ in range(4 * n + 60):
        enters, lack = most_lacking(cover)
        if lack <= FEASIBLE:
            break
        leaves, step = -1, 0.0
        for i in range(n):
            if enters < 0:
                column[i] = cover.inverse[i, -1 - enters]
            else:
                column[i] = 0.0
                for k in range(n):
                    column[i] += cover.inverse[i, k] * cover.rows[enters, k]
            if column[i] > FLAT:
                reach = cover.weights[i] / column[i]
                if leaves < 0 or reach < step * (1.0 - LEVEL):
                    leaves, step = i, reach
        if leaves < 0:
            break
        scale = 1.0 / column[leaves]
        for k in range(n):
            cover.inverse[leaves, k] *= scale
        for i in range(n):
            if i != leaves and column[i] != 0.0:
                factor = column[i]
                for k in range(n):
                    cover.inverse[i, k] -= factor * cover.inverse[leaves, k]
                cover.weights[i] = max(cover.weights[i] - step * factor, 0.0)
        cover.weights[leaves] = step
        cover.basis[leaves] = enters
        for k in range(n):
            cover.point[k] += lack * cover.inverse[leaves, k]
    total = 0.0
    for i in range(n):
        if cover.basis[i] >= 0:
            total += cover.weights[i]
    return total


@kernel
def settled(cover: Cover, out: np.ndarray) -> None:
    """u without what rounding alone makes positive, or negative."""
    most = 0.0
    for k in range(out.shape[0]):
        most = max(most, cover.point[k])
    for k in range(out.shape[0]):
        out[k] = cover.point[k] if cover.point[k] > LEVEL * most else 0.0
