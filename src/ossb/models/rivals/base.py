"""What stands against the arm that leads: one oracle for policies that identify and for their stop.

Rivals are numbered: arms, or items of duels.  Against rival j stands an alternative λ_j, the
likeliest parameter under which j is better than the leader by ε or more, and Z_j, the likelihood
ratio against it.
"""

import math
from typing import Any, NamedTuple, Protocol

import numpy as np

from ossb.kernels import kernel
from ossb.models.base import Model
from ossb.tally import Tally

# places in Contest.verdict
STATISTIC, CHARGE, RUNNER_UP = 0, 1, 2
NUMBERS = 3


class Contest(NamedTuple):
    """What was seen in a tally."""

    rewards: np.ndarray  # float64 (n_arms,): estimated rewards, larger is better
    ratios: np.ndarray  # float64 (n_rivals,): Z_j; infinite where nothing can be better
    masses: np.ndarray  # float64 (n_rivals,): how many observations there are of each rival
    news: np.ndarray  # float64 (n_components,): what one observation tells against a rival
    verdict: np.ndarray  # float64 (3,): statistic, what it is charged, and the rival it is about
    space: Any  # work


@kernel
def least_played(tally: Tally) -> int:
    """An arm never played; until something is told, the least played; else −1."""
    least = 0
    for x in range(tally.plays.shape[0]):
        if tally.plays[x] < tally.plays[least]:
            least = x
    return least if tally.plays[least] == 0 or tally.clock[0] == 0 else -1


@kernel
def enter_means(tally: Tally, memory: Contest) -> int:
    """Take the means of arms that show their own for rewards; returns the leader among those told.

    An arm that nothing was told of is taken to be as good as the leader.
    """
    leader = -1
    for x in range(tally.means.shape[0]):
        memory.rewards[x] = tally.means[x]
        memory.masses[x] = float(tally.counts[x])
        if tally.counts[x] > 0 and (leader < 0 or tally.means[x] > tally.means[leader]):
            leader = x
    leader = max(leader, 0)
    for x in range(tally.means.shape[0]):
        if tally.counts[x] == 0:
            memory.rewards[x] = tally.means[leader]
    return leader


@kernel
def least_ruled_out(memory: Contest) -> int:
    """argmin Z_j + ln N_j over the rivals (Jourdan et al., 2022); −1 where there is none."""
    rival, least = -1, math.inf
    for j in range(memory.ratios.shape[0]):
        if memory.ratios[j] < math.inf:
            value = memory.ratios[j] + math.log(max(memory.masses[j], 1.0))
            if value < least:
                rival, least = j, value
    return rival


class Rivals(Protocol):
    """The alternatives of one structure with one family."""

    model: Model  # of the structure

    def start(self) -> Contest:
        """A fresh memory (Python only)."""
        ...

    def unseen(self, tally: Tally) -> int:
        """An arm to play before the estimate makes sense, or −1."""
        ...

    def rank(self, epsilon: float, tally: Tally, memory: Contest) -> int:
        """Fill ``rewards``, ``ratios`` and ``masses``; returns the leader.

        Of duels it is the duel of the leader with itself.
        """
        ...

    def challenge(
        self, leader: int, epsilon: float, prices: np.ndarray, tally: Tally, memory: Contest
    ) -> int:
        """After ``rank``: the rival that a test which is to end soon holds against the leader.

        Fills ``news`` with what one observation of each component is thought to tell against it, by
        which plays are shared out.  ``prices`` are of arms: where one component is enough to rule a
        rival out, it is that of most news for its price.  −1 where nothing stands against the
        leader.
        """
        ...

    def expect_means(self, tally: Tally, memory: Contest, out: np.ndarray) -> None:
        """Fill the means of all components at the estimate that was ranked."""
        ...

    def oppose(
        self, rival: int, leader: int, epsilon: float, tally: Tally, memory: Contest
    ) -> None:
        """Fill ``news`` with the divergences of the components from λ_j."""
        ...

    def judge(self, epsilon: float, level: float, tally: Tally, memory: Contest) -> int:
        """Whether the leader is ε-good: evidence that may be looked at after every round.

        Fills ``verdict`` with the least statistic over rivals, less what it is charged: the leader
        is ε-good with confidence 1 − δ once statistic − charge ≥ ln(1/δ).  Where that is below
        ``level`` it may be that of any rival below; exact where ``level`` is infinite.  Returns the
        leader.
        """
        ...
