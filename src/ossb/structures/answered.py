"""Programs of tests that are asked for more than the best arm, where every play costs something.

The m best arms: any of them may change sides with any other.  The arms above a level: each may
cross it.  In both, V(κ) = min Σ κ(x) η(x) subject to Σ η(x) D(θ, λ, x) ≥ 1 for every λ under which
one such pair has changed sides; an alternative is about the pair (``piece``, ``arm``), the better
of the two first, or about ``arm`` and the level.
"""

from functools import cached_property
from typing import Any

import numpy as np

from ossb.errors import InputError
from ossb.graves_lai.answers import LEVEL, Answer
from ossb.graves_lai.cost import Cost
from ossb.graves_lai.proof import Alternative, Arm, Ball, ProofError


class Answered:
    """What they share: an instance with listed arms, what plays cost, and what is asked for."""

    def __init__(self, instance: Any, cost: Cost, answer: Answer) -> None:
        self.instance, self.cost, self.answer = instance, cost, answer

    @property
    def may_certify(self) -> bool:
        return bool(self.instance.may_certify)

    def out_of_range(self) -> tuple[str, float] | None:
        found: tuple[str, float] | None = self.instance.out_of_range()
        return found or self.cost.out_of_range() or self.answer.out_of_range()

    @property
    def rewards(self) -> np.ndarray:
        """Means, signed so that more is better."""
        return np.asarray(self.instance.rewards)

    @property
    def level(self) -> float:
        """What arms are held against, in the user's sign; 0 where they are held against others."""
        return 0.0 if self.answer.above is None else self.answer.above

    @property
    def best(self) -> int:
        """An arm of the largest mean, from which regret is counted."""
        return int(np.argmax(self.rewards))

    @cached_property
    def prices(self) -> np.ndarray:
        """κ of every arm, in their order."""
        return self.cost.prices(self.rewards[self.best] - self.rewards)

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """What is to be told apart, the better one first; refused where it is level."""
        instance, means = self.instance, self.rewards
        if self.answer.above is not None:
            at = np.flatnonzero(means == instance.sign * self.level)
            if at.size:
                name = instance.arm_name(int(at[0]))
                must = f"not be the mean of an arm: no test tells arm {name} from it"
                raise InputError("answer.above", must, self.level)
        pairs = self.answer.pairs(means, instance.sign)
        for high, low in pairs:
            if LEVEL not in (high, low) and not means[high] > means[low]:
                name, other = instance.arm_name(high), instance.arm_name(low)
                must = f"tell arms apart: arms {name} and {other} are level, and no test ends"
                raise InputError("answer.top", must, self.answer.top)
        return pairs

    def is_rival(self, arm: Arm) -> bool:
        """Arms on either side may be what an alternative is about."""
        return 0 <= self.instance.position(arm) < self.rewards.size

    def pair_of(self, alternative: Alternative) -> tuple[int, int]:
        """The pair that an alternative is about."""
        arm = int(self.instance.position(alternative.arm))
        pair = (alternative.piece, arm)
        if self.answer.above is not None:
            pair = (arm, LEVEL) if (arm, LEVEL) in self._known else (LEVEL, arm)
        if pair not in self._known:
            raise ProofError(".arm: not on the other side of its piece")
        return pair

    @cached_property
    def _known(self) -> set[tuple[int, int]]:
        return set(self.pairs)

    def exact_gap(self, arm: Arm) -> Ball:
        """Δ(x)."""
        raise AssertionError("every structure says what its arms lack")

    def exact_cost(self, arm: Arm) -> Ball:
        place = self.instance.position(arm)
        return self.cost.exact(self.exact_gap(arm), place)


def about(pair: tuple[int, int]) -> tuple[int, int]:
    """The arm and the piece of an alternative about a pair."""
    high, low = pair
    if LEVEL in pair:
        return (high if low == LEVEL else low), 0
    return low, high
