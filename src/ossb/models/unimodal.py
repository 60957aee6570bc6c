"""Unimodal arms on a tree, as policies see them.

The oracle is weighted unimodal regression, one per mode j: GLR_j is the deviance of the best
means with their mode at j, less that of the best mode.  On a graph with cycles the means with a
given mode are no convex set, and what needs the regression is refused; the rates at bare means
are the same closed form on every graph.
"""

import math
from typing import NamedTuple

import numpy as np

from ossb.families import Family
from ossb.graves_lai.independent import independent_rate
from ossb.models.base import NU, SETTLED, TOP_SHARE, WEAKEST
from ossb.models.improvement import DECIDED, improvement
from ossb.models.isotonic import DEVIANCES, LEVELS, MASSES, Fit, fit_mode, new_fit
from ossb.models.isotonic_line import line_deviances
from ossb.models.level import level_for, pool_arms
from ossb.models.modes import best_mode, fit_near, rivals_of
from ossb.models.unimodal_bounds import ratio_beside
from ossb.models.unimodal_cache import (
    FAR,
    HELD,
    LEADER,
    REGRESSED,
    SLACK,
    decide_standing,
    is_standing,
    recall,
    stand,
)
from ossb.records import Ints, record
from ossb.tally import Tally

KNOWN = 1e15  # observations of an arm whose mean counts as known


class UnimodalMemory(NamedTuple):
    """The common look, and the regression behind it."""

    estimate: np.ndarray
    rewards: np.ndarray
    gain: np.ndarray
    numbers: np.ndarray
    weights: np.ndarray  # float64 (n_arms,): observations of each arm, prior and pending included
    centres: np.ndarray  # float64 (n_arms,): their means, prior included
    fit: Fit
    held: np.ndarray  # float64 (HELD,): what stays true while only the leader is played
    others: np.ndarray  # float64 (3, n_arms): and what of the other arms it rests on


