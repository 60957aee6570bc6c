"""Pairs of independent arms that may change sides, where every play costs something.

The better arm i of a pair and the worse one j meet at the mean that is their own weighted by plays,
v = (η_i θ_i + η_j θ_j)/(η_i + η_j), and F = η_i d(θ_i, v) + η_j d(θ_j, v).
"""

import math
from typing import NamedTuple

import numpy as np

from ossb.families import Family
from ossb.graves_lai.program.generation import look_at_each
from ossb.graves_lai.program.work import Alternatives, Plays, Work, most_columns
from ossb.graves_lai.program.working_set import score_equal_spending
from ossb.kernels import kernel
from ossb.numerics.dense import add_square
from ossb.records import Floats, Ints, record

PAIRS = 32  # of each arm in a working set: about one is tight, and not known beforehand


@kernel
def room_for(n_arms: int, n_pairs: int) -> int:
    """The degrees of freedom for which so many rows are kept: four for each."""
    return 1 + min(n_pairs, PAIRS * n_arms) // 4


@record
class Exchanges(NamedTuple):
    """Alternatives by where both means meet, counted in how far that lies below the better one."""

    family: Family
    means: Floats  # (K,) signed so that more is better; 0 where differences tell all
    high: Ints  # (J,) the better arm
    low: Ints  # (J,) the worse one
    gaps: Floats  # (J,) of their means
    fallen: Floats  # (J,) where the last minimisers are
    kept: Floats  # (J,) and those behind the weights
    rates: Floats  # (K,) of the plays looked at
    push: Floats  # (n,) scratch

    def n_alternatives(self) -> int:
        return self.high.shape[0]

    def degrees(self) -> int:
        """How many degrees of freedom ask for room for some pairs of each arm."""
        return room_for(self.means.shape[0], self.high.shape[0])

    def follow(self, leader: int, plays: Plays, alternatives: Alternatives) -> None:
        """Every column and row is open."""

    def seed(self, work: Work) -> None:
        score_equal_spending(self, work)

    def rescale(self, stretched: float) -> None:
        """There are no coordinates."""

    def rule_out(self, chosen: int, is_row: bool, scores: Floats) -> None:
        """No two are alike."""

    def play(self, columns: Ints, count: int, rates: Floats) -> None:
        for x in range(self.rates.shape[0]):
            self.rates[x] = 0.0
        for e in range(count):
            self.rates[columns[e]] = rates[e]

    def divergence_at(self, row: int, x: int, fallen: float) -> float:
        """What a play of x tells of an alternative."""
        mean = self.means[x]
        if x == self.high[row]:
            return self.family.kl(mean, mean - fallen)
        if x == self.low[row]:
            return self.family.kl(mean, mean + (self.gaps[row] - fallen))
        return 0.0

    def inform(self, row: int, enough: float) -> float:
        high, low = self.rates[self.high[row]], self.rates[self.low[row]]
        if not (high > 0.0 and low > 0.0):
            self.fallen[row] = 0.0 if high > 0.0 else self.gaps[row]
            return 0.0
        fallen = self.gaps[row] * (low / (high + low))
        self.fallen[row] = fallen
        told = high * self.divergence_at(row, self.high[row], fallen)
        return told + low * self.divergence_at(row, self.low[row], fallen)

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
            high, low, fallen = self.high[row], self.low[row], self.fallen[row]
            up, down = self.means[low] + (self.gaps[row] - fallen), self.means[high] - fallen
            bend = self.rates[low] / self.family.variance(up)
            bend += self.rates[high] / self.family.variance(down)
            if bend > 0.0:
                for e in range(count):
                    steep = 0.0
                    if columns[e] == high:
                        steep = self.family.slope(self.means[high], down)
                    elif columns[e] == low:
                        steep = self.family.slope(self.means[low], up)
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
                high, low, at = self.high[rows[j]], self.low[rows[j]], self.kept[rows[j]]
                out[high] += weights[j] * self.divergence_at(rows[j], high, at)
                out[low] += weights[j] * self.divergence_at(rows[j], low, at)

    def prove(self, row: int, told: float) -> float:
        """F itself is in closed form."""
        return told

    def settle(self, least: float, n_rows: int, work: Work) -> None:
        """No proofs are kept."""


def exchanges(
    family: Family, means: np.ndarray, rewards: np.ndarray, pairs: list[tuple[int, int]]
) -> Exchanges:
    """The record of pairs of a better and a worse arm."""
    high, low = np.array(pairs, dtype=np.int64).T.copy()
    gaps, n = rewards[high] - rewards[low], means.size
    rows = np.zeros((2, len(pairs)))
    push = np.zeros(most_columns(n, room_for(n, len(pairs))))
    return Exchanges(family, means, high, low, gaps, rows[0], rows[1], np.zeros(n), push)
