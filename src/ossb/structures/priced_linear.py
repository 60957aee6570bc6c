"""Priced programs over arms with features, whose divergences are quadratic.

Where the best arm b is free, these are the rows of regret at other costs.  Where it has a price,
arm j is told by x_j − x_b, and plays of b count as all others: minimise Σ κ_x η_x subject to
2σ² (x_j − x_b)ᵀ V(η)⁻¹ (x_j − x_b) ≤ margin_j², V(η) = Σ η_x x xᵀ.
"""

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ossb.graves_lai.cost import Cost
from ossb.graves_lai.linear.solution import LinearSolution, solve, solve_apart
from ossb.graves_lai.proof import Alternative, Arm, Ball, Support
from ossb.structures.base import Bound
from ossb.structures.priced import Priced

BEYOND = 1.1  # a witness goes that much further than its confusing parameter
SHARE = 0.8  # of the gap asked for, to which the solver goes


class PricedLinear(Priced):
    """Arms, the parameter, and by how much each mean, or index, is less than the best one.

    Parameters
    ----------
    arms, phi
        Features, and the parameter on them.
    margins
        ⟨φ, x*⟩ − ⟨φ, x⟩, in the sign that maximises.
    """

    def __init__(
        self, instance: Any, cost: Cost, arms: np.ndarray, phi: np.ndarray, margins: np.ndarray
    ) -> None:
        super().__init__(instance, cost)
        self.arms, self.phi, self.margins = arms, np.asarray(phi), margins

    def place(self, arm: Arm) -> int:
        """Where an arm stands in the list."""
        return int(self.instance.position(arm))

    def arm_at(self, place: int) -> Arm:
        """The arm at a place of the list."""
        return place

    @property
    def best(self) -> int:
        """Where the best arm stands."""
        return self.place(self.best_arm())

    @property
    def is_free(self) -> bool:
        return not self.prices[self.best] > 0.0

    @np.errstate(all="ignore")  # at the ends of the doubles: bounds that are not finite
    def solve(self, gap: float) -> Bound:
        instance, variance = self.instance, self.instance.sigma * self.instance.sigma
        if len(self.arms) == 1:
            return Bound(instance, 0.0, 0.0, [], [])
        others, found = self._found(SHARE * gap)
        alternatives = []
        for place, step in zip(found.alternatives, instance.sign * found.directions, strict=True):
            arm = self.arm_at(int(others[place]))
            weight = float(found.weights[place] * variance)
            alternatives.append(Alternative(arm, step, BEYOND * step, weight, relative=True))
        rates = found.rates * variance
        played = np.flatnonzero(rates > 0.0).tolist()
        support = [(self.arm_at(place), float(rates[place])) for place in played]
        upper = math.fsum((rates * self.prices)[played].tolist())
        return Bound(instance, min(found.lower * variance, upper), upper, support, alternatives)

    def _found(self, gap: float) -> tuple[np.ndarray, LinearSolution]:
        """The solution for unit variance, and which arm each of its rows is about."""
        if self.is_free:
            found = solve(self.arms, self.best, self.prices, self.margins, gap)
            return np.arange(len(self.arms)), found
        others = np.flatnonzero(np.arange(len(self.arms)) != self.best)
        apart = self.arms[others] - self.arms[self.best]
        found = solve_apart(self.arms, apart, self.prices, self.margins[others], gap)
        return others, found

    @property
    def frame(self) -> Any:
        """The arms as proofs see them."""
        from ossb.graves_lai.exact.linear import frame_of  # loads flint

        instance = self.instance
        return frame_of(instance, self.arms, self.phi, self.best, instance.sign, self.is_free)

    def exact_confusing(self, alternative: Alternative) -> Any:
        return self.frame.confusing(alternative, self.place(alternative.arm))

    def exact_heaviest(self, confusing: Sequence[Any], weights: Sequence[float]) -> Ball:
        from ossb.graves_lai.exact.linear import heaviest, variance  # loads flint

        costs = [self.exact_cost(self.arm_at(k)) for k in range(len(self.arms))]
        return heaviest(self.frame, confusing, weights, costs, variance(self.instance.sigma))

    def exact_information(self, support: Support, multipliers: Any) -> Ball:
        from ossb.graves_lai.exact.linear import information, variance  # loads flint
        from ossb.graves_lai.exact.means import summed

        rates = summed([(self.place(arm), rate) for arm, rate in support])
        return information(self.frame, rates, variance(self.instance.sigma))


class PricedEnumerated(PricedLinear):
    """Sums over the sets of a described family, which are listed after all; an arm is its items."""

    def __init__(self, instance: Any, cost: Cost, case: Any) -> None:
        listed = case.listed
        super().__init__(instance, cost, listed.arms, instance.phi, listed.gaps)
        self.case = case

    @cached_property
    def prices(self) -> np.ndarray:
        return self.cost.prices(self.margins)

    def place(self, arm: Arm) -> int:
        return int(self.case.place_of(arm))

    def arm_at(self, place: int) -> Arm:
        arm: Arm = self.case.arms[place]
        return arm
