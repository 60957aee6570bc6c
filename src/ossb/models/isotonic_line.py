"""Regression with a mode on a line: all modes at once.

Pool adjacent violators from both ends (Stout, 2008): the blocks of a stretch from one end are
the new highest one and, under it, those of a shorter stretch, so that each mode only has to pool
its own arm with what stands above it on either side.
"""

import math

import numpy as np

from ossb.families import Family
from ossb.kernels import kernel
from ossb.models.isotonic import DEVIANCES, Fit

LEVEL, MASS, DEVIANCE = 0, 1, 2


@kernel
def pool_side(
    family: Family, path: np.ndarray, side: int, means: np.ndarray, weights: np.ndarray, fit: Fit
) -> None:
    """Blocks of every stretch from one end of a line, rising away from that end.

    The stretch up to place k has the block that ends there as its highest, and under it, from
    ``below`` on, those of a shorter stretch: pools once computed serve all longer ones.
    """
    n = path.shape[0]
    sides, below = fit.sides[side], fit.below[side]
    for step in range(n):
        place = step if side == 0 else n - 1 - step
        back = -1 if side == 0 else 1
        arm = path[place]
        mass = weights[arm]
        level = means[arm] if mass > 0.0 else -math.inf
        under = place + back if step > 0 else -1
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
def line_deviances(
    family: Family, path: np.ndarray, means: np.ndarray, weights: np.ndarray, fit: Fit
) -> None:
    """The deviance of every mode on a line at once, in a time linear in its length.

    Parameters
    ----------
    path
        The arms from one end of the line to the other.
    """
    n = path.shape[0]
    pool_side(family, path, 0, means, weights, fit)
    pool_side(family, path, 1, means, weights, fit)
    sides, below = fit.sides, fit.below
    for place in range(n):
        arm = path[place]
        mass = weights[arm]
        level = means[arm] if mass > 0.0 else -math.inf
        left, right = place - 1, place + 1 if place + 1 < n else -1
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
        fit.values[DEVIANCES, arm] = deviance
