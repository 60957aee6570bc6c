"""Finitely many possible parameters, as policies see them.

Everything that depends on the parameter alone (best arms, rewards, rates) is worked out once;
an estimate is the likeliest parameter of the list, and its alternatives are those under which
another arm is strictly better.

Of an alternative that agrees with the estimate on the leader, exploiting tells nothing, while a few
plays of another arm tell nearly everything: a run that settles before them can stay wrong for long.
In the opening, the first rounds, what a play tells of such alternatives is therefore weighed as if
for a million rounds at least.  That asks for odds of about 10⁵ to 1, and costs a constant.
"""

import math
from typing import NamedTuple

import numpy as np

from ossb.families import Family
from ossb.kernels import kernel
from ossb.models.base import SETTLED, WEAKEST, take_means
from ossb.models.improvement import DECIDED, conclude, improvement
from ossb.records import Floats, Ints, record
from ossb.tally import Tally

OPENING = 50.0  # rounds of each arm, where nothing else is asked for
FAR_AHEAD = 1e6  # rounds that a play in the opening is bought for, at least


class FiniteMemory(NamedTuple):
    """The common look, the likeliest parameter, and how unlikely each one is."""

    estimate: np.ndarray
    rewards: np.ndarray
    gain: np.ndarray
    numbers: np.ndarray
    losses: np.ndarray  # float64 (n_parameters,): Σ N d(m, λ), pending plays left out
    chosen: np.ndarray  # int64 (1,): the likeliest parameter


@kernel
def weighted_loss(family: Family, tally: Tally, parameter: np.ndarray) -> float:
    """Σ_x N_x d(m_x, λ_x)."""
    total = 0.0
    for x in range(parameter.shape[0]):
        if tally.counts[x] > 0:
            total += tally.counts[x] * family.kl(tally.means[x], parameter[x])
    return total


