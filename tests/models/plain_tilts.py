"""Mixtures of tilts from their definition, with all scales: a second implementation."""

import math

import numpy as np

from ossb.models.rivals.tilts import ALONE, HEAVY, LARGEST, SCALES, SHAPE, WIDEST

CUMULANTS = {
    "gaussian": lambda h, v: h * v + 0.5 * h * h,
    "bernoulli": lambda h, v: np.log1p(v * np.expm1(h)),
    "poisson": lambda h, v: v * np.expm1(h),
}


def evidence_of_tilts(name, p, n, q, m, below, above, unit=1.0):
    """ln M of a leader against ``below`` or less and a rival against ``above`` or more.

    ``unit`` is σ of Gaussian observations.
    """
    return mixed(
        _of_scales(name, n, p, below, 1.0, unit), _of_scales(name, m, q, above, -1.0, unit)
    )


def evidence_beyond(name, mean, count, level, sign, unit=1.0):
    """ln M of an arm against all means beyond a level, that it is thought to be above (1) of."""
    return mixed(_of_scales(name, count, mean, level, sign, unit))


def mixed(*parts):
    """ln of the sum over scales, with their weights."""
    c = np.arange(SCALES)
    return np.logaddexp.reduce(sum(parts) + np.log(HEAVY / ((c + HEAVY) * (c + HEAVY + 1.0))))


def _of_scales(name, count, mean, level, sign, unit):
    tilt = LARGEST * 2.0 ** (-0.5 * np.arange(2 * (SCALES - 1) + SHAPE))
    z = tilt[:SHAPE] / WIDEST
    shape = np.log((1.0 - ALONE) * z * np.exp(-0.5 * z * z) / (z * np.exp(-0.5 * z * z)).sum())
    if name == "exponential":
        line = count * (-np.expm1(-sign * tilt) * mean / level - sign * tilt)
    else:
        line = count * (sign * tilt * mean / unit - CUMULANTS[name](sign * tilt, level / unit))
    c, alone = np.arange(SCALES), np.full((SCALES, 1), math.log(ALONE))
    of_scales = np.hstack([line[2 * c[:, None] + np.arange(SHAPE)] + shape, alone])
    return np.logaddexp.reduce(of_scales, axis=1)
