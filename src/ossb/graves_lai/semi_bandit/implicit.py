"""Row and column generation through a linear-maximisation oracle; arms are never listed.

Columns (arms to play) come from the oracle on the information collected: the lower bound
holds for all arms because Σ_{i∈x} pull_i ≤ L Δ_x is one linear maximisation.  Rows
(alternatives) come from the optimistic index, whose exact maximum gives the upper bound.
"""

import math

import numpy as np

from ossb.graves_lai import program
from ossb.graves_lai.information.items import set_items, step_of
from ossb.graves_lai.program.warm import NOBODY
from ossb.graves_lai.semi_bandit.gaussian_items import GaussianItems
from ossb.graves_lai.semi_bandit.implicit_solution import (
    ImplicitSolution,
    Items,
    Oracle,
    Status,
    heaviest_ratio,
    reward,
)
from ossb.graves_lai.semi_bandit.index import maximize_index

MAX_ROUNDS = 60


def solve_implicit(
    oracle: Oracle, phi: np.ndarray, sigma: float = 1.0, gap: float = 1e-6
) -> ImplicitSolution:
    """The Graves–Lai bound of an implicit arm set with Gaussian items, one best arm."""
    phi = np.ascontiguousarray(phi, dtype=np.float64)
    leader = oracle.maximize(phi)
    near = [oracle.maximize_with(phi, i) for i in range(phi.size) if i not in set(leader)]
    arms = sorted({arm for arm in near if arm is not None})
    if not arms:
        return ImplicitSolution(leader, [], 0.0, 0.0, [], np.zeros((0, phi.size)), np.zeros(0))
    outside = np.array(sorted({i for arm in arms for i in arm} - set(leader)), dtype=np.int64)
    columns, rows = dict.fromkeys(arms), dict.fromkeys(arms)
    answer = None
    inner = 0.01
    for _ in range(MAX_ROUNDS):
        working = _Working(phi, leader, outside, list(columns), list(rows), sigma)
        working.solve(inner)
        best = working.certify(oracle, gap)
        if answer is None or best[0].gap < answer.gap:
            answer = best[0]
        if answer.gap <= gap:
            break
        before = len(columns) + len(rows)
        slack = 0.1 * best[0].gap
        columns.update(dict.fromkeys(best[1]))
        rows.update(dict.fromkeys(arm for arm in best[2] if working.violated(arm, slack)))
        if len(columns) + len(rows) == before:
            if inner <= 0.25 * gap:
                break
            inner = 0.25 * gap
        else:
            inner = max(0.25 * gap, min(0.05, 0.1 * answer.gap))
    if answer is None:
        raise AssertionError("the first round always answers")
    return answer


