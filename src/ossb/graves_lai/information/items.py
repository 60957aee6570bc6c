"""Arms that are sets of items, each of which is observed when its arm is played.

Set x overtakes the best one b by items that it has and b lacks, whose means rise, and, where plays
of b have a price, by items that b has and x lacks, whose means fall:
F_x(η) = min Σ_i w_i d(φ_i, λ_i) over Σ |λ_i − φ_i| ≥ gap_x, w_i the rate at which item i is seen.
All of them follow one multiplier, a number: w_i d′(φ_i, λ_i) = ± τ.
"""

import math
from typing import NamedTuple

import numpy as np

from ossb.graves_lai.program.work import Alternatives, Plays, Work, most_columns
from ossb.graves_lai.program.working_set import score_equal_spending
from ossb.graves_lai.semi_bandit.item_family import ItemFamily
from ossb.numerics.dense import add_square
from ossb.records import Floats, Ints, record

STEPS = 200
CLOSE = 1e-15
UNSEEN = 1e-12  # share of the largest weight that an item counts with where it is not seen


@record
class SetItems(NamedTuple):
    """Which items each column shows, and which ones each alternative moves."""

    rising: ItemFamily
    falling: ItemFamily  # the mirror image, in which means are negative and fall as they rise
    means: Floats  # (I,) signed so that more is better
    member: Floats  # (K, I) 1 where a column shows an item
    moves: Floats  # (J, I) 1 for items that rise, −1 for items that fall
    gaps: Floats  # (J,)
    multipliers: Floats  # (J,) where the last minimisers are; 0 where there is none
    weights: Floats  # (I,) of the items that an alternative moves
    shifts: Floats  # (I,) |λ − φ| of the last alternative looked at
    bends: Floats  # (I,) scratch
    loads: Floats  # (I,) scratch
    seen: Floats  # (I,) the rate at which each item is seen
    kept: Floats  # (J, I) |λ − φ| of the minimisers behind the weights
    pushes: Floats  # (I, n) scratch

    def n_alternatives(self) -> int:
        return self.gaps.shape[0]

    def rank_of_bends(self) -> int:
        return self.means.shape[0]

    def follow(self, leader: int, plays: Plays, alternatives: Alternatives) -> None:
        """Every column and row is open."""

    def seed(self, work: Work) -> None:
        score_equal_spending(self, work)

    def rescale(self, stretched: float) -> None:
        """Items are coordinates enough."""

    def rule_out(self, chosen: int, is_row: bool, scores: Floats) -> None:
        """No two are alike."""

    def play(self, columns: Ints, count: int, rates: Floats) -> None:
        for i in range(self.means.shape[0]):
            self.seen[i] = 0.0
        for e in range(count):
            if rates[e] > 0.0:
                for i in range(self.means.shape[0]):
                    self.seen[i] += rates[e] * self.member[columns[e], i]

    def weigh_items(self, row: int) -> float:
        """Fill w of the items that an alternative moves; the largest."""
        largest = 0.0
        for i in range(self.means.shape[0]):
            if self.moves[row, i] != 0.0:
                largest = max(largest, self.seen[i])
        for i in range(self.means.shape[0]):
            self.weights[i] = 0.0
            if self.moves[row, i] != 0.0:
                self.weights[i] = max(self.seen[i], UNSEEN * largest)
        return largest

    def moved_by(self, row: int, tau: float) -> tuple[float, float]:
        """Σ |λ_i − φ_i| at a multiplier, and its derivative; fills shifts and curvatures."""
        total, slope = 0.0, 0.0
        for i in range(self.means.shape[0]):
            if self.moves[row, i] > 0.0:
                mean = self.means[i]
                other = self.rising.tilted(mean, self.weights[i], tau)
                self.bends[i] = self.rising.bend(mean, other)
                self.shifts[i] = max(other - mean, 0.0)
            elif self.moves[row, i] < 0.0:
                mean = -self.means[i]
                other = self.falling.tilted(mean, self.weights[i], tau)
                self.bends[i] = self.falling.bend(mean, other)
                self.shifts[i] = max(other - mean, 0.0)
            else:
                continue
            total += self.shifts[i]
            slope += 1.0 / (self.weights[i] * self.bends[i])
        return total, slope

    def steepest_of(self, row: int) -> float:
        """The multiplier at which some item would move without end."""
        end = math.inf
        for i in range(self.means.shape[0]):
            if self.moves[row, i] > 0.0:
                end = min(end, self.rising.steepest(self.weights[i]))
            elif self.moves[row, i] < 0.0:
                end = min(end, self.falling.steepest(self.weights[i]))
        return end

    def find_multiplier(self, row: int) -> None:
        """Find the multiplier at which an alternative is just as good as the best set."""
        need, tau = self.gaps[row], self.multipliers[row]
        low, high = 0.0, self.steepest_of(row)
        if not low < tau < high:
            total, slope = self.moved_by(row, 0.0)
            tau = need / slope
            if not tau < high:
                tau = 0.5 * high
        for _ in range(STEPS):
            total, slope = self.moved_by(row, tau)
            if abs(total - need) <= CLOSE * need:
                break
            if total < need:
                low = tau
            else:
                high = tau
            after = tau + (need - total) / slope
            if not low < after < high:
                after = 0.5 * (low + high) if high < math.inf else 4.0 * tau
            if after == tau or not low < after < high:
                break
            tau = after
        self.multipliers[row] = tau

    def load_of(self, row: int, i: int, shift: float) -> float:
        """What one look at an item tells of an alternative that moves it so far."""
        if self.moves[row, i] > 0.0:
            return float(self.rising.divergence(self.means[i], self.means[i] + shift))
        return float(self.falling.divergence(-self.means[i], -self.means[i] + shift))

    def inform(self, row: int, enough: float) -> float:
        if not self.weigh_items(row) > 0.0:
            return 0.0
        self.find_multiplier(row)
        told = 0.0
        for i in range(self.means.shape[0]):
            if self.moves[row, i] != 0.0:
                told += self.weights[i] * self.load_of(row, i, self.shifts[i])
        return told

    def look_again(self, row: int) -> None:
        """Fill weights, shifts and curvatures of an alternative at its last multiplier."""
        self.weigh_items(row)
        self.moved_by(row, self.multipliers[row])

    def gradient_at(self, row: int, columns: Ints, count: int, out: Floats) -> None:
        self.look_again(row)
        for e in range(count):
            out[e] = 0.0
        for i in range(self.means.shape[0]):
            if self.moves[row, i] != 0.0:
                load = self.load_of(row, i, self.shifts[i])
                for e in range(count):
                    out[e] += load * self.member[columns[e], i]

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
        for j in range(n_rows):
            self.look_again(rows[j])
            rank = self.fill_pushes(rows[j], columns, count, scale)
            for k in range(rank):
                add_square(weights[j], self.pushes[k], count, out)

    def fill_pushes(self, row: int, columns: Ints, count: int, scale: Floats) -> int:
        """Slopes by item, less what is along the constraint; how many items there are."""
        tau, length, rank = self.multipliers[row], 0.0, 0
        for i in range(self.means.shape[0]):
            if self.moves[row, i] != 0.0:
                self.loads[i] = 1.0 / math.sqrt(self.weights[i] * self.bends[i])
                length += self.loads[i] * self.loads[i]
        for e in range(count):
            along, rank = 0.0, 0
            for i in range(self.means.shape[0]):
                if self.moves[row, i] != 0.0:
                    steep = 0.0
                    if self.shifts[i] > 0.0:
                        steep = tau / self.weights[i] * self.loads[i] * self.member[columns[e], i]
                    self.pushes[rank, e] = scale[e] * steep
                    along += scale[e] * steep * self.loads[i] / length
                    rank += 1
            rank = 0
            for i in range(self.means.shape[0]):
                if self.moves[row, i] != 0.0:
                    self.pushes[rank, e] -= along * self.loads[i]
                    rank += 1
        return rank

    def keep(self, row: int) -> None:
        self.look_again(row)
        for i in range(self.means.shape[0]):
            self.kept[row, i] = self.shifts[i] if self.moves[row, i] != 0.0 else 0.0

    def price_held(
        self, rows: Ints, weights: Floats, count: int, is_open: Ints, out: Floats
    ) -> None:
        for i in range(self.means.shape[0]):
            self.loads[i] = 0.0
            for j in range(count):
                shift = self.kept[rows[j], i]
                if weights[j] > 0.0 and shift > 0.0:
                    self.loads[i] += weights[j] * self.load_of(rows[j], i, shift)
        for x in range(out.shape[0]):
            out[x] = 0.0
            for i in range(self.means.shape[0]):
                out[x] += self.loads[i] * self.member[x, i]

    def prove(self, row: int, told: float) -> float:
        """F itself: multipliers are found to rounding, and the check finds its own."""
        return told

    def settle(self, least: float) -> None:
        """No proofs are kept."""


def set_items(
    rising: ItemFamily,
    falling: ItemFamily,
    means: np.ndarray,
    member: np.ndarray,
    moves: np.ndarray,
    gaps: np.ndarray,
) -> SetItems:
    """The record, with room to work in and no minimisers yet."""
    n_items = means.size
    return SetItems(
        rising=rising,
        falling=falling,
        means=means,
        member=member,
        moves=moves,
        gaps=gaps,
        multipliers=np.zeros(len(moves)),
        weights=np.zeros(n_items),
        shifts=np.zeros(n_items),
        bends=np.zeros(n_items),
        loads=np.zeros(n_items),
        seen=np.zeros(n_items),
        kept=np.zeros(moves.shape),
        pushes=np.zeros((n_items, most_columns(len(member), n_items))),
    )
