"""Polytopes and unions of polytopes, as the default policy sees them; compiled.

The estimate is the likeliest parameter of all pieces, and the likelihood ratio against arm j
what the least loss rises by where j is to be at least as good as the leader: one small
program for each (piece, arm), solved from nothing at every look, so that a look is a function
of what was told.  Rates and tests are those of ``general.py``.
"""

import math
from typing import NamedTuple

import numpy as np

from ossb.families import Family
from ossb.models.improvement import DECIDED, conclude, improvement
from ossb.models.piece_program import ProgramSpace, loss_of, nearest, new_program, show
from ossb.models.pieces import Pieces
from ossb.numerics.dense import cholesky, inner, solve_lower, solve_upper, weighted_gram
from ossb.records import Floats, Ints, record
from ossb.tally import Tally, fill_untold

UNTOLD = 1e-9  # observations of a component that was asked for and not told of
LEVEL = 1e-9  # of a standard deviation: rewards that differ by less are level
UNSEEN = 1e-12  # of the mean information, in directions that nothing shows


class PiecewiseMemory(NamedTuple):
    """The common look, and room for its programs."""

    estimate: np.ndarray
    rewards: np.ndarray
    gain: np.ndarray
    numbers: np.ndarray
    means: np.ndarray  # float64 (C,): what was told
    weights: np.ndarray  # float64 (C,): of how many observations
    starts: np.ndarray  # float64 (p, r): the likeliest point of each piece
    least: np.ndarray  # float64 (p,): what it loses
    home: np.ndarray  # int64 (1,): the piece of the estimate
    program: ProgramSpace
    moved: np.ndarray  # float64 (C,): means of the nearest alternative
    each: np.ndarray  # float64 (C,): what one observation of a component tells of it
    factor: np.ndarray  # float64 (r, r): of the information in the home piece
    apart: np.ndarray  # float64 (r,)


