"""Arms in contexts for policies that track rates: every context has its own leader.

The estimate is that of ``glm.py``, linear arms being those whose link is the identity, and the
rates are those of the program over all contexts at it: best arms are free, and what they all show
is known.  The likelihood ratio of an arm is against the leader of its own context, exactly; with
all that leaders show taken as known it is the quadratic around the estimate, which is the ratio
itself where divergences are quadratic.
"""

import math
from typing import NamedTuple

import numpy as np

from ossb.graves_lai import program
from ossb.graves_lai.information.indices import Indices, indices
from ossb.graves_lai.information.links import IDENTITY
from ossb.graves_lai.program.newton import ROWS
from ossb.graves_lai.program.warm import follow
from ossb.models.base import SETTLED, WEAKEST
from ossb.models.glm import FACTOR, GRAM, PARALLEL, UNSEEN, GlmModel
from ossb.models.glm_ratio import SURE, Scratch, exact_ratio, new_scratch
from ossb.models.within import first_within
from ossb.numerics.dense import inner, solve_lower
from ossb.records import Floats, Ints, record
from ossb.tally import Tally

POSED = -2  # the leader by which solutions are held: that of each arm as posed
ROUNDING = 1e-20  # squared share of a leader below which those before it show all of it


class LeadersLook(NamedTuple):
    """The estimate, the leaders, and the solution held for the rates."""

    rewards: np.ndarray  # float64 (n_rows,)
    estimate: np.ndarray  # float64 (n_rows,)
    phi: np.ndarray  # float64 (d,): in the user's sign, as the indices
    indices: np.ndarray  # float64 (n_rows,): u
    bends: np.ndarray  # float64 (n_rows,): b″(u)
    squares: np.ndarray  # float64 (4, d, d): as ``GlmLook`` has them
    vector: np.ndarray  # float64 (d,): scratch
    numbers: np.ndarray  # float64 (4,): as ``Look`` has them
    leaders: np.ndarray  # int64 (n_rows,): the leader of each row's context
    held_for: np.ndarray  # int64 (n_rows,): those that the solution is held for
    whitened: np.ndarray  # float64 (n_rows, d): R⁻ᵀx, Σ n b″ x xᵀ = RᵀR
    known: np.ndarray  # float64 (d, d): an orthonormal basis of what leaders show, as rows
    information: Indices  # of the estimate, for the program of rates
    held: program.Held  # its last solution
    space: Scratch


