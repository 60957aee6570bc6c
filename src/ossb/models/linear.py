"""Linear arms in Gaussian noise, as policies see them.

With V = I + Σ n_x x xᵀ, in units of σ, and W = V⁻¹, the estimate is θ̂ = W Σ n_x m_x x.  What a play
buys is weighed under this prior and under that of arms that are alike (``alike.py``), each as
``linear_gain.py`` has it; it and the estimate are then averages by how far each is believed.
"""

import math
from typing import NamedTuple

import numpy as np

from ossb.graves_lai.linear import LinearMemory as SolverMemory
from ossb.graves_lai.linear import rates as solved_rates
from ossb.graves_lai.linear import start as start_solver
from ossb.graves_lai.linear.algebra import cholesky
from ossb.kernels import kernel
from ossb.models.alike import belief, favour, likeness
from ossb.models.base import NU, SETTLED, TOP_SHARE, WEAKEST
from ossb.models.least_squares import (
    ASKED,
    FACTOR,
    GRAM,
    IMAGE,
    TARGET,
    THETA,
    TOLD,
    LeastSquares,
    follow,
    follow_tally,
    new_least_squares,
    predict,
)
from ossb.models.linear_gain import LinearScratch, add_gain
from ossb.models.spanning import spanning_arms
from ossb.records import Floats, Ints, record
from ossb.tally import Tally

UNSEEN = 1e-12  # ridge of the likelihood ratio, relative to the mean eigenvalue of Σ n x xᵀ
PARALLEL = 1e-12  # share of a direction below which the leader shows all of it


class LinearLook(NamedTuple):
    """The common look, the regressions behind it, and the solutions held for the rates."""

    estimate: np.ndarray
    rewards: np.ndarray
    gain: np.ndarray
    numbers: np.ndarray
    squares: LeastSquares
    likewise: LeastSquares  # under the prior of arms that are alike
    space: LinearScratch
    solver: SolverMemory


@kernel
def whiten(arms: np.ndarray, gram: np.ndarray, factor: np.ndarray, out: np.ndarray) -> bool:
    """Write R⁻ᵀx of every arm, Σ n x xᵀ = RᵀR; False before any observation.

    Directions never seen get a tiny weight, so that what depends on them has a likelihood
    ratio of nearly 0.
    """
    dimension = arms.shape[0]
    trace = 0.0
    for i in range(dimension):
        trace += gram[i, i]
        for l in range(dimension):  # noqa: E741
            factor[i, l] = gram[i, l]
    if not trace > 0.0:
        return False
    for i in range(dimension):
        factor[i, i] += UNSEEN * trace / dimension
    if not cholesky(factor, dimension):
        return False
    for i in range(dimension):
        for k in range(out.shape[1]):
            out[i, k] = arms[i, k]
        for l in range(i):  # noqa: E741
            weight = factor[l, i]
            for k in range(out.shape[1]):
                out[i, k] -= weight * out[l, k]
        scale = 1.0 / factor[i, i]
        for k in range(out.shape[1]):
            out[i, k] *= scale
    return True


@kernel
def smallest(values: np.ndarray) -> float:
    """The minimum, in four strands: one comparison need not wait for the last."""
    m0, m1, m2, m3 = math.inf, math.inf, math.inf, math.inf
    blocks = values.shape[0] - values.shape[0] % 4
    for z in range(0, blocks, 4):
        m0 = min(m0, values[z])
        m1 = min(m1, values[z + 1])
        m2 = min(m2, values[z + 2])
        m3 = min(m3, values[z + 3])
    for z in range(blocks, values.shape[0]):
        m0 = min(m0, values[z])
    return min(min(m0, m1), min(m2, m3))


