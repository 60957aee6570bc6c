"""Arms of which plays tell their index ⟨φ, x⟩, by a law whose mean is a link of it.

F_j(η) = min over δ with ⟨δ, y_j⟩ = margin_j of Σ η_x d(u_x, ⟨δ, x⟩): a smooth convex program in as
many variables as there are features, solved by Newton's method from its last minimiser.  Where no
play is free, y_j = x_j − x_b.  Features are best whitened.
"""

import math
from typing import NamedTuple

import numpy as np

from ossb.graves_lai.glm.links import change_from, curvature, divergence_from, mean, rest
from ossb.graves_lai.program.barrier import factor_in_place
from ossb.kernels import kernel
from ossb.records import Floats, record

STEPS = 60
HALVINGS = 40
CLOSE = 1e-13  # share of F: the last step is one that lowers it by less, and ends twice as near
SURE = 1e-8  # share below which a full step is taken without a look
NEGLIGIBLE = 1e-14  # of the information along an axis: none is left there


@kernel
def lower_solve(factor: np.ndarray, rank: int, vector: np.ndarray) -> None:
    """Replace a vector by L⁻¹ vector."""
    for i in range(rank):
        rest = vector[i]
        for k in range(i):
            rest -= factor[i, k] * vector[k]
        vector[i] = rest / factor[i, i]


@kernel
def upper_solve(factor: np.ndarray, rank: int, vector: np.ndarray) -> None:
    """Replace a vector by L⁻ᵀ vector."""
    for i in range(rank - 1, -1, -1):
        vector[i] /= factor[i, i]
        for k in range(i):
            vector[k] -= factor[i, k] * vector[i]


