"""Listed arms, with bandit and with semi-bandit feedback: solved, and proved by definition."""

import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ossb.errors import InputError
from ossb.families import Family
from ossb.graves_lai import linear
from ossb.graves_lai.cost import Cost
from ossb.graves_lai.information.items import NO_ALTERNATIVE, set_items, told
from ossb.graves_lai.proof import Alternative, Arm, Ball, ProofError, Support
from ossb.graves_lai.semi_bandit.multiplier import best_multipliers
from ossb.graves_lai.semi_bandit.solution import gaps_to, item_weights, movable
from ossb.graves_lai.semi_bandit.solve import solve
from ossb.graves_lai.semi_bandit.units import Units, units_of
from ossb.numerics.ties import TIE, terms_of
from ossb.structures.base import Bound, clear_best, refuse_twins
from ossb.structures.priced_items import PricedItems, family_of
from ossb.structures.priced_linear import PricedLinear


class Case(Protocol):
    """One kind of combinatorial instance."""

    @property
    def best(self) -> Arm: ...

    def gap_of(self, arm: Arm) -> float: ...

    def solve(self, gap: float) -> Bound: ...

    def priced(self, cost: Cost) -> Any: ...

    def exact_gap(self, arm: Arm) -> Ball: ...

    def exact_confusing(self, alternative: Alternative) -> Any: ...

    def exact_heaviest(self, confusing: Sequence[Any], weights: Sequence[float]) -> Ball: ...

    def exact_information(self, support: Support) -> Ball: ...


def raised(family: Family, parameter: np.ndarray, items: np.ndarray, by: float) -> np.ndarray:
    """The parameter with some items raised, by ``by`` or halfway to the largest mean."""
    witness = parameter.copy()
    witness[items] += np.minimum(by, 0.5 * (family.highest() - parameter[items]))
    return witness


def refuse_ties(arm_set: Any, means: np.ndarray, best: Any) -> None:
    """Refuse a set with two best arms, naming both."""
    runner = arm_set.runner_up(means, best)
    if runner is None:
        return
    first, second = (math.fsum(means[list(arm)].tolist()) for arm in (best, runner))
    if first - second <= TIE * max(abs(first), abs(second)):
        raise InputError(
            "phi",
            f"have one best arm: {list(best)} and {list(runner)} are both best, and "
            "C(θ) is undefined",
        )


class _Listed:
    """What both feedbacks share."""

    def __init__(self, instance: Any, arms: np.ndarray, means: np.ndarray) -> None:
        self.instance, self.arms, self.means = instance, arms, means
        with np.errstate(over="ignore", invalid="ignore"):
            self.rewards = arms @ means
        if not np.isfinite(self.rewards).all():
            raise InputError("phi", "give every arm a finite mean")
        refuse_twins(instance, arms, int(np.argmax(self.rewards)))
        self.best = clear_best(instance, self.rewards, terms_of(arms, means))
        self.gaps = gaps_to(arms, means, self.best)
        self.others = np.arange(len(arms)) != self.best

    def gap_of(self, arm: Arm) -> float:
        return float(self.gaps[self.place(arm)])

    def place(self, arm: Arm) -> int:
        """Where an arm stands in the list."""
        return int(self.instance.position(arm))

    def rates_of(self, support: Support) -> np.ndarray:
        rates = np.zeros(len(self.arms))
        for arm, rate in support:
            rates[self.place(arm)] += rate
        rates[self.best] = 0.0
        return rates

    def support_of(self, rates: np.ndarray) -> list[tuple[Arm, float]]:
        return [(int(arm), float(rates[arm])) for arm in np.flatnonzero(rates > 0)]


