"""Semi-bandit feedback on arm sets that are not listed.

Closed form for matroids, flows for paths, row and column generation for matchings; and the
same three ways to prove the upper side of a bound for any rates.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ossb import fields as read
from ossb.arm_sets.base import indicator
from ossb.errors import InputError
from ossb.graves_lai.cost import Cost
from ossb.graves_lai.proof import Alternative, Arm, Ball, Support
from ossb.graves_lai.semi_bandit.detours import solve_paths
from ossb.graves_lai.semi_bandit.implicit import solve_implicit
from ossb.graves_lai.semi_bandit.implicit_solution import ImplicitSolution, Items, heaviest_ratio
from ossb.graves_lai.semi_bandit.matroid import solve_matroid
from ossb.structures.base import Bound
from ossb.structures.combinatorial_cases import (
    ListedSemiBandit,
    items_truth,
    raised,
    refuse_ties,
)
from ossb.structures.priced_items import PricedDescribed

MOST_SETS = 2_000  # that are listed where plays have other costs than regret


class _Numbered(ListedSemiBandit):
    """Arms by their number in a list that only we have."""

    def place(self, arm: Arm) -> int:
        assert isinstance(arm, int)
        return arm


class ImplicitSemiBandit:
    """Every item of the arm played is observed; arms come from an oracle."""

    def __init__(self, instance: Any, arm_set: Any, means: np.ndarray) -> None:
        self.instance, self.arm_set, self.means = instance, arm_set, means
        self.best: Items = arm_set.maximize(means)
        self.top = self.reward(self.best)
        refuse_ties(arm_set, means, self.best)

    def reward(self, arm: Items) -> float:
        return math.fsum(self.means[list(arm)].tolist())

    def checked(self, arm: Arm) -> Items:
        """The arm as a sorted tuple of its items, if it is one of the set."""
        entries = arm if isinstance(arm, tuple) else (arm,)
        items = tuple(sorted(read.integer(item, "arm") for item in entries))
        if not self.arm_set.contains(items):
            raise InputError("arm", f"be one of {self.instance.arm_set}", list(items))
        return items

    def gap_of(self, arm: Arm) -> float:
        items = set(self.checked(arm))
        kept = items & set(self.best)
        lost = self.means[sorted(set(self.best) - kept)]
        won = self.means[sorted(items - kept)]
        return math.fsum([*lost.tolist(), *(-won).tolist()])

    def solve(self, gap: float) -> Bound:
        found = self._found(gap)
        sign, family, alternatives = self.instance.sign, self.instance.family, []
        for arm, parameter, weight in zip(
            found.alternatives, found.confusing, found.weights, strict=True
        ):
            moved = np.array([i for i in arm if i not in set(self.best)])
            witness = raised(family, parameter, moved, self.gap_of(arm))
            alternatives.append(Alternative(arm, sign * parameter, sign * witness, float(weight)))
        support = [(arm, float(rate)) for arm, rate in found.support if rate > 0]
        # both sides by the gaps and parameters as they are, rounded
        upper = math.fsum(rate * self.gap_of(arm) for arm, rate in support)
        lower = min(float(found.lower), upper)
        return Bound(self.instance, lower, upper, support, alternatives, status=found.status)

    def _found(self, gap: float) -> ImplicitSolution:
        if self.arm_set.is_matroid:
            return solve_matroid(self.arm_set, self.means, self.instance.family)
        if self.instance.arm_set == "paths":
            return solve_paths(self.arm_set, self.means, self.instance.sigma, gap)
        return solve_implicit(self.arm_set, self.means, self.instance.sigma, gap)

    # what proves it

    @property
    def truth(self) -> Any:
        """φ and the best arm as proofs see them."""
        return items_truth(self.instance, self.best)

    def _reduced(self) -> Any:
        """What tells of any means whether the best arm is the best."""
        from ossb.graves_lai.exact.sets import of_matchings, of_paths  # loads flint

        return of_paths if self.instance.arm_set == "paths" else of_matchings

    def priced(self, cost: Cost) -> PricedDescribed:
        """The sets are listed, as far as that goes: no oracle is known for moves both ways."""
        instance = self.instance
        if instance.observation == "exponential":
            must = "be regret for exponential items, whose alternatives are no convex programs"
            raise InputError("cost", must, cost.plain)
        if self.arm_set.exceeds(MOST_SETS):
            must = f"be regret for semi_bandit feedback on more than {MOST_SETS:,} described sets"
            raise InputError("cost", must, cost.plain)
        arms = [tuple(sorted(arm)) for arm in self.arm_set.arms()]
        table = np.array([indicator(self.arm_set.n_items, arm) for arm in arms], dtype=np.float64)
        return PricedDescribed(instance, cost, _Numbered(instance, table, self.means), arms)

    def exact_gap(self, arm: Arm) -> Ball:
        return self.truth.gap(self.checked(arm))

    def exact_confusing(self, alternative: Alternative) -> Any:
        from ossb.graves_lai.exact.items import confusing  # loads flint

        return confusing(self.truth, alternative, self.checked(alternative.arm))

    def exact_heaviest(self, confusing: Sequence[Any], weights: Sequence[float]) -> Ball:
        from ossb.graves_lai.exact import balls, items, sets  # loads flint

        truth = self.truth
        pull = items.collected(truth, confusing, weights)
        if self.arm_set.is_matroid:
            worst = items.exchange(truth, self.arm_set.replaceable(self.best))
            return items.heaviest_exchange(truth, worst, pull)
        rounded = np.zeros(self.means.size)
        for i, ball in pull.items():
            rounded[i] = float(ball)
        if not np.isfinite(rounded).all():
            return balls.INFINITE  # such weights prove nothing
        ratio, _ = heaviest_ratio(self.arm_set, self.means, self.best, rounded)
        return sets.heaviest(self._reduced(), self.arm_set, truth, pull, ratio)

    def exact_information(self, support: Support) -> Ball:
        from ossb.graves_lai.exact import items, matchings, paths, sets  # loads flint
        from ossb.graves_lai.exact.linear import variance

        truth = self.truth
        rates = items.seen((self.checked(arm), rate) for arm, rate in support)
        if self.arm_set.is_matroid:
            worst = items.exchange(truth, self.arm_set.replaceable(self.best))
            return items.information_of_exchanges(truth, worst, rates)
        costs = sets.gaps_of(self._reduced(), self.arm_set, truth)
        unit = 2 * variance(self.instance.sigma)
        if self.instance.arm_set == "paths":
            return paths.information(self.arm_set, self.best, self.means, costs, rates, unit)
        return matchings.information(self.arm_set, truth.best, costs, rates, unit)
