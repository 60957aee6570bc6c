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


class Fit(NamedTuple):
    """The tree as rooted last, and its blocks; a block is named by its arm nearest the root."""

    order: np.ndarray  # int64 (n_arms,): every arm after its parent
    parent: np.ndarray  # int64 (n_arms,): −1 at the root
    first: np.ndarray  # int64 (n_arms,): the blocks right below a block, as a list
    last: np.ndarray  # int64 (n_arms,)
    following: np.ndarray  # int64 (n_arms,)
    heads: np.ndarray  # int64 (n_arms,): 1 where an arm is the top of a block
    level: np.ndarray  # float64 (n_arms,): mean of the block; after ``settle``, of each arm
    mass: np.ndarray  # float64 (n_arms,): weight of the block
    branch: np.ndarray  # int64 (n_arms,): see ``bar_branches``
    bar: np.ndarray  # float64 (n_arms,)
    deviance: np.ndarray  # float64 (n_arms,): of each mode, see ``line_deviances``
    sides: np.ndarray  # float64 (2, 3, n_arms): level, mass and deviance of blocks on a line
    below: np.ndarray  # int64 (2, n_arms)


def new_fit(n_arms: int) -> Fit:
    n = n_arms
    return Fit(
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.zeros(n),
        np.zeros(n),
        np.zeros(n, np.int64),
        np.zeros(n),
        np.zeros(n),
        np.zeros((2, 3, n)),
        np.zeros((2, n), np.int64),
    )


@kernel
def root_at(starts: np.ndarray, neighbours: np.ndarray, root: int, fit: Fit) -> None:
    """Direct the tree away from a root."""
    fit.order[0] = root
    fit.parent[root] = -1
    found = 1
    for place in range(fit.order.shape[0]):
        arm = fit.order[place]
        fit.first[arm] = -1
        fit.last[arm] = -1
        fit.heads[arm] = 1
        for edge in range(starts[arm], starts[arm + 1]):
            other = neighbours[edge]
            if other != fit.parent[arm]:
                fit.order[found] = other
                fit.parent[other] = arm
                found += 1


@kernel
def take_in(arm: int, block: int, before: int, fit: Fit) -> None:
    """Move a block, which follows ``before`` in the list below ``arm``, into that of ``arm``."""
    fit.heads[block] = 0
    if before < 0:
        fit.first[arm] = fit.following[block]
    else:
        fit.following[before] = fit.following[block]
    if fit.last[arm] == block:
        fit.last[arm] = before
    if fit.first[block] >= 0:
        fit.following[fit.last[block]] = fit.first[arm]
        if fit.first[arm] < 0:
            fit.last[arm] = fit.last[block]
        fit.first[arm] = fit.first[block]


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
    for place in range(fit.order.shape[0] - 1, -1, -1):
        arm = fit.order[place]
        mass = weights[arm]
        level = means[arm] if mass > 0.0 else -math.inf
        while True:
            highest, before, previous = -1, -1, -1
            top = level
            below = fit.first[arm]
            while below >= 0:
                if fit.level[below] > top:
                    highest, before, top = below, previous, fit.level[below]
                previous = below
                below = fit.following[below]
            if highest < 0:
                break
            if mass > 0.0:
                other = fit.mass[highest]
                common = (mass * level + other * top) / (mass + other)
                deviance += mass * family.kl(level, common) + other * family.kl(top, common)
                if deviance > limit:
                    return deviance
                mass += other
                level = common
            else:
                mass, level = fit.mass[highest], top
            take_in(arm, highest, before, fit)
        fit.level[arm] = level
        fit.mass[arm] = mass
        above = fit.parent[arm]
        if above >= 0:
            fit.following[arm] = fit.first[above]
            if fit.first[above] < 0:
                fit.last[above] = arm
            fit.first[above] = arm
    return deviance


@kernel
def settle(fit: Fit) -> None:
    """Give every arm the mean of its block; arms that nothing bounds take their parent's."""
    root = fit.order[0]
    if fit.level[root] == -math.inf:
        fit.level[root] = 0.0
    for place in range(1, fit.order.shape[0]):
        arm = fit.order[place]
        if fit.heads[arm] == 0 or fit.level[arm] == -math.inf:
            fit.level[arm] = fit.level[fit.parent[arm]]
