"""Classical bandits: arms that tell nothing of one another.

Lai and Robbins (1985), Burnetas and Katehakis (1996): c(x) = 1 / d(θ_x, θ*).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ossb import fields as read
from ossb.families import FAMILIES
from ossb.graves_lai.answers import Answer
from ossb.graves_lai.cost import Cost
from ossb.graves_lai.independent import proved
from ossb.graves_lai.proof import Ball, Support
from ossb.models.classical import ClassicalModel
from ossb.structures.answered_means import AnsweredMeans
from ossb.structures.base import Bound
from ossb.structures.listed import MeanVector
from ossb.structures.offers import DOUBTS, INDEPENDENT, MODEL, OWN_COMPONENT
from ossb.structures.priced_levels import FreeMeans, PricedIndependent
from ossb.structures.roster import Keys
from ossb.tally import Tally


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Classical(MeanVector):
    """Independent arms.

    Parameters
    ----------
    theta
        Mean of each arm, where known.
    n_arms
        Number of arms; taken from ``theta`` where that is given.

    Examples
    --------
    >>> import ossb
    >>> arms = ossb.Classical(observation="bernoulli", theta=[0.5, 0.6, 0.7])
    >>> round(ossb.bound(arms).value, 6)
    6.722414
    """

    kind: ClassVar[str] = "classical"
    offers: ClassVar[tuple[str, ...]] = (MODEL, DOUBTS, INDEPENDENT, OWN_COMPONENT)
    parameter: ClassVar[str] = "theta"
    observations: ClassVar[tuple[str, ...]] = FAMILIES
    reference: ClassVar[str] = "Lai and Robbins (1985); Burnetas and Katehakis (1996)"

    can_restrict: ClassVar[bool] = True
    can_grow: ClassVar[bool] = True

    n_arms: Any = None

    def __post_init__(self) -> None:
        given = None if self.n_arms is None else read.integer(self.n_arms, "n_arms", least=1)
        self._set("n_arms", self._read_theta(given))

    def solve(self, gap: float) -> Bound:
        support, alternatives, value = proved(
            self.family, self.rewards, self.best, self.others, self.sign
        )
        return Bound(self, value, value, support, alternatives)

    def priced(self, cost: Cost) -> FreeMeans | PricedIndependent:
        free = FreeMeans(self, cost)
        return free if free.is_free else PricedIndependent(self, cost)

    def answered(self, cost: Cost, answer: Answer) -> AnsweredMeans:
        return AnsweredMeans(self, cost, answer)

    def model(self) -> ClassicalModel:
        """The structure as policies see it."""
        has_prior = self.observation in ("bernoulli", "bounded")
        return ClassicalModel(
            self.family, self.n_arms, self.n_arms, 2.0 if has_prior else 0.0, 0.5 * self.sign
        )

    # arms that come and go: a new one brings nothing but its name

    def fewer(self, kept: Sequence[int], keys: Keys) -> None:
        keys["n_arms"] = len(kept)

    def one_more(self, given: Keys, keys: Keys) -> None:
        keys["n_arms"] = self.n_arms + 1

    def leading(self, tally: Tally, told_first: np.ndarray) -> int:
        return self.leading_by_means(tally, told_first)

    def parameter_from(self, memory: Any, means: np.ndarray, counts: np.ndarray) -> np.ndarray:
        self.refuse_untold(counts)
        return super().parameter_from(memory, means, counts)

    def exact_information(self, support: Support, multipliers: Any) -> Ball:
        from ossb.graves_lai.exact.means import information  # loads flint

        return information(self.truth, self.others.tolist(), support)
