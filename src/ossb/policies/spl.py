"""Saddle-point learners for linear arms, after Degenne, Shao and Koolen (2020).

The Graves–Lai program is a game: one player chooses how the regret is shared out among the arms,
the other a parameter that changes the best arm, and the first is paid the evidence per unit of
regret, Σ ω(x) d(x) / Δ(x).  Rather than solve it, let learners play it, one step a round:

- exploit if the likelihood ratio against every such parameter exceeds f(t);
- else take optimistic payments U(x) / Δ̂(x), U(x) = (|⟨ν − θ̂, x⟩| + r ‖x‖)² / 2σ² for a confidence
  radius r, and Δ̂(x) = max_z (⟨θ̂, z⟩ + r ‖z‖) − ⟨θ̂, x⟩, which keeps the gap of the leader from 0.

``learner="arms"``: ω is AdaHedge's (de Rooij et al., 2014), plays have shares ∝ ω(x) / Δ̂(x),
the other player answers these shares with the nearest parameter ν, and the arm furthest behind
the sum of its shares is played.  ``learner="alternatives"``: ν is mixed over the half-spaces in
which each arm beats the leader, with exponential weights on their likelihood ratios, and the arm
of the largest payment is played.

What could not be established, the paper's text not being at hand: its f and its radii, taken
here from the bound of Lattimore and Szepesvári (2017) with δ = 1/t and δ = 1/S², S the rounds of
exploration; how it keeps reciprocal gaps finite, which Δ̂ does here as Kirschner et al. (2021)
describe it; and its rate of learning for the second learner, here that of ``ids``.  AdaHedge
begins anew when the leader changes; the paper keeps one learner for each leader.

The norms have a ridge of one observation in every direction, as in ``ids``: decisions depend on the
units of features, and on the level of rewards.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.errors import InputError
from ossb.fields import choice
from ossb.kernels import kernel
from ossb.models.least_squares import INVERSE, TOLD
from ossb.policies.base import Kind
from ossb.policies.ids import LEAST_EVIDENCE, learn_from, weigh_rivals
from ossb.policies.linear_arms import (
    Regression,
    features_of,
    new_regression,
    regress_on,
    shows_one_value,
)
from ossb.policies.linear_rivals import (
    Rivals,
    answer_design,
    confidence_level,
    difference_along,
    face_rivals,
    new_rivals,
)
from ossb.records import Floats, record
from ossb.structures.base import Instance
from ossb.structures.offers import FEATURES
from ossb.tally import EXPLOIT, EXPLORE, Decision, Tally

FIRST_MIXABILITY = 0.01  # in units of 1/σ, as losses are
# rows of SplMemory.arm
LOSSES, SHARES, DUE, PAID, GAPS, BONUSES = 0, 1, 2, 3, 4, 5
# places in SplMemory.plan
MIXABILITY, LEADER, MOST = 0, 1, 2


class SplMemory(NamedTuple):
    regression: Regression
    rivals: Rivals
    arm: np.ndarray  # float64 (6, n_arms): losses, shares, plays due, payments, gaps, r ‖x‖
    tracked: np.ndarray  # int64 (n_arms,): plays in exploration rounds
    plan: np.ndarray  # float64 (3,): mixability gaps, the leader learnt for, largest evidence


@kernel
def mix_loss(losses: np.ndarray, rate: float) -> float:
    """−ln of the mean of exp(−rate L), over the rate."""
    least = math.inf
    for x in range(losses.shape[0]):
        least = min(least, losses[x])
    total = 0.0
    for x in range(losses.shape[0]):
        total += math.exp(-rate * (losses[x] - least))
    return least - math.log(total / losses.shape[0]) / rate


@kernel
def hedge(losses: np.ndarray, rate: float, out: np.ndarray) -> float:
    """Write the shares ∝ exp(−rate L); returns the mix loss."""
    least = math.inf
    for x in range(losses.shape[0]):
        least = min(least, losses[x])
    total = 0.0
    for x in range(losses.shape[0]):
        out[x] = math.exp(-rate * (losses[x] - least))
        total += out[x]
    for x in range(losses.shape[0]):
        out[x] /= total
    return least - math.log(total / losses.shape[0]) / rate


@record
class Spl(NamedTuple):
    """Let learners play the Graves–Lai game.

    Parameters
    ----------
    features
        The arms, as columns.
    sigma
        Standard deviation of the noise.
    c
        The constant of the lower-order term of f and of the radii.
    over_arms
        The arms learn and the alternatives answer; else the other way round.
    """

    features: Floats
    sigma: float
    c: float
    over_arms: bool

    def _check(self) -> None:
        if not 0 <= self.c < math.inf:
            raise InputError("c", "be non-negative", self.c)

    def start(self) -> SplMemory:
        n = self.features.shape[1]
        return SplMemory(
            new_regression(self.features),
            new_rivals(self.features),
            np.zeros((6, n)),
            np.zeros(n, np.int64),
            np.array([FIRST_MIXABILITY / self.sigma, -1.0, LEAST_EVIDENCE]),
        )

    def select(self, tally: Tally, memory: SplMemory, rng: Generator) -> Decision:
        regression, rivals = memory.regression, memory.rivals
        t, d = tally.clock[0] + 1.0, self.features.shape[0]
        leader = regress_on(self.features, tally, regression)
        inverse = regression.squares.square[TOLD, INVERSE]
        nearest = face_rivals(self.features, regression.rewards, leader, inverse, rivals)
        variance = self.sigma * self.sigma
        enough = variance * confidence_level(math.log(t), t, d, self.c)
        if nearest < 0 or rivals.distances[nearest] > enough:
            return Decision(leader, EXPLOIT)
        rounds = tally.phases[EXPLORE] + 1.0
        radius = self.sigma * math.sqrt(confidence_level(2.0 * math.log(rounds), t, d, self.c))
        top = -math.inf
        for x in range(regression.rewards.shape[0]):
            memory.arm[BONUSES, x] = radius * math.sqrt(regression.widths[x])
        for x in range(regression.rewards.shape[0]):
            top = max(top, regression.rewards[x] + memory.arm[BONUSES, x])
        for x in range(regression.rewards.shape[0]):
            memory.arm[GAPS, x] = top - regression.rewards[x]
        if self.over_arms:
            return Decision(self.follow_shares(leader, memory), EXPLORE)
        memory.plan[MOST] = max(memory.plan[MOST], 0.5 * rivals.distances[nearest] / variance)
        rate = math.log(memory.tracked.shape[0]) / math.sqrt(memory.plan[MOST])
        weigh_rivals(leader, rate, variance, rivals.distances, memory.arm[SHARES])
        paid, gaps = memory.arm[PAID], memory.arm[GAPS]
        learn_from(self.features, memory.arm[BONUSES], memory.arm[SHARES], rivals, paid)
        best, index = leader, -math.inf
        for x in range(memory.tracked.shape[0]):
            if gaps[x] > 0.0 and paid[x] / gaps[x] > index:
                best, index = x, paid[x] / gaps[x]
        return Decision(best, EXPLORE)

    def follow_shares(self, leader: int, memory: SplMemory) -> int:
        """One round of AdaHedge against the nearest parameter, and the arm furthest behind."""
        arm, plan, regression = memory.arm, memory.plan, memory.regression
        n_arms = memory.tracked.shape[0]
        if plan[LEADER] != leader:
            plan[LEADER] = float(leader)
            plan[MIXABILITY] = FIRST_MIXABILITY / self.sigma
            for x in range(n_arms):
                arm[LOSSES, x] = 0.0
        rate = math.log(n_arms) / plan[MIXABILITY]
        before = hedge(arm[LOSSES], rate, arm[SHARES])
        expected, total = 0.0, 0.0
        for x in range(n_arms):
            arm[PAID, x] = arm[SHARES, x] / max(arm[GAPS, x], LEAST_EVIDENCE * self.sigma)
            total += arm[PAID, x]
        for x in range(n_arms):
            arm[PAID, x] /= total
            arm[DUE, x] += arm[PAID, x]
        rival = answer_design(self.features, arm[PAID], regression.rewards, leader, memory.rivals)
        if rival >= 0:
            for x in range(n_arms):
                change = abs(difference_along(self.features, x, rival, memory.rivals))
                change = (change + arm[BONUSES, x]) / self.sigma
                payment = 0.5 * change * change / max(arm[GAPS, x], LEAST_EVIDENCE * self.sigma)
                expected -= arm[SHARES, x] * payment
                arm[LOSSES, x] -= payment
            plan[MIXABILITY] += max(expected - (mix_loss(arm[LOSSES], rate) - before), 0.0)
        best = 0
        for x in range(n_arms):
            if arm[DUE, x] - memory.tracked[x] > arm[DUE, best] - memory.tracked[best]:
                best = x
        memory.tracked[best] += 1
        return best


def build(instance: Instance, c: float, learner: str) -> Spl:
    over_arms = choice(learner, "learner", ("arms", "alternatives")) == "arms"
    return Spl(features_of(instance), instance.sigma, c, over_arms)


SPL = Kind(
    name="spl",
    build=build,
    parameters={"c": 1.0, "learner": "arms"},
    needs=(FEATURES,),
    reference="Degenne, Shao and Koolen (2020)",
    fits=shows_one_value,
    remembers=True,
    breaks={
        "level": "the ridge draws rewards to 0",
        "features": "the ridge is a length in their coordinates",
        "useless features": "the ridge and the radii count all features",
    },
)
