"""What OSLB and CKL-UCB share: how surely a Lipschitz arm is worse than the leader.

The index of arm k is b_k = sup {q: Σ_z N_z d⁺(mean_z, q − ℓ(k, z)) ≤ f(t)} with d⁺(p, q) the
divergence where q > p and 0 elsewhere: raising k to q raises every arm near it.  It exceeds the
leader's mean exactly while the sum at q = that mean is less than f(t), so that no root is sought.
"""

import math
from typing import Any

import numpy as np

from ossb.kernels import kernel
from ossb.tally import Tally, round_number


@kernel
def exploration_level(tally: Tally, c: float) -> float:
    """f(t) = ln t + c K ln ln t."""
    level = math.log(round_number(tally))
    if c > 0.0:
        level += c * tally.plays.shape[0] * math.log(max(level, 1.0))
    return level


@kernel
def may_be_best(
    family: Any, distances: np.ndarray, tally: Tally, level: float, leader: int, k: int
) -> bool:
    """Whether the index of an arm exceeds the leader's mean.

    An arm at distance 0 from the leader has the same mean, whatever its observations say.
    """
    if k == leader or distances[k, leader] <= 0.0:
        return False
    information = 0.0
    for z in range(tally.plays.shape[0]):
        raised = tally.means[leader] - distances[k, z]
        if raised > tally.means[z] and tally.counts[z] > 0:
            information += tally.plays[z] * family.kl(tally.means[z], raised)
            if information >= level:
                return False
    return information < level
