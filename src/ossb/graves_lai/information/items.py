"""Arms that are sets of items, each of which is observed when its arm is played.

Set x overtakes the best one b by items that it has and b lacks, whose means rise, and, where plays
of b have a price, by items that b has and x lacks, whose means fall:
F_x(η) = min Σ_i w_i d(φ_i, λ_i) over Σ |λ_i − φ_i| ≥ gap_x, w_i the rate at which item i is seen.
All of them follow one multiplier, a number: w_i d′(φ_i, λ_i) = ± τ.
"""

import math
from typing import NamedTuple

import numpy as np

from ossb.graves_lai.semi_bandit.item_family import ItemFamily
from ossb.records import Floats, record

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
    weights: Floats  # (I,) scratch
    shifts: Floats  # (I,) scratch
    bends: Floats  # (I,) scratch
    loads: Floats  # (I,) scratch

    def collect_weights(self, row: int, columns: np.ndarray, count: int, rates: np.ndarray) -> None:
        """w of the items that an alternative moves."""
        largest = 0.0
        for i in range(self.means.shape[0]):
            self.weights[i] = 0.0
            if self.moves[row, i] != 0.0:
                for e in range(count):
                    if rates[e] > 0.0:
                        self.weights[i] += rates[e] * self.member[columns[e], i]
                largest = max(largest, self.weights[i])
        for i in range(self.means.shape[0]):
            if self.moves[row, i] != 0.0:
                self.weights[i] = max(self.weights[i], UNSEEN * largest)

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

    def inform(
        self,
        row: int,
        columns: np.ndarray,
        count: int,
        rates: np.ndarray,
        curved: bool,
        gradient: np.ndarray,
        factors: np.ndarray,
    ) -> float:
        """F, its gradient and curvature; see ``ossb.graves_lai.information``."""
        self.collect_weights(row, columns, count, rates)
        for e in range(count):
            gradient[e] = 0.0
        largest = 0.0
        for i in range(self.means.shape[0]):
            largest = max(largest, self.weights[i])
        if not largest > 0.0:
            return 0.0
        self.find_multiplier(row)
        told, length = 0.0, 0.0
        for i in range(self.means.shape[0]):
            if self.moves[row, i] == 0.0:
                continue
            if self.moves[row, i] > 0.0:
                other = self.means[i] + self.shifts[i]
                load = self.rising.divergence(self.means[i], other)
            else:
                other = -self.means[i] + self.shifts[i]
                load = self.falling.divergence(-self.means[i], other)
            told += self.weights[i] * load
            for e in range(count):
                gradient[e] += load * self.member[columns[e], i]
            self.loads[i] = 1.0 / math.sqrt(self.weights[i] * self.bends[i])
            length += self.loads[i] * self.loads[i]
        if curved:
            self.fill_factors(row, columns, count, math.sqrt(length), factors)
        return told

    def fill_factors(
        self, row: int, columns: np.ndarray, count: int, length: float, factors: np.ndarray
    ) -> None:
        """Slopes by item, less what is along the constraint."""
        tau = self.multipliers[row]
        for e in range(count):
            along, place = 0.0, 0
            for i in range(self.means.shape[0]):
                if self.moves[row, i] != 0.0:
                    steep = 0.0
                    if self.shifts[i] > 0.0:
                        steep = tau / self.weights[i] * self.loads[i] * self.member[columns[e], i]
                    factors[place, e] = steep
                    along += steep * self.loads[i] / length
                    place += 1
            place = 0
            for i in range(self.means.shape[0]):
                if self.moves[row, i] != 0.0:
                    factors[place, e] -= along * self.loads[i] / length
                    place += 1
            for k in range(place, factors.shape[0]):
                factors[k, e] = 0.0


def set_items(
    rising: ItemFamily,
    falling: ItemFamily,
    means: np.ndarray,
    member: np.ndarray,
    moves: np.ndarray,
    gaps: np.ndarray,
) -> SetItems:
    """The record, with room to work in and no minimisers yet."""
    scratch = [np.zeros(means.size) for _ in range(4)]
    return SetItems(rising, falling, means, member, moves, gaps, np.zeros(len(moves)), *scratch)
