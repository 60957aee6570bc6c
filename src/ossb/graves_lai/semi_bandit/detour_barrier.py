"""The barrier method over flows: min ⟨cost, w⟩ with flow conserved and every row told apart.

The working rows are detours P with t_P = log Δ_P² − log Σ_{e∈P} spread/w_e ≥ 0.  Arms do not
appear: any flow w > 0 is a sum of detours.  Each step is a circulation: Mehrotra's predictor,
then correctors that allow for the bend of t along it, all with one factorisation.
"""

from dataclasses import dataclass

import numpy as np

from ossb.graves_lai.semi_bandit.circulations import circulations
from ossb.graves_lai.semi_bandit.detour_system import System
from ossb.graves_lai.semi_bandit.detour_table import Detours, Table
from ossb.graves_lai.semi_bandit.longest_paths import Graph

MAX_STEPS = 80
CORRECTORS = 2
BOUNDARY = 0.98  # how much of the way to where a weight or multiplier vanishes is taken
BACK_OFF = 0.85
FLOW_SHARE = 0.1  # of μ, that keeps weights positive: rows do most of it


@dataclass
class Flow:
    """An iterate: item weights and multipliers of the rows."""

    weights: np.ndarray  # (n_edges,)
    multipliers: np.ndarray  # (n_rows,)


class Rows:
    """Detours that must be told apart."""

    def __init__(self, graph: Graph, detours: list[tuple[int, ...]], unit: float) -> None:
        self.member = Detours(detours, graph.cost.size)
        self.need = self.member.sums(graph.cost)
        self.unit = unit

    def log_information(self, weights: np.ndarray) -> np.ndarray:
        return np.log(self.need * self.need / (self.unit * self.member.sums(1.0 / weights)))

    def gradient(self, weights: np.ndarray) -> Table:
        """Of the logarithms, one row each."""
        inverse = 1.0 / weights
        return self.member.table(inverse * inverse, 1.0 / self.member.sums(inverse))

    def steps(self, weights: np.ndarray) -> Table:
        """What each row's most confusing parameter adds to the mean of every edge."""
        inverse = 1.0 / weights
        return self.member.table(inverse, self.need / self.member.sums(inverse))


def repair(rows: Rows, detours: list[tuple[int, ...]], weights: np.ndarray, margin: float) -> None:
    """Play every detour that is not told apart a little more, in place.

    Scaling the whole flow would move every other row off its centre.
    """
    target = np.exp(margin)
    for x in np.flatnonzero(rows.log_information(weights) < margin).tolist():
        edges = list(detours[x])
        mine, more = weights[edges], 0.0
        asked = rows.unit * target / rows.need[x] ** 2
        for _ in range(50):
            inverse = 1.0 / (mine + more)
            collected = 1.0 / inverse.sum()
            if collected >= asked:
                break
            # concave in ``more``: plain steps of Newton's method would stay below
            more += 1.02 * (asked - collected) / (collected**2 * (inverse**2).sum())
        weights[edges] = mine + more


def descend(graph: Graph, rows: Rows, flow: Flow, gap: float, mu: float) -> Flow:
    """Bring the complementarity of the working problem below a relative ``gap``.

    Every row must hold strictly at the start; ``mu`` is where the multipliers
    of new rows, given as 0, start from.
    """
    cycles = circulations(graph, flow.weights)
    w, t = flow.weights, rows.log_information(flow.weights)
    q = np.where(flow.multipliers > 0.0, flow.multipliers, mu / t)
    for _ in range(MAX_STEPS):
        value, now = float(graph.cost @ w), float(q @ t) / t.size
        gradient = rows.gradient(w)
        pull = gradient.collected(q)
        held = FLOW_SHARE * now / w
        curvature = 2.0 * pull / w + held / w
        left = _conserving(graph, 1.0 / curvature, pull + held - graph.cost)
        if max(now * t.size, float(np.abs(left * w).sum())) <= 0.5 * gap * value:
            break
        try:
            system = System(cycles, gradient, curvature, q / t - q)
        except np.linalg.LinAlgError:
            break
        step = _Step(rows, gradient, system, w, q, t)
        # never far below what is asked: with more tight rows than free directions the system
        # is singular in the limit
        mu = step.aim(graph.cost, 0.05 * gap * value / t.size)
        length = step.searched(graph.cost, mu)
        if length == 0.0:
            break
        w = w + length * step.w
        t = rows.log_information(w)
        q = np.clip(q + _reach(step.q, q, BOUNDARY) * step.q, 1e-3 * mu / t, 1e3 * mu / t)
    return Flow(w, q)


