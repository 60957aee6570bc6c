"""HGL for linear arms in contexts.

As ``hgl.py``: play an arm of the present context when what one play buys, over the horizon ahead,
exceeds its gap.  What it buys is the fall of the expected improvement in *every* context, each as
often as it has come:

    B(x) = Σ_z (n_z / n) ν_z xᵀ W A_z W x / (1 + xᵀWx),   A_z = ½ Σ_j σ φ(z_j) u_j u_jᵀ / s_j,

a sum over the arms of z, with u_j = x_j − x_{b_z}, s_j² = u_jᵀWu_j, z_j = gap / σ s_j and
ν_z = 1 / (1 + Σ Φ(−z_j)) over them: of the alternatives of one context only one can be its best
arm, while what contexts gain adds up.  The share m in the horizon, where a ``front`` was given, is
that of one alternative in the improvement expected in all contexts.

The matrices W A_z W are those of the last visit of each context, so that a round costs as much with
many contexts as with few: where one comes seldom its share is small, and what was learnt since can
only have lowered it.

The prior is the likeliest of those of ``models/scales.py``, looked at again whenever a twentieth
more was told.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.kernels import kernel
from ossb.models.glm_ratio import solve_factored
from ossb.models.least_squares import (
    GRAM,
    INVERSE,
    TARGET,
    THETA,
    TOLD,
    LeastSquares,
    new_least_squares,
)
from ossb.models.linear import LinearModel
from ossb.models.normal import FAR, density, tail
from ossb.models.scales import SAME, add_prior, slack
from ossb.models.within import first_within, follow_within, predict_within, widths_within
from ossb.numerics.dense import cholesky
from ossb.records import Ints, record
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE, Decision, Tally, is_waiting

PATIENCE = 0.01
FALL = 1e6  # by which a visit may want less than the last before sums are made anew
MORE = 1.05  # times what was told, after which scales are looked at again
LARGEST, ALL = 0, 1  # columns of ``improved``
UNTIL, LEADER = 0, 1  # columns of ``held``
TOLD_THEN, SCALE, SINCE = 0, 1, 2  # entries of ``marks``


class ContextsMemory(NamedTuple):
    """The regression, what each context had to gain at its last visit, and work."""

    squares: LeastSquares
    rewards: np.ndarray  # float64 (n_rows,)
    widths: np.ndarray  # float64 (n_rows,): xᵀWx
    gains: np.ndarray  # float64 (n_rows,)
    images: np.ndarray  # float64 (d, n_rows): W u
    wanted: np.ndarray  # float64 (n_contexts, d, d): W A_z W
    total: np.ndarray  # float64 (d, d): Σ n_z W A_z W
    came: np.ndarray  # int64 (n_contexts,): n_z at the last visit
    held: np.ndarray  # int64 (n_contexts, 2): until which visit the leader is held, and which
    marks: (
        np.ndarray
    )  # int64 (3,): rounds told when scales were looked at, which one was likeliest,
    # and visits since ``total`` was summed anew
    improved: np.ndarray  # float64 (n_contexts, 2): what each expected at its last visit, of the
    # alternative that expected most and of all
    factor: np.ndarray  # float64 (d, d)
    line: np.ndarray  # float64 (d,)


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

    model: LinearModel
    starts: Ints
    horizon_factor: float
    front: float
    cautious: bool

    def start(self) -> ContextsMemory:
        d, n = self.model.features.shape
        count = self.starts.shape[0] - 1
        return ContextsMemory(
            new_least_squares(d, n, self.model.flat),
            np.zeros(n),
            np.zeros(n),
            np.zeros(n),
            np.zeros((d, n)),
            np.zeros((count, d, d)),
            np.zeros((d, d)),
            np.zeros(count, np.int64),
            np.zeros((count, 2), np.int64),
            np.zeros(3, np.int64),
            np.zeros((count, 2)),
            np.zeros((d, d)),
            np.zeros(d),
        )

    def select(self, tally: Tally, memory: ContextsMemory, rng: Generator) -> Decision:
        """Where all rows are there at once."""
        return self.choose(0, self.model.n_arms, tally, memory, rng)

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
        first = first_within(self.model.spanning, low, high, tally)
        if first >= 0:
            return Decision(first, ESTIMATE)
        features, squares = self.model.features, memory.squares
        self.take_scale(tally, memory)
        now = follow_within(features, tally, squares)
        inverse = squares.square[now, INVERSE]
        leader = predict_within(features, squares.line[TOLD, THETA], low, high, memory.rewards)
        widths_within(features, inverse, low, high, memory.widths)
        dropped = self.drop_visit(z, memory)
        self.want(z, low, high, leader, inverse, memory)
        self.add_visit(z, visit, dropped, memory)
        share = self.largest_share(memory)
        widths_within(features, memory.total, low, high, memory.gains)
        rounds = tally.phases[0] + tally.phases[1] + tally.phases[2] + 1.0
        if not self.cautious:
            share *= share
        t = tally.clock[0] + 1.0
        ahead = self.horizon_factor * max(1.0, math.log(t) / 8.0) * t
        ahead += self.front * share * math.sqrt(t)
        scale = ahead / rounds
        best, value = leader, -math.inf
        for x in range(low, high):
            gain = scale * memory.gains[x] / (1.0 + memory.widths[x])
            net = gain - (memory.rewards[leader] - memory.rewards[x])
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
        inverse: np.ndarray,
        memory: ContextsMemory,
    ) -> None:
        """Fill ν_z W A_z W of a context, and what its alternatives expect."""
        features, images, matrix = self.model.features, memory.images, memory.wanted[z]
        d, sigma = features.shape[0], self.model.sigma
        for i in range(d):
            for x in range(low, high):
                images[i, x] = 0.0
            for l in range(d):  # noqa: E741
                matrix[i, l] = 0.0
                weight, top = inverse[i, l], features[l, leader]
                for x in range(low, high):
                    images[i, x] += weight * (features[l, x] - top)
        chances, improvements, largest = 0.0, 0.0, 0.0
        for x in range(low, high):
            square = 0.0
            for i in range(d):
                square += images[i, x] * (features[i, x] - features[i, leader])
            if x == leader or not square > 0.0:
                continue
            spread = math.sqrt(square)
            score = (memory.rewards[leader] - memory.rewards[x]) / (sigma * spread)
            if score > FAR:
                continue
            chance, height = tail(score), density(score)
            expected = sigma * spread * max(height - score * chance, 0.0)
            chances += chance
            improvements += expected
            largest = max(largest, expected)
            weight = 0.5 * sigma * height / spread
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
        memory.marks[SINCE] += 1
        for i in range(total.shape[0]):
            trace += visit * memory.wanted[z, i, i]
            for l in range(i, total.shape[0]):  # noqa: E741
                total[i, l] += visit * memory.wanted[z, i, l]
        if memory.marks[SINCE] < count and dropped <= FALL * trace:
            return
        memory.marks[SINCE] = 0
        for i in range(total.shape[0]):
            for l in range(i, total.shape[0]):  # noqa: E741
                total[i, l] = 0.0
        for c in range(count):
            for i in range(total.shape[0]):
                for l in range(i, total.shape[0]):  # noqa: E741
                    total[i, l] += memory.came[c] * memory.wanted[c, i, l]

    def take_scale(self, tally: Tally, memory: ContextsMemory) -> None:
        """Take the likeliest prior, where enough more was told to look again."""
        told, marks = tally.clock[0], memory.marks
        if told < MORE * marks[TOLD_THEN] + 1.0 or told <= marks[TOLD_THEN]:
            return
        marks[TOLD_THEN] = told
        squares, factor, d = memory.squares, memory.factor, memory.factor.shape[0]
        follow_within(self.model.features, tally, squares)
        last = self.model.precisions.shape[0] - 1
        freedom = slack(self.model.centre, squares.square[TOLD, INVERSE])
        likeliest, top = 0, -math.inf
        for c in range(last + 1):
            if c > 0 and marks[SCALE] == 0 and self.model.precisions[last] * freedom < SAME:
                break
            for i in range(d):
                memory.line[i] = squares.line[TOLD, TARGET, i]
                for l in range(d):  # noqa: E741
                    factor[i, l] = squares.square[TOLD, GRAM, i, l]
            add_prior(self.model.precisions[c], self.model.centre, factor)
            if not cholesky(factor, d):
                continue
            volume, fit = 0.0, 0.0
            for i in range(d):
                volume += 2.0 * math.log(max(factor[i, i], 1e-300))
            solve_factored(factor, memory.line)
            for i in range(d):
                fit += memory.line[i] * squares.line[TOLD, TARGET, i]
            variance = self.model.sigma * self.model.sigma
            score = self.model.scores[c] - 0.5 * volume + 0.5 * fit / variance
            if score > top:
                likeliest, top = c, score
        if likeliest == marks[SCALE]:
            return
        marks[SCALE] = likeliest
        for i in range(d):
            for l in range(d):  # noqa: E741
                squares.prior[i, l] = 0.0
        add_prior(self.model.precisions[likeliest], self.model.centre, squares.prior)
        squares.age[0, 0] = -1
        squares.age[1, 0] = -1


def hgl_in_contexts(
    instance: Any, horizon_factor: float, front: float, cautious: bool
) -> HglInContexts:
    starts = instance.layout.starts.astype(np.int64)
    return HglInContexts(instance.model(), starts, horizon_factor, front, cautious)
