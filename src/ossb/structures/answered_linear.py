"""More than the best of linear arms: contrasts of the parameter that change their sign.

Minimise Σ κ_x η_x subject to 2σ² uᵀ V(η)⁻¹ u ≤ margin_u², V(η) = Σ η_x x xᵀ, over the differences
of two arms that may change sides, or the arms that may cross the level.
"""

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ossb.graves_lai.answers import LEVEL
from ossb.graves_lai.linear.solution import solve_apart
from ossb.graves_lai.proof import Alternative, Ball, Support
from ossb.structures.answered import Answered, about
from ossb.structures.base import Bound
from ossb.structures.priced_linear import BEYOND, SHARE


class AnsweredLinear(Answered):
    """Linear bandits."""

    @cached_property
    def asked(self) -> list[tuple[int, int]]:
        """The pairs, but for arms that show nothing, whose mean is 0 for sure."""
        silent = {x for x, row in enumerate(self.instance.arms.tolist()) if not any(row)}
        return [pair for pair in self.pairs if LEVEL not in pair or about(pair)[0] not in silent]

    def contrasts(self) -> tuple[np.ndarray, np.ndarray]:
        """u of every pair, worse less better, and by how much ⟨φ, u⟩ lacks."""
        arms, means = np.asarray(self.instance.arms), self.rewards
        level = self.instance.sign * self.level
        rows = np.empty((len(self.asked), arms.shape[1]))
        margins = np.empty(len(self.asked))
        for place, (high, low) in enumerate(self.asked):
            better = np.zeros(arms.shape[1]) if high == LEVEL else arms[high]
            worse = np.zeros(arms.shape[1]) if low == LEVEL else arms[low]
            rows[place] = worse - better
            top = level if high == LEVEL else means[high]
            margins[place] = top - (level if low == LEVEL else means[low])
        return rows, margins

    @np.errstate(all="ignore")  # at the ends of the doubles: bounds that are not finite
    def solve(self, gap: float) -> Bound:
        instance, variance = self.instance, self.instance.sigma * self.instance.sigma
        rows, margins = self.contrasts()
        if not len(rows):
            return Bound(instance, 0.0, 0.0, [], [])
        found = solve_apart(np.asarray(instance.arms), rows, self.prices, margins, SHARE * gap)
        alternatives = []
        for place, step in zip(found.alternatives, instance.sign * found.directions, strict=True):
            arm, piece = about(self.asked[place])
            weight = float(found.weights[place] * variance)
            alternatives.append(Alternative(arm, step, BEYOND * step, weight, piece, relative=True))
        rates = found.rates * variance
        support = [(int(arm), float(rates[arm])) for arm in np.flatnonzero(rates > 0.0)]
        upper = math.fsum(rate * float(self.prices[arm]) for arm, rate in support)
        return Bound(instance, min(found.lower * variance, upper), upper, support, alternatives)

    @cached_property
    def frame(self) -> Any:
        """The arms as proofs see them."""
        from ossb.graves_lai.exact.contrasts import frame_without_leaders  # loads flint

        instance = self.instance
        arms = np.asarray(instance.arms)
        return frame_without_leaders(arms, np.asarray(instance.phi), instance.sign)

    @cached_property
    def exact_contrasts(self) -> dict[tuple[int, int], Any]:
        """What each pair asks of the parameter."""
        from ossb.graves_lai.exact.contrasts import contrasts  # loads flint

        return dict(zip(self.asked, contrasts(self.frame, self.asked, self.level), strict=True))

    def exact_gap(self, arm: Any) -> Ball:
        signed = [int(self.instance.sign) * value for value in self.frame.values]
        top = signed[0]
        for value in signed[1:]:  # doubles may take another arm for the best
            top = top.max(value)
        return top - signed[self.instance.position(arm)]

    def exact_confusing(self, alternative: Alternative) -> Any:
        from ossb.graves_lai.exact.contrasts import confusing  # loads flint

        asked = self.exact_contrasts[self.pair_of(alternative)]
        return confusing(self.frame, alternative, asked)

    def exact_heaviest(self, confusing: Sequence[Any], weights: Sequence[float]) -> Ball:
        from ossb.graves_lai.exact.linear import heaviest, variance  # loads flint

        costs = [self.exact_cost(arm) for arm in range(self.rewards.size)]
        return heaviest(self.frame, confusing, weights, costs, variance(self.instance.sigma))

    def exact_information(self, support: Support, multipliers: Any) -> Ball:
        from ossb.graves_lai.exact.balls import INFINITE
        from ossb.graves_lai.exact.contrasts import information  # loads flint
        from ossb.graves_lai.exact.linear import variance
        from ossb.graves_lai.exact.means import summed

        asked = list(self.exact_contrasts.values())
        if not asked:
            return INFINITE
        return information(self.frame, asked, summed(support), variance(self.instance.sigma))
