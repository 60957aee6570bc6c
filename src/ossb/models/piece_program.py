"""Where in a piece the likelihood is largest: Newton's method, each step a nearest point.

Minimise Σ_k N_k d(m_k, (M λ)_k) over the rows of a piece, and, against a leader, where another
arm is at least as good.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ossb.families import Family
from ossb.graves_lai.generic.divergence_kernels import GAUSSIAN, POISSON, bend_at, slope_at
from ossb.kernels import kernel
from ossb.numerics.dense import cholesky, solve_lower, solve_upper, weighted_gram
from ossb.numerics.nearest_point import Rows, bring_inside, new_rows

STEPS = 60
CLOSE = 1e-7  # of the loss: what a step is expected to gain when it is the last one
KEPT = (0.02, 1e-9)  # of the way to an end of the mean space, that a step leaves at least
RIDGE = 1e-13  # of the mean curvature, in directions that were never seen
BARE = 0.1  # of 1/mean: the curvature of counts of which all were 0
HALVINGS = 40
END = 1e-12  # a mean this close to an end of its space is that end


class ProgramSpace(NamedTuple):
    """Room for one program, and its solution."""

    bounds: Rows
    point: np.ndarray  # float64 (r,): z
    before: np.ndarray  # float64 (r,)
    slope: np.ndarray  # float64 (r,)
    bend: np.ndarray  # float64 (r, r)
    shown: np.ndarray  # float64 (C,): means of the components at the point
    slopes: np.ndarray  # float64 (C,)
    bends: np.ndarray  # float64 (C,)


def new_program(most: int, size: int, components: int) -> ProgramSpace:
    """Room for programs of so many rows; the row of the rival comes last."""
    return ProgramSpace(
        new_rows(most + 1, size),
        np.zeros(size),
        np.zeros(size),
        np.zeros(size),
        np.zeros((size, size)),
        np.zeros(components),
        np.zeros(components),
        np.zeros(components),
    )


@kernel
def show(pieces: Any, piece: int, family: Family, point: np.ndarray, out: np.ndarray) -> None:
    """The means of the components at a point, in their space."""
    low, high = family.lowest(), family.highest()
    size = pieces.sizes[piece]
    for k in range(out.shape[0]):
        mean = pieces.shown[piece, k]
        for l in range(size):  # noqa: E741
            mean += pieces.seen[piece, k, l] * point[l]
        if mean < low + END:
            mean = low
        out[k] = high if mean > high - END else mean


@kernel
def loss_of(family: Family, means: np.ndarray, weights: np.ndarray, shown: np.ndarray) -> float:
    """Σ_k N_k d(m_k, shown_k)."""
    total = 0.0
    for k in range(means.shape[0]):
        if weights[k] > 0.0:
            total += weights[k] * family.kl(means[k], shown[k])
    return total


@kernel
def put_rows(pieces: Any, piece: int, leader: int, rival: int, bounds: Rows) -> int:
    """Copy the rows of a piece, and with a rival that it is no worse; returns how many."""
    size, count = pieces.sizes[piece], pieces.counts[piece]
    for i in range(count):
        bounds.sides[i] = pieces.sides[piece, i]
        for l in range(size):  # noqa: E741
            bounds.rows[i, l] = pieces.rows[piece, i, l]
    if rival < 0:
        return count
    length = 0.0
    for l in range(size):  # noqa: E741
        part = pieces.pays[piece, leader, l] - pieces.pays[piece, rival, l]
        bounds.rows[count, l] = part
        length += part * part
    length = math.sqrt(length)
    bounds.sides[count] = pieces.paid[piece, rival] - pieces.paid[piece, leader]
    if length > 0.0:
        bounds.sides[count] /= length
        for l in range(size):  # noqa: E741
            bounds.rows[count, l] /= length
    return count + 1


@kernel
def put_walls(
    pieces: Any, piece: int, family: Family, kept: float, means: np.ndarray, space: ProgramSpace
) -> None:
    """Let a step go most of the way to the ends of the means; all of it to one that was seen."""
    size = pieces.sizes[piece]
    for i in range(pieces.counts[piece]):
        k = pieces.walls[piece, i]
        if k >= 0:
            end = family.highest() if pieces.ends[piece, i] > 0 else family.lowest()
            if means[k] != end:
                at = 0.0
                for l in range(size):  # noqa: E741
                    at += pieces.rows[piece, i, l] * space.before[l]
                left = max(pieces.sides[piece, i] - at, 0.0)
                space.bounds.sides[i] = pieces.sides[piece, i] - kept * left


@kernel
def expand(
    pieces: Any,
    piece: int,
    kind: int,
    precision: float,
    means: np.ndarray,
    weights: np.ndarray,
    space: ProgramSpace,
) -> bool:
    """Slope and curvature of the loss at the point, the latter factored; False if it cannot be."""
    size, components = pieces.sizes[piece], means.shape[0]
    for k in range(components):
        space.slopes[k], space.bends[k] = 0.0, 0.0
        if weights[k] > 0.0:
            mean = space.shown[k]
            space.slopes[k] = weights[k] * slope_at(kind, precision, means[k], mean)
            bend = bend_at(kind, precision, means[k], mean)
            if kind == POISSON and means[k] <= 0.0:
                bend = BARE / max(mean, BARE / weights[k])
            space.bends[k] = weights[k] * bend
    for l in range(size):  # noqa: E741
        space.slope[l] = 0.0
        for k in range(components):
            space.slope[l] += space.slopes[k] * pieces.seen[piece, k, l]
    weighted_gram(pieces.seen[piece], space.bends, components, size, space.bend)
    trace = 0.0
    for l in range(size):  # noqa: E741
        trace += space.bend[l, l]
    for l in range(size):  # noqa: E741
        space.bend[l, l] += RIDGE * trace if trace > 0.0 else 1.0
    return cholesky(space.bend, size)


@kernel
def take_step(
    pieces: Any, piece: int, family: Family, count: int, means: np.ndarray, space: ProgramSpace
) -> bool:
    """Move the point to the nearest one to Newton's that the rows allow."""
    size = pieces.sizes[piece]
    for l in range(size):  # noqa: E741
        space.before[l] = space.point[l]
    for kept in KEPT:
        for l in range(size):  # noqa: E741
            space.point[l] = space.slope[l]
        solve_lower(space.bend, size, space.point)
        solve_upper(space.bend, size, space.point)
        for l in range(size):  # noqa: E741
            space.point[l] = space.before[l] - space.point[l]
        put_walls(pieces, piece, family, kept, means, space)
        if bring_inside(space.bounds, count, size, space.bend, space.point):
            return True
    return False


