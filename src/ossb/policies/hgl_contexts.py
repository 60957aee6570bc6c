"""HGL for linear and generalised linear arms in contexts.

As ``hgl.py``: play an arm of the present context when what one play buys, over the horizon ahead,
exceeds its gap.  What it buys is the fall of the expected improvement in *every* context, each as
often as it has come:

    B(x) = Σ_z (n_z / n) ν_z w_x xᵀ W A_z W x / (1 + w_x xᵀWx),
    A_z = ½ Σ_j g_j σ φ(z_j) u_j u_jᵀ / s_j,

a sum over the arms of z, with u_j = x_j − x_{b_z}, s_j² = u_jᵀWu_j, z_j = gap / σ s_j and
ν_z = 1 / (1 + Σ Φ(−z_j)) over them: of the alternatives of one context only one can be its best
arm, while what contexts gain adds up.  g_j is the reward that one unit of the index is worth
between arm and leader, w_x what a play of x tells of its index; both are 1 for linear arms.  The
share m in the horizon, where a ``front`` was given, is that of one alternative in the improvement
expected in all contexts.

The matrices W A_z W are those of the last visit of each context, so that a round costs as much with
many contexts as with few: where one comes seldom its share is small, and what was learnt since can
only have lowered it.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.kernels import kernel
from ossb.models.normal import FAR, density, tail
from ossb.models.within import Within, widths_within
from ossb.records import Ints, record
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE, Decision, Tally, is_waiting

PATIENCE = 0.01
FALL = 1e6  # by which a visit may want less than the last before sums are made anew
LARGEST, ALL = 0, 1  # columns of ``improved``
UNTIL, LEADER = 0, 1  # columns of ``held``


class ContextsMemory(NamedTuple):
    """The estimate, what each context had to gain at its last visit, and work."""

    look: Any  # the model's
    gains: np.ndarray  # float64 (n_rows,)
    images: np.ndarray  # float64 (d, n_rows): W u
    wanted: np.ndarray  # float64 (n_contexts, d, d): W A_z W
    total: np.ndarray  # float64 (d, d): Σ n_z W A_z W
    came: np.ndarray  # int64 (n_contexts,): n_z at the last visit
    held: np.ndarray  # int64 (n_contexts, 2): until which visit the leader is held, and which
    since: np.ndarray  # int64 (1,): visits since ``total`` was summed anew
    improved: np.ndarray  # float64 (n_contexts, 2): what each expected at its last visit, of the
    # alternative that expected most and of all


@kernel
def context_of(starts: np.ndarray, row: int) -> int:
    """The context of a row."""
    low, high = 0, starts.shape[0] - 1
    while high - low > 1:
        middle = (low + high) // 2
        if starts[middle] <= row:
            low = middle
        else:
            high = middle
    return low


@record
class HglInContexts(NamedTuple):
    """Play what one play buys most of, net of its gap.

    Parameters
    ----------
    model
        All rows as one structure.
    starts
        Rows ``starts[z]``, …, ``starts[z + 1]`` − 1 are those of context z.
    horizon_factor, front, cautious
        As ``Hgl`` has them.
    """

    model: Within
    starts: Ints
    horizon_factor: float
    front: float
    cautious: bool

    def start(self) -> ContextsMemory:
        d, n = self.model.features.shape
        count = self.starts.shape[0] - 1
        return ContextsMemory(
            self.model.start(),
            np.zeros(n),
            np.zeros((d, n)),
            np.zeros((count, d, d)),
            np.zeros((d, d)),
            np.zeros(count, np.int64),
            np.zeros((count, 2), np.int64),
            np.zeros(1, np.int64),
            np.zeros((count, 2)),
        )

    def select(self, tally: Tally, memory: ContextsMemory, rng: Generator) -> Decision:
        """Where all rows are there at once."""
        return self.choose(0, self.model.features.shape[1], tally, memory, rng)

    def choose(
        self, low: int, high: int, tally: Tally, memory: ContextsMemory, rng: Generator
    ) -> Decision:
        z, waiting = context_of(self.starts, low), is_waiting(tally)
        visit = 1
        for x in range(low, high):
            visit += tally.plays[x]
        held = memory.held[z]
        if not waiting and visit < held[UNTIL] and low <= held[LEADER] < high:
            return Decision(held[LEADER], EXPLOIT)
        first = self.model.first(low, high, tally)
        if first >= 0:
            return Decision(first, ESTIMATE)
        look = memory.look
        leader = self.model.look(low, high, tally, look)
        dropped = self.drop_visit(z, memory)
        self.want(z, low, high, leader, memory)
        self.add_visit(z, visit, dropped, memory)
        share = self.largest_share(memory)
        widths_within(self.model.features, memory.total, low, high, memory.gains)
        rounds = tally.phases[0] + tally.phases[1] + tally.phases[2] + 1.0
        if not self.cautious:
            share *= share
        t = tally.clock[0] + 1.0
        ahead = self.horizon_factor * max(1.0, math.log(t) / 8.0) * t
        ahead += self.front * share * math.sqrt(t)
        scale = ahead / rounds
        best, value = leader, -math.inf
        for x in range(low, high):
            told = self.model.told(x, look)
            gain = scale * told * memory.gains[x] / (1.0 + told * look.widths[x])
            net = gain - (look.rewards[leader] - look.rewards[x])
            if net > value or (x == leader and net >= value):
                best, value = x, net
        if best != leader:
            return Decision(best, EXPLORE)
        if not waiting:
            held[UNTIL] = visit + 1 + int(PATIENCE * tally.plays[leader])
            held[LEADER] = leader
        return Decision(leader, EXPLOIT)

    def want(
        self,
        z: int,
        low: int,
        high: int,
        leader: int,
        memory: ContextsMemory,
    ) -> None:
        """Fill ν_z W A_z W of a context, and what its alternatives expect."""
        features, images, matrix = self.model.features, memory.images, memory.wanted[z]
        d, sigma, look = features.shape[0], self.model.sigma, memory.look
        self.model.lift(low, high, leader, look, images)
        for i in range(d):
            for l in range(d):  # noqa: E741
                matrix[i, l] = 0.0
        chances, improvements, largest = 0.0, 0.0, 0.0
        for x in range(low, high):
            square = 0.0
            for i in range(d):
                square += images[i, x] * (features[i, x] - features[i, leader])
            if x == leader or not square > 0.0:
                continue
            spread = math.sqrt(square)
            score = self.model.ahead(leader, x, look) / (sigma * spread)
            if score > FAR:
                continue
            worth = self.model.worth(leader, x, look)
            chance, height = tail(score), density(score)
            expected = worth * sigma * spread * max(height - score * chance, 0.0)
            chances += chance
            improvements += expected
            largest = max(largest, expected)
            weight = 0.5 * worth * sigma * height / spread
            for i in range(d):
                for l in range(i, d):  # noqa: E741
                    matrix[i, l] += weight * images[i, x] * images[l, x]
        for i in range(d):
            for l in range(i, d):  # noqa: E741
                matrix[i, l] /= 1.0 + chances
        memory.improved[z, LARGEST] = largest
        memory.improved[z, ALL] = improvements

    def largest_share(self, memory: ContextsMemory) -> float:
        """m, each context counted as often as it has come."""
        largest, total = 0.0, 0.0
        for c in range(memory.came.shape[0]):
            largest = max(largest, memory.came[c] * memory.improved[c, LARGEST])
            total += memory.came[c] * memory.improved[c, ALL]
        return largest / total if total > 0.0 else 1.0

    def drop_visit(self, z: int, memory: ContextsMemory) -> float:
        """Take a context's last visit out of Σ n_z W A_z W; the trace of what that was."""
        total, weight, trace = memory.total, memory.came[z], 0.0
        for i in range(total.shape[0]):
            trace += weight * memory.wanted[z, i, i]
            for l in range(i, total.shape[0]):  # noqa: E741
                total[i, l] -= weight * memory.wanted[z, i, l]
        return trace

    def add_visit(self, z: int, visit: int, dropped: float, memory: ContextsMemory) -> None:
        """Put this visit in its place.

        All is summed anew once in as many visits as there are contexts, and where rounding would
        be left of what was taken out.
        """
        total, count, trace = memory.total, memory.came.shape[0], 0.0
        memory.came[z] = visit
        memory.since[0] += 1
        for i in range(total.shape[0]):
            trace += visit * memory.wanted[z, i, i]
            for l in range(i, total.shape[0]):  # noqa: E741
                total[i, l] += visit * memory.wanted[z, i, l]
        if memory.since[0] < count and dropped <= FALL * trace:
            return
        memory.since[0] = 0
        for i in range(total.shape[0]):
            for l in range(i, total.shape[0]):  # noqa: E741
                total[i, l] = 0.0
        for c in range(count):
            for i in range(total.shape[0]):
                for l in range(i, total.shape[0]):  # noqa: E741
                    total[i, l] += memory.came[c] * memory.wanted[c, i, l]


def hgl_in_contexts(
    instance: Any, horizon_factor: float, front: float, cautious: bool
) -> HglInContexts:
    starts = instance.layout.starts.astype(np.int64)
    return HglInContexts(instance.model_within(), starts, horizon_factor, front, cautious)
