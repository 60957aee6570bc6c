"""Least squares where only some of the rows can be played, as in a context.

What is asked of all rows elsewhere is asked of rows ``low``, …, ``high`` − 1 here, so that a round
costs as much with one context as with a thousand.
"""

import math
from typing import Any, Protocol

import numpy as np

from ossb.kernels import kernel
from ossb.models.least_squares import ASKED, TOLD, LeastSquares, follow
from ossb.records import Floats
from ossb.tally import Tally


class Within(Protocol):
    """A model that is asked about the rows of one context.

    Its memory has ``rewards`` and ``widths`` of all rows, filled for those asked about: estimated
    rewards, larger is better, and xᵀWx, what is on its way included.
    """

    features: Floats  # (d, n_rows)
    sigma: float

    def start(self) -> Any:
        """A fresh memory (Python only)."""
        ...

    def first(self, low: int, high: int, tally: Tally) -> int:
        """A row to play before the estimate makes sense, or −1."""
        ...

    def look(self, low: int, high: int, tally: Tally, memory: Any) -> int:
        """Estimate what the rows are worth; returns the leader, lowest on ties."""
        ...

    def lift(self, low: int, high: int, leader: int, memory: Any, out: np.ndarray) -> None:
        """Write W (x − x_leader) of the rows, as columns, W in units of σ."""
        ...

    def ahead(self, leader: int, x: int, memory: Any) -> float:
        """How far the leader is ahead, in what W speaks of."""
        ...

    def worth(self, leader: int, x: int, memory: Any) -> float:
        """Reward for each unit of that, between a row and the leader."""
        ...

    def told(self, x: int, memory: Any) -> float:
        """What a play tells, as a share of what W counts as one."""
        ...


@kernel
def follow_within(features: np.ndarray, tally: Tally, state: LeastSquares) -> int:
    """Bring the regressions up to a tally; which of them knows of what is on its way.

    xᵀWx is left behind: ``widths_within`` has it of the rows that matter.
    """
    follow(features, tally.counts, tally, TOLD, False, state)
    waiting = False
    for x in range(tally.pending.shape[0]):
        if tally.pending[x] > 0:
            waiting = True
    if not waiting:
        return TOLD
    for x in range(tally.pending.shape[0]):
        state.expected[x] = tally.counts[x] + tally.pending[x]
    follow(features, state.expected, tally, ASKED, False, state)
    return ASKED


@kernel
def predict_within(
    features: np.ndarray, theta: np.ndarray, low: int, high: int, out: np.ndarray
) -> int:
    """Write ⟨θ, x⟩ of some rows; returns the best of them, lowest on ties."""
    for x in range(low, high):
        out[x] = 0.0
    for i in range(features.shape[0]):
        weight = theta[i]
        for x in range(low, high):
            out[x] += weight * features[i, x]
    return leader_within(out, low, high)


@kernel
def leader_within(rewards: np.ndarray, low: int, high: int) -> int:
    """The best of some rows, lowest on ties."""
    leader, top = low, -math.inf
    for x in range(low, high):
        if rewards[x] > top:
            leader, top = x, rewards[x]
    return leader


@kernel
def widths_within(
    features: np.ndarray, matrix: np.ndarray, low: int, high: int, out: np.ndarray
) -> None:
    """Write xᵀMx of some rows, M symmetric, and 0 where rounding has left less."""
    for x in range(low, high):
        out[x] = 0.0
    for i in range(features.shape[0]):
        for l in range(i, features.shape[0]):  # noqa: E741
            weight = matrix[i, l] if i == l else 2.0 * matrix[i, l]
            for x in range(low, high):
                out[x] += weight * (features[i, x] * features[l, x])
    for x in range(low, high):
        out[x] = max(out[x], 0.0)


@kernel
def lift_within(
    features: np.ndarray, matrix: np.ndarray, low: int, high: int, leader: int, out: np.ndarray
) -> None:
    """Write M (x − x_leader) of some rows, as columns."""
    for i in range(features.shape[0]):
        for x in range(low, high):
            out[i, x] = 0.0
        for l in range(features.shape[0]):  # noqa: E741
            weight, top = matrix[i, l], features[l, leader]
            for x in range(low, high):
                out[i, x] += weight * (features[l, x] - top)


@kernel
def first_within(spanning: np.ndarray, low: int, high: int, tally: Tally) -> int:
    """The first of some rows, of a set that spans all others, never looked at; −1 if none is."""
    for place in range(spanning.shape[0]):
        arm = spanning[place]
        if low <= arm < high and tally.plays[arm] == 0 and tally.counts[arm] == 0:
            return int(arm)
    return -1