@kernel
def nearest(
    pieces: Any,
    piece: int,
    family: Family,
    kind: int,
    precision: float,
    leader: int,
    rival: int,
    means: np.ndarray,
    weights: np.ndarray,
    space: ProgramSpace,
) -> float:
    """The least loss, at ``space.point`` with ``space.shown``; infinite where none is found.

    It begins at the point, which the rows of the piece allow; the row of a rival may be broken.
    """
    size = pieces.sizes[piece]
    count = put_rows(pieces, piece, leader, rival, space.bounds)
    show(pieces, piece, family, space.point, space.shown)
    loss = loss_of(family, means, weights, space.shown)
    allowed = rival < 0
    for _ in range(STEPS):
        if not expand(pieces, piece, kind, precision, means, weights, space):
            return math.inf
        if not take_step(pieces, piece, family, count, means, space):
            return math.inf
        expected = 0.0
        for l in range(size):  # noqa: E741
            expected += space.slope[l] * (space.before[l] - space.point[l])
        show(pieces, piece, family, space.point, space.shown)
        now = loss_of(family, means, weights, space.shown)
        if kind == GAUSSIAN:
            return now
        if allowed:
            share = 1.0
            while not now <= loss - 1e-4 * share * expected and share > 0.5**HALVINGS:
                share *= 0.5
                for l in range(size):  # noqa: E741
                    space.point[l] = 0.5 * (space.point[l] + space.before[l])
                show(pieces, piece, family, space.point, space.shown)
                now = loss_of(family, means, weights, space.shown)
            if expected <= CLOSE * (1.0 + loss):
                return min(now, loss)
        loss, allowed = now, True
    return loss
