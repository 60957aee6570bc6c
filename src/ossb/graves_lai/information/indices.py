"""Arms of which plays tell their index ⟨φ, x⟩, by a law whose mean is a link of it.

F_j(η) = min over δ with ⟨δ, y_j⟩ = margin_j of Σ η_x d(u_x, ⟨δ, x⟩): a smooth convex program in as
many variables as the arms have dimensions, solved by Newton's method from its last minimiser.
y_j = x_j − x_b, in what plays that are free do not show.

A minimiser that is not exact over-estimates F.  For any p with Σ_x p_x x = τ y,
F_j(η) ≥ τ margin_j − Σ_x η_x d*(u_x, p_x / η_x), with d* the conjugate of d;
p_x = η_x (g(u_x + ⟨δ, x⟩) − g(u_x)) makes the two sides equal at the minimiser, and stays a proof
at any other indices.
"""

import math
from typing import NamedTuple

import numpy as np

from ossb.graves_lai.information.index_frame import (
    forget,
    open_columns,
    place,
    rescaled,
    rule_out_alike,
    score_first,
)
from ossb.graves_lai.information.index_minimiser import ACTIVE, RANK, fill_bends, minimise
from ossb.graves_lai.information.index_proofs import LEAST, keep_proofs, proof_of, proof_still
from ossb.graves_lai.information.links import (
    IDENTITY,
    LARGEST,
    change,
    curvature,
    divergence,
    divergence_from,
    mean,
    rest,
)
from ossb.graves_lai.program.generation import look_at_each, recheck
from ossb.graves_lai.program.work import Alternatives, Plays, Work, most_columns, symmetric
from ossb.numerics.dense import add_square, inner
from ossb.records import Floats, Ints, record

CLOSEST = 1e-6  # indices of estimates closer than this to the leader's count as this far apart


