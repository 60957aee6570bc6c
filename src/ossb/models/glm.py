"""Generalised linear arms, as policies see them.

In coordinates of the arms (``geometry.py``), with b the log-partition of what is observed and
u_x = ⟨φ, x⟩, the estimate maximises Σ n_x (m_x u_x − b(u_x)) − ½ φᵀV₀φ.  V₀ is a prior under which
indices have any level and differ from it by 1 on average: under separation there is no maximum
without one.  By Laplace, W = (V₀ + Σ n_x b″(u_x) x xᵀ)⁻¹; against arm j, δ = x_j − x_b, s² = δᵀWδ
and z = (u_b − u_j) / s, and one play of x, with w = b″(u_x), lowers the expected improvement of j
by φ(z) slope w (xᵀWδ)² / (2 s (1 + w xᵀWx)), slope the rewards' per unit of index between j and b.

Where plays show the index in Gaussian noise b is quadratic, only rewards know of the link, and an
index has no unit but that of the noise: V₀ is as good as none.
"""

import math
from typing import NamedTuple, Protocol

import numpy as np

from ossb.graves_lai import program
from ossb.graves_lai.information.indices import Indices, indices
from ossb.graves_lai.information.links import (
    IDENTITY,
    LARGEST,
    LOG,
    LOGISTIC,
    change,
    curvature,
    mean,
)
from ossb.graves_lai.program.warm import follow
from ossb.kernels import kernel
from ossb.models.base import SETTLED, WEAKEST
from ossb.models.geometry import Geometry, geometry
from ossb.models.glm_ratio import Scratch, least_ratio, new_scratch, solve_factored
from ossb.models.improvement import conclude
from ossb.models.least_squares import quadratic_form
from ossb.models.normal import FAR, density, tail
from ossb.models.scales import flat_prior
from ossb.models.spanning import first_look
from ossb.numerics.dense import cholesky, inverse_of_factored
from ossb.records import Floats, Ints, record
from ossb.tally import Tally

SPREAD_OF_INDICES = 1.0  # τ
LEVEL_OF_INDICES = 10.0  # far from 0: a mean of 0 or 1 is told from others by few observations
NEWTON_STEPS = 60
LONGEST_STEP = 1.0  # in the index of any arm seen: Newton then never overshoots, b‴ ≤ b″
SETTLED_STEP = 1e-6  # the next step would be its square
END = 36.0  # index at which a mean rounds to the end of its range
UNSEEN = 1e-12  # ridge of the likelihood ratio, relative to the mean eigenvalue
PARALLEL = 1e-12  # share of a direction below which the leader shows all of it


class GlmLook(NamedTuple):
    """The common look, the regression behind it, and the solution held for the rates."""

    estimate: np.ndarray
    rewards: np.ndarray
    gain: np.ndarray
    numbers: np.ndarray
    phi: np.ndarray  # float64 (d,): in the user's sign, as the indices
    indices: np.ndarray  # float64 (n_arms,): u
    bends: np.ndarray  # float64 (n_arms,): b″(u)
    leverage: np.ndarray  # float64 (n_arms,): xᵀWx
    squares: np.ndarray  # float64 (4, d, d): Σ n b″ x xᵀ, W, M and scratch
    vector: np.ndarray  # float64 (d,): scratch
    information: Indices  # of the estimate, for the program of rates
    held: program.Held  # its last solution
    space: Scratch


class Estimated(Protocol):
    """What a memory holds of the estimate: as ``GlmLook`` has it."""

    @property
    def estimate(self) -> np.ndarray: ...
    @property
    def rewards(self) -> np.ndarray: ...
    @property
    def phi(self) -> np.ndarray: ...
    @property
    def indices(self) -> np.ndarray: ...
    @property
    def bends(self) -> np.ndarray: ...
    @property
    def squares(self) -> np.ndarray: ...
    @property
    def vector(self) -> np.ndarray: ...


GRAM, INVERSE, SPREAD, FACTOR = 0, 1, 2, 3


