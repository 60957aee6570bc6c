"""Lipschitz means, as policies see them.

The means are projected on Θ once; then, around θ̂, the likelihood ratio against arm j is one
convex problem in the level v that j is raised to: min_v Σ_z N_z d(θ̂_z, clip(θ̂_z, v − ℓ(j, z), v)),
in any metric.
"""

import math
from typing import NamedTuple

import numpy as np

from ossb.families import Exponential, Family, Gaussian
from ossb.graves_lai.lipschitz import LipschitzMemory as ProgramMemory
from ossb.graves_lai.lipschitz import rates as program_rates
from ossb.graves_lai.lipschitz import start as start_program
from ossb.models.base import SETTLED, WEAKEST
from ossb.models.improvement import DECIDED, conclude, improvement
from ossb.models.lipschitz_blocks import move_blocks
from ossb.models.lipschitz_fit import Fit, between, fit_lipschitz, new_fit, profile, stretch
from ossb.records import Floats, Ints, record
from ossb.tally import Tally, fill_untold

STRAIGHT = 1e-9  # relative to the longest distance: how exactly a line's distances add up


class LipschitzLook(NamedTuple):
    """The common look, and what is behind it."""

    estimate: np.ndarray
    rewards: np.ndarray
    gain: np.ndarray
    numbers: np.ndarray
    weights: np.ndarray  # float64 (n_arms,): observations of each arm, prior and pending included
    centres: np.ndarray  # float64 (n_arms,): their means, prior included
    levels: np.ndarray  # float64 (n_arms,): where each arm was last cheapest to make best
    news: np.ndarray  # float64 (n_arms,): information of one play against an alternative
    suspect: np.ndarray  # int64 (1,): the arm that held up the last test
    fit: Fit
    program: ProgramMemory


