"""Programs over arms in contexts, whose best arms may all be free.

For linear arms, with b_z the best arm of context z and F those of them whose plays are free:
minimise Σ κ η subject to 2σ² uᵀ V(η)⁻¹ u ≤ Δ² for u = x − b_z and every x ≠ b_z of every context,
in what the directions of F leave of the space.  With regret for the cost all b_z are free, and
u is what they leave of x; where they leave nothing of any arm, nothing needs exploring.
"""

from functools import cached_property
from typing import Any

import numpy as np

from ossb.graves_lai.cost import Cost
from ossb.graves_lai.glm import certificate, solution
from ossb.graves_lai.linear.leaders import across_all
from ossb.graves_lai.linear.solution import LinearSolution, solve_apart
from ossb.graves_lai.proof import Arm, Ball, Support
from ossb.structures.base import Bound
from ossb.structures.priced_glm import PricedGlm
from ossb.structures.priced_linear import PricedLinear


class InContexts:
    """What both of them share: which plays are free, and what these leave of the arms."""

    instance: Any
    cost: Cost
    prices: np.ndarray

    @np.errstate(all="ignore")  # at the ends of the doubles: bounds that are not finite
    def solve(self, gap: float) -> Bound:
        """The bound; that of one context is what its arms by themselves have."""
        instance = self.instance
        if instance.layout.n_contexts == 1:
            alone = instance.alone(0)
            program = alone if self.cost.is_regret else alone.priced(self.cost)
            named: Bound = instance.named(program.solve(gap))
            return named
        if not self.posed[1].size:
            return Bound(instance, 0.0, 0.0, [], [])
        answer: Bound = super().solve(gap)  # type: ignore[misc]
        return answer

    @cached_property
    def free(self) -> list[int]:
        """Best arms whose plays cost nothing."""
        return [row for row in self.instance.bests if not self.prices[row] > 0.0]

    @cached_property
    def posed(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Rows that are played, and that are told apart; what tells each of both, and the basis."""
        instance = self.instance
        z, basis = across_all(instance.arms, self.free)
        apart = z - z[instance.leaders]
        told = np.flatnonzero((instance.leaders != np.arange(len(z))) & apart.any(axis=1))
        counts = np.ones(len(z), dtype=bool)
        counts[self.free] = False
        played = np.flatnonzero(counts & z.any(axis=1))
        return played, told, z[played], apart[told], basis

    @property
    def frame(self) -> Any:
        """The arms as proofs see them."""
        from ossb.graves_lai.exact.linear import frame_of_leaders  # loads flint

        i = self.instance
        return frame_of_leaders(i, i.arms, i.phi, i.leaders.tolist(), i.sign, self.free)


class LinearInContexts(InContexts, PricedLinear):
    """Divergences that are quadratic."""

    def place(self, arm: Arm) -> int:
        return int(self.instance.position(arm))

    def arm_at(self, place: int) -> Arm:
        arm: Arm = self.instance.arm_at(place)
        return arm

    def _found(self, gap: float) -> tuple[np.ndarray, LinearSolution]:
        played, told, shown, apart, basis = self.posed
        margins = self.margins
        found = solve_apart(shown, apart, self.prices[played], margins[told], gap)
        rates = np.zeros(len(self.arms))
        rates[played] = found.rates
        return told, found._replace(rates=rates, directions=found.directions @ basis.T)


class GlmInContexts(InContexts, PricedGlm):
    """Rewards that are shown themselves, by a link that is not the identity."""

    def __init__(self, instance: Any, cost: Cost, link: int) -> None:
        super().__init__(instance, cost, link)
        alone = (instance.alone(z).margins for z in range(instance.layout.n_contexts))
        self.margins = np.abs(np.concatenate(list(alone)))

    def _found(
        self, gap: float
    ) -> tuple[np.ndarray, list[tuple[Any, np.ndarray, float]], dict[Any, np.ndarray], float]:
        instance = self.instance
        found = solution.solve(
            instance.arms,
            instance.index,
            instance.leaders,
            self.prices,
            self.link,
            gap,
            margins=instance.sign * self.margins,
        )
        arms = [instance.arm_at(int(row)) for row in found.alternatives]
        confusing = list(zip(arms, found.directions, found.weights.tolist(), strict=True))
        named = zip(found.open_arms.tolist(), found.most_confusing, strict=True)
        directions = {instance.arm_at(row): delta for row, delta in named}
        return found.rates, confusing, directions, found.lower

    def _information(self, rates: np.ndarray, directions: dict[Any, np.ndarray]) -> float:
        told = self.posed[1]
        if not directions:
            return np.inf if not told.size else 0.0
        duals = self._duals(rates, {self.instance.position(a): d for a, d in directions.items()})
        if any(int(row) not in duals for row in told):
            return 0.0
        played = np.flatnonzero(rates > 0.0)
        index, eta, least = self.instance.index[played], rates[played], np.inf
        for row, (tau, pulls) in duals.items():
            paid = certificate.conjugates(self.link, index, pulls[played] / eta)
            signed = self.instance.sign * self.margins[row]
            least = min(least, float(tau * signed - (eta * paid).sum()))
        return max(0.0, least)

    def _duals(
        self, rates: np.ndarray, directions: dict[int, np.ndarray]
    ) -> dict[int, tuple[float, np.ndarray]]:
        """τ and p of every row that has a direction: what stationarity says at it."""
        instance, played = self.instance, np.flatnonzero(rates > 0.0)
        answer = {}
        for row, direction in directions.items():
            shift = instance.arms[played] @ direction
            pulls = np.zeros(len(rates))
            change = certificate.changes(self.link, instance.index[played], shift)
            pulls[played] = rates[played] * change
            signed = instance.sign * self.margins[row]
            tau = float(pulls[played] @ shift) / signed if signed else np.nan
            if np.isfinite(tau) and np.isfinite(pulls).all():
                answer[row] = tau, pulls
        return answer

    def exact_confusing(self, alternative: Any) -> Any:
        return self.frame.confusing(alternative, self.instance.position(alternative.arm))

    def exact_heaviest(self, confusing: Any, weights: Any) -> Ball:
        from ossb.graves_lai.exact.glm import heaviest  # loads flint

        rows = range(len(self.instance.arms))
        costs = [self.exact_cost(self.instance.arm_at(row)) for row in rows]
        return heaviest(self.frame, self.link, costs, confusing, weights)

    def exact_information(self, support: Support, multipliers: Any) -> Ball:
        from ossb.graves_lai.exact.glm import information  # loads flint
        from ossb.graves_lai.exact.means import summed

        instance, frame = self.instance, self.frame
        rates = summed([(instance.position(arm), rate) for arm, rate in support])
        rounded = np.zeros(len(instance.arms))
        for row, rate in rates.items():
            rounded[row] = float(rate) if frame.counts(row) else 0.0
        duals = self._duals(rounded, instance.directions(multipliers))

        def propose(row: int, played: list[int]) -> Any:
            return (duals[row][0], duals[row][1][played]) if row in duals else None

        return information(frame, self.link, rates, propose)
