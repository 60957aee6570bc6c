"""Weighted regression on means that fall away from a mode along a tree.

For a one-parameter exponential family, the maximum-likelihood means under an order are those
of weighted least squares (Barlow et al., 1972).  With the tree rooted at the mode, each arm at
most its parent, they come from the leaves up: a block takes in the highest block right below it
while that stands above it (Pardalos and Xue, 1999).  Pooling blocks of means p, q and weights
n, m costs n d(p, r) + m d(q, r), r their common mean, and these costs add up to the deviance
Σ n_x d(m_x, λ_x), d being the Bregman divergence of the mean.
"""

import math
from typing import NamedTuple

import numpy as np

from ossb.families import Family
from ossb.kernels import kernel

# rows of Fit.links: every arm after its parent; the parent, −1 at the root; the blocks right below
# a block, as a list; 1 where an arm is the top of a block; the branch off the root
ORDER, PARENT, FIRST, LAST, FOLLOWING, HEADS, BRANCH = range(7)
# rows of Fit.values: mean of the block that an arm is the top of and, after ``settle``, of each
# arm; weight of that block; see ``modes.bar_branches``; see ``isotonic_line.line_deviances``
LEVELS, MASSES, BARS, DEVIANCES = range(4)


class Fit(NamedTuple):
    """The tree as rooted last, and its blocks; a block is named by its arm nearest the root.

    Few arrays, each of them many things: compiled code passes memories array by array.
    """

    links: np.ndarray  # int64 (7, n_arms)
    values: np.ndarray  # float64 (4, n_arms)
    sides: np.ndarray  # float64 (2, 3, n_arms): level, mass and deviance of blocks on a line
    below: np.ndarray  # int64 (2, n_arms): the block under each of these
    told: np.ndarray  # float64 (2, n_arms): the means and weights they are of
    pooled: np.ndarray  # int64 (2,): they are there before the first place, and from the second


def new_fit(n_arms: int) -> Fit:
    return Fit(
        np.zeros((7, n_arms), np.int64),
        np.zeros((4, n_arms)),
        np.zeros((2, 3, n_arms)),
        np.zeros((2, n_arms), np.int64),
        np.zeros((2, n_arms)),
        np.array([0, n_arms]),
    )


@kernel
def root_at(starts: np.ndarray, neighbours: np.ndarray, root: int, fit: Fit) -> None:
    """Direct the tree away from a root."""
    fit.links[ORDER, 0] = root
    fit.links[PARENT, root] = -1
    found = 1
    for place in range(fit.links.shape[1]):
        arm = fit.links[ORDER, place]
        fit.links[FIRST, arm] = -1
        fit.links[LAST, arm] = -1
        fit.links[HEADS, arm] = 1
        for edge in range(starts[arm], starts[arm + 1]):
            other = neighbours[edge]
            if other != fit.links[PARENT, arm]:
                fit.links[ORDER, found] = other
                fit.links[PARENT, other] = arm
                found += 1


@kernel
def take_in(arm: int, block: int, before: int, fit: Fit) -> None:
    """Move a block, which follows ``before`` in the list below ``arm``, into that of ``arm``."""
    fit.links[HEADS, block] = 0
    if before < 0:
        fit.links[FIRST, arm] = fit.links[FOLLOWING, block]
    else:
        fit.links[FOLLOWING, before] = fit.links[FOLLOWING, block]
    if fit.links[LAST, arm] == block:
        fit.links[LAST, arm] = before
    if fit.links[FIRST, block] >= 0:
        fit.links[FOLLOWING, fit.links[LAST, block]] = fit.links[FIRST, arm]
        if fit.links[FIRST, arm] < 0:
            fit.links[LAST, arm] = fit.links[LAST, block]
        fit.links[FIRST, arm] = fit.links[FIRST, block]


@kernel
def fit_mode(
    family: Family,
    starts: np.ndarray,
    neighbours: np.ndarray,
    mode: int,
    means: np.ndarray,
    weights: np.ndarray,
    limit: float,
    fit: Fit,
) -> float:
    """The deviance of the best means with their mode at an arm, left in ``fit`` as blocks.

    Arms of no weight take any mean.  Gives up, and returns what it has, beyond ``limit``.
    """
    root_at(starts, neighbours, mode, fit)
    deviance = 0.0
    for place in range(fit.links.shape[1] - 1, -1, -1):
        arm = fit.links[ORDER, place]
        mass = weights[arm]
        level = means[arm] if mass > 0.0 else -math.inf
        while True:
            highest, before, previous = -1, -1, -1
            top = level
            below = fit.links[FIRST, arm]
            while below >= 0:
                if fit.values[LEVELS, below] > top:
                    highest, before, top = below, previous, fit.values[LEVELS, below]
                previous = below
                below = fit.links[FOLLOWING, below]
            if highest < 0:
                break
            if mass > 0.0:
                other = fit.values[MASSES, highest]
                common = (mass * level + other * top) / (mass + other)
                deviance += mass * family.kl(level, common) + other * family.kl(top, common)
                if deviance > limit:
                    return deviance
                mass += other
                level = common
            else:
                mass, level = fit.values[MASSES, highest], top
            take_in(arm, highest, before, fit)
        fit.values[LEVELS, arm] = level
        fit.values[MASSES, arm] = mass
        above = fit.links[PARENT, arm]
        if above >= 0:
            fit.links[FOLLOWING, arm] = fit.links[FIRST, above]
            if fit.links[FIRST, above] < 0:
                fit.links[LAST, above] = arm
            fit.links[FIRST, above] = arm
    return deviance


@kernel
def settle(fit: Fit) -> None:
    """Give every arm the mean of its block; arms that nothing bounds take their parent's."""
    root = fit.links[ORDER, 0]
    if fit.values[LEVELS, root] == -math.inf:
        fit.values[LEVELS, root] = 0.0
    for place in range(1, fit.links.shape[1]):
        arm = fit.links[ORDER, place]
        if fit.links[HEADS, arm] == 0 or fit.values[LEVELS, arm] == -math.inf:
            fit.values[LEVELS, arm] = fit.values[LEVELS, fit.links[PARENT, arm]]
