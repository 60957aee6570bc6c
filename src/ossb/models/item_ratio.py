"""The likelihood ratio of sets of items whose divergence is not quadratic.

Against arm x, with b the leader: the least Σ N_i d(m_i, λ_i) over the items that tell x from b,
subject to Σ λ_i over x not below Σ λ_i over b.  By duality it is the largest value over slopes
τ ≥ 0 of −Σ over x∖b of d*(m_i, N_i, τ) − Σ over b∖x of d*(m_i, N_i, −τ), with d* the conjugate:
concave in τ, and every τ proves a lower bound.  With the τ of an earlier round one evaluation
shows, in most rounds, that the ratio is still large enough.
"""

import math
from typing import Any

import numpy as np

from ossb.kernels import kernel
from ossb.tally import Tally

GOLDEN = 0.6180339887498949
CLOSE = 1e-8  # step in ln τ at which it has converged: there may be a corner at the top
LONGEST = 200  # steps of ln τ, by 1 each


@kernel
def proved_by(
    family: Any, arms: np.ndarray, leader: int, x: int, known: bool, tally: Tally, log_slope: float
) -> float:
    """What a slope proves of the ratio; with ``known``, the leader's items are what they seem."""
    slope, value = math.exp(log_slope), 0.0
    for i in range(arms.shape[1]):
        if arms[x, i] > arms[leader, i]:
            value -= family.conjugate(tally.means[i], float(tally.counts[i]), slope)
        elif arms[x, i] < arms[leader, i]:
            if known:
                value += slope * tally.means[i]
            else:
                value -= family.conjugate(tally.means[i], float(tally.counts[i]), -slope)
    return value


@kernel
def steepest(
    family: Any,
    arms: np.ndarray,
    leader: int,
    x: int,
    known: bool,
    level: float,
    tally: Tally,
    start: float,
) -> float:
    """ln τ of the largest value, or of one that reaches ``level``."""
    middle = start
    here = proved_by(family, arms, leader, x, known, tally, middle)
    if here >= level:
        return middle
    low, high = middle - 1.0, middle + 1.0
    left = proved_by(family, arms, leader, x, known, tally, low)
    right = proved_by(family, arms, leader, x, known, tally, high)
    for _ in range(LONGEST):
        if right > here:
            low, left, middle, here = middle, here, high, right
            if here >= level:
                return middle
            high += 1.0
            right = proved_by(family, arms, leader, x, known, tally, high)
        elif left > here or here == -math.inf:
            high, right, middle, here = middle, here, low, left
            if here >= level:
                return middle
            low -= 1.0
            left = proved_by(family, arms, leader, x, known, tally, low)
        else:
            break
    inner = high - GOLDEN * (high - low)
    outer = low + GOLDEN * (high - low)
    at_inner = proved_by(family, arms, leader, x, known, tally, inner)
    at_outer = proved_by(family, arms, leader, x, known, tally, outer)
    while high - low > CLOSE and max(at_inner, at_outer) < level:
        if at_inner >= at_outer:
            high, outer, at_outer = outer, inner, at_inner
            inner = high - GOLDEN * (high - low)
            at_inner = proved_by(family, arms, leader, x, known, tally, inner)
        else:
            low, inner, at_inner = inner, outer, at_outer
            outer = low + GOLDEN * (high - low)
            at_outer = proved_by(family, arms, leader, x, known, tally, outer)
    return inner if at_inner >= at_outer else outer


@kernel
def item_ratio(
    family: Any,
    arms: np.ndarray,
    leader: int,
    x: int,
    known: bool,
    level: float,
    tally: Tally,
    slopes: np.ndarray,
) -> float:
    """The likelihood ratio of the leader against arm x, or some number on its side of a level.

    ``slopes`` holds ln τ of the last look at each arm, NaN before the first.  0 where an item that
    tells them apart was never seen.  Means have an end at 0: an arm cannot be overtaken by one that
    it holds at a finite price, nor what is known by means beyond their end.
    """
    gap, doubt, more, less, reach = 0.0, 0.0, False, False, 0.0
    for i in range(arms.shape[1]):
        if arms[x, i] != arms[leader, i]:
            if arms[x, i] > arms[leader, i]:
                more = True
                reach += family.highest() - tally.means[i]
            else:
                less = True
            if arms[x, i] > 0.0 or not known:
                if tally.counts[i] == 0:
                    return 0.0
                doubt += 1.0 / tally.counts[i]
            gap += (arms[leader, i] - arms[x, i]) * tally.means[i]
    if not (more or (less and not known)):  # the same items, or what is known alone
        return math.inf
    if gap <= 0.0 or gap / doubt <= 0.0:
        return 0.0
    if not (more and less) or (known and gap >= reach):
        return math.inf
    start = slopes[x] if slopes[x] == slopes[x] else math.log(gap / doubt)
    slope = steepest(family, arms, leader, x, known, level, tally, start)
    value = proved_by(family, arms, leader, x, known, tally, slope)
    slopes[x] = slope if value > 0.0 else math.nan  # a tie but for rounding: it leads anywhere
    return max(value, 0.0)
