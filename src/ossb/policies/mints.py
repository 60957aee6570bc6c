"""MINTS, minimalist Thompson sampling (Wang, 2025 and 2026).

The prior is on where the optimum is, uniform over the arms; everything else is eliminated by
profile likelihood.  The arm is drawn from the generalised posterior,

    P(x) ∝ exp(−GLR(x)),   GLR(x) = ln sup over Θ of the likelihood
                                    − ln sup over {θ ∈ Θ: x is optimal} of it,

from the first round on: nothing is played to begin with, since an arm that nothing was told of has
GLR 0.  The author's code cuts GLR off at 15, so that no arm falls below a share of about e⁻¹⁵;
the text known to us does not, and neither does this policy (unless ``cutoff`` is given).

For Lipschitz arms the model takes likelihood ratios around the maximum-likelihood means, not from
the data: the same where the means told are Lipschitz themselves, else an approximation.

Dueling structures are left out: the optimal pair, an item with itself, shows nothing, and the
paper does not say what to play in its place.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.errors import InputError
from ossb.models.base import Doubting
from ossb.policies.base import Kind
from ossb.policies.evidence import best_told
from ossb.records import record
from ossb.structures.base import Instance
from ossb.structures.offers import DOUBTS
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE, Decision, Tally


class MintsMemory(NamedTuple):
    """What the model holds, and the posterior."""

    model: Any
    order: np.ndarray  # int64 (n_arms,): room for the model
    chances: np.ndarray  # float64 (n_arms,): GLR, then exp(−GLR)


@record
class Mints(NamedTuple):
    """Draw the arm from the generalised posterior of the optimum.

    Parameters
    ----------
    model
        The structure.
    cutoff
        A larger GLR counts as this much.
    """

    model: Doubting
    cutoff: float

    def start(self) -> MintsMemory:
        n_arms = self.model.n_arms
        return MintsMemory(self.model.start(), np.arange(n_arms), np.zeros(n_arms))

    def select(self, tally: Tally, memory: MintsMemory, rng: Generator) -> Decision:
        self.model.doubt(tally, memory.model, memory.order, memory.chances)
        total = 0.0
        for x in range(memory.chances.shape[0]):
            memory.chances[x] = math.exp(-min(max(memory.chances[x], 0.0), self.cutoff))
            total += memory.chances[x]
        arm, left = max(best_told(tally), 0), rng.random() * total  # where all underflow
        for x in range(memory.chances.shape[0]):
            if memory.chances[x] > 0.0:
                arm = x
                left -= memory.chances[x]
                if left < 0.0:
                    break
        if tally.plays[arm] == 0:
            return Decision(arm, ESTIMATE)
        return Decision(arm, EXPLOIT if arm == best_told(tally) else EXPLORE)


def build(instance: Any, cutoff: float | None) -> Mints:
    cutoff = math.inf if cutoff is None else cutoff
    if not cutoff > 0:
        raise InputError("cutoff", "be positive", cutoff)
    return Mints(instance.model(), cutoff)


def fits(instance: Instance) -> str | None:
    return instance.unprojected()


MINTS = Kind(
    name="mints",
    build=build,
    parameters={"cutoff": None},
    needs=(DOUBTS,),
    reference="Wang (2025)",
    fits=fits,
)
