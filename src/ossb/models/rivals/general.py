"""Polytopes and unions of polytopes: all components together, on numpy.

Against the parameters under which arm j is better stands the least Σ w_k d(m_k, λ_k) over them,
less the prices of all components: the truth is among them for some j whenever the leader is not the
best, so that no union is paid for.  With ε > 0 the same is used.
"""

import math
from typing import NamedTuple

import numpy as np

from ossb.models.general import GeneralMemory, GeneralModel
from ossb.models.rivals.base import CHARGE, NUMBERS, RUNNER_UP, STATISTIC, Contest, least_ruled_out
from ossb.models.rivals.mixture import Mixture
from ossb.tally import Tally


class GeneralSpace(NamedTuple):
    """The model's memory, and the alternatives last ranked."""

    look: GeneralMemory
    components: np.ndarray  # float64 (n_arms, n_components)


class GeneralRivals:
    """Arms that show components of a parameter known to lie in one of several polytopes."""

    def __init__(self, model: GeneralModel, mixture: Mixture) -> None:
        self.model, self._mixture = model, mixture

    def start(self) -> Contest:
        n, c = self.model.n_arms, self.model.n_components
        space = GeneralSpace(self.model.start(), np.zeros((n, c)))
        return Contest(np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(c), np.zeros(NUMBERS), space)

    def unseen(self, tally: Tally) -> int:
        return self.model.unseen(tally)

    def rank(self, epsilon: float, tally: Tally, memory: Contest) -> int:
        counts = tally.counts.astype(np.float64)
        leader = self.model.project(tally, memory.space.look)
        memory.rewards[:] = memory.space.look.rewards
        memory.ratios[:] = math.inf
        memory.masses[:] = tally.plays
        for arm, value, components in self.model.programs.alternatives(leader, tally.means, counts):
            memory.ratios[arm] = value
            memory.space.components[arm] = components
        return leader

    def challenge(
        self, leader: int, epsilon: float, prices: np.ndarray, tally: Tally, memory: Contest
    ) -> int:
        rival = least_ruled_out(memory)
        if rival >= 0:
            self.oppose(rival, leader, epsilon, tally, memory)
        return rival

    def expect_means(self, tally: Tally, memory: Contest, out: np.ndarray) -> None:
        out[:] = memory.space.look.estimate

    def oppose(
        self, rival: int, leader: int, epsilon: float, tally: Tally, memory: Contest
    ) -> None:
        family, moved = self._mixture.family, memory.space.components[rival]
        for k in range(memory.news.size):
            told = tally.counts[k] > 0
            memory.news[k] = family.kl(float(tally.means[k]), float(moved[k])) if told else 0.0

    def judge(self, epsilon: float, level: float, tally: Tally, memory: Contest) -> int:
        leader, verdict = self.model.project(tally, memory.space.look), memory.verdict
        verdict[STATISTIC], verdict[CHARGE], verdict[RUNNER_UP] = math.inf, 0.0, -1.0
        counts = [float(count) for count in tally.counts]
        weights = np.array([self._mixture.evidence_weight(count) for count in counts])
        for k in np.flatnonzero(tally.counts).tolist():
            verdict[CHARGE] += self._mixture.evidence_price(counts[k], float(tally.means[k]))
        for arm, value, _ in self.model.programs.alternatives(leader, tally.means, weights):
            if value < verdict[STATISTIC]:
                verdict[STATISTIC], verdict[RUNNER_UP] = value, arm
        return leader
