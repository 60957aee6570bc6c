"""Unimodal arms: what can be said of likelihood ratios without a regression.

A neighbour of the leader that was told of, and stands alone in the regression as the leader does,
gives an alternative that moves no third arm.  Its ratio is no less than the least of all.  To each
can be added a part of a slack of its own.
"""

import math
from typing import Any

import numpy as np

from ossb.kernels import kernel
from ossb.models.classical import pooled_ratio
from ossb.tally import Tally


@kernel
def is_free(
    model: Any,
    leader: int,
    place: int,
    top: float,
    count: float,
    tally: Tally,
    estimate: np.ndarray,
) -> bool:
    """Whether the leader and a neighbour can be given their common mean, and no third arm moves."""
    y = model.neighbours[place]
    if tally.counts[y] == 0 or estimate[y] != tally.means[y]:
        return False
    both = (count * top + tally.counts[y] * tally.means[y]) / (count + tally.counts[y])
    for other in range(model.starts[leader], model.starts[leader + 1]):
        if other != place and estimate[model.neighbours[other]] > both:
            return False
    return True


@kernel
def ratio_beside(
    model: Any,
    leader: int,
    top: float,
    tally: Tally,
    estimate: np.ndarray,
    slack: np.ndarray,
    part: float,
) -> float:
    """The least ratio of raising a neighbour to the leader's mean, ``top``; or infinity.

    That is as far from the data with the leader's mean known.  No arm is better than one whose
    mean is the highest there is.
    """
    least = math.inf
    if tally.counts[leader] == 0 or estimate[leader] != tally.means[leader]:
        return least
    if top >= model.family.highest():
        return least
    for place in range(model.starts[leader], model.starts[leader + 1]):
        y = model.neighbours[place]
        if tally.counts[y] > 0 and estimate[y] == tally.means[y]:
            ratio = tally.counts[y] * model.family.kl(tally.means[y], top)
            least = min(least, ratio + part * slack[y])
    return least


@kernel
def ratio_as_equals(
    model: Any,
    leader: int,
    top: float,
    count: float,
    tally: Tally,
    estimate: np.ndarray,
    slack: np.ndarray,
    part: float,
) -> float:
    """The least ratio of a common mean of the leader, told ``top``, and a neighbour; or infinity.

    It moves no third arm where no other neighbour of the leader is above it.
    """
    least = math.inf
    if count == 0.0 or estimate[leader] != tally.means[leader]:
        return least
    for place in range(model.starts[leader], model.starts[leader + 1]):
        if is_free(model, leader, place, top, count, tally, estimate):
            y = model.neighbours[place]
            other = float(tally.counts[y])
            ratio = pooled_ratio(model.family, top, count, tally.means[y], other)
            least = min(least, ratio + part * slack[y])
    return least
