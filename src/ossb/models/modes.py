"""Which mode fits best: every arm of a tree tried, as few of them as needed computed."""

import math

import numpy as np

from ossb.families import Family
from ossb.kernels import kernel
from ossb.models.isotonic import BARS, BRANCH, DEVIANCES, ORDER, PARENT, Fit, fit_mode, settle
from ossb.models.isotonic_line import line_deviances


@kernel
def bar_branches(
    family: Family, top: int, means: np.ndarray, weights: np.ndarray, fit: Fit
) -> None:
    """A deviance that no mode in the same branch off the root can stay below.

    With its mode at x, the neighbour of the root on the way to x is at least the root: pooling
    these two alone costs ``bar[branch[x]]``.  The tree is the one rooted last, at ``top``.
    """
    for place in range(1, fit.links.shape[1]):
        arm = fit.links[ORDER, place]
        if fit.links[PARENT, arm] != top:
            fit.links[BRANCH, arm] = fit.links[BRANCH, fit.links[PARENT, arm]]
            continue
        fit.links[BRANCH, arm] = arm
        fit.values[BARS, arm] = 0.0
        if weights[arm] > 0.0 and weights[top] > 0.0 and means[arm] < means[top]:
            mass = weights[arm] + weights[top]
            common = (weights[arm] * means[arm] + weights[top] * means[top]) / mass
            fit.values[BARS, arm] = weights[arm] * family.kl(means[arm], common)
            fit.values[BARS, arm] += weights[top] * family.kl(means[top], common)


@kernel
def mode_deviance(
    family: Family,
    starts: np.ndarray,
    neighbours: np.ndarray,
    path: np.ndarray,
    mode: int,
    means: np.ndarray,
    weights: np.ndarray,
    limit: float,
    fit: Fit,
) -> float:
    """The deviance with the mode at an arm, up to a limit; on a line it is looked up."""
    if path.shape[0] > 0:
        return float(fit.values[DEVIANCES, mode])
    return fit_mode(family, starts, neighbours, mode, means, weights, limit, fit)


@kernel
def best_mode(
    family: Family,
    starts: np.ndarray,
    neighbours: np.ndarray,
    path: np.ndarray,
    means: np.ndarray,
    weights: np.ndarray,
    fit: Fit,
) -> tuple[int, float]:
    """The mode of least deviance, with it; among equals the highest mean, then the lowest index.

    Its means are left in ``fit``, settled.  ``path`` lists the arms along a line; it is empty for
    other trees.
    """
    mode = 0
    for x in range(means.shape[0]):
        if weights[x] > 0.0 and (weights[mode] <= 0.0 or means[x] > means[mode]):
            mode = x
    least = fit_mode(family, starts, neighbours, mode, means, weights, math.inf, fit)
    if least > 0.0:
        start = mode
        bar_branches(family, start, means, weights, fit)
        if path.shape[0] > 0:
            line_deviances(family, path, means, weights, fit)
        for x in range(means.shape[0]):
            slack = 1e-12 * (1.0 + least)
            if x == start or fit.values[BARS, fit.links[BRANCH, x]] > least + slack:
                continue
            deviance = mode_deviance(
                family, starts, neighbours, path, x, means, weights, least + slack, fit
            )
            if deviance < least - slack:
                mode, least = x, deviance
            elif deviance <= least + slack and means[x] > means[mode] and weights[x] > 0.0:
                mode = x
        least = fit_mode(family, starts, neighbours, mode, means, weights, math.inf, fit)
    settle(fit)
    return mode, least