@record
class PiecewiseModel(NamedTuple):
    """Arms that show components of a parameter known to lie in one of several polytopes.

    Parameters
    ----------
    family
        The observations.
    kind, precision
        The same, as divergences are told apart.
    incidence
        1 where an arm (row) shows a component (column).
    first
        A small set of arms that together show all components.
    pieces
        The polytopes.
    """

    family: Family
    kind: int
    precision: float
    n_arms: int
    n_components: int
    incidence: Floats  # (n_arms, n_components)
    first: Ints
    pieces: Pieces

    def start(self) -> PiecewiseMemory:
        k, c = self.n_arms, self.n_components
        p, m, r = self.pieces.rows.shape
        return PiecewiseMemory(
            np.zeros(c),
            np.zeros(k),
            np.zeros(k),
            np.zeros(4),
            np.zeros(c),
            np.zeros(c),
            np.zeros((p, r)),
            np.zeros(p),
            np.zeros(1, np.int64),
            new_program(m, r, c),
            np.zeros(c),
            np.zeros(c),
            np.zeros((r, r)),
            np.zeros(r),
        )

    def unseen(self, tally: Tally) -> int:
        for place in range(self.first.shape[0]):
            if tally.plays[self.first[place]] == 0:
                return self.first[place]
        return -1

    def informative(self, place: int) -> int:
        return self.first[place] if place < self.first.shape[0] else -1

    def is_informative(self, arm: int) -> bool:
        shows = 0.0
        for k in range(self.n_components):
            shows += self.incidence[arm, k]
        return shows > 0.0

    def project(self, tally: Tally, memory: PiecewiseMemory) -> int:
        """Fill in the likeliest parameter; returns its best arm."""
        for k in range(self.n_components):
            memory.means[k] = tally.means[k]
            memory.weights[k] = float(tally.counts[k])
        fill_untold(tally.counts, memory.means)
        for k in range(self.n_components):
            if tally.counts[k] == 0 and tally.pending[k] > 0:
                memory.weights[k] = UNTOLD
        best = 0
        for piece in range(self.pieces.sizes.shape[0]):
            for l in range(self.pieces.sizes[piece]):  # noqa: E741
                memory.program.point[l] = 0.0
            memory.least[piece] = self.closest_in(piece, 0, -1, memory)
            for l in range(self.pieces.sizes[piece]):  # noqa: E741
                memory.starts[piece, l] = memory.program.point[l]
            if memory.least[piece] < memory.least[best]:
                best = piece
        memory.home[0] = best
        show(self.pieces, best, self.family, memory.starts[best], memory.estimate)
        largest = 0.0
        for k in range(self.n_components):
            largest = max(largest, self.family.positive_variance(memory.estimate[k]))
        level = LEVEL * math.sqrt(largest)
        leader = 0
        for x in range(self.n_arms):
            paid = inner(self.pieces.pays[best, x], memory.starts[best], self.pieces.sizes[best])
            memory.rewards[x] = self.pieces.paid[best, x] + paid
            ahead = memory.rewards[x] - memory.rewards[leader]
            surely = self.pieces.rivals[best, leader, x] > self.pieces.rivals[best, x, leader]
            if ahead > level or (ahead >= -level and surely):
                leader = x
        return leader

    def closest_in(self, piece: int, leader: int, rival: int, memory: PiecewiseMemory) -> float:
        """The least loss in a piece, from the point in the memory."""
        return nearest(
            self.pieces,
            piece,
            self.family,
            self.kind,
            self.precision,
            leader,
            rival,
            memory.means,
            memory.weights,
            memory.program,
        )

    def factor_information(self, tally: Tally, memory: PiecewiseMemory) -> float:
        """Factor the Fisher information at the estimate; returns the largest variance."""
        piece, largest = memory.home[0], 0.0
        size = self.pieces.sizes[piece]
        for k in range(self.n_components):
            variance = self.family.positive_variance(memory.estimate[k])
            largest = max(largest, variance)
            memory.each[k] = (tally.counts[k] + tally.pending[k]) / variance
        weighted_gram(self.pieces.seen[piece], memory.each, self.n_components, size, memory.factor)
        trace = 0.0
        for l in range(size):  # noqa: E741
            trace += memory.factor[l, l]
        for l in range(size):  # noqa: E741
            memory.factor[l, l] += UNSEEN * trace if trace > 0.0 else 1.0
        cholesky(memory.factor, size)
        return largest

    def deviation_against(self, leader: int, rival: int, memory: PiecewiseMemory) -> float:
        """Of the difference of two rewards, with Σ⁻¹ times it left in ``apart``."""
        piece = memory.home[0]
        size = self.pieces.sizes[piece]
        for l in range(size):  # noqa: E741
            memory.apart[l] = self.pieces.pays[piece, rival, l] - self.pieces.pays[piece, leader, l]
        solve_lower(memory.factor, size, memory.apart)
        variance = inner(memory.apart, memory.apart, size)
        solve_upper(memory.factor, size, memory.apart)
        return math.sqrt(variance)

    def loss_against(self, leader: int, rival: int, memory: PiecewiseMemory) -> float:
        """The least loss where a rival is at least as good, its means left in ``moved``."""
        least = math.inf
        for piece in range(self.pieces.sizes.shape[0]):
            if self.pieces.rivals[piece, leader, rival] == 0:
                continue
            for l in range(self.pieces.sizes[piece]):  # noqa: E741
                memory.program.point[l] = memory.starts[piece, l]
            value = self.closest_in(piece, leader, rival, memory)
            if value < least:
                least = value
                for k in range(self.n_components):
                    memory.moved[k] = memory.program.shown[k]
        return least

    def weigh(self, tally: Tally, memory: PiecewiseMemory) -> int:
        leader = self.project(tally, memory)
        least = loss_of(self.family, memory.means, memory.weights, memory.estimate)
        largest = math.sqrt(self.factor_information(tally, memory))
        chances, improvements, most = 0.0, 0.0, 0.0
        for x in range(self.n_arms):
            memory.gain[x] = 0.0
        for rival in range(self.n_arms):
            if rival == leader:
                continue
            glr = max(self.loss_against(leader, rival, memory) - least, 0.0)
            if glr > DECIDED:
                continue
            deviation = max(self.deviation_against(leader, rival, memory), UNSEEN * largest)
            gap = memory.rewards[leader] - memory.rewards[rival]
            part = improvement(glr, gap, deviation, 1.0)
            spent = self.tell_apart(part.tie, deviation, tally, memory)
            chances += part.chance
            improvements += part.expected
            most = max(most, part.expected)
            for k in range(self.n_components):
                count = float(tally.counts[k] + tally.pending[k])
                bought = part.factor * memory.each[k] * (count / (1.0 + count)) / spent
                if bought > 0.0:
                    for x in range(self.n_arms):
                        memory.gain[x] += self.incidence[x, k] * bought
        conclude(memory.numbers, chances, improvements, most)
        return leader

    def tell_apart(
        self, tie: bool, deviation: float, tally: Tally, memory: PiecewiseMemory
    ) -> float:
        """What one observation of each component tells of the alternative, and all of them."""
        spent, endless = 0.0, 0.0
        for k in range(self.n_components):
            memory.each[k] = self.family.kl(memory.estimate[k], memory.moved[k])
            count = float(tally.counts[k] + tally.pending[k])
            if count > 0.0:
                spent += count * memory.each[k]
                endless += count if memory.each[k] == math.inf else 0.0
        if not tie and endless > 0.0:  # one observation may rule it out: these have all shares
            for k in range(self.n_components):
                memory.each[k] = 1.0 if memory.each[k] == math.inf else 0.0
            return endless
        if not tie and spent > 0.0:
            return spent
        piece = memory.home[0]
        for k in range(self.n_components):
            pull = inner(self.pieces.seen[piece, k], memory.apart, self.pieces.sizes[piece])
            variance = self.family.positive_variance(memory.estimate[k])
            memory.each[k] = pull * pull / variance
        return deviation * deviation