@kernel
def index_of(link: int, value: float) -> float:
    """g⁻¹ of a mean, short of its ends."""
    if link == LOGISTIC:
        if value <= 0.0:
            return -END
        if value >= 1.0:
            return END
        return min(max(math.log(value / (1.0 - value)), -END), END)
    if link == LOG:
        return max(math.log(value), -END) if value > 0.0 else -END
    return value


@record
class GlmModel(NamedTuple):
    """Arms whose reward is g(⟨φ, x⟩).

    Parameters
    ----------
    features
        The arms in coordinates of their own, as columns.
    rows
        The same as rows.
    reward_link, observed_link
        Links of the rewards and of what plays show, by their number in ``links``.
    sigma
        Standard deviation of Gaussian observations; 1 for other families.
    sign
        −1 where the goal is to minimise: means in the tally carry it.
    spanning
        Arms that span all others.
    prior
        V₀.
    """

    features: Floats  # (d, n_arms)
    rows: Floats  # (n_arms, d)
    reward_link: int
    observed_link: int
    sigma: float
    sign: float
    n_arms: int
    n_components: int
    spanning: Ints
    prior: Floats  # (d, d)

    def start(self) -> GlmLook:
        d, n = self.features.shape
        return GlmLook(
            np.zeros(n),
            np.zeros(n),
            np.zeros(n),
            np.zeros(4),
            np.zeros(d),
            np.zeros(n),
            np.zeros(n),
            np.zeros(n),
            np.zeros((4, d, d)),
            np.zeros(d),
            indices(self.observed_link, self.rows, proofs=True),
            program.held(program.work_arrays(n, n, program.symmetric(d))),
            new_scratch(d, n),
        )

    def unseen(self, tally: Tally) -> int:
        return first_look(self.spanning, tally)

    def informative(self, place: int) -> int:
        return self.spanning[place] if place < self.spanning.shape[0] else -1

    def is_informative(self, arm: int) -> bool:
        return True

    def plug_in(self, tally: Tally, memory: GlmLook) -> int:
        for x in range(self.n_arms):
            memory.estimate[x] = tally.means[x]
            memory.indices[x] = index_of(self.observed_link, self.sign * tally.means[x])
            memory.bends[x] = curvature(self.observed_link, memory.indices[x], 0.0)
        return self.lead(memory)

    def project(self, tally: Tally, memory: Estimated) -> int:
        self.regress(tally, memory)
        for x in range(self.n_arms):
            memory.estimate[x] = self.sign * mean(self.observed_link, memory.indices[x])
        return self.lead(memory)

    def rates(self, leader: int, kappa: float, memory: GlmLook, out: np.ndarray) -> float:
        plays = memory.held.work.plays
        memory.information.pose(self.reward_link, memory.indices, self.sign, leader, plays)
        gap = follow(memory.information, leader, kappa, memory.held, out)
        for x in range(self.n_arms):
            out[x] *= self.sigma * self.sigma
        return gap

    def test(self, leader: int, level: float, tally: Tally, memory: GlmLook) -> None:
        memory.numbers[WEAKEST] = 0.0
        memory.numbers[SETTLED] = 0.0
        d, inverse, best = self.features.shape[0], memory.squares[INVERSE], memory.vector
        self.add_up(tally, False, memory)
        trace = 0.0
        for i in range(d):
            trace += memory.squares[GRAM, i, i]
        if not (trace > 0.0 and self.invert(UNSEEN * trace / d, 0.0, memory)):
            return
        length = 0.0  # of the leader in the metric W, whose inverse is what was told
        for i in range(d):
            best[i] = 0.0
            for k in range(d):
                best[i] += inverse[i, k] * self.features[k, leader]
            length += best[i] * self.features[i, leader]
        weakest, settled, walds = math.inf, math.inf, memory.space.walds
        for x in range(self.n_arms):
            square, along = 0.0, 0.0
            for i in range(d):
                image = 0.0
                for k in range(d):
                    image += inverse[i, k] * (self.features[k, x] - self.features[k, leader])
                square += image * (self.features[i, x] - self.features[i, leader])
                along += best[i] * (self.features[i, x] - self.features[i, leader])
            walds[0, x], walds[1, x] = math.inf, math.inf
            if x == leader or square <= 0.0:
                continue
            gap = max(self.sign * (memory.indices[leader] - memory.indices[x]), 0.0) / self.sigma
            walds[0, x] = 0.5 * gap * gap / square
            free = square - along * along / length if length > 0.0 else square
            if free > PARALLEL * square:
                walds[1, x] = 0.5 * gap * gap / free
            weakest = min(weakest, walds[0, x])
            settled = min(settled, walds[1, x])
        if self.observed_link != IDENTITY:  # else the divergences are quadratic
            link, arms, index = self.observed_link, self.features, memory.indices
            weakest = least_ratio(link, arms, index, leader, False, level, tally, memory.space)
            if weakest < level or level == math.inf:
                settled = least_ratio(link, arms, index, leader, True, level, tally, memory.space)
        memory.numbers[WEAKEST] = weakest
        memory.numbers[SETTLED] = settled

    def weigh(self, tally: Tally, memory: GlmLook) -> int:
        leader = self.project(tally, memory)
        d, inverse, spread = self.features.shape[0], memory.squares[INVERSE], memory.squares[SPREAD]
        self.add_up(tally, True, memory)
        self.invert(0.0, 1.0, memory)
        quadratic_form(self.features, inverse, memory.leverage)
        for i in range(d):
            for k in range(d):
                spread[i, k] = 0.0
        chances, improvements, largest = 0.0, 0.0, 0.0
        image = memory.vector
        for x in range(self.n_arms):
            square = 0.0
            for i in range(d):
                image[i] = 0.0
                for k in range(d):
                    image[i] += inverse[i, k] * (self.features[k, x] - self.features[k, leader])
                square += image[i] * (self.features[i, x] - self.features[i, leader])
            if x == leader or not square > 0.0:
                continue
            deviation = math.sqrt(square)
            gap = self.sign * (memory.indices[leader] - memory.indices[x])
            z = gap / (self.sigma * deviation)
            if z > FAR:
                continue
            steepness = self.slope_between(leader, x, memory)
            chance, height = tail(z), density(z)
            expected = steepness * self.sigma * deviation * max(height - z * chance, 0.0)
            chances += chance
            improvements += expected
            largest = max(largest, expected)
            weight = 0.5 * self.sigma * steepness * height / deviation
            for i in range(d):
                for k in range(i, d):
                    spread[i, k] += weight * image[i] * image[k]
        quadratic_form(self.features, spread, memory.gain)
        for x in range(self.n_arms):
            bend = memory.bends[x]
            memory.gain[x] *= bend / (1.0 + bend * memory.leverage[x])
        conclude(memory.numbers, chances, improvements, largest)
        return leader

    def slope_between(self, leader: int, x: int, memory: Estimated) -> float:
        """Reward per unit of index between an arm and the leader."""
        low, shift = memory.indices[x], memory.indices[leader] - memory.indices[x]
        if abs(shift) < 1e-9:
            return curvature(self.reward_link, low, 0.0)
        return float(change(self.reward_link, low, shift) / shift)

    def lead(self, memory: Estimated) -> int:
        """The arm of the best index, lowest on ties; fills the rewards."""
        leader = 0
        for x in range(self.n_arms):
            memory.rewards[x] = self.sign * mean(self.reward_link, memory.indices[x])
            if self.sign * memory.indices[x] > self.sign * memory.indices[leader]:
                leader = x
        return leader

    def read_indices(self, memory: Estimated) -> None:
        """u and b″(u) of every arm."""
        for x in range(self.n_arms):
            index = 0.0
            for i in range(memory.phi.shape[0]):
                index += memory.phi[i] * self.features[i, x]
            if self.reward_link != IDENTITY:
                index = min(max(index, -LARGEST), LARGEST)
            memory.indices[x] = index
            memory.bends[x] = curvature(self.observed_link, memory.indices[x], 0.0)

    def add_up(self, tally: Tally, expected: bool, memory: Estimated) -> None:
        """Σ n b″(u) x xᵀ of what was told and, if so wished, of what is pending."""
        d, gram = self.features.shape[0], memory.squares[GRAM]
        for i in range(d):
            for k in range(d):
                gram[i, k] = 0.0
        for x in range(self.n_arms):
            count = tally.counts[x] + tally.pending[x] if expected else tally.counts[x]
            if count > 0:
                weight = count * memory.bends[x]
                for i in range(d):
                    for k in range(i + 1):
                        gram[i, k] += weight * self.features[i, x] * self.features[k, x]
        for i in range(d):
            for k in range(i):
                gram[k, i] = gram[i, k]

    def factorise(self, ridge: float, share: float, memory: Estimated) -> bool:
        """The factor of the gram matrix with a ridge and a share of the prior."""
        d = self.features.shape[0]
        for i in range(d):
            for k in range(d):
                memory.squares[FACTOR, i, k] = memory.squares[GRAM, i, k] + share * self.prior[i, k]
            memory.squares[FACTOR, i, i] += ridge
        return bool(cholesky(memory.squares[FACTOR], d))

    def invert(self, ridge: float, share: float, memory: Estimated) -> bool:
        """W with a ridge and a share of the prior; the gram matrix is left as it was."""
        if not self.factorise(ridge, share, memory):
            return False
        inverse_of_factored(
            memory.squares[FACTOR],
            self.features.shape[0],
            memory.squares[SPREAD],
            memory.squares[INVERSE],
        )
        return True

    def regress(self, tally: Tally, memory: Estimated) -> None:
        """φ̂ by damped Newton steps from the last one; fills indices and curvatures."""
        d, step = self.features.shape[0], memory.vector
        self.read_indices(memory)
        for _ in range(NEWTON_STEPS):
            self.add_up(tally, False, memory)
            for i in range(d):
                step[i] = 0.0
                for k in range(d):
                    step[i] -= self.prior[i, k] * memory.phi[k]
            for x in range(self.n_arms):
                if tally.counts[x] > 0:
                    expected = mean(self.observed_link, memory.indices[x])
                    off = tally.counts[x] * (self.sign * tally.means[x] - expected)
                    for i in range(d):
                        step[i] += off * self.features[i, x]
            if not self.factorise(0.0, 1.0, memory):
                return
            solve_factored(memory.squares[FACTOR], step)
            longest = 0.0
            for x in range(self.n_arms):
                if tally.counts[x] > 0:
                    shift = 0.0
                    for i in range(d):
                        shift += step[i] * self.features[i, x]
                    longest = max(longest, abs(shift))
            share = 1.0
            if self.observed_link <= LOG and longest > LONGEST_STEP:
                share = LONGEST_STEP / longest
            for i in range(d):
                memory.phi[i] += share * step[i]
            self.read_indices(memory)
            if longest <= SETTLED_STEP:
                return


def index_prior(shape: Geometry) -> np.ndarray:
    """V₀ of indices whose unit has a meaning."""
    spread = shape.n_directions / SPREAD_OF_INDICES**2
    level = np.outer(shape.centre, shape.centre)
    apart = np.eye(shape.centre.shape[0]) - level
    return np.asarray(spread * apart + level / LEVEL_OF_INDICES**2)


def glm_model(
    arms: np.ndarray, reward_link: int, observed_link: int, sigma: float, sign: float
) -> GlmModel:
    """The model of arms given as K rows."""
    shape = geometry(arms)
    return GlmModel(
        np.ascontiguousarray(shape.rows.T),
        shape.rows,
        reward_link,
        observed_link,
        sigma,
        sign,
        shape.rows.shape[0],
        shape.rows.shape[0],
        np.array(shape.spanning),
        flat_prior(shape) if observed_link == IDENTITY else index_prior(shape),
    )