class _Step:
    """A direction for the weights w and the multipliers q, and what it does to t."""

    def __init__(
        self,
        rows: Rows,
        gradient: Table,
        system: System,
        w: np.ndarray,
        q: np.ndarray,
        t: np.ndarray,
    ) -> None:
        self.rows, self.gradient, self.system = rows, gradient, system
        self.at = (w, q, t)

    def _solve(self, cost: np.ndarray, mu: float, bend: np.ndarray | float) -> None:
        w, q, t = self.at
        target = (mu - bend) / t
        self.w = self.system.direction(self.gradient.collected(target) + FLOW_SHARE * mu / w - cost)
        self.t = self.gradient.times(self.w)
        self.q = target - q * self.t / t - q

    def aim(self, cost: np.ndarray, floor: float) -> float:
        """Choose μ by how far the step to ``floor`` would lead; solve for it with its bend."""
        w, q, t = self.at
        now = float(q @ t) / t.size
        self._solve(cost, floor, 0.0)
        alpha = min(_reach(self.w, w, 1.0), _reach(self.t, t, 1.0))
        beta = _reach(self.q, q, 1.0)
        after = float((q + beta * self.q) @ (t + alpha * self.t)) / t.size
        mu = max(min(0.9, max(0.01, (after / now) ** 3)) * now, floor)
        for _ in range(CORRECTORS):
            bend = self._bend(alpha, beta)
            self._solve(cost, mu, np.clip(bend, -now, now))
            alpha, beta = _reach(self.w, w, BOUNDARY), _reach(self.q, q, BOUNDARY)
        return mu

    def _bend(self, alpha: float, beta: float) -> np.ndarray:
        """What q t will differ by from its linear forecast."""
        w, q, t = self.at
        reach = _reach(self.w, w, BOUNDARY)
        lost = self.rows.log_information(w + reach * self.w) - t - reach * self.t
        return alpha * beta * self.q * self.t + (alpha / reach) ** 2 * q * lost

    def searched(self, cost: np.ndarray, mu: float) -> float:
        """A length that keeps every row and does not raise the barrier function; 0 for none."""
        w, _, t = self.at
        length = min(_reach(self.w, w, BOUNDARY), _reach(self.t, t, BOUNDARY))
        before = _merit(cost, w, t, mu)
        for _ in range(60):
            trial = w + length * self.w
            kept = self.rows.log_information(trial)
            if (kept > (1.0 - BOUNDARY) * t).all():
                if _merit(cost, trial, kept, mu) <= before + 1e-12 * abs(before):
                    return length
            length *= BACK_OFF
        return 0.0


def _reach(step: np.ndarray, point: np.ndarray, share: float) -> float:
    """The longest step, at most 1, that goes no further than ``share`` of the way to 0."""
    return min(1.0, share / max(1e-30, float((-step / point).max())))


def _merit(cost: np.ndarray, w: np.ndarray, t: np.ndarray, mu: float) -> float:
    return float(cost @ w - mu * np.log(t).sum() - FLOW_SHARE * mu * np.log(w).sum())


def _conserving(graph: Graph, inverse: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """What is left of a vector after the prices of nodes that explain most of it."""
    if graph.n_nodes <= 2:
        return vector
    tail, head, n_nodes = graph.tail, graph.head, graph.n_nodes
    weighted = np.zeros((n_nodes, n_nodes))
    for sign, a, b in ((1, tail, tail), (1, head, head), (-1, tail, head), (-1, head, tail)):
        np.add.at(weighted, (a, b), sign * inverse)
    asked = np.bincount(tail, inverse * vector, n_nodes) - np.bincount(
        head, inverse * vector, n_nodes
    )
    prices = np.zeros(n_nodes)  # both ends at 0
    prices[1:-1] = np.linalg.solve(weighted[1:-1, 1:-1], asked[1:-1])
    return np.asarray(vector - prices[tail] + prices[head])
