"""More than the best of independent arms: pairs that meet, or arms that reach a level.

Above a level every arm is told by its own plays alone, V(κ) = Σ κ(x) / d(θ_x, level).  Of the best
arms, the pairs are solved for by ``ossb.graves_lai.program``.
"""

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any, overload

import numpy as np

from ossb.errors import InputError
from ossb.graves_lai import program
from ossb.graves_lai.information.exchanges import exchanges
from ossb.graves_lai.proof import Alternative, Ball, Support
from ossb.structures.answered import Answered, about
from ossb.structures.base import Bound
from ossb.structures.priced_levels import BEYOND, refuse_close

SHARE = 0.5  # of the gap asked for, to which the solver goes


class Moved(Sequence[Alternative]):
    """Alternatives by the pairs that meet, written out one at a time."""

    def __init__(self, problem: Any, found: list[tuple[tuple[int, int], float, float]]) -> None:
        self.problem = problem
        self.found = found  # pairs, how far below the better one both meet, and weights

    def __len__(self) -> int:
        return len(self.found)

    @overload
    def __getitem__(self, place: int) -> Alternative: ...

    @overload
    def __getitem__(self, place: slice) -> "Moved": ...

    def __getitem__(self, place: int | slice) -> "Alternative | Moved":
        if isinstance(place, slice):
            return Moved(self.problem, self.found[place])
        pair, fallen, weight = self.found[place]
        arm, piece = about(pair)
        problem = self.problem
        if problem.answer.above is None:
            apart = BEYOND * problem.gap(pair)
            parameter, witness = (problem.shifts(pair, fallen, by) for by in (0.0, apart))
            return Alternative(arm, parameter, witness, weight, piece, relative=True)
        parameter, witness = problem.reached(arm)
        return Alternative(arm, parameter, witness, weight)


class AnsweredMeans(Answered):
    """Classical bandits."""

    @np.errstate(all="ignore")  # at the ends of the doubles: bounds that are not finite
    def solve(self, gap: float) -> Bound:
        family = self.instance.family
        if self.answer.above is not None:
            return self._solve_level()
        for pair in self.pairs:
            refuse_close(self.instance, *pair)
        if self.instance.observation == "gaussian":
            means = np.zeros_like(self.rewards)
        else:
            means = np.array(self.rewards)
        told = exchanges(family, means, self.rewards, self.pairs)
        found = program.solve(told, self.prices, self.best, SHARE * gap)
        kept = zip(self.pairs, told.kept.tolist(), found.weights.tolist(), strict=True)
        return self._bound(found.rates, [one for one in kept if one[2] > 0.0])

    def _solve_level(self) -> Bound:
        instance = self.instance
        low, high = instance.plain_family.lowest(), instance.plain_family.highest()
        if not low < self.level < high:
            must = f"lie between the least and the largest mean there is, {low:g} and {high:g}"
            raise InputError("answer.above", must, self.level)
        rates, found = np.zeros(self.rewards.size), []
        for pair in self.pairs:
            arm = about(pair)[0]
            told = instance.family.kl(float(self.rewards[arm]), instance.sign * self.level)
            rates[arm] = 1.0 / told if told > 0.0 else math.inf
            found.append((pair, 0.0, float(rates[arm] * self.prices[arm])))
        return self._bound(rates, found)

    def _bound(self, rates: np.ndarray, found: list[tuple[tuple[int, int], float, float]]) -> Bound:
        """What rates and weighted pairs claim; the check proves it."""
        support = [(int(arm), float(rates[arm])) for arm in np.flatnonzero(rates)]
        upper = math.fsum(rate * float(self.prices[arm]) for arm, rate in support)
        lower = math.fsum(weight for _, _, weight in found)
        return Bound(self.instance, min(lower, upper), upper, support, Moved(self, found))

    def gap(self, pair: tuple[int, int]) -> float:
        """By how much the better one is better."""
        return float(self.rewards[pair[0]] - self.rewards[pair[1]])

    def shifts(self, pair: tuple[int, int], fallen: float, apart: float = 0.0) -> np.ndarray:
        """λ − θ of every arm in the user's sign, both arms ``apart`` beyond where they meet."""
        family, (high, low) = self.instance.family, pair
        answer = np.zeros(self.rewards.size)
        up = min(self.gap(pair) - fallen + apart, family.highest() - self.rewards[low])
        answer[low] = self.instance.sign * up
        answer[high] = self.instance.sign * max(
            -fallen - apart, family.lowest() - self.rewards[high]
        )
        return answer

    def reached(self, arm: int) -> tuple[np.ndarray, np.ndarray]:
        """θ with the arm at the level, and beyond it."""
        theta, family = np.asarray(self.instance.theta), self.instance.plain_family
        parameter, witness = theta.copy(), theta.copy()
        step = BEYOND * (self.level - float(theta[arm]))
        end = family.highest() if step > 0.0 else family.lowest()
        if math.isfinite(end):
            step = math.copysign(min(abs(step), 0.5 * abs(end - self.level)), step)
        parameter[arm], witness[arm] = self.level, self.level + step
        return parameter, witness

    @cached_property
    def truth(self) -> Any:
        """θ as proofs see it."""
        return self.instance.truth_about(self.best)

    def exact_gap(self, arm: Any) -> Ball:
        return self.truth.gap(self.instance.position(arm))

    def exact_confusing(self, alternative: Alternative) -> Any:
        from flint import arb

        from ossb.graves_lai.exact.exchanges import confusing, crossing  # loads flint

        pair = self.pair_of(alternative)
        if self.answer.above is not None:
            level = arb(self.instance.sign) * arb(self.level)
            return crossing(self.truth, alternative, about(pair)[0], level)
        start = 0.0 if alternative.relative else float(self.truth.theta[pair[0]])
        fallen = -self.instance.sign * (float(alternative.parameter[pair[0]]) - start)
        expected = self.truth.theta + self.shifts(pair, fallen)
        return confusing(self.truth, alternative, pair, expected)

    def exact_heaviest(self, confusing: Sequence[Any], weights: Sequence[float]) -> Ball:
        from ossb.graves_lai.exact.exchanges import heaviest  # loads flint

        return heaviest(self.truth, confusing, weights, self.exact_cost)

    def exact_information(self, support: Support, multipliers: Any) -> Ball:
        from flint import arb

        from ossb.graves_lai.exact.exchanges import information  # loads flint

        rates = np.zeros(self.rewards.size)
        for arm, rate in support:
            rates[self.instance.position(arm)] += rate
        fallen = {}
        if self.answer.above is None:
            for pair in self.pairs:
                played = float(rates[pair[0]] + rates[pair[1]])
                fallen[pair] = self.gap(pair) * float(rates[pair[1]]) / played if played else 0.0
        level = arb(self.instance.sign) * arb(self.level)
        return information(self.truth, self.pairs, support, level, fallen)