class _Working:
    """The working problem over some columns and rows."""

    def __init__(
        self,
        phi: np.ndarray,
        leader: Items,
        outside: np.ndarray,
        columns: list[Items],
        rows: list[Items],
        sigma: float,
    ) -> None:
        self.phi, self.leader, self.outside = phi, leader, outside
        self.columns, self.rows, self.sigma = columns, rows, sigma
        self.movable = set(outside.tolist())
        self.best = reward(phi, leader)
        self.rates = np.zeros(len(columns))
        self.item_weights = np.zeros(phi.size)

    def solve(self, gap: float) -> None:
        gaps = np.array([self.best - reward(self.phi, arm) for arm in self.columns])
        needs = np.array([self.best - reward(self.phi, arm) for arm in self.rows])
        known = np.zeros(self.phi.size)
        known[list(self.leader)] = 1.0
        information = set_items(
            GaussianItems(self.sigma), self._sets(self.columns), self.phi, needs, known,
            self._sets(self.rows),
        )  # fmt: skip
        found = program.solve(information, gaps, NOBODY, gap)
        self.gaps, self.rates, self.y = gaps, found.rates, found.weights
        self.steps = [step_of(information, row) for row in range(len(self.rows))]
        self.item_weights[:] = 0.0
        for arm, rate in zip(self.columns, self.rates, strict=True):
            self.item_weights[list(arm)] += rate

    def _sets(self, arms: list[Items]) -> np.ndarray:
        sets = np.zeros((len(arms), self.phi.size))
        for place, arm in enumerate(arms):
            sets[place, list(arm)] = 1.0
        return sets

    def violated(self, arm: Items, slack: float) -> bool:
        """Whether an alternative is told apart by less than it must be."""
        mine = [i for i in arm if i in self.movable]
        need = self.best - reward(self.phi, arm)
        if not mine or not need > 0:
            return False
        spread = 2.0 * self.sigma**2 * float(sum(1.0 / self.item_weights[i] for i in mine))
        return need * need < (1.0 - slack) * spread

    def certify(
        self, oracle: Oracle, gap: float
    ) -> tuple[ImplicitSolution, list[Items], list[Items]]:
        """Both bounds over all arms, the columns and the rows met in proving them."""
        variance = np.zeros(self.phi.size)
        variance[self.outside] = 2.0 * self.sigma**2 / self.item_weights[self.outside]
        scale, status, met = feasible_factor(oracle, self.phi, self.leader, variance, 1.0, gap)
        upper = float(self.rates @ self.gaps) * scale
        confusing, pull = self._confusing()
        start = float(max(sum(pull[i] for i in a) / g for a, g in zip(self.columns, self.gaps,
                                                                      strict=True)))  # fmt: skip
        ratio, arms = heaviest_ratio(oracle, self.phi, self.leader, pull, start)
        more = [oracle.maximize_with(pull + ratio * self.phi, int(i)) for i in self.outside]
        arms += [arm for arm in more if arm is not None and arm != self.leader]
        used = self.y > 0
        support = [
            (arm, float(rate * scale))
            for arm, rate in zip(self.columns, self.rates, strict=True)
            if rate > 0
        ]
        solution = ImplicitSolution(
            self.leader,
            support,
            upper,
            float(self.y.sum() / ratio),
            [arm for arm, use in zip(self.rows, used, strict=True) if use],
            confusing[used],
            self.y[used],
            status,
        )
        return solution, [arm for arm in arms if self._collects(arm, pull, start, gap)], met

    def _collects(self, arm: Items, pull: np.ndarray, start: float, gap: float) -> bool:
        mine = float(sum(pull[i] for i in arm))
        return mine > start * (1.0 + 0.05 * gap) * (self.best - reward(self.phi, arm))

    def _confusing(self) -> tuple[np.ndarray, np.ndarray]:
        """The most confusing item means of each row, and Σ y d per item."""
        confusing = np.tile(self.phi, (len(self.rows), 1))
        pull = np.zeros(self.phi.size)
        for k, step in enumerate(self.steps):
            confusing[k] += step
            pull += self.y[k] * step * step / (2.0 * self.sigma**2)
        return confusing, pull


def feasible_factor(
    oracle: Oracle, phi: np.ndarray, leader: Items, variance: np.ndarray, start: float, gap: float
) -> tuple[float, Status, list[Items]]:
    """A factor f with Σ variance ≤ f Δ² for every arm, at most 0.1 · gap above the least.

    ``variance`` is 2σ²/w on items outside the leader and 0 on its own; rates times f are then
    feasible.  The index with variances over f exceeds μ* for no arm: the search proves that
    for f just above what the arms met ask for, starting from ``start``.
    """
    best = reward(phi, leader)
    size = max(abs(best), float(np.abs(phi).max()))
    factor = start * (1.0 + 0.1 * gap)
    status: Status = "certified"
    widening = 1e-3
    met: dict[Items, None] = {}
    for _ in range(40):
        found = maximize_index(oracle, phi, variance / factor, best)
        met.update(dict.fromkeys(found.met))
        if found.bound <= best + 1e-14 * size:
            return factor, status, list(met)
        asked = 0.0
        for arm in met:
            need = best - reward(phi, arm)
            if need > 0:
                asked = max(asked, float(sum(variance[i] for i in arm)) / (need * need))
        if asked > factor:
            factor = asked * (1.0 + 0.1 * gap)
        else:  # the search gave up: widen until the relaxation alone proves it
            factor *= 1.0 + widening
            widening *= 2.0
            status = "heuristic"
    return math.inf, "heuristic", list(met)