@record
class LipschitzModel(NamedTuple):
    """Means that differ between two arms by at most their distance.

    Parameters
    ----------
    family
        The observations.
    n_arms, n_components
        Number of arms, each its own component.
    distances
        ℓ, a metric.
    order, spacing
        The arms along a line and the distances between neighbours; ``spacing`` empty where the
        arms do not stand on a line.
    prior, prior_mean
        Pseudo-observations in ``weigh``, as for independent arms.
    unit
        1 for families whose variance vanishes at an end of the mean space.
    convex
        Whether d(·, ·) is convex in its second argument.
    """

    family: Family
    n_arms: int
    n_components: int
    distances: Floats
    order: Ints
    spacing: Floats
    prior: float
    prior_mean: float
    unit: float
    convex: bool

    def start(self) -> LipschitzLook:
        n = self.n_arms
        return LipschitzLook(
            np.zeros(n),
            np.zeros(n),
            np.zeros(n),
            np.zeros(4),
            np.zeros(n),
            np.zeros(n),
            np.zeros(n),
            np.zeros(n),
            np.zeros(1, np.int64),
            new_fit(n, self.spacing.shape[0] == n - 1),
            start_program(self.distances),
        )

    def unseen(self, tally: Tally) -> int:
        if self.prior <= 0.0:
            for x in range(self.n_arms):
                if tally.plays[x] == 0:
                    return x
        return -1

    def informative(self, place: int) -> int:
        return place if place < self.n_arms else -1

    def is_informative(self, arm: int) -> bool:
        return True

    def plug_in(self, tally: Tally, memory: LipschitzLook) -> int:
        for x in range(self.n_arms):
            memory.estimate[x] = tally.means[x]
        return self.lead(memory)

    def project(self, tally: Tally, memory: LipschitzLook) -> int:
        for x in range(self.n_arms):
            memory.centres[x] = tally.means[x]
            memory.weights[x] = float(tally.counts[x])
        fill_untold(tally.counts, memory.centres)
        self.estimate_means(memory)
        return self.lead(memory)

    def rates(self, leader: int, kappa: float, memory: LipschitzLook, out: np.ndarray) -> float:
        return program_rates(
            self.distances, self.family, memory.estimate, kappa, memory.program, out
        )

    def test(self, leader: int, level: float, tally: Tally, memory: LipschitzLook) -> None:
        for x in range(self.n_arms):
            memory.weights[x] = float(tally.counts[x])
        enough = level if level < math.inf else -math.inf
        weakest = math.inf
        for place in range(self.n_arms):
            j = self.rival(place, memory)
            if self.distances[j, leader] > 0.0 and j != leader:
                weakest = min(weakest, self.ratio_beside(leader, j, level, memory))
                if weakest < enough:
                    memory.suspect[0] = j
                    break
        memory.numbers[WEAKEST] = weakest
        if weakest >= level:
            return
        settled = math.inf
        theta, top = memory.estimate, memory.estimate[leader]
        for place in range(self.n_arms):
            j = self.rival(place, memory)
            if self.distances[j, leader] <= 0.0 or j == leader or top >= self.family.highest():
                continue
            known = 0.0
            for z in range(self.n_arms):
                target = top - self.distances[j, z]
                if target > theta[z] and tally.counts[z] > 0 and known < min(settled, level):
                    known += tally.counts[z] * self.family.kl(theta[z], target)
            settled = min(settled, known)
            if settled < enough:
                break
        memory.numbers[SETTLED] = settled

    def rival(self, place: int, memory: LipschitzLook) -> int:
        """All arms in turn, the one that held up the last test first."""
        first = memory.suspect[0]
        if place == 0:
            return first
        return place - 1 if place <= first else place

    def ratio_beside(self, leader: int, j: int, level: float, memory: LipschitzLook) -> float:
        """GLR_j, or some number on the same side of a level."""
        theta = memory.estimate
        if self.convex and level < math.inf and theta[j] < memory.levels[j] < theta[leader]:
            low, high = between(
                self.family,
                self.distances,
                theta,
                memory.weights,
                j,
                leader,
                memory.levels[j],
            )
            if low >= level or high < level:
                return low if low >= level else high
        return self.ratio(leader, j, memory)

    def doubt(
        self, tally: Tally, memory: LipschitzLook, order: np.ndarray, out: np.ndarray
    ) -> None:
        """Ratios are taken around the projection, as in ``test``: exact where that is the means."""
        leader = self.project(tally, memory)
        for j in range(self.n_arms):
            out[j] = 0.0
            if j != leader and self.distances[j, leader] > 0.0:
                out[j] = self.ratio(leader, j, memory)

    def weigh(self, tally: Tally, memory: LipschitzLook) -> int:
        for x in range(self.n_arms):
            count = tally.counts[x] + self.prior
            total = tally.counts[x] * tally.means[x] + self.prior * self.prior_mean
            memory.weights[x] = max(count + tally.pending[x], 1.0)
            memory.centres[x] = total / max(count, 1.0)
            memory.gain[x] = 0.0
        if self.prior <= 0.0:
            fill_untold(tally.counts, memory.centres)
        self.estimate_means(memory)
        leader = self.lead(memory)
        theta, weights = memory.estimate, memory.weights
        chances, improvements, largest = 0.0, 0.0, 0.0
        own = self.family.positive_variance(theta[leader]) / weights[leader]
        for j in range(self.n_arms):
            if self.distances[j, leader] <= 0.0 or j == leader:
                continue
            glr = self.ratio(leader, j, memory)
            if glr > DECIDED:
                continue
            deviation = math.sqrt(self.uncertainty(j, memory) + own)
            spread = 1.0 / weights[j] + 1.0 / weights[leader]
            discount = 1.0 if self.prior > 0.0 else 1.0 / (1.0 + spread)
            part = improvement(glr, theta[leader] - theta[j], deviation, discount)
            chances += part.chance
            improvements += part.expected
            largest = max(largest, part.expected)
            variance = self.family.positive_variance(theta[j])
            if part.tie:
                mine = variance / weights[j]
                memory.gain[j] += part.factor * mine / (weights[j] * (mine + own))
                memory.gain[leader] += part.factor * own / (weights[leader] * (mine + own))
            else:
                for z in range(self.n_arms):
                    memory.gain[z] += part.factor * memory.news[z] / glr
            if self.prior <= 0.0:
                memory.gain[j] += part.widening * variance / (weights[j] * weights[j])
                memory.gain[leader] += part.widening * own / weights[leader]
        for x in range(self.n_arms):
            memory.gain[x] *= weights[x] / (1.0 + weights[x])
        conclude(memory.numbers, chances, improvements, largest)
        return leader

    def estimate_means(self, memory: LipschitzLook) -> None:
        """θ̂ from the centres and weights in memory."""
        if self.spacing.shape[0] == self.n_arms - 1 and move_blocks(
            self.family,
            self.unit,
            self.order,
            self.spacing,
            memory.centres,
            memory.weights,
            memory.estimate,
            memory.fit,
        ):
            return
        fit_lipschitz(
            self.family,
            self.unit,
            self.distances,
            self.order,
            self.spacing,
            memory.centres,
            memory.weights,
            memory.estimate,
            memory.fit,
        )

    def lead(self, memory: LipschitzLook) -> int:
        """The arm of the largest estimate, lowest on ties; rewards are the estimates."""
        leader = 0
        for x in range(self.n_arms):
            memory.rewards[x] = memory.estimate[x]
            if memory.estimate[x] > memory.estimate[leader]:
                leader = x
        return leader

    def ratio(self, leader: int, j: int, memory: LipschitzLook) -> float:
        """GLR_j at the estimate and weights in memory; leaves d_j in ``news``."""
        v = profile(
            self.family,
            self.distances,
            memory.estimate,
            memory.weights,
            j,
            leader,
            memory.levels[j],
        )
        memory.levels[j] = v
        return stretch(
            self.family, self.distances, memory.estimate, memory.weights, j, v, memory.news
        )

    def uncertainty(self, j: int, memory: LipschitzLook) -> float:
        """The variance of θ̂_j: an arm is known at least as well as near arms tell."""
        least = math.inf
        for z in range(self.n_arms):
            variance = self.family.positive_variance(memory.estimate[z])
            deviation = self.distances[j, z] + math.sqrt(variance / memory.weights[z])
            least = min(least, deviation)
        return least * least


def lipschitz_model(family: Family, distances: np.ndarray, sign: float) -> LipschitzModel:
    """The model of arms at given distances."""
    n = distances.shape[0]
    order = np.argsort(distances[int(np.argmax(distances[0]))], kind="stable")
    spacing = distances[order[:-1], order[1:]]
    places = np.concatenate([[0.0], np.cumsum(spacing)])
    along = np.abs(places[:, None] - places[None, :])
    off = np.abs(along - distances[np.ix_(order, order)]).max(initial=0.0)
    if off > STRAIGHT * distances.max(initial=0.0):
        order, spacing = np.arange(n), np.zeros(n if n > 1 else 0)
    counted = not isinstance(family, Gaussian | Exponential)
    has_prior = math.isfinite(family.highest()) and math.isfinite(family.lowest())
    prior = 2.0 if has_prior else 0.0
    return LipschitzModel(
        family,
        n,
        n,
        distances,
        order,
        spacing,
        prior,
        0.5 * sign,
        1.0 if counted else 0.0,
        not isinstance(family, Exponential),
    )
