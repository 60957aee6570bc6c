"""Priced programs over arms that show a reward whose mean is a link of their index."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ossb.graves_lai.cost import Cost
from ossb.graves_lai.glm import certificate, solution
from ossb.graves_lai.proof import Alternative, Arm, Ball, Support
from ossb.structures.base import Bound
from ossb.structures.priced import Priced

BEYOND = 1.1  # a witness goes that much further than its confusing parameter


class PricedGlm(Priced):
    """Rewards that are shown themselves, by a link that is not the identity."""

    def __init__(self, instance: Any, cost: Cost, link: int) -> None:
        super().__init__(instance, cost)
        self.link = link

    @np.errstate(all="ignore")  # at the ends of the doubles: bounds that are not finite
    def solve(self, gap: float) -> Bound:
        instance = self.instance
        if instance.n_arms == 1:
            return Bound(instance, 0.0, 0.0, [], [])
        rates, confusing, directions, lower = self._found(gap)
        multipliers = {
            "arms": list(directions),
            "directions": [one.tolist() for one in directions.values()],
        }
        alternatives = [
            Alternative(arm, delta, BEYOND * delta, weight, relative=True)
            for arm, delta, weight in confusing
        ]
        told = self._information(rates, directions)
        if told == math.inf:
            return Bound(instance, 0.0, 0.0, [], [], multipliers)
        rates = rates / told if told > 0.0 else rates
        support: list[tuple[Arm, float]] = [
            (instance.arm_at(arm), float(rates[arm])) for arm in np.flatnonzero(rates)
        ]
        upper = math.inf
        if told > 0.0:
            upper = math.fsum((rates * self.prices).tolist())
        return Bound(instance, min(lower, upper), upper, support, alternatives, multipliers)

    def _found(
        self, gap: float
    ) -> tuple[np.ndarray, list[tuple[int, np.ndarray, float]], dict[int, np.ndarray], float]:
        """Rates; arms, directions and weights of the lower side; directions; that side."""
        instance = self.instance
        known, margins = (instance.arms, instance.index, instance.best), instance.margins
        found = solution.solve(*known, self.prices, self.link, gap, margins=margins)
        named = zip(found.alternatives, found.directions, found.weights, strict=True)
        directions = dict(zip(found.open_arms.tolist(), found.most_confusing, strict=True))
        triples = [(int(arm), delta, float(weight)) for arm, delta, weight in named]
        return found.rates, triples, directions, found.lower

    def _information(self, rates: np.ndarray, directions: dict[int, np.ndarray]) -> float:
        """What rates tell, in doubles."""
        instance = self.instance
        return certificate.information(
            self.link,
            instance.arms,
            instance.index,
            instance.best,
            rates,
            directions,
            self.is_free,
            instance.margins,
        )

    @property
    def frame(self) -> Any:
        """The arms as proofs see them."""
        from ossb.graves_lai.exact.linear import frame_of  # loads flint

        instance = self.instance
        return frame_of(
            instance, instance.arms, instance.phi, instance.best, instance.sign, self.is_free
        )

    def exact_confusing(self, alternative: Alternative) -> Any:
        return self.frame.confusing(alternative, self.instance.position(alternative.arm))

    def exact_heaviest(self, confusing: Sequence[Any], weights: Sequence[float]) -> Ball:
        from ossb.graves_lai.exact.glm import heaviest  # loads flint

        costs = [self.exact_cost(arm) for arm in range(self.instance.n_arms)]
        return heaviest(self.frame, self.link, costs, confusing, weights)

    def exact_information(self, support: Support, multipliers: Any) -> Ball:
        from ossb.graves_lai.exact.glm import information  # loads flint
        from ossb.graves_lai.exact.means import summed

        instance, frame, rates = self.instance, self.frame, summed(support)
        rounded = np.zeros(instance.n_arms)
        for arm, rate in rates.items():
            rounded[arm] = float(rate) if frame.counts(arm) else 0.0
        proposed = certificate.proposals(
            self.link,
            instance.arms,
            instance.index,
            instance.best,
            rounded,
            instance.directions(multipliers),
            self.is_free,
            instance.margins,
        )

        def propose(x: int, played: list[int]) -> Any:
            return (proposed[x][0], proposed[x][1][played]) if x in proposed else None

        return information(frame, self.link, rates, propose)