@record
class LinearModel(NamedTuple):
    """Arms whose mean is ⟨φ, x⟩.

    Parameters
    ----------
    features
        The arms, as columns.
    sigma
        Standard deviation of the noise.
    n_arms, n_components
        Number of arms, each its own component.
    spanning
        Arms that span all others.
    alike
        The precision of a prior under which arms are alike.
    favour
        ln of the most that the odds of that prior can come to.
    """

    features: Floats  # (d, n_arms)
    sigma: float
    n_arms: int
    n_components: int
    spanning: Ints
    alike: Floats  # (d, d)
    favour: float

    def start(self) -> LinearLook:
        d, n = self.features.shape
        return LinearLook(
            np.zeros(n),
            np.zeros(n),
            np.zeros(n),
            np.zeros(4),
            new_least_squares(d, n),
            new_least_squares(d, n, self.alike),
            LinearScratch(np.zeros((d, n)), np.zeros((3, n)), np.zeros((2, n)), np.zeros((d, d))),
            start_solver(self.features.T),
        )

    def unseen(self, tally: Tally) -> int:
        return -1

    def informative(self, place: int) -> int:
        return self.spanning[place] if place < self.spanning.shape[0] else -1

    def speaks(self, arm: int) -> bool:
        return True

    def plug_in(self, tally: Tally, memory: LinearLook) -> int:
        leader = 0
        for x in range(self.n_arms):
            memory.estimate[x] = tally.means[x]
            memory.rewards[x] = tally.means[x]
            if tally.means[x] > tally.means[leader]:
                leader = x
        return leader

    def project(self, tally: Tally, memory: LinearLook) -> int:
        squares = memory.squares
        follow(self.features, tally.counts, tally, TOLD, False, squares)
        leader = predict(self.features, squares.line[TOLD, THETA], memory.rewards)
        for x in range(self.n_arms):
            memory.estimate[x] = memory.rewards[x]
        return leader

    def rates(self, leader: int, kappa: float, memory: LinearLook, out: np.ndarray) -> float:
        gap = solved_rates(memory.estimate, memory.rewards, kappa, memory.solver, out)
        for x in range(self.n_arms):
            out[x] *= self.sigma * self.sigma
        return gap

    def test(self, leader: int, level: float, tally: Tally, memory: LinearLook) -> None:
        memory.numbers[WEAKEST] = 0.0
        memory.numbers[SETTLED] = 0.0
        squares, images = memory.squares, memory.space.images
        follow(self.features, tally.counts, tally, TOLD, False, squares)
        factor = squares.square[TOLD, FACTOR]
        if not whiten(self.features, squares.square[TOLD, GRAM], factor, images):
            return
        d = self.features.shape[0]
        best, centre = squares.line[TOLD, IMAGE], squares.line[ASKED, IMAGE]
        length = 0.0
        for i in range(d):  # R⁻ᵀ of the leader and of Σ n m x
            best[i] = images[i, leader]
            length += best[i] * best[i]
            centre[i] = squares.line[TOLD, TARGET, i]
            for l in range(i):  # noqa: E741
                centre[i] -= factor[l, i] * centre[l]
            centre[i] /= factor[i, i]
        share = 1.0 / length if length > 0.0 else 0.0
        gaps, squares_of, along = (
            memory.space.ratios[0],
            memory.space.ratios[1],
            memory.space.ratios[2],
        )
        for x in range(self.n_arms):
            gaps[x] = 0.0
            squares_of[x] = 0.0
            along[x] = 0.0
        for i in range(d):
            own, middle = best[i], centre[i]
            for x in range(self.n_arms):
                difference = images[i, x] - own
                gaps[x] -= difference * middle
                squares_of[x] += difference * difference
                along[x] += difference * own
        for x in range(self.n_arms):
            square = squares_of[x]
            free = square - along[x] * along[x] * share
            gap = gaps[x] if gaps[x] > 0.0 else 0.0
            gaps[x] = gap * gap / square if square > 0.0 else math.inf
            along[x] = gap * gap / free if free > PARALLEL * square else math.inf
        scale = 0.5 / (self.sigma * self.sigma)
        memory.numbers[WEAKEST] = scale * smallest(gaps)
        memory.numbers[SETTLED] = scale * smallest(along)

    def weigh(self, tally: Tally, memory: LinearLook) -> int:
        arms, space, numbers = self.features, memory.space, memory.numbers
        plain, likewise = memory.squares, memory.likewise
        now = follow_tally(arms, tally, plain)
        predict(arms, plain.line[TOLD, THETA], space.rewards[0])
        share = 0.0
        if self.favour > -math.inf:
            follow_tally(arms, tally, likewise)
            predict(arms, likewise.line[TOLD, THETA], space.rewards[1])
            share = belief(self.favour, self.sigma, plain, likewise)
        leader = 0
        for x in range(self.n_arms):
            reward = space.rewards[0, x]
            if share > 0.0:
                reward = (1.0 - share) * reward + share * space.rewards[1, x]
            memory.rewards[x] = reward
            memory.estimate[x] = reward
            memory.gain[x] = 0.0
            if reward > memory.rewards[leader]:
                leader = x
        numbers[NU] = 0.0
        numbers[TOP_SHARE] = 0.0
        rewards = space.rewards[0]
        add_gain(arms, self.sigma, 1.0 - share, leader, rewards, plain, now, memory)
        if share > 0.0:
            rewards = space.rewards[1]
            add_gain(arms, self.sigma, share, leader, rewards, likewise, now, memory)
        for x in range(self.n_arms):
            memory.gain[x] /= numbers[NU]
        return leader


def linear_model(arms: np.ndarray, sigma: float) -> LinearModel:
    """The model of arms given as K rows."""
    rows = np.asarray(arms, dtype=np.float64)
    n_arms = rows.shape[0]
    spanning, alike = spanning_arms(rows), likeness(rows)
    return LinearModel(
        np.ascontiguousarray(rows.T),
        sigma,
        n_arms,
        n_arms,
        np.array(spanning),
        alike,
        favour(rows, len(spanning), alike),
    )
