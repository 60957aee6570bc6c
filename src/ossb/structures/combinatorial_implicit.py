"""Semi-bandit feedback on arm sets that are not listed.

Closed form for matroids, flows for paths, row and column generation for matchings; and the
same three ways to prove the upper side of a bound for any rates.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ossb import fields as read
from ossb.errors import InputError
from ossb.graves_lai.independent import beyond, divergences
from ossb.graves_lai.proof import Alternative, Arm, Support
from ossb.graves_lai.semi_bandit.implicit import feasible_factor, solve_implicit
from ossb.graves_lai.semi_bandit.implicit_solution import ImplicitSolution, Items, heaviest_ratio
from ossb.graves_lai.semi_bandit.matroid import least_information, solve_matroid
from ossb.structures.base import Bound
from ossb.structures.combinatorial_cases import raised, refuse_ties

PROOF_GAP = 1e-9  # how closely the search for an upper bound's proof comes to the exact factor
PUSH = 1e-6  # of the gap: more than this is not rounding


class ImplicitSemiBandit:
    """Every item of the arm played is observed; arms come from an oracle."""

    def __init__(self, instance: Any, arm_set: Any, means: np.ndarray) -> None:
        self.instance, self.arm_set, self.means = instance, arm_set, means
        self.best: Items = arm_set.maximize(means)
        self.top = self.reward(self.best)
        refuse_ties(arm_set, means, self.best)

    def reward(self, arm: Items) -> float:
        return math.fsum(self.means[list(arm)].tolist())

    def checked(self, arm: Arm) -> Items:
        """The arm as a sorted tuple of its items, if it is one of the set."""
        entries = arm if isinstance(arm, tuple) else (arm,)
        items = tuple(sorted(read.integer(item, "arm") for item in entries))
        if not self.arm_set.contains(items):
            raise InputError("arm", f"be one of {self.instance.arm_set}", list(items))
        return items

    def gap_of(self, arm: Arm) -> float:
        items = set(self.checked(arm))
        kept = items & set(self.best)
        lost = self.means[sorted(set(self.best) - kept)]
        won = self.means[sorted(items - kept)]
        return math.fsum([*lost.tolist(), *(-won).tolist()])

    def solve(self, gap: float) -> Bound:
        found = self._found(gap)
        sign, family, alternatives = self.instance.sign, self.instance.family, []
        for arm, parameter, weight in zip(
            found.alternatives, found.confusing, found.weights, strict=True
        ):
            moved = np.array([i for i in arm if i not in set(self.best)])
            self._push(parameter, arm, moved)
            witness = raised(family, parameter, moved, self.gap_of(arm))
            alternatives.append(Alternative(arm, sign * parameter, sign * witness, float(weight)))
        support = [(arm, float(rate)) for arm, rate in found.support if rate > 0]
        # both sides by the gaps and parameters as they are, rounded
        upper = math.fsum(rate * self.gap_of(arm) for arm, rate in support)
        lower = min(float(found.lower), upper)
        weights = np.asarray(found.weights, dtype=np.float64)
        if weights.size and weights.sum() > 0:
            proved = float(weights.sum() / self.heaviest(list(found.confusing), weights))
            lower = min(lower, proved) if proved > 0.0 else lower
        return Bound(self.instance, lower, upper, support, alternatives, status=found.status)

    def _found(self, gap: float) -> ImplicitSolution:
        if self.arm_set.is_matroid:
            return solve_matroid(self.arm_set, self.means, self.instance.family)
        if self.instance.arm_set == "paths":
            from ossb.graves_lai.semi_bandit.detours import solve_paths  # loads scipy

            return solve_paths(self.arm_set, self.means, self.instance.sigma, gap)
        return solve_implicit(self.arm_set, self.means, self.instance.sigma, gap)

    def _push(self, parameter: np.ndarray, arm: Arm, moved: np.ndarray) -> None:
        """Raise an item by what rounding has taken from the arm's advantage."""
        for _ in range(5):
            short = -self.advantage(parameter, arm)
            if not 0.0 < short <= PUSH * self.gap_of(arm) or not moved.size:
                return
            raised = parameter[moved[0]] + 2.0 * short
            parameter[moved[0]] = min(raised, self.instance.family.highest())

    def outside(self, parameter: np.ndarray) -> float:
        return beyond(self.instance.family, parameter)

    def disagreement(self, parameter: np.ndarray) -> float:
        return float(np.abs(parameter - self.means)[list(self.best)].max(initial=0.0))

    def advantage(self, parameter: np.ndarray, arm: Arm) -> float:
        items = set(self.checked(arm))
        kept = items & set(self.best)
        won = parameter[sorted(items - kept)]
        lost = parameter[sorted(set(self.best) - kept)]
        return math.fsum([*won.tolist(), *(-lost).tolist()])

    def heaviest(self, parameters: Sequence[np.ndarray], weights: np.ndarray) -> float:
        pull = np.zeros(self.means.size)
        for weight, parameter in zip(weights, parameters, strict=True):
            pull += weight * divergences(self.instance.family, self.means, parameter)
        pull[list(self.best)] = 0.0  # the check of disagreement has seen to these
        if not np.isfinite(pull).all():
            return math.inf  # such weights prove nothing
        ratio, _ = heaviest_ratio(self.arm_set, self.means, self.best, pull)
        return ratio

    def information(self, support: Support) -> float:
        from ossb.graves_lai.semi_bandit.detours import feasible_detours  # loads scipy

        weights = np.zeros(self.means.size)
        for arm, rate in support:
            weights[list(self.checked(arm))] += rate
        if self.arm_set.is_matroid:
            family = self.instance.family
            return least_information(self.arm_set, self.means, self.best, weights, family)
        unit = 2.0 * self.instance.sigma**2
        if self.instance.arm_set == "paths":
            graph = self.arm_set.detours(self.best, self.means)
            if graph.items.size == 0:
                return math.inf
            return 1.0 / feasible_detours(graph, weights, unit)
        return self._matching_information(weights, unit)

    def _matching_information(self, weights: np.ndarray, unit: float) -> float:
        used = self._outside_items()
        if used.size == 0:
            return math.inf
        if not (weights[used] > 0).all():
            return 0.0
        variance = np.zeros(self.means.size)
        variance[used] = unit / weights[used]
        start = max(
            variance[list(arm)].sum() / self.gap_of(arm) ** 2
            for arm in (self.arm_set.maximize_with(self.means, int(i)) for i in used)
        )
        factor, _, _ = feasible_factor(
            self.arm_set, self.means, self.best, variance, float(start), PROOF_GAP
        )
        return 1.0 / factor

    def _outside_items(self) -> np.ndarray:
        """Items that some arm has and the best one lacks."""
        inside = set(self.best)
        return np.array(
            [
                i
                for i in range(self.means.size)
                if i not in inside and self.arm_set.maximize_with(self.means, i) is not None
            ],
            dtype=np.int64,
        )
