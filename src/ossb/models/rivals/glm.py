"""Generalised linear arms whose rewards are observed: a mixture over the parameter, from below.

With the prior π = N(0, V₀⁻¹) over φ, ∫ L dπ / L(φ*) is a martingale under the truth φ*.  The
integral has no closed form; for every q, and so for q = N(φ̂, W), W = (V₀ + Σ n b″(u) x xᵀ)⁻¹
(Jensen),

    ln ∫ L dπ ≥ Σ n (m u − E_q b) − KL(q ‖ π),

with E_q b = e^{u + s²/2} for counts and at most b(ξ) + (u − ξ)/2, ξ² = u² + s², for the logistic
link (Jaakkola and Jordan, 2000), s² = xᵀWx.  Less the largest ln L under which arm j is as good as
the leader it is at most the martingale at the truth, for some j, whenever the leader is not the
best: no union.
With ε > 0 the same is used: fewer alternatives can only make it larger.
"""

import math
from typing import NamedTuple

import numpy as np

from ossb.graves_lai.information.links import LOGISTIC
from ossb.kernels import kernel
from ossb.models.base import Model
from ossb.models.glm import FACTOR, GRAM, INVERSE, GlmLook, GlmModel
from ossb.models.glm_ratio import (
    SETTLED_STEP,
    dot,
    look_around,
    loss_at,
    solve_factored,
    take_step,
)
from ossb.models.least_squares import quadratic_form
from ossb.models.rivals.base import CHARGE, NUMBERS, RUNNER_UP, STATISTIC, Contest, least_ruled_out
from ossb.models.rivals.linear import along, image_of, log_volume
from ossb.models.spanning import first_look
from ossb.records import Floats, Ints, record
from ossb.tally import Tally

STEPS = 60
TINY = 1e-300


class GlmSpace(NamedTuple):
    """The model's memory, and work arrays beside its own."""

    look: GlmLook
    image: np.ndarray  # float64 (d,): W x_b
    products: np.ndarray  # float64 (n_arms,): xᵀWx_b
    pull: np.ndarray  # float64 (d,): the slope of ln L at the estimate


@kernel
def log_partition(link: int, index: float) -> float:
    """b(u)."""
    if link == LOGISTIC:
        return max(index, 0.0) + math.log1p(math.exp(-abs(index)))
    return math.exp(min(index, 690.0))


@kernel
def mean_partition(link: int, index: float, square: float) -> float:
    """No less than the mean of b under N(u, s²)."""
    if link == LOGISTIC:
        xi = math.sqrt(index * index + square)
        return log_partition(link, xi) + 0.5 * (index - xi)
    return math.exp(min(index + 0.5 * square, 690.0))