@record
class Indices(NamedTuple):
    """Arms, what tells each alternative apart, and the last minimisers.

    Each arm is a column, and a row: the alternative in which it is as good as its leader.
    Directions and arms are in coordinates in which what rates tell is near the identity.
    """

    law: int  # which link, see ``links``
    arms: Floats  # (K, d)
    leaders: Ints  # (K,) the arm that each has to catch up with to become the best
    is_free: Ints  # (K,) 1 where plays cost nothing, and what they show is known
    index_of: Floats  # (K,) u
    here: Floats  # (K,) g(u)
    off: Floats  # (K,) what the mean lacks to 1, for the logistic link
    margins: Floats  # (K,) how far u has to rise to be the best one
    points: Floats  # (K, d) coordinates of the arms, in the first r
    apart: Floats  # (K, d) y
    deltas: Floats  # (K, d) the last minimisers; 0 where there is none
    kept: Floats  # (K, d) the minimisers behind the weights
    frame: Floats  # (d, d) what the coordinates are products with
    factor: Floats  # (d, d) R, with RᵀR = Σ η g′(u + h) x xᵀ
    pull: Floats  # (d,) slope of Σ η d in δ
    towards: Floats  # (d,) R⁻ᵀ y
    step: Floats  # (d,) Newton's
    pushes: Floats  # (d, n) curvature of F by column
    remains: Floats  # (K, d) scratch
    active: Ints  # (K,) the columns played
    played: Floats  # (K,) and their rates
    pulls: Floats  # (K, n), or (1, n) where proofs are not kept: p of each alternative
    multipliers: Floats  # (K,) τ of each alternative
    proved_by: Ints  # (n,) the columns of p
    proved_rates: Floats  # (n,)
    proved_margins: Floats  # (K,)
    sizes: Ints  # (3,) r, how many columns are played, and how many proofs rest on

    def follow(self, leader: int, plays: Plays, alternatives: Alternatives) -> None:
        """Choose coordinates for a leader, or (−1) for those posed; opens columns and rows.

        Plays of a leader that is followed are free.
        """
        if leader >= 0:
            for x in range(self.leaders.shape[0]):
                self.leaders[x] = leader
                self.is_free[x] = 1 if x == leader else 0
        self.read_means()
        open_columns(self, plays)
        for x in range(self.arms.shape[0]):
            lead = self.leaders[x]
            for j in range(self.arms.shape[1]):
                self.step[j] = self.arms[x, j] - self.arms[lead, j]
            tells = place(self, self.step, self.apart[x]) and lead != x
            alternatives.is_open[x] = 1 if tells else 0
        forget(self)
        rescaled(self, 0.0)

    def seed(self, work: Work) -> None:
        """Score the columns and rows to begin with."""
        score_first(self, work.plays, work.alternatives)

    def rescale(self, stretched: float) -> None:
        """Make what is played tell equally much of every coordinate, unless it nearly does."""
        rescaled(self, stretched)

    def rule_out(self, chosen: int, is_row: bool, scores: Floats) -> None:
        """Clear the scores of all that are like the chosen one."""
        vectors = self.apart if is_row else self.points
        rule_out_alike(vectors, self.sizes[RANK], chosen, scores)

    def n_alternatives(self) -> int:
        """How many rows there are."""
        return self.apart.shape[0]

    def degrees(self) -> int:
        """As many as Fisher information has entries."""
        rank = self.sizes[RANK] if self.sizes[RANK] > 0 else self.apart.shape[1]
        return rank * (rank + 1) // 2

    def play(self, columns: Ints, count: int, rates: Floats) -> None:
        """Say what is played."""
        active = 0
        for e in range(count):
            if rates[e] > 0.0:
                self.active[active] = columns[e]
                self.played[active] = rates[e]
                active += 1
        self.sizes[ACTIVE] = active

    def weight_of(self, x: int) -> float:
        """How much a play of arm x tells of small changes of its index."""
        return curvature(self.law, self.index_of[x], 0.0)

    def inform(self, row: int, enough: float) -> float:
        """F at what is played, or a lower bound of it above ``enough``; −1 where it fails."""
        return minimise(self, row, enough)

    def inform_all(self, proving: bool, alternatives: Alternatives) -> float:
        return look_at_each(self, proving, alternatives)

    def gradient_at(self, row: int, columns: Ints, count: int, out: Floats) -> None:
        """The divergence of each column at the minimiser."""
        rank, delta = self.sizes[RANK], self.deltas[row]
        for e in range(count):
            x = columns[e]
            shift = inner(delta, self.points[x], rank)
            out[e] = divergence_from(self.law, self.index_of[x], self.here[x], self.off[x], shift)

    def add_bends(
        self,
        rows: Ints,
        weights: Floats,
        n_rows: int,
        columns: Ints,
        count: int,
        scale: Floats,
        out: Floats,
    ) -> None:
        """Add Σ weight (−∇²F), in units of ``scale`` by column, to an upper triangle."""
        rank = self.sizes[RANK]
        for j in range(n_rows):
            if fill_bends(self, rows[j], columns, count, scale):
                for k in range(rank):
                    add_square(weights[j], self.pushes[k], count, out)

    def keep(self, row: int) -> None:
        """Hold the minimiser for the lower side."""
        for i in range(self.sizes[RANK]):
            self.kept[row, i] = self.deltas[row, i]

    def price_held(
        self, rows: Ints, weights: Floats, count: int, is_open: Ints, out: Floats
    ) -> None:
        """Σ weight · the divergence of every open column at the held minimisers."""
        rank = self.sizes[RANK]
        for x in range(out.shape[0]):
            out[x] = 0.0
            if is_open[x] == 1:
                index, here, off = self.index_of[x], self.here[x], self.off[x]
                for j in range(count):
                    if weights[j] > 0.0:
                        shift = inner(self.kept[rows[j]], self.points[x], rank)
                        out[x] += weights[j] * divergence_from(self.law, index, here, off, shift)

    def prove(self, row: int, told: float) -> float:
        """A lower bound of F at what is played, from the minimiser; −1 if there is none."""
        return proof_of(self, row)

    def settle(self, least: float, n_rows: int, work: Work) -> None:
        """Keep the proofs for the rates played, divided by the least that they tell."""
        keep_proofs(self, least)

    def proved(self, row: int) -> float:
        """A lower bound of F at the rates proved, from their proof, wherever indices are now."""
        return proof_still(self, row)

    def recheck(self, n_rows: int, work: Work) -> tuple[float, float]:
        return recheck(self, n_rows, work)

    def fit(self, row: int) -> bool:
        """Move the held minimiser to the margin there is now; False if it tells nothing."""
        rank = self.sizes[RANK]
        reach = inner(self.kept[row], self.apart[row], rank) / self.margins[row]
        if not reach > 0.0:
            return False
        for i in range(rank):
            self.kept[row, i] /= reach
        return True

    def fall_back(self, is_open: Ints, out: Floats) -> None:
        """Rates that are feasible whatever happened: every alternative watched by its own arm."""
        for x in range(out.shape[0]):
            out[x] = 0.0
            if is_open[x] == 1:
                own = divergence(self.law, self.index_of[x], self.margins[x])
                out[x] = 1.0 / max(own, LEAST)

    def pose(
        self, reward_law: int, indices: Floats, sign: float, leader: int, plays: Plays
    ) -> None:
        """Take an estimate, with one leader of all arms."""
        for x in range(self.leaders.shape[0]):
            self.leaders[x] = leader
        self.pose_each(reward_law, indices, sign, plays)

    def pose_each(self, reward_law: int, indices: Floats, sign: float, plays: Plays) -> None:
        """Take an estimate: indices and margins, within what doubles can tell apart, and regret.

        Where the index is the reward it has a unit, and the least margin is relative to its range.
        """
        largest, floor = LARGEST, CLOSEST
        if reward_law == IDENTITY:
            largest, reach = math.inf, 0.0
            for x in range(indices.shape[0]):
                reach = max(reach, abs(indices[self.leaders[x]] - indices[x]))
            floor = CLOSEST * reach if reach > 0.0 else CLOSEST
        for x in range(indices.shape[0]):
            top = min(max(indices[self.leaders[x]], -largest), largest)
            at = min(max(indices[x], -largest), largest)
            margin = sign * max(sign * (top - at), floor)
            self.index_of[x] = top - margin if x != self.leaders[x] else top
            self.margins[x] = margin
            plays.costs[x] = abs(change(reward_law, top, -margin))
        self.read_means()

    def read_means(self) -> None:
        """Means at the indices: every divergence of a solve asks for them."""
        for x in range(self.index_of.shape[0]):
            self.here[x] = mean(self.law, self.index_of[x])
            self.off[x] = rest(self.law, self.index_of[x])


