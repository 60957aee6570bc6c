"""Programs in which plays cost something else than regret: one solves and proves for an instance.

A structure says by ``priced(cost)`` which of these is its own.  Where the best arm has no price its
plays are free, and all is as for regret, with other costs; where it has one, alternatives may move
what it shows.
"""

from functools import cached_property
from typing import Any

import numpy as np

from ossb.graves_lai.cost import Cost
from ossb.graves_lai.proof import Arm, Ball


class Priced:
    """What all of them share: an instance with listed arms, and what a play of each costs."""

    def __init__(self, instance: Any, cost: Cost) -> None:
        self.instance, self.cost = instance, cost

    @property
    def may_certify(self) -> bool:
        return bool(self.instance.may_certify)

    def out_of_range(self) -> tuple[str, float] | None:
        found: tuple[str, float] | None = self.instance.out_of_range()
        return found or self.cost.out_of_range()

    def best_arm(self) -> Arm:
        arm: Arm = self.instance.best_arm()
        return arm

    def exact_gap(self, arm: Arm) -> Ball:
        return self.instance.exact_gap(arm)

    def is_rival(self, arm: Arm) -> bool:
        return bool(self.instance.is_rival(arm))

    def exact_cost(self, arm: Arm) -> Ball:
        place = self.instance.position(arm) if isinstance(self.cost.price, tuple) else 0
        return self.cost.exact(self.instance.exact_gap(arm), place)

    @cached_property
    def prices(self) -> np.ndarray:
        """κ of every arm, in their order."""
        return self.cost.prices(np.asarray(self.instance.gaps))

    @property
    def is_free(self) -> bool:
        """Whether plays of the best arm cost nothing."""
        return not self.prices[self.instance.position(self.best_arm())] > 0.0


class FreeLeader(Priced):
    """Only other arms than the best have a price: what regret proves, at other costs."""

    def exact_confusing(self, alternative: Any) -> Any:
        return self.instance.exact_confusing(alternative)

    def exact_information(self, support: Any, multipliers: Any) -> Ball:
        return self.instance.exact_information(support, multipliers)
