"""Means of which each alternative has one level, where every play costs something.

Arm j overtakes at the level q between its mean and the best one; of each other arm z the nearest
mean is min(max(θ_z, q − floor_z), q + ceiling_z).  Independent arms, trees and distances differ in
floors and ceilings alone; see ``ossb.graves_lai.exact.levels``.
"""

import math
from typing import NamedTuple

import numpy as np

from ossb.families import Family
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

    def moved(self, row: int, x: int, fallen: float) -> float:
        """λ_x − θ_x at a level."""
        up = self.gaps[x] - self.floors[row, x] - fallen
        down = fallen - self.gaps[x] - self.ceilings[row, x]
        return max(up, 0.0) - max(down, 0.0)

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
        low, high = 0.0, self.gaps[self.arms[row]]
        fallen, bend = self.fallen[row], 1.0
        if not low < fallen < high:
            fallen = 0.5 * high
        for _ in range(STEPS):
            slope, bend = 0.0, 0.0  # of Σ η d as the level rises
            for e in range(count):
                shift = self.moved(row, columns[e], fallen)
                if shift != 0.0 and rates[e] > 0.0:
                    there = self.means[columns[e]] + shift
                    slope += rates[e] * self.family.slope(self.means[columns[e]], there)
                    bend += rates[e] / self.family.variance(there)
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
        for e in range(count):
            shift = self.moved(row, columns[e], fallen)
            mean = self.means[columns[e]]
            gradient[e] = self.family.kl(mean, mean + shift) if shift != 0.0 else 0.0
            if rates[e] > 0.0:
                told += rates[e] * gradient[e]
            if curved:
                steep = self.family.slope(mean, mean + shift) if shift != 0.0 else 0.0
                factors[0, e] = steep / math.sqrt(bend) if bend > 0.0 else 0.0
        return told
