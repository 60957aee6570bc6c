"""The Graves–Lai program of Gaussian semi-bandits by projected subgradients, through an oracle.

Over the item rates w_i = Σ_{x∋i} η_x, minimise Σ η_x Δ_x subject to
h_y(w) = (2σ² / Δ_y²) Σ_{i∈y∖x*} 1/w_i ≤ 1 for every arm y.  A point is (w outside x*, cost), in
the cone that the arms (x∖x*, Δ_x) span.  A step goes down the subgradient of
cost + λ max(0, max_y h_y − 1); the worst y comes from budgeted linear maximisations, up to their
rounding.  Then the point is projected on the cone, by least squares over arms that the oracle
adds while some arm would come nearer; that gives the rates η as well.

The cost is homogeneous of degree 1 in w and each h_y of degree −1, so the multiplier of the
worst constraint at the optimum is the optimum itself: the cost of any feasible point is a λ
large enough, and any point times its max_y h_y is feasible.  The best of these is kept.
"""

import math
from typing import NamedTuple

import numpy as np

from ossb.arm_sets.base import ArmSet, Items, total
from ossb.graves_lai.semi_bandit.index import maximize_index
from ossb.numerics.least_squares import nonnegative
from ossb.policies.budgeted import within_budgets

NODES = 40
FIRST_STEP = 0.3  # in units of the start's own size
COLUMNS = 30  # most arms that one projection adds
NEARER = 1e-9


class Plan(NamedTuple):
    """Feasible rates."""

    leader: Items
    support: list[tuple[Items, float]]  # arms other than the leader, and their rates
    rates: np.ndarray  # float64 (n_items,): of items outside the leader
    cost: float


