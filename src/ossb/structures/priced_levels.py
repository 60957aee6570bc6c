"""Priced programs over means: independent arms, trees and distances, by the level of each arm.

The alternative of arm j is told by its level alone; see ``ossb.graves_lai.exact.levels``.  Levels
are written as how far they lie below the best mean, which keeps its digits near ties.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol, overload

import numpy as np

from ossb.errors import CertificationError
from ossb.graves_lai import program
from ossb.graves_lai.cost import Cost
from ossb.graves_lai.independent import OneMoved
from ossb.graves_lai.information.levels import levels
from ossb.graves_lai.pairs import pair_rates
from ossb.graves_lai.program import look
from ossb.graves_lai.proof import Alternative, Arm, Ball, Support
from ossb.structures.base import Bound
from ossb.structures.priced import FreeLeader, Priced

LEAST = 1e-300  # a smaller divergence asks for rates that overflow
CLOSE = 1e-13  # to which share of the leader's price independent arms are solved
SHARE = 0.5  # of the gap asked for, to which the barrier goes
BEYOND = 0.25  # of its lead: by how much an arm and the best one change sides in a witness


class Shape(Protocol):
    """How the means of a structure move with the level of an alternative."""

    @property
    def candidates(self) -> np.ndarray:
        """The arms that may overtake the best one before any other does."""
        ...

    def moves(self, arm: int) -> Any:
        """What moves, and how far it may stay behind, exactly."""
        ...

    def shifts(self, arm: int, fallen: float, apart: float = 0.0) -> np.ndarray:
        """λ − θ of every arm, signed so that more is better.

        At the level that is ``fallen`` below the best mean; with the arm ``apart`` above it and
        the best arm as much below it, for a witness.
        """
        ...

    def fallen(self, rates: np.ndarray) -> dict[int, float]:
        """For each candidate, about how far below the best mean rates tell least of it."""
        ...


class Leveled(Sequence[Alternative]):
    """Alternatives by their levels, written out one at a time: each has an entry for every arm."""

    def __init__(
        self, shape: Shape, sign: float, gaps: np.ndarray, found: list[tuple[int, float, float]]
    ) -> None:
        self.shape, self.sign, self.gaps = shape, sign, gaps
        self.found = found  # arms, how far their level lies below the best mean, and weights

    def __len__(self) -> int:
        return len(self.found)

    @overload
    def __getitem__(self, place: int) -> Alternative: ...

    @overload
    def __getitem__(self, place: slice) -> "Leveled": ...

    def __getitem__(self, place: int | slice) -> "Alternative | Leveled":
        if isinstance(place, slice):
            return Leveled(self.shape, self.sign, self.gaps, self.found[place])
        arm, fallen, weight = self.found[place]
        apart = BEYOND * float(self.gaps[arm])
        parameter = self.sign * self.shape.shifts(arm, fallen)
        witness = self.sign * self.shape.shifts(arm, fallen, apart)
        return Alternative(arm, parameter, witness, weight, relative=True)


class PricedMeans(Priced):
    """Every play has a price: alternatives are levels."""

    def __init__(self, instance: Any, cost: Cost, shape: Shape) -> None:
        super().__init__(instance, cost)
        self.shape = shape

    def bound(self, rates: np.ndarray, found: list[tuple[int, float, float]]) -> Bound:
        """What rates and weighted levels claim; the check proves it."""
        instance = self.instance
        support: list[tuple[Arm, float]] = [
            (int(arm), float(rates[arm])) for arm in np.flatnonzero(rates)
        ]
        upper = math.fsum(rate * float(self.prices[arm]) for arm, rate in support)
        lower = math.fsum(weight for _, _, weight in found)
        alternatives = Leveled(self.shape, instance.sign, instance.gaps, found)
        return Bound(instance, min(lower, upper), upper, support, alternatives)

    def exact_confusing(self, alternative: Alternative) -> Any:
        from ossb.graves_lai.exact.levels import confusing  # loads flint

        truth, arm = self.instance.truth, self.instance.position(alternative.arm)
        at_best = float(alternative.parameter[truth.best])
        fallen = -truth.sign * (
            at_best - (0.0 if alternative.relative else truth.theta[truth.best])
        )
        expected = truth.theta + truth.sign * self.shape.shifts(arm, fallen)
        return confusing(truth, alternative, arm, expected)

    def exact_heaviest(self, confusing: Sequence[Any], weights: Sequence[float]) -> Ball:
        from ossb.graves_lai.exact.levels import heaviest  # loads flint

        return heaviest(self.instance.truth, self.shape.moves, self.exact_cost, confusing, weights)

    def exact_information(self, support: Support, multipliers: Any) -> Ball:
        from ossb.graves_lai.exact.levels import information  # loads flint

        rates = np.zeros(self.instance.n_arms)
        for arm, rate in support:
            rates[self.instance.position(arm)] += rate
        candidates = self.shape.candidates.tolist()
        fallen = self.shape.fallen(rates)
        return information(self.instance.truth, candidates, self.shape.moves, support, fallen)


class Independent:
    """Arms that tell nothing of one another: only the two that change sides move."""

    def __init__(self, instance: Any) -> None:
        self.instance = instance
        self.best, self.gaps = instance.best, instance.gaps

    @property
    def candidates(self) -> np.ndarray:
        others: np.ndarray = self.instance.others
        return others

    def moves(self, arm: int) -> Any:
        from flint import arb

        from ossb.graves_lai.exact.levels import Moves

        return Moves({arm: arb(0)}, {self.best: arb(0)})

    def shifts(self, arm: int, fallen: float, apart: float = 0.0) -> np.ndarray:
        low, high = self.instance.family.lowest(), self.instance.family.highest()
        means = self.instance.rewards
        answer = np.zeros(self.gaps.size)
        answer[arm] = min(self.gaps[arm] - fallen + apart, high - means[arm])
        answer[self.best] = max(-fallen - apart, low - means[self.best])
        return answer

    def fallen(self, rates: np.ndarray) -> dict[int, float]:
        played = rates[self.best]
        return {
            int(arm): float(self.gaps[arm] * (rates[arm] / (rates[arm] + played)))
            for arm in self.candidates
            if rates[arm] > 0.0
        }


class PricedIndependent(PricedMeans):
    """Classical bandits where the best arm has a price."""

    def __init__(self, instance: Any, cost: Cost) -> None:
        super().__init__(instance, cost, Independent(instance))

    @np.errstate(all="ignore")  # at the ends of the doubles: bounds that are not finite
    def solve(self, gap: float) -> Bound:
        instance, prices = self.instance, self.prices
        if instance.n_arms == 1:
            return Bound(instance, 0.0, 0.0, [], [])
        refuse_near(instance, instance.others)
        # in units of the leader's price: neither rates nor levels depend on it
        rates = np.zeros(instance.n_arms)
        relative = prices / prices[instance.best]
        pair_rates(instance.family, instance.rewards, relative, instance.best, rates, CLOSE)
        found = []
        for arm, fallen in self.shape.fallen(rates).items():
            mean = float(instance.rewards[arm])
            told = instance.family.kl(mean, mean + (float(instance.gaps[arm]) - fallen))
            found.append((arm, fallen, float(prices[arm]) / told if told > 0.0 else 0.0))
        return self.bound(rates, found)


class Following:
    """Arms that follow the level of another: up to some distance below it, or above the best arm.

    Parameters
    ----------
    arms
        The arms that may overtake.
    floors, ceilings
        For each of them, how far every arm may stay below the level, or above; ∞ for endlessly.
    exactly
        The same for one arm, in exact arithmetic.
    """

    def __init__(
        self,
        instance: Any,
        arms: np.ndarray,
        floors: np.ndarray,
        ceilings: np.ndarray,
        exactly: Callable[[int], Any],
    ) -> None:
        family = instance.family
        # differences keep digits that means have not, and are all that Gaussian ones need
        means = np.zeros_like(instance.rewards)
        if instance.observation != "gaussian":
            means = np.array(instance.rewards)
        gaps = np.array(instance.gaps)
        self.levels = levels(family, means, gaps, np.array(arms), floors, ceilings)
        self.instance, self.moves = instance, exactly
        self.place = {int(arm): row for row, arm in enumerate(arms)}

    @property
    def candidates(self) -> np.ndarray:
        return self.levels.arms

    def shifts(self, arm: int, fallen: float, apart: float = 0.0) -> np.ndarray:
        levels, row = self.levels, self.place[arm]
        low, high = self.instance.family.lowest(), self.instance.family.highest()
        means = self.instance.rewards
        reach = float((levels.floors[row] + levels.ceilings[row])[self.instance.best])
        apart = min(apart, 0.25 * reach if np.isfinite(reach) else apart)
        raised, lowered = fallen - apart, fallen + apart
        up = np.maximum(levels.gaps - levels.floors[row] - raised, 0.0)
        down = np.maximum(lowered - levels.gaps - levels.ceilings[row], 0.0)
        return np.clip(up - down, low - means, high - means)

    def fallen(self, rates: np.ndarray) -> dict[int, float]:
        look(self.levels, rates)
        return dict(zip(self.levels.arms.tolist(), self.levels.fallen.tolist(), strict=True))


class PricedFollowing(PricedMeans):
    """Trees and distances where the best arm has a price."""

    shape: Following

    @np.errstate(all="ignore")  # at the ends of the doubles: bounds that are not finite
    def solve(self, gap: float) -> Bound:
        instance, levels = self.instance, self.shape.levels
        if instance.n_arms == 1:
            return Bound(instance, 0.0, 0.0, [], [])
        refuse_near(instance, levels.arms)
        found = program.solve(levels, self.prices, instance.best, SHARE * gap)
        weighted = zip(
            levels.arms.tolist(), levels.kept.tolist(), found.weights.tolist(), strict=True
        )
        return self.bound(found.rates, [one for one in weighted if one[2] > 0.0])


class FreeMeans(FreeLeader):
    """The best arm is free, and each of some arms becomes best by its own mean alone."""

    def solve(self, gap: float) -> Bound:
        """The rates for regret are the only ones; what they cost is another matter."""
        instance = self.instance
        answer = instance.solve(gap)
        moves = [(arm, rate * float(self.prices[arm])) for arm, rate in answer.support]
        value = math.fsum(weight for _, weight in moves)
        means, top = instance.rewards, float(instance.rewards[instance.best])
        alternatives = OneMoved(means, top, instance.family.highest(), instance.sign, moves)
        return Bound(instance, value, value, answer.support, alternatives)

    def exact_heaviest(self, confusing: Sequence[Any], weights: Sequence[float]) -> Ball:
        from ossb.graves_lai.exact.means import heaviest  # loads flint

        return heaviest(self.instance.truth, confusing, weights, self.exact_cost)


def refuse_near(instance: Any, arms: np.ndarray) -> None:
    """Refuse means that differ too little for rates within the range of doubles."""
    for arm in arms.tolist():
        refuse_close(instance, instance.best, arm)


def refuse_close(instance: Any, high: int, low: int) -> None:
    """Refuse two means that differ too little for rates within the range of doubles."""
    told = instance.family.kl(float(instance.rewards[high]), float(instance.rewards[low]))
    if not told >= LEAST:
        raise CertificationError(
            f"arms {high} and {low} differ too little for the observations: the "
            f"divergence of their means, {told:.3g}, has no rate within the range of doubles"
        )
