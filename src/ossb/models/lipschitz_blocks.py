"""Maximum likelihood on a line, from the last one.

Arms whose means stand as far apart as they may move together.  From one round to the next such
blocks are mostly the same: each then only has to find its level, a problem in one variable, and
the optimality conditions say whether the blocks still are the right ones.
"""

import numpy as np

from ossb.families import Family
from ossb.kernels import kernel
from ossb.models.lipschitz_fit import (
    LEAST_WEIGHT,
    OUT,
    PEAK,
    SETTLED_STEP,
    Fit,
    bent,
)

STEPS = 12
TIGHT = 1e-4  # of the tolerance: how near its limit a difference counts as being at it


@kernel
def level_block(
    family: Family,
    unit: float,
    order: np.ndarray,
    spacing: np.ndarray,
    first: int,
    last: int,
    means: np.ndarray,
    weights: np.ndarray,
    tolerance: float,
    fit: Fit,
) -> bool:
    """Move the block from one place to another of the line to its best level.

    ``fit`` holds its means, in ``OUT``.  False where no level was found, or where the block
    would rather fall apart: the slopes of the likelihood up to each link must push against it.
    """
    out, push = fit.by_arm[OUT], fit.by_arm[PEAK]
    if first == last:
        out[first] = means[order[first]]
        return True
    for _ in range(STEPS):
        slope, curvature = 0.0, 0.0
        for k in range(first, last + 1):
            x = order[k]
            floor = 0.1 * unit / (weights[x] + 2.0)
            variance = max(family.positive_variance(out[k]), floor)
            away = out[k] - means[x]
            weight = max(weights[x], LEAST_WEIGHT) / variance
            slope += weight * away
            curvature += weight * bent(family, out[k], away, variance)
            push[k] = slope
        step = slope / curvature
        for k in range(first, last + 1):
            out[k] -= step
        if abs(step) <= tolerance:
            for k in range(first, last):
                against = push[k] if out[k + 1] > out[k] else -push[k]
                if spacing[k] > 0.0 and against < -curvature * tolerance:
                    return False
            return True
    return False


@kernel
def move_blocks(
    family: Family,
    unit: float,
    order: np.ndarray,
    spacing: np.ndarray,
    means: np.ndarray,
    weights: np.ndarray,
    theta: np.ndarray,
    fit: Fit,
) -> bool:
    """Take the blocks of ``theta`` to the new likelihood; False, and no change, where they differ.

    Parameters
    ----------
    order, spacing
        The arms along the line and the distances between neighbours.
    """
    n, out = means.shape[0], fit.by_arm[OUT]
    low, high = means[0], means[0]
    for k in range(n):
        out[k] = theta[order[k]]
        low, high = min(low, means[k]), max(high, means[k])
    tolerance = SETTLED_STEP * max(high - low, 1e-300)
    first = 0
    while first < n:
        last = first
        while last < n - 1 and (
            abs(out[last] - out[last + 1]) >= spacing[last] - TIGHT * tolerance
        ):
            last += 1
        if not level_block(
            family, unit, order, spacing, first, last, means, weights, tolerance, fit
        ):
            return False
        if first > 0 and abs(out[first] - out[first - 1]) > spacing[first - 1]:
            return False
        for k in range(first, last + 1):
            if not low <= out[k] <= high:
                return False
        first = last + 1
    for k in range(n):
        theta[order[k]] = out[k]
    return True
