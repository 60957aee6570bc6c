"""Asymptotically optimal information-directed sampling (Kirschner et al., 2021).

With V_s = I + Σ x xᵀ over the exploration rounds before the s-th (what exploitation shows is
discarded), θ̂_s their ridge regression, x̂ its best arm, ν(z) the nearest parameter at which z is
no worse than x̂, and β_s(1/δ) = (σ √(2 ln(1/δ) + ln det V_s) + S)²:

- exploit x̂ in round t if ‖ν(z) − θ̂‖² ≥ β_s(t ln t) for every z, in the norm of V_s;
- else, with β = β_s(s²), estimate gaps Δ̂(x) = max_z (⟨θ̂, z⟩ + √β ‖z‖) − ⟨θ̂, x⟩, norms in V_s⁻¹,
  and the information I(x) = ½ Σ_z q(z) (|⟨ν(z) − θ̂, x⟩| + √β ‖x‖)²,
  q(z) ∝ exp(−η_s ‖ν(z) − θ̂‖²), η_s = min over l ≤ s of ln(K) / √m_l, m = ½ min_z ‖ν(z) − θ̂‖²;
  play x̂ or one other arm, at random with the chance that minimises Δ̂(μ)² / I(μ).

``optimism="ucb"`` adds √β ‖x‖ to the information of the most optimistic arm alone: a variant of
the paper, since the term on every arm explores too much at short horizons.  The parameter set is
unconstrained, as in the paper's experiments, which makes ν(z) explicit.

What could not be established: the displayed formulas of q and Δ̂ were not legible in the text at
hand; they are as public implementations have them.  Departures: distances in q and m are in
units of σ, which the paper takes as 1; m is floored at 10⁻¹⁰.

The ridge I and S are the paper's, and are in the units of the features: decisions depend on these,
and on the level of rewards.
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
from ossb.policies.exploration_data import (
    ExplorationData,
    ask_for,
    new_exploration_data,
    take_in,
)
from ossb.policies.linear_arms import (
    Regression,
    features_of,
    new_regression,
    regress_on,
    shows_one_value,
)
from ossb.policies.linear_rivals import (
    Rivals,
    face_rivals,
    new_rivals,
)
from ossb.records import Floats, record
from ossb.structures.base import Instance
from ossb.structures.offers import FEATURES
from ossb.tally import EXPLOIT, EXPLORE, Decision, Tally

LEAST_EVIDENCE = 1e-10
NEGLIGIBLE = 1e-15  # rivals of less weight are left out: there are many, and they add nothing


class IdsMemory(NamedTuple):
    rounds: ExplorationData
    regression: Regression
    rivals: Rivals
    chances: np.ndarray  # float64 (n_arms,): q
    bonuses: np.ndarray  # float64 (n_arms,): √β ‖x‖, where it is granted
    gained: np.ndarray  # float64 (n_arms,): I
    most: np.ndarray  # float64 (1,): the largest m so far


@kernel
def weigh_rivals(
    leader: int, rate: float, scale: float, distances: np.ndarray, out: np.ndarray
) -> None:
    """q(z) ∝ exp(−rate ‖ν(z) − θ̂‖² / scale), 0 where there is no such parameter."""
    least = math.inf
    for z in range(distances.shape[0]):
        least = min(least, distances[z])
    total = 0.0
    for z in range(distances.shape[0]):
        out[z] = 0.0
        if z != leader and distances[z] < math.inf:
            out[z] = math.exp(-rate * (distances[z] - least) / scale)
            total += out[z]
    for z in range(distances.shape[0]):
        out[z] /= total


@kernel
def learn_from(
    features: np.ndarray,
    bonuses: np.ndarray,
    chances: np.ndarray,
    rivals: Rivals,
    out: np.ndarray,
) -> None:
    """Write ½ Σ_z q(z) (|⟨ν(z) − θ̂, x⟩| + bonus)² of every arm x."""
    d, n = features.shape
    changes = rivals.scales  # no longer needed
    for x in range(n):
        out[x] = 0.0
    for z in range(n):
        if chances[z] > NEGLIGIBLE:
            weight = 0.5 * chances[z]
            for x in range(n):
                changes[x] = 0.0
            for i in range(d):
                along = rivals.directions[i, z]
                for x in range(n):
                    changes[x] += along * features[i, x]
            for x in range(n):
                change = abs(changes[x]) + bonuses[x]
                out[x] += weight * change * change


@kernel
def mixing_chance(gap: float, other_gap: float, gained: float, other_gained: float) -> float:
    """The p that minimises ((1−p) gap + p other_gap)² / ((1−p) gained + p other_gained).

    The first gap is the smaller.
    """
    if other_gained <= gained:
        return 0.0
    if other_gap <= gap:
        return 1.0
    p = gap / (other_gap - gap) - 2.0 * gained / (other_gained - gained)
    return min(max(p, 0.0), 1.0)


@record
class Ids(NamedTuple):
    """Trade regret for information about the parameters that would change the leader.

    Parameters
    ----------
    features
        The arms, as columns.
    sigma
        Standard deviation of the noise.
    norm
        S, a bound on the length of the true parameter.
    sparing
        Be optimistic about the information of the most optimistic arm alone.
    """

    features: Floats
    sigma: float
    norm: float
    sparing: bool

    def _check(self) -> None:
        if not 0 <= self.norm < math.inf:
            raise InputError("norm", "be non-negative", self.norm)

    def start(self) -> IdsMemory:
        n = self.features.shape[1]
        return IdsMemory(
            new_exploration_data(n),
            new_regression(self.features),
            new_rivals(self.features),
            np.zeros(n),
            np.zeros(n),
            np.zeros(n),
            np.zeros(1),
        )

    def select(self, tally: Tally, memory: IdsMemory, rng: Generator) -> Decision:
        take_in(tally, memory.rounds)
        regression, rivals = memory.regression, memory.rivals
        leader = regress_on(self.features, memory.rounds.explored, regression)
        inverse = regression.squares.square[TOLD, INVERSE]
        nearest = face_rivals(self.features, regression.rewards, leader, inverse, rivals)
        draw = rng.random()
        if nearest < 0:
            ask_for(leader, False, memory.rounds)
            return Decision(leader, EXPLOIT)
        least = rivals.distances[nearest]
        t = tally.clock[0] + 1.0
        logarithm = math.log(max(t * math.log(t), 1.0))
        spread = regression.squares.log_det[TOLD]
        enough = self.sigma * math.sqrt(2.0 * logarithm + spread) + self.norm
        if least >= enough * enough:
            ask_for(leader, False, memory.rounds)
            return Decision(leader, EXPLOIT)
        rounds = tally.phases[EXPLORE] + 1.0
        radius = self.sigma * math.sqrt(4.0 * math.log(rounds) + spread) + self.norm
        variance = self.sigma * self.sigma
        memory.most[0] = max(memory.most[0], 0.5 * least / variance, LEAST_EVIDENCE)
        rate = math.log(rivals.distances.shape[0]) / math.sqrt(memory.most[0])
        weigh_rivals(leader, rate, variance, rivals.distances, memory.chances)
        arm = self.trade(leader, radius, draw, memory)
        ask_for(arm, True, memory.rounds)
        return Decision(arm, EXPLORE)

    def trade(self, leader: int, radius: float, draw: float, memory: IdsMemory) -> int:
        """The leader or another arm, by the least ratio of squared regret to information."""
        regression, gained, bonuses = memory.regression, memory.gained, memory.bonuses
        for x in range(gained.shape[0]):
            bonuses[x] = radius * math.sqrt(regression.widths[x])
        optimist, top = leader, -math.inf
        for x in range(gained.shape[0]):
            value = regression.rewards[x] + bonuses[x]
            if value > top:
                optimist, top = x, value
        if self.sparing:
            for x in range(gained.shape[0]):
                if x != optimist:
                    bonuses[x] = 0.0
        learn_from(self.features, bonuses, memory.chances, memory.rivals, gained)
        best, chance, least = leader, 0.0, math.inf
        gap = top - regression.rewards[leader]
        for x in range(gained.shape[0]):
            if x == leader:
                continue
            other = top - regression.rewards[x]
            p = mixing_chance(gap, other, gained[leader], gained[x])
            regret = (1.0 - p) * gap + p * other
            knowledge = (1.0 - p) * gained[leader] + p * gained[x]
            ratio = regret * regret / knowledge if knowledge > 0.0 else math.inf
            if ratio < least:
                best, chance, least = x, p, ratio
        return best if draw < chance else leader


def build(instance: Instance, norm: float, optimism: str) -> Ids:
    sparing = choice(optimism, "optimism", ("all", "ucb")) == "ucb"
    return Ids(features_of(instance), instance.sigma, norm, sparing)


IDS = Kind(
    name="ids",
    build=build,
    parameters={"norm": 1.0, "optimism": "all"},
    needs=(FEATURES,),
    reference="Kirschner, Lattimore, Vernade and Szepesvári (2021)",
    fits=shows_one_value,
    remembers=True,
    breaks={
        "units": "norm, the bound on the length of the parameter, has the unit of rewards",
        "level": "the ridge draws rewards to 0",
        "features": "the ridge and norm are lengths in their coordinates",
        "useless features": "the ridge counts a copy as another one",
    },
)