class Program:
    """The program at some means.

    Parameters
    ----------
    arm_set
        The oracle.
    means
        Estimated item means.
    sigma
        Standard deviation of the items.
    levels
        Budgets of the separation.
    """

    def __init__(self, arm_set: ArmSet, means: np.ndarray, sigma: float, levels: int) -> None:
        self.arm_set, self.means, self.levels = arm_set, means, levels
        self.unit = 2.0 * sigma * sigma
        self.leader = arm_set.maximize(means)
        self.top = total(means, self.leader)
        near = {}
        for item in range(means.size):
            arm = arm_set.maximize_with(means, item) if item not in self.leader else None
            if arm is not None:
                near[item] = arm
        self.items = np.array(sorted(near), dtype=np.int64)  # those that plays are for
        self.near = near
        lost = [self.top - total(means, arm) for arm in near.values()]
        self.widest = max(lost, default=0.0)
        # estimated gaps of 0 have no rate: what is closer than this counts as this close; while
        # nothing is told all means are 0
        largest = max(self.widest, float(np.abs(means).max(initial=0.0)))
        self.least = 1e-6 * max(largest, 1e-9 * sigma)
        self.columns: dict[Items, None] = dict.fromkeys(near.values())
        gaps = np.array([self.gap_of(arm) for arm in near.values()])
        self.unit_rates = self.unit / gaps**2
        self.start = {
            arm: float(rate) for arm, rate in zip(near.values(), self.unit_rates, strict=True)
        }
        self.unit_cost = sum(rate * self.gap_of(arm) for arm, rate in self.start.items())

    def gap_of(self, arm: Items) -> float:
        return max(self.top - total(self.means, arm), self.least)

    def solve(self, iterations: int, held: Plan | None = None) -> Plan:
        """The best feasible rates met in a number of steps.

        The start is the better of two: for each item the best arm that has it, as if items were
        compared one by one, which is the optimum on matroids; and rates ``held`` from before.
        """
        if not self.items.size:
            return Plan(self.leader, [], np.zeros(self.means.size), 0.0)
        point = self.point_of(self.start)
        best, worst, height = self.feasible(self.start, point)
        if held is not None and held.leader == self.leader and held.support:
            eta = dict(held.support)
            self.columns.update(dict.fromkeys(eta))
            at = self.point_of(eta)
            again, other, tall = self.feasible(eta, at)
            if again.cost < best.cost:
                best, point, worst, height = again, at, other, tall
        for k in range(iterations):
            step = self.descent(point, worst, height, best.cost)
            length = FIRST_STEP / math.sqrt(k + 1.0) / float(np.linalg.norm(step / self.scales))
            eta = self.project(point - length * step)
            point = self.point_of(eta)
            if not (point > 0.0).any():
                break
            found, worst, height = self.feasible(eta, point)
            if found.cost < best.cost:
                best = found
        return best

    def feasible(self, eta: dict[Items, float], point: np.ndarray) -> tuple[Plan, Items, float]:
        """The plan of a point scaled to be feasible, its worst arm, and the h of that."""
        worst, height = self.worst_of(point[:-1])
        return self.plan(eta, height), worst, height

    @property
    def scales(self) -> np.ndarray:
        """Units of the coordinates: rates of the start, and its cost."""
        return np.append(self.unit_rates, self.unit_cost)

    def column(self, arm: Items) -> np.ndarray:
        inside = np.isin(self.items, arm).astype(np.float64)
        return np.append(inside, self.gap_of(arm))

    def point_of(self, eta: dict[Items, float]) -> np.ndarray:
        point = np.zeros(self.items.size + 1)
        for arm, rate in eta.items():
            point += rate * self.column(arm)
        return point

    def worst_of(self, rates: np.ndarray) -> tuple[Items, float]:
        """The arm of the largest h, and that."""
        doubts = np.zeros(self.means.size)
        doubts[self.items] = self.unit / np.maximum(rates, 1e-9 * self.unit_rates)
        step = max(self.widest, self.least) / self.levels
        met = within_budgets(self.arm_set, self.means, doubts, step, self.levels)
        if met is None:
            met = maximize_index(self.arm_set, self.means, doubts, self.top, NODES).met
        best, height = self.leader, 0.0
        for arm in [*met, *self.columns]:
            value = total(doubts, arm) / self.gap_of(arm) ** 2
            if arm != self.leader and value > height:
                best, height = arm, value
        return best, height

    def descent(self, point: np.ndarray, worst: Items, height: float, penalty: float) -> np.ndarray:
        """A subgradient of the penalised cost, preconditioned by the scales."""
        slope = np.zeros(point.size)
        slope[-1] = 1.0
        if height >= 1.0:
            inside = np.isin(self.items, worst)
            rates = np.maximum(point[:-1], 1e-9 * self.unit_rates)
            slope[:-1] -= np.where(
                inside, penalty * self.unit / (self.gap_of(worst) * rates) ** 2, 0.0
            )
        return slope * self.scales * self.scales

    def project(self, point: np.ndarray) -> dict[Items, float]:
        """Rates of arms whose point is nearest, in units of the scales."""
        target = point / self.scales
        for _ in range(COLUMNS):
            arms = list(self.columns)
            table = np.array([self.column(arm) / self.scales for arm in arms]).T
            rates = nonnegative(table, target)
            rest = target - table @ rates
            pull = np.zeros(self.means.size)
            pull[self.items] = rest[:-1] / self.unit_rates
            tilt = rest[-1] / self.unit_cost
            arm = self.arm_set.maximize(pull - tilt * self.means)
            if arm in self.columns or arm == self.leader:
                break
            if float(rest @ (self.column(arm) / self.scales)) <= NEARER:
                break
            self.columns[arm] = None
        return {arm: float(rate) for arm, rate in zip(arms, rates, strict=True) if rate > 0.0}

    def plan(self, eta: dict[Items, float], height: float) -> Plan:
        """The rates of a point, scaled to be feasible."""
        support = [(arm, rate * height) for arm, rate in eta.items()]
        rates = np.zeros(self.means.size)
        point = self.point_of(eta) * height
        rates[self.items] = point[:-1]
        return Plan(self.leader, support, rates, float(point[-1]))
