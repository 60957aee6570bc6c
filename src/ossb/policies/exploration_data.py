"""Observations of exploration rounds alone, for policies that discard the others.

A tally does not say in which round an observation was asked for.  Told at once, the new one
belongs to the last decision.  Told late, those of an arm that was played for both reasons are
taken to belong to exploration first; observations nobody asked for here count as explored.
"""

from typing import NamedTuple

import numpy as np

from ossb.kernels import kernel
from ossb.tally import Tally, empty_tally


class ExplorationData(NamedTuple):
    explored: Tally  # observations of exploration rounds, and those asked for in them
    noted: np.ndarray  # int64 (2, n_arms): observations seen so far, and asked for to exploit
    sums: np.ndarray  # float64 (n_arms,): their sums


def new_exploration_data(n_arms: int) -> ExplorationData:
    return ExplorationData(
        empty_tally(n_arms, n_arms), np.zeros((2, n_arms), np.int64), np.zeros(n_arms)
    )


@kernel
def take_in(tally: Tally, data: ExplorationData) -> None:
    """Sort what was told since the last look."""
    explored, noted = data.explored, data.noted
    for x in range(tally.counts.shape[0]):
        fresh = tally.counts[x] - noted[0, x]
        total = tally.counts[x] * tally.means[x]
        if fresh < 0:
            explored.counts[x] = min(explored.counts[x], tally.counts[x])
            explored.means[x] = tally.means[x]
        elif fresh > 0:
            wanted = min(fresh, explored.pending[x])
            discarded = min(fresh - wanted, noted[1, x])
            kept = fresh - discarded
            explored.pending[x] -= wanted
            noted[1, x] -= discarded
            if kept > 0:
                mean = (total - data.sums[x]) / fresh
                explored.counts[x] += kept
                share = kept / explored.counts[x]
                explored.means[x] += share * (mean - explored.means[x])
        noted[0, x] = tally.counts[x]
        data.sums[x] = total
        # what was asked for and is on its way no more will never come
        noted[1, x] = min(noted[1, x], tally.pending[x])
        explored.pending[x] = min(explored.pending[x], tally.pending[x] - noted[1, x])


@kernel
def ask_for(arm: int, to_explore: bool, data: ExplorationData) -> None:
    """Note why an arm is about to be played."""
    if to_explore:
        data.explored.pending[arm] += 1
    else:
        data.noted[1, arm] += 1