class ListedSemiBandit(_Listed):
    """Every item of the arm played is observed."""

    @property
    def units(self) -> Units:
        return units_of(family_of(self.instance, self.instance.sign), self.means, self.gaps)

    def solve(self, gap: float) -> Bound:
        found = solve(
            self.arms, self.means, gap, items=family_of(self.instance, self.instance.sign)
        )
        proved, _ = self._told(self.item_weights(self.support_of(found.rates)))
        if proved >= NO_ALTERNATIVE:
            return Bound(self.instance, 0.0, 0.0, [], [])
        if not proved > 0.0:
            return Bound(self.instance, 0.0, math.inf, self.support_of(found.rates), [])
        support = self.support_of(found.rates / proved)
        upper = math.fsum(rate * self.gap_of(arm) for arm, rate in support)
        sign, alternatives = self.instance.sign, []
        for arm, parameter, weight in zip(
            found.alternatives, found.confusing, found.weights, strict=True
        ):
            witness = raised(
                self.instance.family, parameter, self.moved(arm), float(self.gaps[arm])
            )
            alternatives.append(
                Alternative(int(arm), sign * parameter, sign * witness, float(weight))
            )
        return Bound(self.instance, min(found.lower, upper), upper, support, alternatives)

    def priced(self, cost: Cost) -> PricedItems:
        return PricedItems(self.instance, cost, self)

    def moved(self, arm: int) -> np.ndarray:
        """The items whose means a confusing parameter of this arm may raise."""
        units = self.units
        free = movable(units.items, self.means / units.mean)
        return np.flatnonzero((self.arms[arm] > 0) & (self.arms[self.best] == 0) & free)

    def item_weights(self, support: Support) -> np.ndarray:
        """The rate at which each item is seen, in the units of the solver."""
        with np.errstate(all="ignore"):
            return item_weights(self.arms, self.rates_of(support) / self.units.rate)

    def _told(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """The least information at item weights, and the multipliers of all arms."""
        units = self.units
        with np.errstate(all="ignore"):
            means, best = self.means / units.mean, self.arms[self.best]
            gaps = gaps_to(self.arms, means, self.best)
            items = set_items(units.items, self.arms, means, gaps, best)
            least = float(told(items, weights).min())
        return least, items.multipliers / units.mean

    # what proves it

    @property
    def truth(self) -> Any:
        """φ and the best arm as proofs see them."""
        best = np.flatnonzero(self.arms[self.best]).tolist()
        return items_truth(self.instance, best)

    @property
    def _rivals(self) -> list[list[int]]:
        """The items of every arm but the best."""
        return [np.flatnonzero(arm).tolist() for arm in self.arms[self.others]]

    def exact_gap(self, arm: Arm) -> Ball:
        return self.truth.gap(np.flatnonzero(self.arms[self.place(arm)]).tolist())

    def _exact_gaps(self) -> list[Ball]:
        truth = self.truth
        gaps = [truth.gap(arm) for arm in self._rivals]
        for arm, gap in zip(np.flatnonzero(self.others).tolist(), gaps, strict=True):
            if not gap > 0:
                raise ProofError(f"instance: arm {arm} is as good as the best arm, {self.best}")
        return gaps

    def exact_confusing(self, alternative: Alternative) -> Any:
        from ossb.graves_lai.exact.items import confusing  # loads flint

        arm = np.flatnonzero(self.arms[self.place(alternative.arm)]).tolist()
        return confusing(self.truth, alternative, arm)

    def exact_heaviest(self, confusing: Sequence[Any], weights: Sequence[float]) -> Ball:
        from ossb.graves_lai.exact.items import collected, heaviest  # loads flint

        truth = self.truth
        return heaviest(
            truth, self._rivals, self._exact_gaps(), collected(truth, confusing, weights)
        )

    def exact_information(self, support: Support) -> Ball:
        from ossb.graves_lai.exact.items import information, seen  # loads flint

        places = [(self.place(arm), rate) for arm, rate in support]
        told = seen((np.flatnonzero(self.arms[x]).tolist(), rate) for x, rate in places)
        _, tau = self._told(self.item_weights(support))
        rivals = np.flatnonzero(self.others)
        family, means = self.instance.family, self.means

        def multipliers(x: int, mine: list[int], rates: Any) -> list[float]:
            arm = rivals[x]
            weights = [float(rates.get(i, 0.0)) for i in mine]
            need = float(self.gaps[arm])
            return best_multipliers(family, means[mine], np.array(weights), need, float(tau[arm]))

        return information(self.truth, self._rivals, self._exact_gaps(), told, multipliers)


def items_truth(instance: Any, best: Sequence[int]) -> Any:
    """The means of an instance's items, as proofs see them."""
    from ossb.graves_lai.exact.divergences import Divergence  # loads flint
    from ossb.graves_lai.exact.items import Items

    family = instance.plain_family
    divergence = Divergence(instance.observation, instance.sigma)
    low, high = family.lowest(), family.highest()
    return Items(np.asarray(instance.phi), frozenset(best), instance.sign, low, high, divergence)


class ListedBandit(_Listed):
    """Only the sum is observed: a linear bandit with arms of 0 and 1."""

    @np.errstate(all="ignore")  # at the ends of the doubles: bounds that are not finite
    def solve(self, gap: float) -> Bound:
        sigma, sign = self.instance.sigma, self.instance.sign
        if len(self.arms) == 1:
            return Bound(self.instance, 0.0, 0.0, [], [])
        found = linear.solve(self.arms, self.best, self.gaps, self.gaps / sigma, gap)
        alternatives = []
        for arm, direction in zip(found.alternatives, found.directions, strict=True):
            step = sign * sigma * direction
            weight = float(found.weights[arm])
            alternatives.append(Alternative(int(arm), step, 2.0 * step, weight, relative=True))
        support = self.support_of(found.rates)
        return Bound(self.instance, found.lower, found.upper, support, alternatives)

    def priced(self, cost: Cost) -> PricedLinear:
        return PricedLinear(self.instance, cost, self.arms, self.instance.phi, self.gaps)

    @property
    def frame(self) -> Any:
        """The arms as proofs see them."""
        from ossb.graves_lai.exact.linear import frame_of  # loads flint

        instance = self.instance
        return frame_of(instance, self.arms, instance.phi, self.best, instance.sign)

    def exact_gap(self, arm: Arm) -> Ball:
        return self.frame.margins[self.place(arm)]

    def exact_confusing(self, alternative: Alternative) -> Any:
        return self.frame.confusing(alternative, self.place(alternative.arm))

    def exact_heaviest(self, confusing: Sequence[Any], weights: Sequence[float]) -> Ball:
        from ossb.graves_lai.exact.linear import heaviest, variance  # loads flint

        frame, spread = self.frame, variance(self.instance.sigma)
        return heaviest(frame, confusing, weights, frame.margins, spread)

    def exact_information(self, support: Support) -> Ball:
        from ossb.graves_lai.exact.linear import information, variance  # loads flint
        from ossb.graves_lai.exact.means import summed

        rates = summed([(self.place(arm), rate) for arm, rate in support])
        return information(self.frame, rates, variance(self.instance.sigma))
