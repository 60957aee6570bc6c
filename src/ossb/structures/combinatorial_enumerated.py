"""Bandit feedback on a described set of arms: they are listed after all, as far as that goes.

Which arm is shown worst is a quadratic program over the set, and hard in general; an oracle that
maximises linear functions does not answer it.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from ossb import fields as read
from ossb.arm_sets.base import indicator
from ossb.errors import InputError
from ossb.graves_lai.cost import Cost
from ossb.graves_lai.proof import Alternative, Arm, Ball, Support
from ossb.structures.base import Bound
from ossb.structures.combinatorial_cases import ListedBandit, refuse_ties
from ossb.structures.priced_linear import PricedEnumerated

MOST_ARMS = 20_000


class _Numbered(ListedBandit):
    """Arms by their number in a list that only we have."""

    def place(self, arm: Arm) -> int:
        assert isinstance(arm, int)
        return arm


class EnumeratedBandit:
    """Only the sum over the arm is observed; an arm is the sorted tuple of its items."""

    def __init__(self, instance: Any, arm_set: Any, means: np.ndarray) -> None:
        self.instance = instance
        self.arms = []
        if not arm_set.exceeds(MOST_ARMS):
            self.arms = [tuple(sorted(arm)) for arm in islice(arm_set.arms(), MOST_ARMS + 1)]
        if not 0 < len(self.arms) <= MOST_ARMS:
            must = f"have at most {MOST_ARMS:,} arms with bandit feedback, or show its items"
            raise InputError("arm_set", must, instance.arm_set)
        self.place = {arm: k for k, arm in enumerate(self.arms)}
        refuse_ties(arm_set, means, arm_set.maximize(means))
        table = np.array([indicator(arm_set.n_items, arm) for arm in self.arms], dtype=np.float64)
        self.listed = _Numbered(instance, table, means)

    @property
    def best(self) -> Arm:
        return self.arms[self.listed.best]

    def place_of(self, arm: Arm) -> int:
        """Where an arm stands in the list."""
        entries = arm if isinstance(arm, tuple) else (arm,)
        items = tuple(sorted(read.integer(item, "arm") for item in entries))
        if items not in self.place:
            raise InputError("arm", f"be one of {self.instance.arm_set}", list(items))
        return self.place[items]

    def gap_of(self, arm: Arm) -> float:
        return float(self.listed.gap_of(self.place_of(arm)))

    def solve(self, gap: float) -> Bound:
        found = self.listed.solve(gap)
        return replace(
            found,
            support=[(self.arms[self.listed.place(arm)], rate) for arm, rate in found.support],
            alternatives=[
                replace(alternative, arm=self.arms[self.listed.place(alternative.arm)])
                for alternative in found.alternatives
            ],
        )

    def priced(self, cost: Cost) -> PricedEnumerated:
        return PricedEnumerated(self.instance, cost, self)

    def exact_gap(self, arm: Arm) -> Ball:
        return self.listed.exact_gap(self.place_of(arm))

    def exact_confusing(self, alternative: Alternative) -> Any:
        place = self.place_of(alternative.arm)
        return self.listed.exact_confusing(replace(alternative, arm=place))

    def exact_heaviest(self, confusing: Sequence[Any], weights: Sequence[float]) -> Ball:
        return self.listed.exact_heaviest(confusing, weights)

    def exact_information(self, support: Support) -> Ball:
        return self.listed.exact_information([(self.place_of(arm), rate) for arm, rate in support])
