"""Which mode fits best: every arm of a tree tried, as few of them as needed computed."""

import math

import numpy as np

from ossb.families import Family
from ossb.kernels import kernel
from ossb.models.isotonic import BARS, BRANCH, DEVIANCES, ORDER, PARENT, Fit, fit_mode, settle
from ossb.models.isotonic_line import fit_place, line_deviances, place_of, settle_line


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
def highest_mean(means: np.ndarray, weights: np.ndarray) -> int:
    """The arm of the highest mean among those of some weight, lowest on ties."""
    mode = 0
    for x in range(means.shape[0]):
        if weights[x] > 0.0 and (weights[mode] <= 0.0 or means[x] > means[mode]):
            mode = x
    return mode


@kernel
def best_mode_of_line(
    family: Family, path: np.ndarray, means: np.ndarray, weights: np.ndarray, fit: Fit
) -> tuple[int, float]:
    """Like ``best_mode``, on a line; looked for from the arm of the largest weight."""
    heaviest = 0
    for x in range(means.shape[0]):
        if weights[x] > weights[heaviest]:
            heaviest = x
    centre = place_of(path, heaviest)
    least = line_deviances(family, path, centre, 0.0, -math.inf, means, weights, fit)
    for x in range(means.shape[0]):
        least = min(least, fit.values[DEVIANCES, x])
    slack = 1e-12 * (1.0 + least)
    mode = -1
    for x in range(means.shape[0]):
        if fit.values[DEVIANCES, x] <= least + slack and (weights[x] > 0.0 or mode < 0):
            if mode < 0 or weights[mode] <= 0.0 or means[x] > means[mode]:
                mode = x
    settle_line(family, path, place_of(path, mode), means, weights, fit)
    return mode, least


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
    if path.shape[0] > 0:
        return best_mode_of_line(family, path, means, weights, fit)
    start = highest_mean(means, weights)
    mode = start
    least = fit_mode(family, starts, neighbours, mode, means, weights, math.inf, fit)
    if least > 0.0:
        bar_branches(family, start, means, weights, fit)
        for x in range(means.shape[0]):
            slack = 1e-12 * (1.0 + least)
            if x == start or fit.values[BARS, fit.links[BRANCH, x]] > least + slack:
                continue
            deviance = fit_mode(family, starts, neighbours, x, means, weights, least + slack, fit)
            if deviance < least - slack:
                mode, least = x, deviance
            elif deviance <= least + slack and means[x] > means[mode] and weights[x] > 0.0:
                mode = x
        least = fit_mode(family, starts, neighbours, mode, means, weights, math.inf, fit)
    settle(fit)
    return mode, least


@kernel
def fit_near(
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
    """The deviance with the mode at an arm, or some above ``limit``, on the data of ``best_mode``.

    Up to ``limit`` the means are left in ``fit``, settled.
    """
    if path.shape[0] > 0:
        return fit_place(family, path, place_of(path, mode), means, weights, limit, fit)
    deviance = fit_mode(family, starts, neighbours, mode, means, weights, limit, fit)
    if deviance <= limit:
        settle(fit)
    return deviance


@kernel
def rivals_of(
    family: Family,
    starts: np.ndarray,
    neighbours: np.ndarray,
    path: np.ndarray,
    leader: int,
    level: float,
    means: np.ndarray,
    weights: np.ndarray,
    fit: Fit,
) -> float:
    """min over modes j of the deviance with it, less that with it at the leader; 0 if negative.

    Exact where ``level`` is infinite; otherwise some number on the same side of it.
    """
    weakest = math.inf
    enough = level if level < math.inf else -math.inf
    if path.shape[0] > 0:
        centre = place_of(path, leader)
        least = line_deviances(family, path, centre, level, enough, means, weights, fit)
        for x in range(means.shape[0]):
            if x != leader:
                weakest = min(weakest, max(fit.values[DEVIANCES, x] - least, 0.0))
        return weakest
    least = fit_mode(family, starts, neighbours, leader, means, weights, math.inf, fit)
    for x in range(means.shape[0]):
        if x != leader:
            limit = least + min(weakest, level)
            deviance = fit_mode(family, starts, neighbours, x, means, weights, limit, fit)
            weakest = min(weakest, max(deviance - least, 0.0))
            if weakest < enough:
                break
    return weakest