def indices(law: int, arms: np.ndarray, proofs: bool = False) -> Indices:
    """The record for some arms, yet without indices; ``proofs`` says whether they are kept."""
    n_arms, dimension = arms.shape
    n = most_columns(n_arms, symmetric(dimension))
    shape, square = (n_arms, dimension), (dimension, dimension)
    return Indices(
        law=law,
        arms=arms,
        leaders=np.zeros(n_arms, np.int64),
        is_free=np.zeros(n_arms, np.int64),
        index_of=np.zeros(n_arms),
        here=np.zeros(n_arms),
        off=np.zeros(n_arms),
        margins=np.zeros(n_arms),
        points=np.zeros(shape),
        apart=np.zeros(shape),
        deltas=np.zeros(shape),
        kept=np.zeros(shape),
        frame=np.zeros(square),
        factor=np.zeros(square),
        pull=np.zeros(dimension),
        towards=np.zeros(dimension),
        step=np.zeros(dimension),
        pushes=np.zeros((dimension, n)),
        remains=np.zeros(shape),
        active=np.zeros(n_arms, np.int64),
        played=np.zeros(n_arms),
        pulls=np.zeros((n_arms if proofs else 1, n)),
        multipliers=np.zeros(n_arms),
        proved_by=np.zeros(n, np.int64),
        proved_rates=np.zeros(n),
        proved_margins=np.zeros(n_arms),
        sizes=np.zeros(3, np.int64),
    )
