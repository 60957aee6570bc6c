"""Priced programs over listed sets of items, each of which is observed."""

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ossb.errors import InputError
from ossb.graves_lai import program
from ossb.graves_lai.cost import Cost
from ossb.graves_lai.information.items import SetItems, set_items, step_of
from ossb.graves_lai.information.items import told as look_at
from ossb.graves_lai.program.warm import NOBODY
from ossb.graves_lai.proof import Alternative, Arm, Ball, ProofError, Support
from ossb.graves_lai.semi_bandit.bernoulli_items import BernoulliItems
from ossb.graves_lai.semi_bandit.gaussian_items import GaussianItems
from ossb.graves_lai.semi_bandit.item_family import ItemFamily
from ossb.graves_lai.semi_bandit.poisson_items import PoissonItems
from ossb.structures.base import Bound
from ossb.structures.priced import Priced

SHARE = 0.5  # of the gap asked for, to which the barrier goes
BEYOND = 0.25  # of its gap: by how much the items of an alternative go further in a witness


def family_of(instance: Any, sign: float) -> ItemFamily:
    """How items are observed, of which more is better by ``sign``."""
    if instance.observation == "gaussian":
        return GaussianItems(instance.sigma)
    return (PoissonItems if instance.observation == "poisson" else BernoulliItems)(sign)


class PricedItems(Priced):
    """Listed sets with semi-bandit feedback."""

    def __init__(self, instance: Any, cost: Cost, case: Any) -> None:
        super().__init__(instance, cost)
        self.case = case

    def place(self, arm: Arm) -> int:
        """Where a set stands in the list."""
        return int(self.instance.position(arm))

    def arm_at(self, place: int) -> Arm:
        """The set at a place of the list."""
        return place

    @property
    def is_free(self) -> bool:
        return not self.prices[self.case.best] > 0.0

    def _posed(self) -> SetItems:
        instance, case = self.instance, self.case
        rising, falling = (family_of(instance, sign * instance.sign) for sign in (1.0, -1.0))
        return set_items(
            rising, case.arms, case.means, case.gaps, case.arms[case.best],
            falling=None if self.is_free else falling,
        )  # fmt: skip

    @np.errstate(all="ignore")  # at the ends of the doubles: bounds that are not finite
    def solve(self, gap: float) -> Bound:
        instance, items = self.instance, self._posed()
        found = program.solve(items, self.prices, NOBODY, SHARE * gap)
        alternatives = []
        for row in np.flatnonzero(found.weights > 0.0).tolist():
            arm = self.arm_at(row)
            step = instance.sign * step_of(items, row)
            # a little further in what moves, as far as there is room for it
            low, high = instance.plain_family.lowest(), instance.plain_family.highest()
            phi = np.asarray(instance.phi)
            further = np.clip(phi + (1.0 + BEYOND) * step, low, high)
            end = np.where(step > 0.0, high, low)
            halfway = np.where(np.isfinite(end), 0.5 * (phi + step + end), further)
            witness = np.where(step > 0.0, np.minimum(further, halfway), phi)
            witness = np.where(step < 0.0, np.maximum(further, halfway), witness)
            weight = float(found.weights[row])
            alternatives.append(Alternative(arm, phi + step, witness, weight))
        rates = found.rates
        support: list[tuple[Arm, float]] = [
            (self.arm_at(x), float(rates[x])) for x in np.flatnonzero(rates > 0.0).tolist()
        ]
        upper = math.fsum((rates * self.prices).tolist())
        return Bound(instance, min(found.lower, upper), upper, support, alternatives)

    @property
    def truth(self) -> Any:
        """φ and the best arm as proofs see them."""
        return self.case.truth._replace(free=self.is_free)

    def _sets(self, every: bool) -> tuple[list[list[int]], list[int]]:
        """The items of all sets, or all but the best, and where they stand."""
        places = np.flatnonzero(self.case.others | every).tolist()
        return [np.flatnonzero(self.case.arms[x]).tolist() for x in places], places

    def exact_confusing(self, alternative: Alternative) -> Any:
        from ossb.graves_lai.exact.items import confusing  # loads flint

        place = self.place(alternative.arm)
        return confusing(self.truth, alternative, np.flatnonzero(self.case.arms[place]).tolist())

    def exact_heaviest(self, confusing: Sequence[Any], weights: Sequence[float]) -> Ball:
        from ossb.graves_lai.exact.items import collected, heaviest  # loads flint

        sets, places = self._sets(not self.is_free)
        costs = [self.exact_cost(self.arm_at(x)) for x in places]
        truth = self.truth
        return heaviest(truth, sets, costs, collected(truth, confusing, weights))

    def exact_information(self, support: Support, multipliers: Any) -> Ball:
        from ossb.graves_lai.exact.items import information, seen  # loads flint

        truth = self.truth
        sets, places = self._sets(False)
        gaps = [truth.gap(items) for items in sets]
        for place, gap in zip(places, gaps, strict=True):
            if not gap > 0:
                raise ProofError(f"instance: arm {place} is as good as the best arm")
        plays = [(self.place(arm), rate) for arm, rate in support]
        told = seen((np.flatnonzero(self.case.arms[x]).tolist(), rate) for x, rate in plays)
        rates = np.zeros(len(self.case.arms))
        for x, rate in plays:
            rates[x] += rate
        items = self._posed()
        with np.errstate(all="ignore"):
            look_at(items, rates @ self.case.arms)

        def proposed(x: int, mine: list[int], weights: Any) -> list[float]:
            return [float(items.multipliers[places[x]])]

        return information(truth, sets, gaps, told, proposed)


class PricedDescribed(PricedItems):
    """Sets of a described family, which are listed after all; an arm is its items."""

    def __init__(self, instance: Any, cost: Cost, case: Any, arms: list[tuple[int, ...]]) -> None:
        super().__init__(instance, cost, case)
        self.arms, self.places = arms, {arm: place for place, arm in enumerate(arms)}

    @cached_property
    def prices(self) -> np.ndarray:
        return self.cost.prices(self.case.gaps)

    def place(self, arm: Arm) -> int:
        items = tuple(sorted(arm)) if isinstance(arm, tuple) else (arm,)
        if items not in self.places:
            raise InputError("arm", f"be one of {self.instance.arm_set}", list(items))
        return self.places[items]

    def arm_at(self, place: int) -> Arm:
        return self.arms[place]
