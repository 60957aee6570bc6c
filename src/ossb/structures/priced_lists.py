"""Priced programs over listed alternatives: finite sets of parameters, and duels."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ossb.families.bernoulli import bernoulli_kl
from ossb.graves_lai.generic.listed_cuts import solve_listed
from ossb.graves_lai.independent import divergences
from ossb.graves_lai.proof import Alternative, Arm, Ball, Support
from ossb.structures.base import Bound
from ossb.structures.priced import Priced


class PricedFinite(Priced):
    """One of finitely many parameters: a linear program, with a row for each confusing one."""

    def solve(self, gap: float) -> Bound:
        instance = self.instance
        told = instance.others if self.is_free else np.arange(instance.n_arms)
        numbers, rows = self._rows(told)
        rates, weights, lower, upper = solve_listed(self.prices[told], rows)
        support: list[tuple[Arm, float]] = [
            (int(arm), float(rate)) for arm, rate in zip(told, rates, strict=True) if rate > 0.0
        ]
        alternatives = []
        for k, weight in zip(numbers, weights.tolist(), strict=True):
            if weight > 0.0:
                parameter = np.array(instance.parameters[k])
                arm = int(np.argmax(instance.sign * parameter))
                alternatives.append(Alternative(arm, parameter, parameter, weight, k))
        return Bound(instance, lower, upper, support, alternatives)

    def _rows(self, told: np.ndarray) -> tuple[list[int], np.ndarray]:
        """The numbers of the confusing parameters, and their divergences on the arms that tell."""
        instance, numbers, rows = self.instance, [], []
        signed = instance.sign * instance.parameters
        better = signed.max(axis=1) > signed[:, instance.best]
        agrees = signed[:, instance.best] == instance.rewards[instance.best]
        for k in np.flatnonzero(better & (agrees | (not self.is_free))).tolist():
            row = divergences(instance.family, instance.rewards, signed[k])[told]
            if np.isfinite(row).all():
                numbers.append(k)
                rows.append(row)
        return numbers, np.array(rows).reshape(-1, told.size)

    def exact_confusing(self, alternative: Alternative) -> np.ndarray:
        from ossb.graves_lai.exact.finite import confusing  # loads flint

        instance = self.instance
        arm = instance.position(alternative.arm)
        return confusing(instance.truth, instance.parameters, alternative, arm, self.is_free)

    def exact_heaviest(self, confusing: Sequence[Any], weights: Sequence[float]) -> Ball:
        from ossb.graves_lai.exact.means import heaviest  # loads flint

        return heaviest(self.instance.truth, confusing, weights, self.exact_cost)

    def exact_information(self, support: Support, multipliers: Any) -> Ball:
        from ossb.graves_lai.exact.finite import information  # loads flint

        instance = self.instance
        return information(instance.truth, instance.parameters, support, self.is_free)


class PricedDuels(Priced):
    """Each pair of items has a price; the winner's with itself shows nothing, whatever it costs.

    Every duel is in the constraint of one item, so each item is met by whom it costs least.
    """

    def solve(self, gap: float) -> Bound:
        instance, best = self.instance, self.instance.best_item
        p = instance.signed
        support: list[tuple[Arm, float]] = []
        alternatives = []
        for i in range(instance.n_items):
            if i == best:
                continue
            beaten_by = np.flatnonzero(p[i] < 0.5).tolist()
            told = {j: bernoulli_kl(float(p[i, j]), 0.5) for j in beaten_by}
            spent = {j: self.price(i, j) / told[j] for j in beaten_by}
            j = min(beaten_by, key=spent.__getitem__)
            support.append(((min(i, j), max(i, j)), 1.0 / told[j]))
            even = instance.raised(i, 0.5)
            strict = instance.raised(i, 0.5 + 0.25 * (0.5 - p[i, best]))
            alternatives.append(Alternative((i, i), even, strict, spent[j]))
        value = float(sum(alternative.weight for alternative in alternatives))
        return Bound(instance, value, value, sorted(support), alternatives)

    def price(self, i: int, j: int) -> float:
        """What a duel costs."""
        return float(self.prices[self.instance.position((min(i, j), max(i, j)))])

    def exact_confusing(self, alternative: Alternative) -> np.ndarray:
        found: np.ndarray = self.instance.exact_confusing(alternative)
        return found

    def exact_heaviest(self, confusing: Sequence[Any], weights: Sequence[float]) -> Ball:
        from ossb.graves_lai.exact.duels import heaviest  # loads flint

        return heaviest(self.instance.duels, confusing, weights, self.exact_cost)

    def exact_information(self, support: Support, multipliers: Any) -> Ball:
        return self.instance.exact_information(support, multipliers)
