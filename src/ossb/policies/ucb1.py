"""UCB1 (Auer, Cesa-Bianchi and Fischer, 2002).

The paper has rewards in [0, 1], and its width is kept for all but Gaussian observations: times that
are counted in another unit are explored otherwise.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.errors import InputError
from ossb.policies.arms import (
    Nothing,
    best_mean,
    reward_is_observed,
    unplayed,
)
from ossb.policies.base import Kind
from ossb.records import record
from ossb.structures.base import Instance
from ossb.structures.offers import OWN_COMPONENT
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE, Decision, Tally, round_number


@record
class Ucb1(NamedTuple):
    """Play the largest mean + √(2 v ln t / N), v the variance proxy of the observations."""

    proxy: float

    def _check(self) -> None:
        if not 0 < self.proxy < math.inf:
            raise InputError("proxy", "be positive", self.proxy)

    def start(self) -> Nothing:
        return Nothing(np.zeros(1))

    def select(self, tally: Tally, memory: Nothing, rng: Generator) -> Decision:
        first = unplayed(tally)
        if first >= 0:
            return Decision(first, ESTIMATE)
        means, plays = tally.means, tally.plays
        width = 2.0 * self.proxy * math.log(round_number(tally))
        best, index = 0, -math.inf
        for x in range(plays.shape[0]):
            value = means[x] + math.sqrt(width / plays[x])
            if value > index:
                best, index = x, value
        return Decision(best, EXPLOIT if best == best_mean(tally) else EXPLORE)


def build(instance: Instance, proxy: float | None) -> Ucb1:
    if proxy is None:
        # the proxy of rewards in [0, 1] is 1/4, with which the index of the paper, where it is
        # written √(2 ln t / N), has 1; the published constant is kept for those
        proxy = instance.sigma * instance.sigma if instance.observation == "gaussian" else 1.0
    return Ucb1(proxy)


UCB1 = Kind(
    name="ucb1",
    build=build,
    parameters={"proxy": None},
    by_numbers=True,
    needs=(OWN_COMPONENT,),
    reference="Auer, Cesa-Bianchi and Fischer (2002)",
    fits=reward_is_observed,
    breaks={"units (exponential)": "the index is that of rewards in [0, 1]"},
)
