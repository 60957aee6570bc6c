"""Arms in Gaussian noise of variance 1: divergences are quadratic, minimisers in closed form.

F_j(η) = min over δ with ⟨δ, y_j⟩ = margin_j of ½ Σ η_x ⟨δ, x⟩² = margin_j²/(2 ρ_j), with
ρ_j = y_jᵀ G(η)⁻¹ y_j and G(η) = Σ η_x x xᵀ, at δ = margin_j G⁻¹y_j/ρ_j.  Since ρ does not depend on
margins, rates that are held are proved at other margins by one division for each row.
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
from ossb.graves_lai.information.index_minimiser import ACTIVE, RANK
from ossb.graves_lai.program.work import (
    Alternatives,
    Plays,
    Work,
    most_columns,
    most_rows,
    symmetric,
)
from ossb.kernels import kernel
from ossb.numerics.dense import (
    add_square,
    cholesky,
    inner,
    inverse_of_factored,
    quadratic_form,
    smallest,
)
from ossb.records import Floats, Ints, record

FLOOR = 1e-8  # the smallest margin of estimates, relative to the largest
ROUNDED = 1e-12  # the smallest, relative to the best mean
LEAST = 1e-60  # and where all means are 0


@kernel
def fill_gaps(means: np.ndarray, leader: int, out: np.ndarray) -> None:
    """Write by how much the leader's mean is larger.

    Ties of estimates are common inside a policy: gaps are floored relative to the largest one, and
    above zero where all means agree, so that rates stay finite.
    """
    top = means[leader]
    floor = max(FLOOR * (top - smallest(means)), max(ROUNDED * abs(top), LEAST))
    for x in range(means.shape[0]):
        out[x] = max(top - means[x], floor)


@kernel
def divide_out(
    is_open: np.ndarray, margins: np.ndarray, lengths: np.ndarray, out: np.ndarray
) -> float:
    """Write margin²/(2ρ) of what is open; the least."""
    least = math.inf
    for row in range(out.shape[0]):
        if is_open[row] == 1:
            out[row] = 0.5 * margins[row] * margins[row] / lengths[row]
            least = min(least, out[row])
    return least


@kernel
def refit(
    n_rows: int, rows: np.ndarray, behind: np.ndarray, margins: np.ndarray, weights: np.ndarray
) -> None:
    """Write the weights at which columns tell what they told at other margins."""
    for j in range(n_rows):
        margin = margins[rows[j]]
        weights[rows[j]] = behind[rows[j]] / (margin * margin)


@kernel
def least_told(margins: np.ndarray, settled: np.ndarray) -> float:
    """The least margin²/(2ρ), in two strands, of which one need not wait for the other."""
    last = margins.shape[0] - 1
    one, two = margins[last] * margins[last] * settled[last], math.inf
    for row in range(0, last, 2):
        one = min(one, margins[row] * margins[row] * settled[row])
        two = min(two, margins[row + 1] * margins[row + 1] * settled[row + 1])
    return min(one, two)


@kernel
def dearest(quoted: np.ndarray, costs: np.ndarray) -> float:
    """The most that a column tells for its cost, with few divisions."""
    last = quoted.shape[0] - 1
    one, cost_one, two, cost_two = quoted[last], costs[last], 0.0, 1.0
    for x in range(0, last, 2):  # in two strands
        if quoted[x] * cost_one > one * costs[x]:
            one, cost_one = quoted[x], costs[x]
        if quoted[x + 1] * cost_two > two * costs[x + 1]:
            two, cost_two = quoted[x + 1], costs[x + 1]
    return max(one / cost_one, two / cost_two)


@record
class Quadratic(NamedTuple):
    """Arms, the contrasts that tell alternatives apart, and their last minimisers.

    Arms and contrasts are in coordinates in which what rates tell is near the identity.
    """

    arms: Floats  # (K, d)
    contrasts: Floats  # (J, d) y: under its alternative, ⟨φ, y⟩ is changed by its margin
    is_free: Ints  # (K,) 1 where plays cost nothing, and what they show is known
    margins: Floats  # (J,)
    points: Floats  # (K, d) coordinates of the arms, in the first r
    apart: Floats  # (J, d) and those of the contrasts
    shown: Floats  # (d, K) the same by columns
    asked: Floats  # (d, J)
    deltas: Floats  # (J, d) the last minimisers
    kept: Floats  # (J, d) the minimisers behind the weights
    frame: Floats  # (d, d) what the coordinates are products with
    lengths: Floats  # (J,) ρ at what is played
    settled: Floats  # (J,) 1/(2ρ) at the rates that are held, ∞ where there is no alternative
    behind: Floats  # (J,) y margin² behind the lower side
    quoted: Floats  # (K,) what columns tell there
    factor: Floats  # (d, d) R, with RᵀR = G
    inverse: Floats  # (d, d) G⁻¹
    spare: Floats  # (d, d)
    step: Floats  # (d,)
    across: Floats  # (d, n) coordinates of the working columns
    shifts: Floats  # (m, n) ⟨δ, x⟩ of the working rows and columns
    squares: Floats  # (m, n) h² in units of the columns
    line: Floats  # (n,)
    remains: Floats  # (K, d)
    active: Ints  # (K,) the columns played
    played: Floats  # (K,) and their rates
    sizes: Ints  # (2,) r, and how many columns are played

    def follow(self, leader: int, plays: Plays, alternatives: Alternatives) -> None:
        """Choose coordinates for a leader, or (−1) for the plays that are free; open what counts.

        Plays of a leader that is followed are free.
        """
        if leader >= 0:
            for x in range(self.is_free.shape[0]):
                self.is_free[x] = 1 if x == leader else 0
        open_columns(self, plays)
        for row in range(self.contrasts.shape[0]):
            tells = place(self, self.contrasts[row], self.apart[row])
            alternatives.is_open[row] = 1 if tells and row != leader else 0
        forget(self)
        rescaled(self, 0.0)
        self.turn()

    def seed(self, work: Work) -> None:
        """Score the columns and rows to begin with."""
        score_first(self, work.plays, work.alternatives)

    def rescale(self, stretched: float) -> None:
        """Make what is played tell equally much of every coordinate, unless it nearly does."""
        if rescaled(self, stretched):
            self.turn()

    def turn(self) -> None:
        """Write coordinates as columns too, for what is asked of all at once."""
        for i in range(self.sizes[RANK]):
            for x in range(self.points.shape[0]):
                self.shown[i, x] = self.points[x, i]
            for row in range(self.apart.shape[0]):
                self.asked[i, row] = self.apart[row, i]

    def rule_out(self, chosen: int, is_row: bool, scores: Floats) -> None:
        """Clear the scores of all that are like the chosen one."""
        vectors = self.apart if is_row else self.points
        rule_out_alike(vectors, self.sizes[RANK], chosen, scores)

    def n_alternatives(self) -> int:
        """How many rows there are."""
        return self.apart.shape[0]

    def degrees(self) -> int:
        """As many as G has entries."""
        rank = self.sizes[RANK] if self.sizes[RANK] > 0 else self.apart.shape[1]
        return rank * (rank + 1) // 2

    def weight_of(self, x: int) -> float:
        """How much a play of any arm tells of small changes of its mean."""
        return 1.0

    def play(self, columns: Ints, count: int, rates: Floats) -> None:
        """Say what is played."""
        rank, factor, active = self.sizes[RANK], self.factor, 0
        for i in range(rank):
            for k in range(i, rank):
                factor[i, k] = 0.0
        for e in range(count):
            if rates[e] > 0.0:
                self.active[active] = columns[e]
                self.played[active] = rates[e]
                active += 1
                add_square(rates[e], self.points[columns[e]], rank, factor)
        self.sizes[ACTIVE] = active
        if cholesky(factor, rank):
            inverse_of_factored(factor, rank, self.spare, self.inverse)
        else:
            self.inverse[0, 0] = math.inf

    def inform(self, row: int, enough: float) -> float:
        """F at what is played; 0 where that leaves directions out."""
        rank, inverse, delta, apart = self.sizes[RANK], self.inverse, self.deltas[row], self.apart
        if not inverse[0, 0] < math.inf:
            return 0.0
        length = 0.0
        for i in range(rank):
            along = 0.0
            for k in range(rank):
                along += inverse[i, k] * apart[row, k]
            delta[i] = along
            length += along * apart[row, i]
        self.lengths[row] = length
        if not length > 0.0:
            return 0.0
        scale = self.margins[row] / length
        for i in range(rank):
            delta[i] *= scale
        return 0.5 * self.margins[row] * scale

    def inform_all(self, proving: bool, alternatives: Alternatives) -> float:
        """F of every alternative at what is played; the least."""
        if not self.inverse[0, 0] < math.inf:
            return 0.0
        quadratic_form(
            self.inverse, self.asked, self.sizes[RANK], self.lengths.shape[0], self.lengths
        )
        return divide_out(alternatives.is_open, self.margins, self.lengths, alternatives.told)

    def gradient_at(self, row: int, columns: Ints, count: int, out: Floats) -> None:
        """The divergence of each column at the minimiser."""
        rank, delta = self.sizes[RANK], self.deltas[row]
        for e in range(count):
            shift = inner(delta, self.points[columns[e]], rank)
            out[e] = 0.5 * shift * shift

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
        """Add Σ weight (−∇²F), in units of ``scale`` by column, to an upper triangle.

        −∂²F/∂η_e∂η_f = h_e h_f x_eᵀG⁻¹x_f − (h_e h_f)²/(2F), h = ⟨δ, x⟩.
        """
        rank, line = self.sizes[RANK], self.line
        across, shifts, squares = self.across, self.shifts, self.squares
        for e in range(count):
            for i in range(rank):
                across[i, e] = self.points[columns[e], i]
        for j in range(n_rows):
            for e in range(count):
                shifts[j, e] = 0.0
            for i in range(rank):
                for e in range(count):
                    shifts[j, e] += self.deltas[rows[j], i] * across[i, e]
            for e in range(count):
                squares[j, e] = shifts[j, e] * shifts[j, e] * scale[e]
        for e in range(count):
            for f in range(e, count):
                line[f] = 0.0
            for i in range(rank):
                along = 0.0
                for k in range(rank):
                    along += self.inverse[i, k] * across[k, e]
                for f in range(e, count):
                    line[f] += along * across[i, f]
            for f in range(e, count):
                line[f] *= scale[e] * scale[f]
            for j in range(n_rows):
                margin = self.margins[rows[j]]
                curved = weights[j] * shifts[j, e]
                straight = weights[j] * squares[j, e] * self.lengths[rows[j]] / (margin * margin)
                for f in range(e, count):
                    out[e, f] += curved * line[f] * shifts[j, f] - straight * squares[j, f]

    def keep(self, row: int) -> None:
        """Hold the minimiser for the lower side."""
        for i in range(self.sizes[RANK]):
            self.kept[row, i] = self.deltas[row, i]

    def price_held(
        self, rows: Ints, weights: Floats, count: int, is_open: Ints, out: Floats
    ) -> None:
        """Σ weight · the divergence of every open column at the held minimisers."""
        rank, spread = self.sizes[RANK], self.spare
        for i in range(rank):
            for k in range(i, rank):
                spread[i, k] = 0.0
        for j in range(count):
            if weights[j] > 0.0:
                add_square(0.5 * weights[j], self.kept[rows[j]], rank, spread)
        quadratic_form(spread, self.shown, rank, out.shape[0], out)
        for x in range(out.shape[0]):
            if is_open[x] == 0:
                out[x] = 0.0

    def prove(self, row: int, told: float) -> float:
        """F itself, which is in closed form."""
        return told

    def settle(self, least: float, n_rows: int, work: Work) -> None:
        """Keep what does not depend on margins, of the rates divided by the least they tell.

        That is 1/(2ρ) of every alternative, y margin² of those behind the lower side, and what each
        column tells at these.
        """
        plays, alternatives = work.plays, work.alternatives
        for row in range(self.lengths.shape[0]):
            self.settled[row] = math.inf
            if alternatives.is_open[row] == 1:
                self.settled[row] = 0.5 / (self.lengths[row] * least)
        for j in range(n_rows):
            row = work.rows.members[j]
            self.behind[row] = alternatives.weight[row] * self.margins[row] * self.margins[row]
        for x in range(self.quoted.shape[0]):
            self.quoted[x] = plays.price[x] * plays.costs[x] if plays.is_open[x] == 1 else 0.0

    def recheck(self, n_rows: int, work: Work) -> tuple[float, float]:
        """F of the least alternative at the rates held, and what the dearest column tells."""
        refit(n_rows, work.rows.members, self.behind, self.margins, work.alternatives.weight)
        return least_told(self.margins, self.settled), dearest(self.quoted, work.plays.costs)

    def fit(self, row: int) -> bool:
        """Move the held minimiser to the margin there is now; False if it tells nothing."""
        rank = self.sizes[RANK]
        reach = inner(self.kept[row], self.apart[row], rank)
        if not reach > 0.0:
            return False
        scale = self.margins[row] / reach
        for i in range(rank):
            self.kept[row, i] *= scale
        return True

    def fall_back(self, is_open: Ints, out: Floats) -> None:
        """Rates that are feasible whatever happened: every alternative watched by its own arm."""
        for x in range(out.shape[0]):
            out[x] = 2.0 / (self.margins[x] * self.margins[x]) if is_open[x] == 1 else 0.0

    def take_means(self, means: Floats, rewards: Floats, leader: int, plays: Plays) -> None:
        """Take an estimate: margins of the means and regret, which is of rewards."""
        fill_gaps(means, leader, self.margins)
        differs = False
        for x in range(means.shape[0]):
            plays.costs[x] = self.margins[x]
            differs = differs or rewards[x] != means[x]
        if differs:
            fill_gaps(rewards, leader, plays.costs)


def quadratic(arms: np.ndarray, contrasts: np.ndarray) -> Quadratic:
    """The record for some arms and contrasts, yet without margins."""
    n_arms, dimension = arms.shape
    n_rows, square = len(contrasts), (dimension, dimension)
    n = most_columns(n_arms, symmetric(dimension))
    m = most_rows(n_rows, symmetric(dimension))
    return Quadratic(
        arms=arms,
        contrasts=contrasts,
        is_free=np.zeros(n_arms, np.int64),
        margins=np.ones(n_rows),
        points=np.zeros((n_arms, dimension)),
        apart=np.zeros((n_rows, dimension)),
        shown=np.zeros((dimension, n_arms)),
        asked=np.zeros((dimension, n_rows)),
        deltas=np.zeros((n_rows, dimension)),
        kept=np.zeros((n_rows, dimension)),
        frame=np.zeros(square),
        lengths=np.zeros(n_rows),
        settled=np.zeros(n_rows),
        behind=np.zeros(n_rows),
        quoted=np.zeros(n_arms),
        factor=np.zeros(square),
        inverse=np.zeros(square),
        spare=np.zeros(square),
        step=np.zeros(dimension),
        across=np.zeros((dimension, n)),
        shifts=np.zeros((m, n)),
        squares=np.zeros((m, n)),
        line=np.zeros(n),
        remains=np.zeros((n_arms, dimension)),
        active=np.zeros(n_arms, np.int64),
        played=np.zeros(n_arms),
        sizes=np.zeros(2, np.int64),
    )