@record
class UnimodalModel(NamedTuple):
    """Means that fall away from the best arm along a tree.

    Parameters
    ----------
    family
        The observations.
    n_arms, n_components
        Number of arms, each its own component.
    starts, neighbours
        The neighbours of arm x are ``neighbours[starts[x]:starts[x + 1]]``.
    path
        The arms along the line, where the tree is one; otherwise empty.
    prior, prior_mean
        Pseudo-observations in ``weigh``, as for independent arms.
    """

    family: Family
    n_arms: int
    n_components: int
    starts: Ints
    neighbours: Ints
    path: Ints
    prior: float
    prior_mean: float

    def start(self) -> UnimodalMemory:
        n = self.n_arms
        return UnimodalMemory(
            np.zeros(n),
            np.zeros(n),
            np.zeros(n),
            np.zeros(4),
            np.zeros(n),
            np.zeros(n),
            new_fit(n),
            np.full(HELD, -1.0),
            np.zeros((3, n)),
        )

    def unseen(self, tally: Tally) -> int:
        """An arm never played; until something is told, the least played."""
        least = 0
        for x in range(self.n_arms):
            if tally.plays[x] < tally.plays[least]:
                least = x
        return least if tally.plays[least] == 0 or tally.clock[0] == 0 else -1

    def informative(self, place: int) -> int:
        return place if place < self.n_arms else -1

    def is_informative(self, arm: int) -> bool:
        return True

    def plug_in(self, tally: Tally, memory: UnimodalMemory) -> int:
        leader = 0
        memory.held[LEADER] = -1.0
        memory.held[REGRESSED] = 0.0
        for x in range(self.n_arms):
            memory.estimate[x] = tally.means[x]
            memory.rewards[x] = tally.means[x]
            if tally.means[x] > tally.means[leader]:
                leader = x
        return leader

    def project(self, tally: Tally, memory: UnimodalMemory) -> int:
        if is_standing(tally, memory.held, memory.others):
            leader = int(memory.held[LEADER])
            memory.estimate[leader] = tally.means[leader]
            memory.rewards[leader] = tally.means[leader]
            return leader
        return self.regress(tally, memory)

    def regress(self, tally: Tally, memory: UnimodalMemory) -> int:
        memory.held[LEADER] = -1.0
        memory.held[REGRESSED] = 1.0
        for x in range(self.n_arms):
            memory.weights[x] = tally.counts[x]
        leader, _ = best_mode(
            self.family,
            self.starts,
            self.neighbours,
            self.path,
            tally.means,
            memory.weights,
            memory.fit,
        )
        for x in range(self.n_arms):
            memory.estimate[x] = memory.fit.values[LEVELS, x]
            memory.rewards[x] = memory.fit.values[LEVELS, x]
        return leader

    def rates(self, leader: int, kappa: float, memory: UnimodalMemory, out: np.ndarray) -> float:
        for x in range(self.n_arms):
            out[x] = 0.0
        top = memory.estimate[leader]
        for place in range(self.starts[leader], self.starts[leader + 1]):
            y = self.neighbours[place]
            out[y] = independent_rate(self.family, memory.estimate[y], top)
        return 0.0

    def test(self, leader: int, level: float, tally: Tally, memory: UnimodalMemory) -> None:
        numbers, held = memory.numbers, memory.held
        if level < math.inf and held[REGRESSED] == 1.0:
            stands = held[LEADER] == leader and level <= held[FAR]
            stands = stands and is_standing(tally, held, memory.others)
            top = tally.means[leader]
            if stands and recall(level, top, float(tally.counts[leader]), held, numbers):
                return
            if not stands:
                estimate, slack = memory.estimate, memory.others[SLACK]
                beside = ratio_beside(self, leader, top, tally, estimate, slack, 0.0)
                if beside < level:
                    numbers[WEAKEST], numbers[SETTLED] = beside, beside
                    return
                stands = stand(self, leader, level, tally, memory)
            if stands and decide_standing(self, leader, level, tally, memory):
                return
        for x in range(self.n_arms):
            memory.weights[x] = tally.counts[x]
        numbers[WEAKEST] = self.least_ratio(leader, level, tally.means, memory)
        numbers[SETTLED] = math.inf
        if numbers[WEAKEST] < level or level == math.inf:
            if tally.means[leader] < self.family.highest():
                memory.weights[leader] = KNOWN
                numbers[SETTLED] = self.least_ratio(leader, level, tally.means, memory)

    def least_ratio(
        self, leader: int, level: float, means: np.ndarray, memory: UnimodalMemory
    ) -> float:
        """min over j of the deviance with the mode at j, less that with it at the leader."""
        return rivals_of(
            self.family,
            self.starts,
            self.neighbours,
            self.path,
            leader,
            level,
            means,
            memory.weights,
            memory.fit,
        )

    def doubt(
        self, tally: Tally, memory: UnimodalMemory, order: np.ndarray, out: np.ndarray
    ) -> None:
        fit, means, weights = memory.fit, tally.means, memory.weights
        for x in range(self.n_arms):
            weights[x] = tally.counts[x]
        on_line = self.path.shape[0] > 0
        if on_line:
            line_deviances(self.family, self.path, 0, math.inf, -math.inf, means, weights, fit)
        least = math.inf
        for x in range(self.n_arms):
            if on_line:
                out[x] = fit.values[DEVIANCES, x]
            else:
                out[x] = fit_mode(
                    self.family, self.starts, self.neighbours, x, means, weights, math.inf, fit
                )
            least = min(least, out[x])
        for x in range(self.n_arms):
            out[x] -= least

    def weigh(self, tally: Tally, memory: UnimodalMemory) -> int:
        fit, weights, centres = memory.fit, memory.weights, memory.centres
        memory.held[LEADER] = -1.0
        memory.held[REGRESSED] = 0.0
        pool = pool_arms(tally, self.prior, self.prior_mean)
        for x in range(self.n_arms):
            count = tally.counts[x] + self.prior
            level = level_for(x, tally, pool, self.prior_mean)
            total = tally.counts[x] * tally.means[x] + self.prior * level
            centres[x] = total / max(count, 1.0)
            weights[x] = count + tally.pending[x] if count > 0.0 else 0.0
            memory.gain[x] = 0.0
        leader, least = best_mode(
            self.family, self.starts, self.neighbours, self.path, centres, weights, fit
        )
        for x in range(self.n_arms):
            memory.estimate[x] = fit.values[LEVELS, x]
            memory.rewards[x] = fit.values[LEVELS, x]
        chances, improvements, largest = 0.0, 0.0, 0.0
        limit = least + DECIDED
        known = max(weights[leader], 1.0)
        for j in range(self.n_arms):
            if j == leader:
                continue
            deviance = fit_near(
                self.family,
                self.starts,
                self.neighbours,
                self.path,
                j,
                centres,
                weights,
                limit,
                fit,
            )
            if not deviance <= limit:
                continue
            glr = max(deviance - least, 0.0)
            count = max(weights[j], float(tally.pending[j]), 1.0)  # never told of: no weight
            own = self.family.positive_variance(fit.values[LEVELS, j]) / count
            others = self.family.positive_variance(fit.values[LEVELS, leader]) / known
            discount = 1.0 if self.prior > 0.0 else 1.0 / (1.0 + 1.0 / count + 1.0 / known)
            gap = memory.estimate[leader] - memory.estimate[j]
            part = improvement(glr, gap, math.sqrt(own + others), discount)
            chances += part.chance
            improvements += part.expected
            largest = max(largest, part.expected)
            if part.tie or not self.add_shares(part.factor, memory):
                memory.gain[j] += part.factor * own / (count * (own + others))
                memory.gain[leader] += part.factor * others / (known * (own + others))
            memory.gain[j] += part.widening * own / count
            memory.gain[leader] += part.widening * others / known
        for x in range(self.n_arms):
            count = max(weights[x], float(tally.pending[x]), 1.0)
            memory.gain[x] *= count / (1.0 + count)
        memory.numbers[NU] = 1.0 / (1.0 + chances)
        memory.numbers[TOP_SHARE] = largest / improvements if improvements > 0.0 else 1.0
        return leader

    def add_shares(self, factor: float, memory: UnimodalMemory) -> bool:
        """Add to each arm's gain its share of the evidence against the means of ``fit``.

        False, and nothing added, where the evidence is zero or beyond doubles.
        """
        level, evidence = memory.fit.values[LEVELS], 0.0
        told = memory.fit.values[MASSES]  # free, once the blocks are settled
        for x in range(self.n_arms):
            told[x] = 0.0
            if memory.weights[x] > 0.0 and memory.estimate[x] != level[x]:
                told[x] = self.family.kl(memory.estimate[x], level[x])
                evidence += memory.weights[x] * told[x]
        if not 0.0 < evidence < math.inf:
            return False
        for x in range(self.n_arms):
            if told[x] > 0.0:
                memory.gain[x] += factor * (told[x] / evidence)
        return True
