"""SOLID, a primal-dual policy for linear arms, in contexts too (Tirinzoni et al., 2020).

The Graves–Lai program as a Lagrangian: shares ω of the plays maximise the reward Σ ω(x) ⟨θ, x⟩
subject to inf Σ ω(x) d(x) ≥ 1/z over the parameters that change the best arm, with
d(x) = ⟨θ − θ', x⟩² / 2σ², and a multiplier λ ≥ 0.  In round t, on all data:

- exploit if the distance ‖θ̂ − θ'‖² in the norm of V_t exceeds β_t for every such θ';
- else draw an arm from ω, and take one step on the optimistic Lagrangian, γ its radius:
  ω(x) ∝ ω(x) exp(α_ω q(x)), q(x) = ⟨θ̂, x⟩ + √γ ‖x‖ + λ (d(x) + (2BL/σ²) √γ ‖x‖) at the θ' that
  answers ω, norms in V_t⁻¹, B and L bounds on parameters and arms; then λ falls by α_λ times what
  the constraint has to spare, within [0, λ_max].

The k-th phase has p_k = z_k e^{2k} rounds of exploration, with z_k = z e^k.
``schedule="theory"``: steps α = 1/√p_k, and ω and λ begin anew in every phase; ``"experiments"``:
α_ω = 0.5 and α_λ = 0.1, nothing begins anew.  z = 100, λ_max = 10 and λ = 0 at first.  The second
is better at short horizons, but its regret can keep a slope above the bound's, as Kirschner et al.
(2021) report: the optimistic terms satisfy the constraint by themselves for very long.

In contexts ω is shares in each of them, sums over arms are over contexts too, each weighed by how
often it has come, and θ' changes the best arm of some context.  The step is along q so weighed,
which is the slope in ω.

What could not be established, the paper's text not being at hand: its β and γ, taken here as the
bound of Lattimore and Szepesvári (2017) with δ = 1/t and δ = 1/S², S the rounds of exploration; the
factor 2BL/σ²; and its own values for experiments, which are the defaults of a public
implementation by others.  θ̂ is not projected on a bounded set.

V_t has a ridge of one observation in every direction, and B and L are lengths: decisions depend on
the units of features, and on the level of rewards.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.errors import InputError
from ossb.fields import choice
from ossb.kernels import kernel
from ossb.models.least_squares import INVERSE, TOLD
from ossb.models.within import leader_within
from ossb.policies.base import Kind
from ossb.policies.linear_arms import (
    Regression,
    features_of,
    new_regression,
    regress_on,
    shows_one_value,
)
from ossb.policies.linear_rivals import (
    Rivals,
    confidence_level,
    difference_along,
    face_each,
    invert_design,
    new_rivals,
)
from ossb.records import Floats, Ints, record
from ossb.structures.offers import FEATURES
from ossb.tally import EXPLOIT, EXPLORE, Decision, Tally

STEP_SHARES, STEP_MULTIPLIER = 0.5, 0.1
LARGEST_MULTIPLIER = 10.0
# places in SolidMemory.plan
MULTIPLIER, SCALE, LENGTH, SPENT, NUMBER = 0, 1, 2, 3, 4


class SolidMemory(NamedTuple):
    regression: Regression
    rivals: Rivals
    scores: np.ndarray  # float64 (n_arms,): ln ω up to a constant
    shares: np.ndarray  # float64 (n_arms,): ω
    slopes: np.ndarray  # float64 (n_arms,): q
    plan: np.ndarray  # float64 (5,): λ, z_k, p_k, rounds spent in the phase, k


@kernel
def exponentiate(scores: np.ndarray, low: int, high: int, out: np.ndarray) -> None:
    """Write the shares ∝ exp(score) of some arms, and shift the scores: the largest is 0."""
    top = -math.inf
    for x in range(low, high):
        top = max(top, scores[x])
    total = 0.0
    for x in range(low, high):
        scores[x] -= top
        out[x] = math.exp(scores[x])
        total += out[x]
    for x in range(low, high):
        out[x] /= total


@kernel
def pick(shares: np.ndarray, low: int, high: int, draw: float) -> int:
    """The arm, of some, of a uniform draw from [0, 1)."""
    last = low
    for x in range(low, high):
        if shares[x] > 0.0:
            last = x
            draw -= shares[x]
            if draw < 0.0:
                return x
    return last


@record
class Solid(NamedTuple):
    """Learn the shares of the plays and the price of information together.

    Parameters
    ----------
    features
        The arms, as columns.
    starts
        Arms ``starts[z]``, …, ``starts[z + 1]`` − 1 are those of context z.
    sigma
        Standard deviation of the noise.
    length
        L, that of the longest arm.
    norm
        B, a bound on the length of the true parameter.
    first_scale
        z_0.
    c
        The constant of the lower-order term of β and γ.
    tuned
        The schedule of the experiments.
    """

    features: Floats
    starts: Ints
    sigma: float
    length: float
    norm: float
    first_scale: float
    c: float
    tuned: bool

    def _check(self) -> None:
        if not 0 <= self.norm < math.inf:
            raise InputError("norm", "be non-negative", self.norm)
        if not 1 <= self.first_scale < math.inf:
            raise InputError("z", "be at least 1", self.first_scale)
        if not 0 <= self.c < math.inf:
            raise InputError("c", "be non-negative", self.c)

    def start(self) -> SolidMemory:
        n, sizes = self.features.shape[1], np.diff(self.starts)
        return SolidMemory(
            new_regression(self.features),
            new_rivals(self.features),
            np.zeros(n),
            np.repeat(1.0 / sizes, sizes),
            np.zeros(n),
            np.array([0.0, self.first_scale, self.first_scale, 0.0, 0.0]),
        )

    def select(self, tally: Tally, memory: SolidMemory, rng: Generator) -> Decision:
        return self.choose(0, self.features.shape[1], tally, memory, rng)

    def choose(
        self, low: int, high: int, tally: Tally, memory: SolidMemory, rng: Generator
    ) -> Decision:
        """Decide among the arms low, …, high − 1 of a context."""
        regression, rivals = memory.regression, memory.rivals
        t, d = tally.clock[0] + 1.0, self.features.shape[0]
        regress_on(self.features, tally, regression)
        leader = leader_within(regression.rewards, low, high)
        inverse = regression.squares.square[TOLD, INVERSE]
        nearest = face_each(self.features, regression.rewards, self.starts, inverse, rivals)
        draw = rng.random()
        enough = self.sigma * self.sigma * confidence_level(math.log(t), t, d, self.c)
        if nearest < 0 or rivals.distances[nearest] > enough:
            return Decision(leader, EXPLOIT)
        arm = pick(memory.shares, low, high, draw)
        rounds = tally.phases[EXPLORE] + 1.0
        radius = self.sigma * math.sqrt(confidence_level(2.0 * math.log(rounds), t, d, self.c))
        self.take_step(radius, tally, memory)
        return Decision(arm, EXPLORE)

    def take_step(self, radius: float, tally: Tally, memory: SolidMemory) -> None:
        """One step of ω and λ, and the count of the phases."""
        regression, plan, shares = memory.regression, memory.plan, memory.shares
        rival = self.answer(tally, memory)
        if rival >= 0:
            spare = -1.0 / plan[SCALE]
            variance, total = self.sigma * self.sigma, self.came_in_all(tally)
            for z in range(self.starts.shape[0] - 1):
                often = self.came(z, tally) / total
                for x in range(self.starts[z], self.starts[z + 1]):
                    bonus = radius * math.sqrt(regression.widths[x])
                    change = difference_along(self.features, x, rival, memory.rivals)
                    evidence = 0.5 * change * change / variance
                    evidence += 2.0 * self.norm * self.length / variance * bonus
                    spare += often * shares[x] * evidence
                    worth = regression.rewards[x] + bonus + plan[MULTIPLIER] * evidence
                    memory.slopes[x] = often * worth
            share_step, multiplier_step = STEP_SHARES, STEP_MULTIPLIER
            if not self.tuned:
                share_step = 1.0 / math.sqrt(plan[LENGTH])
                multiplier_step = share_step
            for x in range(shares.shape[0]):
                memory.scores[x] += share_step * memory.slopes[x]
            moved = plan[MULTIPLIER] - multiplier_step * spare
            plan[MULTIPLIER] = min(max(moved, 0.0), LARGEST_MULTIPLIER)
        plan[SPENT] += 1.0
        if plan[SPENT] >= plan[LENGTH]:
            plan[NUMBER] += 1.0
            plan[SPENT] = 0.0
            plan[SCALE] = self.first_scale * math.exp(plan[NUMBER])
            plan[LENGTH] = plan[SCALE] * math.exp(2.0 * plan[NUMBER])
            if not self.tuned:
                plan[MULTIPLIER] = 0.0
                for x in range(shares.shape[0]):
                    memory.scores[x] = 0.0
        for z in range(self.starts.shape[0] - 1):
            exponentiate(memory.scores, self.starts[z], self.starts[z + 1], shares)

    def answer(self, tally: Tally, memory: SolidMemory) -> int:
        """The parameter that answers ω, as the rival that it makes best; −1 where there is none."""
        weights, total = memory.slopes, self.came_in_all(tally)  # slopes are free until the step
        for z in range(self.starts.shape[0] - 1):
            often = self.came(z, tally) / total
            for x in range(self.starts[z], self.starts[z + 1]):
                weights[x] = often * memory.shares[x]
        if not invert_design(self.features, weights, memory.rivals):
            return -1
        rewards, inverse = memory.regression.rewards, memory.rivals.designs[2]
        return face_each(self.features, rewards, self.starts, inverse, memory.rivals)

    def came(self, z: int, tally: Tally) -> float:
        """In how many rounds a context came, and once more."""
        rounds = 1.0
        for x in range(self.starts[z], self.starts[z + 1]):
            rounds += tally.plays[x]
        return rounds

    def came_in_all(self, tally: Tally) -> float:
        """The sum of `came` over all contexts."""
        rounds = 0.0
        for z in range(self.starts.shape[0] - 1):
            rounds += self.came(z, tally)
        return rounds


def build(instance: Any, z: float, norm: float, c: float, schedule: str) -> Solid:
    tuned = choice(schedule, "schedule", ("experiments", "theory")) == "experiments"
    features = features_of(instance)
    length = float(np.sqrt((features * features).sum(axis=0).max()))
    starts = np.array([0, features.shape[1]])
    if instance.has_contexts:
        starts = instance.layout.starts.astype(np.int64)
    return Solid(features, starts, instance.sigma, length, norm, z, c, tuned)


SOLID = Kind(
    name="solid",
    build=build,
    parameters={"z": 100.0, "norm": 1.0, "c": 1.0, "schedule": "experiments"},
    needs=(FEATURES,),
    reference="Tirinzoni, Pirotta, Restelli and Lazaric (2020)",
    fits=shows_one_value,
    remembers=True,
    in_contexts=True,
    breaks={
        "units": "step sizes and norm, the bound on the length of the parameter, have units",
        "level": "the ridge draws rewards to 0",
        "features": "the ridge and norm are lengths in their coordinates",
        "useless features": "the ridge counts a copy as another one",
    },
)