@record
class FiniteModel(NamedTuple):
    """One of a list of vectors of means.

    Parameters
    ----------
    parameters
        The vectors, signed so that larger is better.
    best
        Best arm of each, the lowest where it has several.
    table
        Rates c(x) of each.
    opening
        Rounds of the opening.
    closeness
        Parameters this close on an arm are the same there, in the unit of rewards.
    """

    family: Family
    n_arms: int
    n_components: int
    parameters: Floats  # (n_parameters, n_arms)
    best: Ints  # (n_parameters,)
    table: Floats  # (n_parameters, n_arms)
    opening: float
    closeness: float

    def start(self) -> FiniteMemory:
        n, size = self.n_arms, self.parameters.shape[0]
        return FiniteMemory(
            np.zeros(n),
            np.zeros(n),
            np.zeros(n),
            np.zeros(4),
            np.zeros(size),
            np.zeros(1, np.int64),
        )

    def unseen(self, tally: Tally) -> int:
        for x in range(self.n_arms):
            if tally.plays[x] == 0:
                return x
        return -1

    def informative(self, place: int) -> int:
        return place if place < self.n_arms else -1

    def is_informative(self, arm: int) -> bool:
        return True

    def plug_in(self, tally: Tally, memory: FiniteMemory) -> int:
        """The means as they stand are, almost surely, none of the parameters."""
        memory.chosen[0] = -1
        return take_means(tally, memory.estimate, memory.rewards)

    def project(self, tally: Tally, memory: FiniteMemory) -> int:
        chosen = 0
        for k in range(self.parameters.shape[0]):
            memory.losses[k] = weighted_loss(self.family, tally, self.parameters[k])
            if memory.losses[k] < memory.losses[chosen]:
                chosen = k
        memory.chosen[0] = chosen
        for x in range(self.n_arms):
            memory.estimate[x] = self.parameters[chosen, x]
            memory.rewards[x] = self.parameters[chosen, x]
        return self.best[chosen]

    def rates(self, leader: int, kappa: float, memory: FiniteMemory, out: np.ndarray) -> float:
        """The rates of the parameter the estimate is; none is confusing where it is none."""
        chosen = memory.chosen[0]
        if chosen < 0:
            chosen = self.listed(memory.estimate)
        for x in range(self.n_arms):
            out[x] = self.table[chosen, x] if chosen >= 0 else 0.0
        out[leader] = 0.0
        return 0.0

    def listed(self, means: np.ndarray) -> int:
        """The number of the parameter that some means are, or −1."""
        for k in range(self.parameters.shape[0]):
            same = True
            for x in range(self.n_arms):
                if abs(means[x] - self.parameters[k, x]) > self.closeness:
                    same = False
            if same:
                return k
        return -1

    def test(self, leader: int, level: float, tally: Tally, memory: FiniteMemory) -> None:
        self.project(tally, memory)
        chosen = memory.chosen[0]
        least = memory.losses[chosen]
        weakest, settled = math.inf, math.inf
        for k in range(self.parameters.shape[0]):
            if not self.is_best(k, leader):
                ratio = memory.losses[k] - least
                weakest = min(weakest, ratio)
                if self.agree(k, chosen, leader):
                    settled = min(settled, ratio)
        memory.numbers[WEAKEST] = weakest
        memory.numbers[SETTLED] = settled

    def is_best(self, k: int, x: int) -> bool:
        """Whether an arm is best under a parameter, alone or in a tie, which contradicts none."""
        top = self.parameters[k, self.best[k]]
        return self.parameters[k, x] >= top - self.closeness

    def agree(self, k: int, chosen: int, x: int) -> bool:
        """Whether two parameters are the same on an arm."""
        apart = abs(self.parameters[k, x] - self.parameters[chosen, x])
        return apart <= self.closeness

    def doubt(self, tally: Tally, memory: FiniteMemory, order: np.ndarray, out: np.ndarray) -> None:
        """An arm that is best under no parameter is out of the question.

        A parameter under which the leader is best too speaks for no other arm.
        """
        leader = self.project(tally, memory)
        for x in range(self.n_arms):
            out[x] = math.inf
        for k in range(self.parameters.shape[0]):
            ratio = memory.losses[k] - memory.losses[memory.chosen[0]]
            for x in range(self.n_arms):
                if self.is_best(k, x) and (x == leader or not self.is_best(k, leader)):
                    out[x] = min(out[x], ratio)

    def weigh(self, tally: Tally, memory: FiniteMemory) -> int:
        leader = self.project(tally, memory)
        chosen = memory.chosen[0]
        chances, improvements, largest = 0.0, 0.0, 0.0
        t = tally.clock[0] + 1.0
        ahead = max(FAR_AHEAD / t, 1.0) if t <= self.opening else 1.0
        for x in range(self.n_arms):
            memory.gain[x] = 0.0
        for k in range(self.parameters.shape[0]):
            if self.is_best(k, leader):
                continue
            arm = self.best[k]
            spent = 0.0  # evidence that plays, pending ones included, carry against k
            for x in range(self.n_arms):
                divergence = self.family.kl(memory.estimate[x], self.parameters[k, x])
                spent += (tally.counts[x] + tally.pending[x]) * divergence
            glr = max(memory.losses[k] - memory.losses[chosen], 0.0)
            if glr > DECIDED or spent <= 0.0 or not spent < math.inf:
                continue
            # what is at stake is not small noise around a tie but the gain under k itself
            stake = self.parameters[k, arm] - self.parameters[k, leader]
            deviation = max(self.deviation(leader, arm, tally, memory), stake)
            gap = memory.estimate[leader] - memory.estimate[arm]
            part = improvement(glr, gap, deviation, 1.0)
            chances += part.chance
            improvements += part.expected
            largest = max(largest, part.expected)
            factor = part.factor
            if self.agree(k, chosen, leader):
                factor *= ahead
            for x in range(self.n_arms):
                divergence = self.family.kl(memory.estimate[x], self.parameters[k, x])
                count = tally.counts[x] + tally.pending[x]
                memory.gain[x] += factor * divergence / spent * count / (1.0 + count)
        conclude(memory.numbers, chances, improvements, largest)
        return leader

    def deviation(self, leader: int, arm: int, tally: Tally, memory: FiniteMemory) -> float:
        """Standard deviation of the difference of two arms' means."""
        variance = 0.0
        for x in (leader, arm):
            count = max(tally.counts[x] + tally.pending[x], 1)
            variance += self.family.positive_variance(memory.estimate[x]) / count
        return math.sqrt(variance)