@record
class LeadersModel(NamedTuple):
    """Rows in contexts, one after the other.

    Parameters
    ----------
    model
        All rows as one structure.
    starts
        Rows ``starts[z]``, …, ``starts[z + 1]`` − 1 are those of context z.
    """

    model: GlmModel
    features: Floats  # (d, n_rows)
    starts: Ints

    def start(self) -> LeadersLook:
        d, n = self.features.shape
        return LeadersLook(
            np.zeros(n),
            np.zeros(n),
            np.zeros(d),
            np.zeros(n),
            np.zeros(n),
            np.zeros((4, d, d)),
            np.zeros(d),
            np.zeros(4),
            np.zeros(n, np.int64),
            np.full(n, -1),
            np.zeros((n, d)),
            np.zeros((d, d)),
            indices(self.model.observed_link, self.model.rows, proofs=True),
            program.held(program.work_arrays(n, n, program.symmetric(d))),
            new_scratch(d, n),
        )

    def first(self, low: int, high: int, tally: Tally) -> int:
        return first_within(self.model.spanning, low, high, tally)

    def least_forced(self, low: int, high: int, tally: Tally) -> int:
        """The least played of some rows of a set that spans all others, or −1."""
        least = -1
        for place in range(self.model.spanning.shape[0]):
            row = self.model.spanning[place]
            if low <= row < high and (least < 0 or tally.plays[row] < tally.plays[least]):
                least = row
        return least

    def lead_each(self, tally: Tally, memory: LeadersLook) -> None:
        """Estimate, and find the leader of every context, lowest on ties."""
        self.model.project(tally, memory)
        for z in range(self.starts.shape[0] - 1):
            leader = self.starts[z]
            for x in range(leader, self.starts[z + 1]):
                if self.model.sign * (memory.indices[x] - memory.indices[leader]) > 0.0:
                    leader = x
            for x in range(self.starts[z], self.starts[z + 1]):
                memory.leaders[x] = leader

    def rates_of_all(self, kappa: float, memory: LeadersLook, out: np.ndarray) -> float:
        """Feasible rates at the estimate, 0 at the leaders; their certified relative gap."""
        information, changed = memory.information, False
        for x in range(out.shape[0]):
            changed = changed or memory.held_for[x] != memory.leaders[x]
            memory.held_for[x] = memory.leaders[x]
            information.leaders[x] = memory.leaders[x]
            information.is_free[x] = 1 if memory.leaders[x] == x else 0
        if changed:
            memory.held.sizes[ROWS] = 0
        plays = memory.held.work.plays
        information.pose_each(self.model.reward_link, memory.indices, self.model.sign, plays)
        gap = follow(information, POSED, kappa, memory.held, out)
        for x in range(out.shape[0]):
            out[x] *= self.model.sigma * self.model.sigma
        return gap

    def test_all(self, level: float, tally: Tally, memory: LeadersLook) -> None:
        """As ``Model.test``, against the alternatives of all contexts."""
        memory.numbers[WEAKEST] = 0.0
        memory.numbers[SETTLED] = 0.0
        d, trace = self.features.shape[0], 0.0
        self.model.add_up(tally, False, memory)
        for i in range(d):
            trace += memory.squares[GRAM, i, i]
        if not (trace > 0.0 and self.model.factorise(UNSEEN * trace / d, 0.0, memory)):
            return
        for x in range(self.features.shape[1]):
            for i in range(d):
                memory.whitened[x, i] = self.features[i, x]
            solve_lower(memory.squares[FACTOR], d, memory.whitened[x])
        rank = self.span_leaders(memory)
        weakest, settled, walds = math.inf, math.inf, memory.space.walds[0]
        for x in range(self.features.shape[1]):
            leader, apart = memory.leaders[x], memory.vector
            walds[x] = math.inf
            for i in range(d):
                apart[i] = memory.whitened[x, i] - memory.whitened[leader, i]
            square = inner(apart, apart, d)
            if x == leader or not square > 0.0:
                continue
            free = square
            for k in range(rank):
                along = inner(apart, memory.known[k], d)
                free -= along * along
            ahead = self.model.sign * (memory.indices[leader] - memory.indices[x])
            gap = max(ahead, 0.0) / self.model.sigma
            walds[x] = 0.5 * gap * gap / square
            weakest = min(weakest, walds[x])
            if free > PARALLEL * square:
                settled = min(settled, 0.5 * gap * gap / free)
        if self.model.observed_link != IDENTITY:  # else the divergences are quadratic
            weakest = self.least_of_all(level, tally, memory)
        memory.numbers[WEAKEST] = weakest
        memory.numbers[SETTLED] = settled

    def span_leaders(self, memory: LeadersLook) -> int:
        """Fill the basis of what the leaders show, whitened; returns its rank."""
        d, rank = self.features.shape[0], 0
        for z in range(self.starts.shape[0] - 1):
            if rank == d:
                break
            leader, unit = memory.leaders[self.starts[z]], memory.known[rank]
            for i in range(d):
                unit[i] = memory.whitened[leader, i]
            whole = inner(unit, unit, d)
            for _ in range(2):  # twice: what rounding left
                for k in range(rank):
                    along = inner(unit, memory.known[k], d)
                    for i in range(d):
                        unit[i] -= along * memory.known[k, i]
            rest = inner(unit, unit, d)
            if rest > ROUNDING * whole:
                for i in range(d):
                    unit[i] /= math.sqrt(rest)
                rank += 1
        return rank

    def least_of_all(self, level: float, tally: Tally, memory: LeadersLook) -> float:
        """As ``glm_ratio.least_ratio``, each row against its own leader."""
        first, walds = -1, memory.space.walds[0]
        for x in range(walds.shape[0]):
            if walds[x] < math.inf and (first < 0 or walds[x] < walds[first]):
                first = x
        if first < 0:
            return math.inf
        least = self.ratio_of(first, tally, memory)
        for x in range(walds.shape[0]):
            if least < level < math.inf:
                return least
            if x != first and walds[x] < SURE * min(level, least):
                least = min(least, self.ratio_of(x, tally, memory))
        return least

    def ratio_of(self, x: int, tally: Tally, memory: LeadersLook) -> float:
        """The likelihood ratio of a row's leader against it."""
        link, leader = self.model.observed_link, memory.leaders[x]
        return float(
            exact_ratio(link, self.features, memory.indices, leader, x, False, tally, memory.space)
        )


def leaders_model(model: GlmModel, starts: np.ndarray) -> LeadersModel:
    return LeadersModel(model, model.features, starts.astype(np.int64))
