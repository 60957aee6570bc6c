"""Unimodal arms: what can be said of likelihood ratios without a regression.

A neighbour of the leader that was told of, and stands alone in the regression as the leader does,
gives an alternative that moves no third arm.  Its ratio is no less than the least of all.
"""

import math
from typing import Any

import numpy as np

from ossb.kernels import kernel
from ossb.tally import Tally


@kernel
def ratio_beside(model: Any, leader: int, tally: Tally, estimate: np.ndarray) -> float:
    """The least ratio of raising a neighbour to the leader's mean; infinite where there is none.

    That is as far from the data with the leader's mean known.  No arm is better than one whose
    mean is the highest there is.
    """
    top, least = tally.means[leader], math.inf
    if tally.counts[leader] == 0 or estimate[leader] != top or top >= model.family.highest():
        return least
    for place in range(model.starts[leader], model.starts[leader + 1]):
        y = model.neighbours[place]
        if tally.counts[y] > 0 and estimate[y] == tally.means[y]:
            least = min(least, tally.counts[y] * model.family.kl(tally.means[y], top))
    return least


@kernel
def ratio_as_equals(
    model: Any, leader: int, top: float, tally: Tally, estimate: np.ndarray
) -> float:
    """The least ratio of a common mean of the leader, at ``top``, and a neighbour; or infinity.

    It moves no third arm where no other neighbour of the leader is above it.
    """
    count, least = float(tally.counts[leader]), math.inf
    if count == 0.0 or estimate[leader] != tally.means[leader]:
        return least
    first, last = model.starts[leader], model.starts[leader + 1]
    for place in range(first, last):
        y = model.neighbours[place]
        if tally.counts[y] == 0 or estimate[y] != tally.means[y]:
            continue
        both = (count * top + tally.counts[y] * tally.means[y]) / (count + tally.counts[y])
        is_free = True
        for other in range(first, last):
            if other != place and estimate[model.neighbours[other]] > both:
                is_free = False
        if is_free:
            ratio = count * model.family.kl(top, both)
            least = min(least, ratio + tally.counts[y] * model.family.kl(tally.means[y], both))
    return least
