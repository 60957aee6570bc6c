"""Listed arms, with bandit and with semi-bandit feedback: solved, and proved by definition."""

import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ossb.errors import InputError
from ossb.families import Family
from ossb.graves_lai import linear, semi_bandit
from ossb.graves_lai.independent import beyond, divergences
from ossb.graves_lai.linear.certificate import feasible_scale
from ossb.graves_lai.proof import Alternative, Arm, Support
from ossb.graves_lai.semi_bandit.gaussian_items import NO_CONSTRAINT
from ossb.graves_lai.semi_bandit.item_family import ItemFamily
from ossb.graves_lai.semi_bandit.solution import gaps_to, informations, item_weights, movable
from ossb.graves_lai.semi_bandit.units import Units, units_of
from ossb.structures.base import TIE, Bound, Instance, clear_best, refuse_twins


class Case(Protocol):
    """One kind of combinatorial instance; parameters carry the sign that maximises."""

    @property
    def best(self) -> Arm: ...

    def gap_of(self, arm: Arm) -> float: ...

    def solve(self, gap: float) -> Bound: ...

    def outside(self, parameter: np.ndarray) -> float: ...

    def disagreement(self, parameter: np.ndarray) -> float: ...

    def advantage(self, parameter: np.ndarray, arm: Arm) -> float: ...

    def heaviest(self, parameters: Sequence[np.ndarray], weights: np.ndarray) -> float: ...

    def information(self, support: Support) -> float: ...


def items_of(instance: Instance) -> ItemFamily:
    """The item family that the semi-bandit solver uses for an instance's observations."""
    if instance.observation == "gaussian":
        return semi_bandit.GaussianItems(instance.sigma)
    if instance.observation == "poisson":
        return semi_bandit.PoissonItems(instance.sign)
    return semi_bandit.BernoulliItems(instance.sign)


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
        self.best = clear_best(instance, self.rewards)
        self.gaps = gaps_to(arms, means, self.best)
        self.others = np.arange(len(arms)) != self.best

    def gap_of(self, arm: Arm) -> float:
        return float(self.gaps[self.place(arm)])

    def advantage(self, parameter: np.ndarray, arm: Arm) -> float:
        difference = self.arms[self.place(arm)] - self.arms[self.best]
        return math.fsum((difference * parameter).tolist())

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
        return units_of(items_of(self.instance), self.means, self.gaps)

    def solve(self, gap: float) -> Bound:
        found = semi_bandit.solve(self.arms, self.means, gap, items=items_of(self.instance))
        support = self.support_of(found.rates)
        proved = self.information(support)
        if proved == math.inf:
            return Bound(self.instance, 0.0, 0.0, [], [])
        if not proved > 0.0:
            return Bound(self.instance, 0.0, math.inf, support, [])
        support = [(arm, rate / proved) for arm, rate in support]
        upper = math.fsum(rate * self.gap_of(arm) for arm, rate in support)
        confusing = [
            self.pushed(int(arm), parameter)
            for arm, parameter in zip(found.alternatives, found.confusing, strict=True)
        ]
        with np.errstate(all="ignore"):
            heaviest = self.heaviest(confusing, found.weights)
        lower = float(found.weights.sum()) / heaviest if 0.0 < heaviest < math.inf else 0.0
        sign, alternatives = self.instance.sign, []
        for arm, parameter, weight in zip(
            found.alternatives, confusing, found.weights, strict=True
        ):
            witness = raised(
                self.instance.family, parameter, self.moved(arm), float(self.gaps[arm])
            )
            alternatives.append(
                Alternative(int(arm), sign * parameter, sign * witness, float(weight))
            )
        return Bound(self.instance, min(lower, upper), upper, support, alternatives)

    def moved(self, arm: int) -> np.ndarray:
        """The items whose means a confusing parameter of this arm may raise."""
        units = self.units
        free = movable(units.items, self.means / units.mean)
        return np.flatnonzero((self.arms[arm] > 0) & (self.arms[self.best] == 0) & free)

    def pushed(self, arm: int, parameter: np.ndarray) -> np.ndarray:
        """The parameter moved by what rounding asks, so that its arm is no worse than the best."""
        highest = self.instance.family.highest()
        moved = self.moved(arm)
        item = moved[np.argmax(highest - parameter[moved])] if highest < math.inf else moved[0]
        answer = parameter.copy()
        for attempt in range(20):
            short = -self.advantage(answer, arm)
            if short <= 0.0:
                break
            answer[item] = min(answer[item] + 2.0**attempt * short, highest)
        return answer

    def outside(self, parameter: np.ndarray) -> float:
        return beyond(self.instance.family, parameter)

    def disagreement(self, parameter: np.ndarray) -> float:
        known = self.arms[self.best] > 0
        return float(np.abs(parameter - self.means)[known].max(initial=0.0))

    def heaviest(self, parameters: Sequence[np.ndarray], weights: np.ndarray) -> float:
        total = np.zeros(self.means.size)
        for weight, parameter in zip(weights, parameters, strict=True):
            total += weight * divergences(self.instance.family, self.means, parameter)
        collected = self.arms[self.others] @ total
        return float((collected / self.gaps[self.others]).max())

    def information(self, support: Support) -> float:
        units = self.units
        with np.errstate(all="ignore"):
            weights = item_weights(self.arms, self.rates_of(support) / units.rate)
            means = self.means / units.mean
            logs, _ = informations(units.items, self.arms, means, self.best, weights)
        least = float(logs[self.others].min(initial=NO_CONSTRAINT))
        return math.inf if least >= NO_CONSTRAINT else math.exp(least)


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
            step = sigma * direction
            alternatives.append(
                Alternative(
                    int(arm),
                    sign * (self.means + step),
                    sign * (self.means + 2.0 * step),
                    float(found.weights[arm]),
                )
            )
        support = self.support_of(found.rates)
        lower = found.lower
        if alternatives:  # by the parameters as they are, rounded
            weights = np.array([alternative.weight for alternative in alternatives])
            parameters = [sign * alternative.parameter for alternative in alternatives]
            proved = float(weights.sum() / self.heaviest(parameters, weights))
            lower = min(lower, proved) if proved > 0.0 else lower
        return Bound(self.instance, lower, found.upper, support, alternatives)

    def outside(self, parameter: np.ndarray) -> float:
        return 0.0

    def disagreement(self, parameter: np.ndarray) -> float:
        return abs(math.fsum((self.arms[self.best] * (parameter - self.means)).tolist()))

    def heaviest(self, parameters: Sequence[np.ndarray], weights: np.ndarray) -> float:
        steps = (np.array(parameters) - self.means) / self.instance.sigma
        collected = 0.5 * (self.arms[self.others] @ steps.T) ** 2 @ weights
        return float((collected / self.gaps[self.others]).max())

    def information(self, support: Support) -> float:
        margins = np.where(self.others, self.gaps / self.instance.sigma, 1.0)
        scale = feasible_scale(self.arms, self.best, margins, self.rates_of(support))
        return math.inf if scale == 0.0 else 1.0 / scale
