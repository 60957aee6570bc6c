"""Regression with a mode on a line: all modes at once, or those near the best.

Pool adjacent violators from both ends (Stout, 2008): the blocks of a stretch from one end are
the new highest one and, under it, those of a shorter stretch, so that each mode only has to pool
its own arm with what stands above it on either side.  With its mode at j, means rise up to j and
fall after it: the deviances of these two stretches, each by itself, add up to no more than that
of mode j, and the first of them never falls as j moves away from its end.  A stretch is pooled
again only where one of its arms has changed: in most rounds, those that hold the arm played.
"""

import math
from typing import NamedTuple

import numpy as np

from ossb.families import Family
from ossb.kernels import kernel
from ossb.models.isotonic import DEVIANCES, LEVELS, Fit

LEVEL, MASS, DEVIANCE = 0, 1, 2
ROUNDING = 1e-9  # relative: a deviance summed in another order


class Summit(NamedTuple):
    """The highest block with the mode at an arm, and the deviance of the whole."""

    level: float
    left: int  # the places right outside it, −1 where there is none
    right: int
    deviance: float


@kernel
def pool_side(
    family: Family,
    path: np.ndarray,
    side: int,
    place: int,
    means: np.ndarray,
    weights: np.ndarray,
    fit: Fit,
) -> None:
    """Blocks of the stretch from one end of a line to a place, rising away from that end.

    The stretch has the block that ends at the place as its highest, and under it, from ``below``
    on, those of a shorter stretch: pools once computed serve all longer ones.
    """
    sides, below = fit.sides[side], fit.below[side]
    arm = path[place]
    mass = weights[arm]
    level = means[arm] if mass > 0.0 else -math.inf
    under = place - 1 if side == 0 else place + 1
    if under == path.shape[0]:
        under = -1
    deviance = sides[DEVIANCE, under] if under >= 0 else 0.0
    while under >= 0 and sides[LEVEL, under] > level:
        other, high = sides[MASS, under], sides[LEVEL, under]
        if mass > 0.0:
            common = (mass * level + other * high) / (mass + other)
            deviance += mass * family.kl(level, common) + other * family.kl(high, common)
            mass += other
            level = common
        else:
            mass, level = other, high
        under = below[under]
    sides[LEVEL, place] = level
    sides[MASS, place] = mass
    sides[DEVIANCE, place] = deviance
    below[place] = under


@kernel
def forget_changes(path: np.ndarray, means: np.ndarray, weights: np.ndarray, fit: Fit) -> None:
    """Take note of the data, and drop the stretches in which they changed."""
    first, last = path.shape[0], -1
    for place in range(path.shape[0]):
        arm = path[place]
        if fit.told[0, arm] != means[arm] or fit.told[1, arm] != weights[arm]:
            fit.told[0, arm] = means[arm]
            fit.told[1, arm] = weights[arm]
            first, last = min(first, place), place
    fit.pooled[0] = min(fit.pooled[0], first)
    fit.pooled[1] = max(fit.pooled[1], last + 1)


@kernel
def pool_to(
    family: Family,
    path: np.ndarray,
    side: int,
    place: int,
    means: np.ndarray,
    weights: np.ndarray,
    fit: Fit,
) -> None:
    """Pool every stretch from one end to a place or shorter that is not there yet."""
    if side == 0:
        for each in range(fit.pooled[0], place + 1):
            pool_side(family, path, side, each, means, weights, fit)
        fit.pooled[0] = max(fit.pooled[0], place + 1)
    else:
        for each in range(fit.pooled[1] - 1, place - 1, -1):
            pool_side(family, path, side, each, means, weights, fit)
        fit.pooled[1] = min(fit.pooled[1], place)