@record
class GlmRivals(NamedTuple):
    """Arms whose mean is g(⟨φ, x⟩).

    Parameters
    ----------
    glm
        The model itself.
    spanning
        Arms that span the others.
    volume
        ln det V₀.
    """

    model: Model
    glm: GlmModel
    spanning: Ints
    prior: Floats
    volume: float

    def start(self) -> Contest:
        d, n = self.glm.features.shape
        space = GlmSpace(self.glm.start(), np.zeros(d), np.zeros(n), np.zeros(d))
        return Contest(np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(NUMBERS), space)

    def unseen(self, tally: Tally) -> int:
        return first_look(self.spanning, tally)

    def fit_arms(self, tally: Tally, memory: Contest) -> int:
        """The estimate and W; fills the rewards, returns the leader."""
        look = memory.space.look
        leader = self.glm.project(tally, look)
        self.glm.add_up(tally, False, look)
        self.glm.invert(0.0, 1.0, look)
        quadratic_form(self.glm.features, look.squares[INVERSE], look.leverage)
        for x in range(memory.rewards.shape[0]):
            memory.rewards[x] = look.rewards[x]
            memory.masses[x] = 1.0 / max(look.bends[x] * look.leverage[x], TINY)
        image, features = memory.space.image, self.glm.features
        image_of(look.squares[INVERSE], features, leader, image)
        along(features, image, memory.space.products)
        top, own, sign = look.indices[leader], look.leverage[leader], self.glm.sign
        for x in range(memory.rewards.shape[0]):
            spread = look.leverage[x] + own - 2.0 * memory.space.products[x]
            gap = max(sign * (top - look.indices[x]), 0.0)
            memory.ratios[x] = 0.5 * gap * gap / spread if spread > 0.0 else math.inf
        memory.ratios[leader] = math.inf
        return leader

    def rank(self, epsilon: float, tally: Tally, memory: Contest) -> int:
        return self.fit_arms(tally, memory)

    def challenge(
        self, leader: int, epsilon: float, prices: np.ndarray, tally: Tally, memory: Contest
    ) -> int:
        rival = least_ruled_out(memory)
        if rival >= 0:
            self.oppose(rival, leader, epsilon, tally, memory)
        return rival

    def expect_means(self, tally: Tally, memory: Contest, out: np.ndarray) -> None:
        for x in range(out.shape[0]):
            out[x] = memory.space.look.estimate[x]

    def oppose(
        self, rival: int, leader: int, epsilon: float, tally: Tally, memory: Contest
    ) -> None:
        look, features, news = memory.space.look, self.glm.features, memory.news
        self.glm.add_up(tally, True, look)  # what is on its way will tell its part
        self.glm.invert(0.0, 1.0, look)
        inverse, across = look.squares[INVERSE], look.space.across
        for i in range(across.shape[0]):
            across[i] = 0.0
            for k in range(across.shape[0]):
                across[i] += inverse[i, k] * (features[k, rival] - features[k, leader])
        along(features, across, news)
        for x in range(news.shape[0]):
            news[x] = look.bends[x] * news[x] * news[x]

    def judge(self, epsilon: float, level: float, tally: Tally, memory: Contest) -> int:
        leader, verdict, ratios = self.fit_arms(tally, memory), memory.verdict, memory.ratios
        verdict[STATISTIC], verdict[CHARGE], verdict[RUNNER_UP] = math.inf, 0.0, -1.0
        charge, first = self.price_mixture(tally, memory), -1
        verdict[CHARGE] = charge
        for x in range(ratios.shape[0]):
            if x != leader and ratios[x] < math.inf and (first < 0 or ratios[x] < ratios[first]):
                first = x
        if first < 0:
            return leader
        verdict[STATISTIC], verdict[RUNNER_UP] = (
            self.least_rise(first, leader, tally, memory),
            first,
        )
        for x in range(ratios.shape[0]):
            if verdict[STATISTIC] - charge < level < math.inf:
                return leader
            if x != leader and x != first and ratios[x] < math.inf:
                found = self.least_rise(x, leader, tally, memory)
                if found < verdict[STATISTIC]:
                    verdict[STATISTIC], verdict[RUNNER_UP] = found, float(x)
        return leader

    def price_mixture(self, tally: Tally, memory: Contest) -> float:
        """ln L(φ̂) less what bounds ln ∫ L dπ from below."""
        look, link, d = memory.space.look, self.glm.observed_link, self.prior.shape[0]
        inverse, spread = look.squares[INVERSE], 0.0
        for x in range(look.indices.shape[0]):
            if tally.counts[x] > 0:
                index = look.indices[x]
                wider = mean_partition(link, index, max(look.leverage[x], 0.0))
                spread += tally.counts[x] * (wider - log_partition(link, index))
        trace, length = 0.0, 0.0
        for i in range(d):
            for k in range(d):
                trace += self.prior[i, k] * inverse[k, i]
                length += look.phi[i] * self.prior[i, k] * look.phi[k]
        volume = log_volume(look.squares[GRAM], self.prior, look.squares[FACTOR])
        return spread + 0.5 * (trace + length - d + volume - self.volume)

    def least_rise(self, arm: int, leader: int, tally: Tally, memory: Contest) -> float:
        """The least ln L(φ̂) − ln L(φ) where an arm is as good as the leader; 0 if not found."""
        look, pull, d = memory.space.look, memory.space.pull, self.prior.shape[0]
        features, link, space = self.glm.features, self.glm.observed_link, look.space
        delta, fall, across, lifted = space.delta, space.fall, space.across, space.lifted
        for i in range(d):
            delta[i] = 0.0
            across[i] = features[i, arm] - features[i, leader]
            pull[i] = 0.0  # not 0: the prior holds the estimate off the top of ln L
            for k in range(d):
                pull[i] += self.prior[i, k] * look.phi[k]
        needed, settled, pushed = look.indices[leader] - look.indices[arm], False, 0.0
        for _ in range(STEPS):
            for i in range(d):
                fall[i] = -pull[i]
                lifted[i] = across[i]
            if not look_around(link, features, look.indices, tally, space):
                return 0.0
            solve_factored(space.factor, fall)
            solve_factored(space.factor, lifted)
            length = dot(across, lifted)
            if not length > 0.0:
                return 0.0
            pushed = (needed - dot(across, delta) + dot(across, fall)) / length
            for i in range(d):
                fall[i] = pushed * lifted[i] - fall[i]
            if take_step(features, tally, space) <= SETTLED_STEP:
                settled = True
                break
        if not settled or not pushed * needed > 0.0:
            return 0.0
        return loss_at(link, features, look.indices, tally, delta) - dot(pull, delta)
