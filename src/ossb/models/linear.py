"""Linear arms in Gaussian noise, as policies see them.

In coordinates of the arms (``geometry.py``) and units of σ, V = V₀ + Σ n_x x xᵀ, W = V⁻¹ and
θ̂ = W Σ n_x m_x x.  The maximum-likelihood estimate is that of a V₀ which is as good as none; what a
play buys is weighed under priors of several scales (``scales.py``), each as ``linear_gain.py`` has
it, and is then, as the estimated rewards, an average by how far each is believed.
"""

import math
from typing import NamedTuple

import numpy as np

from ossb.graves_lai.linear import LinearMemory as SolverMemory
from ossb.graves_lai.linear import rates as solved_rates
from ossb.graves_lai.linear import start as start_solver
from ossb.kernels import kernel
from ossb.models.base import NU, SETTLED, TOP_SHARE, WEAKEST, take_means
from ossb.models.geometry import geometry
from ossb.models.glm_ratio import solve_factored
from ossb.models.least_squares import (
    ASKED,
    FACTOR,
    GRAM,
    IMAGE,
    INVERSE,
    LEVERAGE,
    TARGET,
    THETA,
    TOLD,
    LeastSquares,
    follow,
    follow_tally,
    new_least_squares,
    predict,
    quadratic_form,
)
from ossb.models.linear_gain import LinearScratch, add_gain, new_scratch
from ossb.models.scales import (
    SAME,
    add_prior,
    flat_prior,
    misfit,
    precisions,
    prior_scores,
    share_out,
    slack,
    stray,
)
from ossb.models.spanning import first_look
from ossb.numerics.dense import cholesky, inverse_of_factored, smallest
from ossb.records import Floats, Ints, record
from ossb.tally import Tally

UNSEEN = 1e-12  # ridge of the likelihood ratio, relative to the mean eigenvalue of Σ n x xᵀ
PARALLEL = 1e-12  # share of a direction below which the leader shows all of it


class LinearLook(NamedTuple):
    """The common look, the regression behind it, and the solutions held for the rates."""

    estimate: np.ndarray
    rewards: np.ndarray
    gain: np.ndarray
    numbers: np.ndarray
    squares: LeastSquares
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