@kernel
def inner(a: np.ndarray, b: np.ndarray) -> float:
    """⟨a, b⟩."""
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@record
class Indices(NamedTuple):
    """Arms, what tells each alternative apart, and where its last minimiser is."""

    law: int  # which link, as in ``graves_lai.glm.links``
    features: Floats  # (K, r)
    index_of: Floats  # (K,) u
    here: Floats  # (K,) g(u)
    off: Floats  # (K,) what the mean lacks to 1, for the logistic link
    apart: Floats  # (J, r) y
    margins: Floats  # (J,) ⟨δ, y⟩
    deltas: Floats  # (J, r) the last minimisers; 0 where there is none
    gram: Floats  # (r, r) scratch
    pull: Floats  # (r,) scratch
    aim: Floats  # (r,) scratch
    ahead: Floats  # (r,) scratch

    def assemble(
        self, columns: np.ndarray, count: int, rates: np.ndarray, delta: np.ndarray
    ) -> bool:
        """Factor Σ η g′(u + h) x xᵀ and fill Σ η (g(u + h) − g(u)) x; False if singular."""
        rank = self.gram.shape[0]
        for i in range(rank):
            self.pull[i] = 0.0
            for k in range(rank):
                self.gram[i, k] = 0.0
        for e in range(count):
            if rates[e] > 0.0:
                x = columns[e]
                shift = inner(self.features[x], delta)
                moved = rates[e] * change_from(
                    self.law, self.index_of[x], self.here[x], self.off[x], shift
                )
                weight = rates[e] * curvature(self.law, self.index_of[x], shift)
                for i in range(rank):
                    self.pull[i] += moved * self.features[x, i]
                    weighed = weight * self.features[x, i]
                    for k in range(i + 1):
                        self.gram[i, k] += weighed * self.features[x, k]
        for i in range(rank):
            self.ahead[i] = self.gram[i, i]
        if not factor_in_place(self.gram, rank):
            return False
        for i in range(rank):
            if not self.gram[i, i] * self.gram[i, i] > NEGLIGIBLE * self.ahead[i]:
                return False
        return True

    def collected(
        self, columns: np.ndarray, count: int, rates: np.ndarray, delta: np.ndarray
    ) -> float:
        """Σ η d(u, ⟨δ, x⟩)."""
        total = 0.0
        for e in range(count):
            if rates[e] > 0.0:
                x = columns[e]
                shift = inner(self.features[x], delta)
                total += rates[e] * divergence_from(
                    self.law, self.index_of[x], self.here[x], self.off[x], shift
                )
        return total

    def start_row(self, row: int, columns: np.ndarray, count: int, rates: np.ndarray) -> bool:
        """Put a feasible direction in place: the last one, or that of the quadratic program."""
        rank, delta = self.gram.shape[0], self.deltas[row]
        reach = inner(self.apart[row], delta)
        if reach == 0.0:
            for i in range(rank):
                delta[i] = 0.0
            if not self.assemble(columns, count, rates, delta):
                return False
            for i in range(rank):
                delta[i] = self.apart[row, i]
            lower_solve(self.gram, rank, delta)
            upper_solve(self.gram, rank, delta)
            reach = inner(self.apart[row], delta)
        scale = self.margins[row] / reach
        for i in range(rank):
            delta[i] *= scale
        return True

    def minimise(self, row: int, columns: np.ndarray, count: int, rates: np.ndarray) -> float:
        """Newton's method; F, with the matrix at the minimiser factored and L⁻¹ y in ``aim``."""
        rank, delta, ahead = self.gram.shape[0], self.deltas[row], self.ahead
        if not self.start_row(row, columns, count, rates):
            return 0.0
        told = self.collected(columns, count, rates, delta)
        for _ in range(STEPS):
            if not told < math.inf or not self.assemble(columns, count, rates, delta):
                return 0.0
            for i in range(rank):
                self.aim[i] = self.apart[row, i]
            lower_solve(self.gram, rank, self.aim)
            lower_solve(self.gram, rank, self.pull)
            share = inner(self.aim, self.pull) / inner(self.aim, self.aim)
            gain = 0.0
            for i in range(rank):
                self.pull[i] = share * self.aim[i] - self.pull[i]
                gain += self.pull[i] * self.pull[i]
            last = gain <= CLOSE * told
            upper_solve(self.gram, rank, self.pull)
            length, lowered = 1.0, False
            for _half in range(HALVINGS):
                for i in range(rank):
                    ahead[i] = delta[i] + length * self.pull[i]
                after = self.collected(columns, count, rates, ahead)
                if gain <= SURE * told or after <= told - 1e-4 * length * gain:
                    for i in range(rank):
                        delta[i] = ahead[i]
                    lowered = after < told
                    told = min(told, after) if last else after
                    break
                length *= 0.5
            if last or not lowered:
                break
        return told

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
        rank = self.gram.shape[0]
        told = self.minimise(row, columns, count, rates)
        if not told > 0.0:
            for i in range(rank):
                self.deltas[row, i] = 0.0
            for e in range(count):
                gradient[e] = 0.0
            return 0.0
        length = inner(self.aim, self.aim)
        for e in range(count):
            x = columns[e]
            shift = inner(self.features[x], self.deltas[row])
            gradient[e] = divergence_from(
                self.law, self.index_of[x], self.here[x], self.off[x], shift
            )
            if curved:
                moved = change_from(self.law, self.index_of[x], self.here[x], self.off[x], shift)
                for i in range(rank):
                    self.ahead[i] = moved * self.features[x, i]
                lower_solve(self.gram, rank, self.ahead)
                share = inner(self.ahead, self.aim) / length
                for i in range(rank):
                    factors[i, e] = self.ahead[i] - share * self.aim[i]
        return told


def indices(
    link: int, features: np.ndarray, index: np.ndarray, apart: np.ndarray, margins: np.ndarray
) -> Indices:
    """The record, with room to work in and no minimisers yet."""
    rank = features.shape[1]
    here = np.array([mean(link, float(u)) for u in index])
    off = np.array([rest(link, float(u)) for u in index])
    vectors = [np.zeros(rank) for _ in range(3)]
    gram, deltas = np.zeros((rank, rank)), np.zeros(apart.shape)
    return Indices(link, features, index, here, off, apart, margins, deltas, gram, *vectors)