@kernel
def pool_summit(
    family: Family, path: np.ndarray, place: int, means: np.ndarray, weights: np.ndarray, fit: Fit
) -> Summit:
    """The mode at a place, once the stretches on either side of it are pooled."""
    sides, below, arm = fit.sides, fit.below, path[place]
    mass = weights[arm]
    level = means[arm] if mass > 0.0 else -math.inf
    left, right = place - 1, place + 1 if place + 1 < path.shape[0] else -1
    deviance = 0.0
    if left >= 0:
        deviance += sides[0, DEVIANCE, left]
    if right >= 0:
        deviance += sides[1, DEVIANCE, right]
    while True:
        low = sides[0, LEVEL, left] if left >= 0 else -math.inf
        high = sides[1, LEVEL, right] if right >= 0 else -math.inf
        if not max(low, high) > level:
            break
        if low >= high:
            top, other = low, sides[0, MASS, left]
            left = below[0, left]
        else:
            top, other = high, sides[1, MASS, right]
            right = below[1, right]
        if mass > 0.0:
            common = (mass * level + other * top) / (mass + other)
            deviance += mass * family.kl(level, common) + other * family.kl(top, common)
            mass += other
            level = common
        else:
            mass, level = other, top
    return Summit(level, left, right, deviance)


@kernel
def line_deviances(
    family: Family,
    path: np.ndarray,
    centre: int,
    margin: float,
    enough: float,
    means: np.ndarray,
    weights: np.ndarray,
    fit: Fit,
) -> float:
    """The deviance of the modes on a line, to ``fit``; in a time linear in its length.

    Those above that of the centre by more than the margin may be left at infinity: near the
    best mode few stretches then need to be pooled.  Those that come after one which is above it
    by less than ``enough`` are left at infinity too.  Returns the centre's.

    Parameters
    ----------
    path
        The arms from one end of the line to the other.
    centre
        A place on the path.
    """
    n = path.shape[0]
    forget_changes(path, means, weights, fit)
    pool_to(family, path, 0, centre, means, weights, fit)
    pool_to(family, path, 1, centre, means, weights, fit)
    least = pool_summit(family, path, centre, means, weights, fit).deviance
    for place in range(n):
        fit.values[DEVIANCES, path[place]] = math.inf
    fit.values[DEVIANCES, path[centre]] = least
    limit = least + margin + ROUNDING * (1.0 + least)
    for side in range(2):
        step = 1 if side == 0 else -1
        place = centre + step
        while 0 <= place < n:
            pool_to(family, path, side, place, means, weights, fit)
            rising = fit.sides[side, DEVIANCE, place]
            if rising > limit:
                break
            if 0 <= place + step < n:
                rising += fit.sides[1 - side, DEVIANCE, place + step]
            if rising <= limit:
                summit = pool_summit(family, path, place, means, weights, fit)
                fit.values[DEVIANCES, path[place]] = summit.deviance
                if summit.deviance - least < enough:
                    return least
            place += step
    return least


@kernel
def settle_line(
    family: Family, path: np.ndarray, mode: int, means: np.ndarray, weights: np.ndarray, fit: Fit
) -> None:
    """Give every arm its mean with the mode at a place whose sides are pooled.

    Arms that nothing bounds take the mean of their neighbour towards the mode.
    """
    summit = pool_summit(family, path, mode, means, weights, fit)
    top = summit.level if summit.level > -math.inf else 0.0
    for side in range(2):
        step = -1 if side == 0 else 1
        place, level = mode, top
        under = summit.left if side == 0 else summit.right
        while 0 <= place < path.shape[0]:
            if place == under:  # the next block begins
                if fit.sides[side, LEVEL, place] > -math.inf:
                    level = fit.sides[side, LEVEL, place]
                under = fit.below[side, place]
            fit.values[LEVELS, path[place]] = level
            place += step


@kernel
def place_of(path: np.ndarray, arm: int) -> int:
    """Where on a path an arm is."""
    place = 0
    while path[place] != arm:
        place += 1
    return place


@kernel
def fit_place(
    family: Family,
    path: np.ndarray,
    place: int,
    means: np.ndarray,
    weights: np.ndarray,
    limit: float,
    fit: Fit,
) -> float:
    """The deviance with the mode at a place; up to ``limit`` its means are left in ``fit``.

    The data are those that were noted last.
    """
    if place > 0:
        pool_to(family, path, 0, place - 1, means, weights, fit)
    if place + 1 < path.shape[0]:
        pool_to(family, path, 1, place + 1, means, weights, fit)
    deviance = pool_summit(family, path, place, means, weights, fit).deviance
    if deviance <= limit:
        settle_line(family, path, place, means, weights, fit)
    return deviance