@record
class LinearModel(NamedTuple):
    """Arms whose mean is ⟨φ, x⟩.

    Parameters
    ----------
    features
        The arms in coordinates of their own, as columns.
    sigma
        Standard deviation of the noise.
    n_arms, n_components
        Number of arms, each its own component.
    spanning
        Arms that span all others.
    centre
        The mean of the arms.
    precisions, scores
        d′ / τ² of every prior, the widest first, and ln of its odds and of |V₀|^½.
    flat
        V₀ of the widest.
    """

    features: Floats  # (d, n_arms)
    sigma: float
    n_arms: int
    n_components: int
    spanning: Ints
    centre: Floats  # (d,)
    precisions: Floats  # (n_priors,)
    scores: Floats  # (n_priors,)
    flat: Floats  # (d, d)

    def start(self) -> LinearLook:
        d, n = self.features.shape
        return LinearLook(
            np.zeros(n),
            np.zeros(n),
            np.zeros(n),
            np.zeros(4),
            new_least_squares(d, n, self.flat),
            new_scratch(d, n, self.precisions.shape[0]),
            start_solver(self.features.T),
        )

    def unseen(self, tally: Tally) -> int:
        return first_look(self.spanning, tally)

    def informative(self, place: int) -> int:
        return self.spanning[place] if place < self.spanning.shape[0] else -1

    def is_informative(self, arm: int) -> bool:
        return True

    def plug_in(self, tally: Tally, memory: LinearLook) -> int:
        return take_means(tally, memory.estimate, memory.rewards)

    def project(self, tally: Tally, memory: LinearLook) -> int:
        squares = memory.squares
        follow(self.features, tally.counts, tally, TOLD, False, squares)
        leader = predict(self.features, squares.line[TOLD, THETA], memory.rewards)
        for x in range(self.n_arms):
            memory.estimate[x] = memory.rewards[x]
        return leader

    def rates(self, leader: int, kappa: float, memory: LinearLook, out: np.ndarray) -> float:
        gap = solved_rates(memory.estimate, memory.rewards, leader, kappa, memory.solver, out)
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
        squares, shares = memory.squares, memory.space.shares[1]
        now = follow_tally(arms, tally, squares)
        predict(arms, squares.line[TOLD, THETA], space.rewards[0])
        self.believe(tally, memory)
        leader = 0
        for x in range(self.n_arms):
            reward = 0.0
            for c in range(shares.shape[0]):
                if shares[c] > 0.0:
                    reward += shares[c] * space.rewards[c, x]
            memory.rewards[x] = reward
            memory.estimate[x] = reward
            memory.gain[x] = 0.0
            if reward > memory.rewards[leader]:
                leader = x
        numbers[NU] = 0.0
        numbers[TOP_SHARE] = 0.0
        for c in range(shares.shape[0]):
            if not shares[c] > 0.0:
                continue
            inverse, leverage = squares.square[now, INVERSE], squares.arm[now, LEVERAGE]
            if c > 0:
                inverse, leverage = space.squares[1], space.leverage
                self.factorise_under(c, now, memory)
                inverse_of_factored(space.squares[0], arms.shape[0], space.squares[2], inverse)
                quadratic_form(arms, inverse, leverage)
            rewards = space.rewards[c]
            add_gain(arms, self.sigma, shares[c], leader, rewards, inverse, leverage, memory)
        for x in range(self.n_arms):
            memory.gain[x] /= numbers[NU]
        return leader

    def believe(self, tally: Tally, memory: LinearLook) -> None:
        """How far each prior is believed, and the rewards under those that differ from the widest.

        One that is as good as the widest has its estimate, and adds to its share.
        """
        arms, space, squares = self.features, memory.space, memory.squares
        scores, shares = space.shares[0], space.shares[1]
        n_priors, freedom = shares.shape[0], slack(self.centre, squares.square[TOLD, INVERSE])
        for c in range(n_priors):
            shares[c] = 1.0 if c == 0 else 0.0
        if self.precisions[n_priors - 1] * freedom < SAME:
            return
        variance, flat = self.sigma * self.sigma, squares.line[TOLD, THETA]
        off = misfit(tally.counts, tally.means, space.rewards[0])
        for c in range(n_priors):
            precision = self.precisions[c]
            if c == 0 or precision * freedom < SAME:
                volume, cost = squares.log_det[TOLD], off + stray(precision, self.centre, flat)
            else:
                theta = space.thetas[c]
                volume = self.factorise_under(c, TOLD, memory)
                for i in range(theta.shape[0]):
                    theta[i] = squares.line[TOLD, TARGET, i]
                solve_factored(space.squares[0], theta)
                predict(arms, theta, space.rewards[c])
                cost = misfit(tally.counts, tally.means, space.rewards[c])
                cost += stray(precision, self.centre, theta)
            scores[c] = self.scores[c] - 0.5 * volume - 0.5 * cost / variance
        share_out(scores, shares)
        for c in range(1, n_priors):
            if self.precisions[c] * freedom < SAME:
                shares[0] += shares[c]
                shares[c] = 0.0

    def factorise_under(self, c: int, which: int, memory: LinearLook) -> float:
        """R of V = RᵀR under a prior, in the first of the squares; returns ln det V."""
        factor, gram = memory.space.squares[0], memory.squares.square[which, GRAM]
        d, volume = factor.shape[0], 0.0
        for i in range(d):
            for l in range(d):  # noqa: E741
                factor[i, l] = gram[i, l]
        add_prior(self.precisions[c], self.centre, factor)
        cholesky(factor, d)
        for i in range(d):
            volume += 2.0 * math.log(max(factor[i, i], 1e-300))
        return volume


def linear_model(arms: np.ndarray, sigma: float) -> LinearModel:
    """The model of arms given as K rows."""
    shape = geometry(arms)
    n_arms = shape.rows.shape[0]
    return LinearModel(
        np.ascontiguousarray(shape.rows.T),
        sigma,
        n_arms,
        n_arms,
        np.array(shape.spanning),
        shape.centre,
        precisions(shape),
        prior_scores(shape),
        flat_prior(shape),
    )
