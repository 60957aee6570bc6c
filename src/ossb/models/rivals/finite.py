"""Finitely many parameters: the mixture over the list itself.

M = (1/n) Σ_k L_k / L_θ is a martingale of mean 1 under the true parameter θ of the list, whatever
the family.  If the leader is not ε-good, θ is among the parameters under which it is not, and the
least M against these is at most M: no union is paid for, only ln n.
"""

import math
from typing import NamedTuple

import numpy as np

from ossb.families import Family
from ossb.models.base import Model
from ossb.models.finite import weighted_loss
from ossb.models.rivals.base import (
    CHARGE,
    NUMBERS,
    RUNNER_UP,
    STATISTIC,
    Contest,
    least_played,
    least_ruled_out,
)
from ossb.records import Floats, Ints, record
from ossb.tally import Tally


class ListSpace(NamedTuple):
    """How unlikely each parameter is."""

    losses: np.ndarray  # float64 (n_parameters,)
    held: np.ndarray  # int64 (n_arms,): the likeliest parameter under which each arm is better


@record
class ListRivals(NamedTuple):
    """One of a list of vectors of means.

    Parameters
    ----------
    parameters, best, closeness
        As in the model.
    """

    model: Model
    family: Family
    parameters: Floats
    best: Ints
    closeness: float

    def start(self) -> Contest:
        size, n = self.parameters.shape
        space = ListSpace(np.zeros(size), np.zeros(n, np.int64))
        return Contest(np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(NUMBERS), space)

    def unseen(self, tally: Tally) -> int:
        return least_played(tally)

    def likeliest(self, tally: Tally, memory: Contest) -> int:
        """Fill the losses and rewards; returns the likeliest parameter."""
        losses, chosen = memory.space.losses, 0
        for k in range(losses.shape[0]):
            losses[k] = weighted_loss(self.family, tally, self.parameters[k])
            if losses[k] < losses[chosen]:
                chosen = k
        for x in range(memory.rewards.shape[0]):
            memory.rewards[x] = self.parameters[chosen, x]
            memory.masses[x] = float(tally.counts[x])
        return chosen

    def beats(self, k: int, leader: int, epsilon: float) -> bool:
        """Whether under a parameter the leader is not ε-good."""
        short = self.parameters[k, self.best[k]] - self.parameters[k, leader]
        return short > max(epsilon, self.closeness)

    def rank(self, epsilon: float, tally: Tally, memory: Contest) -> int:
        chosen = self.likeliest(tally, memory)
        leader, losses = self.best[chosen], memory.space.losses
        for x in range(memory.ratios.shape[0]):
            memory.ratios[x] = math.inf
            memory.space.held[x] = -1
        for k in range(losses.shape[0]):
            if self.beats(k, leader, epsilon):
                x, ratio = self.best[k], losses[k] - losses[chosen]
                if memory.space.held[x] < 0 or ratio < memory.ratios[x]:
                    memory.ratios[x] = ratio
                    memory.space.held[x] = k
        return int(leader)

    def challenge(
        self, leader: int, epsilon: float, prices: np.ndarray, tally: Tally, memory: Contest
    ) -> int:
        rival = least_ruled_out(memory)
        if rival >= 0:
            self.oppose(rival, leader, epsilon, tally, memory)
        return rival

    def expect_means(self, tally: Tally, memory: Contest, out: np.ndarray) -> None:
        for x in range(out.shape[0]):
            out[x] = memory.rewards[x]

    def oppose(
        self, rival: int, leader: int, epsilon: float, tally: Tally, memory: Contest
    ) -> None:
        k = memory.space.held[rival]
        for x in range(memory.news.shape[0]):
            memory.news[x] = self.family.kl(memory.rewards[x], self.parameters[k, x])

    def judge(self, epsilon: float, level: float, tally: Tally, memory: Contest) -> int:
        chosen = self.likeliest(tally, memory)
        leader, losses, verdict = self.best[chosen], memory.space.losses, memory.verdict
        mass, least, runner = 0.0, math.inf, -1
        verdict[STATISTIC], verdict[CHARGE], verdict[RUNNER_UP] = 0.0, 0.0, -1.0
        if not losses[chosen] < math.inf:  # what was told is possible under none of the list
            return int(leader)
        for k in range(losses.shape[0]):
            mass += math.exp(losses[chosen] - losses[k])
            if self.beats(k, leader, epsilon) and losses[k] < least:
                least, runner = losses[k], self.best[k]
        verdict[STATISTIC] = least - losses[chosen] + math.log(mass)
        verdict[CHARGE] = math.log(float(losses.shape[0]))
        verdict[RUNNER_UP] = float(runner)
        return int(leader)
