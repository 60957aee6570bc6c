"""Means of which each alternative has one level, where every play costs something.

Arm j overtakes at the level q between its mean and the best one; of each other arm z the nearest
mean is min(max(θ_z, q − floor_z), q + ceiling_z).  Independent arms, trees and distances differ in
floors and ceilings alone; see ``ossb.graves_lai.exact.levels``.
"""

import math
from typing import NamedTuple

import numpy as np

from ossb.families import Family
from ossb.graves_lai.program.generation import look_at_each
from ossb.graves_lai.program.work import Alternatives, Plays, Work, most_columns
from ossb.graves_lai.program.working_set import score_equal_spending
from ossb.numerics.dense import add_square
from ossb.records import Floats, Ints, record

STEPS = 100
CLOSE = 1e-15  # of the gap, to which levels are known


@record
class Levels(NamedTuple):
    """Alternatives by their levels, counted in how far they lie below the best mean."""

    family: Family
    means: Floats  # (K,) signed so that more is better; 0 where differences tell all
    gaps: Floats  # (K,)
    arms: Ints  # (J,) which arm overtakes
    floors: Floats  # (J, K) how far an arm may stay below the level; ∞ where it never follows
    ceilings: Floats  # (J, K) how far above
    fallen: Floats  # (J,) where the last minimisers are
    kept: Floats  # (J,) and those behind the weights
    active: Ints  # (K,) the columns played
    played: Floats  # (K,) and their rates
    n_active: Ints  # (1,) how many they are
    push: Floats  # (n,) scratch

    def n_alternatives(self) -> int:
        return self.arms.shape[0]

    def degrees(self) -> int:
        return 1

    def follow(self, leader: int, plays: Plays, alternatives: Alternatives) -> None:
        """Every column and row is open."""

    def seed(self, work: Work) -> None:
        score_equal_spending(self, work)

    def rescale(self, stretched: float) -> None:
        """There are no coordinates."""

    def rule_out(self, chosen: int, is_row: bool, scores: Floats) -> None:
        """No two are alike."""

    def play(self, columns: Ints, count: int, rates: Floats) -> None:
        active = 0
        for e in range(count):
            if rates[e] > 0.0:
                self.active[active] = columns[e]
                self.played[active] = rates[e]
                active += 1
        self.n_active[0] = active

    def moved(self, row: int, x: int, fallen: float) -> float:
        """λ_x − θ_x at a level."""
        up = self.gaps[x] - self.floors[row, x] - fallen
        down = fallen - self.gaps[x] - self.ceilings[row, x]
        return max(up, 0.0) - max(down, 0.0)

    def divergence_at(self, row: int, x: int, fallen: float) -> float:
        """What a play of x tells of an alternative at a level."""
        shift = self.moved(row, x, fallen)
        return self.family.kl(self.means[x], self.means[x] + shift) if shift != 0.0 else 0.0

    def slope_at(self, row: int, fallen: float) -> tuple[float, float]:
        """Slope of Σ η d as the level rises, and its derivative."""
        slope, bend = 0.0, 0.0
        for e in range(self.n_active[0]):
            shift = self.moved(row, self.active[e], fallen)
            if shift != 0.0:
                mean = self.means[self.active[e]]
                slope += self.played[e] * self.family.slope(mean, mean + shift)
                bend += self.played[e] / self.family.variance(mean + shift)
        return slope, bend

    def inform(self, row: int, enough: float) -> float:
        low, high = 0.0, self.gaps[self.arms[row]]
        fallen = self.fallen[row]
        if not low < fallen < high:
            fallen = 0.5 * high
        for _ in range(STEPS):
            slope, bend = self.slope_at(row, fallen)
            if slope > 0.0:
                low = fallen
            else:
                high = fallen
            after = fallen + slope / bend if bend > 0.0 else 0.5 * (low + high)
            if not low < after < high:
                after = 0.5 * (low + high)
            if abs(after - fallen) <= CLOSE * self.gaps[self.arms[row]]:
                break
            fallen = after
        self.fallen[row] = fallen
        told = 0.0
        for e in range(self.n_active[0]):
            told += self.played[e] * self.divergence_at(row, self.active[e], fallen)
        return told

    def inform_all(self, proving: bool, alternatives: Alternatives) -> float:
        return look_at_each(self, proving, alternatives)

    def gradient_at(self, row: int, columns: Ints, count: int, out: Floats) -> None:
        for e in range(count):
            out[e] = self.divergence_at(row, columns[e], self.fallen[row])

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
            row = rows[j]
            fallen = self.fallen[row]
            _, bend = self.slope_at(row, fallen)
            if bend > 0.0:
                for e in range(count):
                    shift, mean = self.moved(row, columns[e], fallen), self.means[columns[e]]
                    steep = self.family.slope(mean, mean + shift) if shift != 0.0 else 0.0
                    self.push[e] = scale[e] * steep / math.sqrt(bend)
                add_square(weights[j], self.push, count, out)

    def keep(self, row: int) -> None:
        self.kept[row] = self.fallen[row]

    def price_held(
        self, rows: Ints, weights: Floats, count: int, is_open: Ints, out: Floats
    ) -> None:
        for x in range(out.shape[0]):
            out[x] = 0.0
            for j in range(count):
                if weights[j] > 0.0:
                    out[x] += weights[j] * self.divergence_at(rows[j], x, self.kept[rows[j]])

    def prove(self, row: int, told: float) -> float:
        """F itself: levels are found to rounding, and the check finds its own."""
        return told

    def settle(self, least: float, n_rows: int, work: Work) -> None:
        """No proofs are kept."""


def levels(
    family: Family,
    means: np.ndarray,
    gaps: np.ndarray,
    arms: np.ndarray,
    floors: np.ndarray,
    ceilings: np.ndarray,
) -> Levels:
    """The record, with room to work in and no minimisers yet."""
    n, fallen, kept = gaps.size, np.zeros(len(arms)), np.zeros(len(arms))
    active, played, push = np.zeros(n, np.int64), np.zeros(n), np.zeros(most_columns(n, 1))
    sizes = np.zeros(1, np.int64)
    return Levels(
        family, means, gaps, arms, floors, ceilings, fallen, kept, active, played, sizes, push
    )
