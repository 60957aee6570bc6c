"""Where an arm's mean is thought to lie before it is played, learnt from the other arms.

Values of 0 and 1 have a prior of so many pseudo-observations.  With these at the middle of the
scale, an arm of rare successes would be played until its failures have refuted a half.  So they
lie at what the other arms showed, each of them counted as ``SHARED`` observations at most, beside
as many pseudo-observations at the middle, and never above it: a prior that promises more than that
sends policies to arms that nothing is known of.
"""

from typing import NamedTuple

from ossb.kernels import kernel
from ossb.tally import Tally

SHARED = 8.0


class Pool(NamedTuple):
    """What all arms showed, each within bounds, and the pseudo-observations at the middle."""

    total: float
    weight: float


@kernel
def share_of(count: float) -> float:
    """What part of an arm's observations is shared: all of few, ``SHARED`` in all of many."""
    return SHARED / (SHARED + count)


@kernel
def pool_arms(tally: Tally, prior: float, middle: float) -> Pool:
    """What the arms have in common, with ``prior`` observations at ``middle``."""
    total, weight = prior * middle, prior
    for x in range(tally.counts.shape[0]):
        count = float(tally.counts[x])
        total += share_of(count) * count * tally.means[x]
        weight += share_of(count) * count
    return Pool(total, weight)


@kernel
def level_for(arm: int, tally: Tally, pool: Pool, middle: float) -> float:
    """The mean of an arm's prior: what the others showed, at most the middle."""
    count = float(tally.counts[arm])
    weight = pool.weight - share_of(count) * count
    if weight <= 0.0:
        return middle  # without a prior it has no weight either
    return min((pool.total - share_of(count) * count * tally.means[arm]) / weight, middle)
