"""What rates tell of matchings: the least Δ²/V over arms, by branch and bound.

V sums a variance over the edges that the best matching lacks.  For any τ, Δ²/V ≥ 2τΔ − τ²V, and
the least right side over a part of the arms is an assignment.  Any prices p of the right nodes
bound that one: Σ_l max_r (w_lr − p_r) + Σ_r p_r, which is counted with room for its rounding.
Right nodes that an arm leaves are given to rows of their own, so that gaps are sums of costs ≥ 0.
"""

import heapq
import math
from typing import Any, NamedTuple

import numpy as np
from flint import arb, fmpq

from ossb.graves_lai.exact.balls import INFINITE, down, up
from ossb.numerics.assignment import heaviest

CLOSE = 1e-9  # of the least ratio found: bounds this near are near enough
MOST_NODES = 20_000
CUTS = 30
UNIT = 2.0**-53


class _Table(NamedTuple):
    """Costs and variances by row and right node; rows beyond the left nodes are those left over."""

    edge: np.ndarray  # int64 (R, R), −1 where there is none
    cost: np.ndarray  # (R, R) rounded down
    variance: np.ndarray  # (R, R) rounded up
    allowed: np.ndarray  # bool (R, R)


class _Part(NamedTuple):
    """A part of the arms: with some edges and without others, and its least ratio at least."""

    bound: float
    inside: frozenset[int]
    outside: frozenset[int]
    split: int


def information(
    matchings: Any, best: frozenset[int], costs: list[fmpq], seen: dict[int, arb], unit: arb
) -> arb:
    """min over matchings of Δ² / Σ unit/w, at least."""
    ends = matchings.edges.tolist()
    some = np.zeros(len(ends))
    others = [
        k
        for k in range(len(ends))
        if k not in best and matchings.maximize_with(some, k) is not None
    ]
    if not others:
        return INFINITE
    if any(k not in seen for k in others):
        return arb(0)
    size = matchings.n_right
    edge = np.full((size, size), -1)
    cost, variance = np.zeros((size, size)), np.zeros((size, size))
    for k in [*others, *best]:
        u, v = ends[k]
        edge[u, v] = k
        cost[u, v] = max(down(arb(costs[k])), 0.0)
        if k not in best:
            variance[u, v] = up(unit / seen[k])
    left = [max(down(arb(price)), 0.0) for price in costs[len(ends) :]]
    cost[matchings.n_left :] = left
    allowed = edge >= 0
    allowed[matchings.n_left :] = True
    table = _Table(edge, cost, np.where(allowed, variance, 0.0), allowed)
    return arb(_least(table, others))


def _least(table: _Table, others: list[int]) -> float:
    """The least ratio of an arm with one of the other edges, at least."""
    found: dict[tuple[int, ...], float] = {}
    queue: list[tuple[float, int, _Part]] = []
    before: frozenset[int] = frozenset()
    count = 0
    for k in others:  # the arms whose first other edge is this one
        part = _part(table, frozenset([k]), before, found)
        heapq.heappush(queue, (part.bound, count, part))
        before |= {k}
        count += 1
    while queue:
        bound, _, part = queue[0]
        near = min(found.values(), default=math.inf) * (1.0 - CLOSE)
        if bound >= near or part.split < 0 or count >= MOST_NODES:
            return bound
        heapq.heappop(queue)
        for inside, outside in (
            (part.inside | {part.split}, part.outside),
            (part.inside, part.outside | {part.split}),
        ):
            child = _part(table, inside, outside, found)
            heapq.heappush(queue, (max(child.bound, bound), count, child))
            count += 1
    return math.inf


def _part(
    table: _Table,
    inside: frozenset[int],
    outside: frozenset[int],
    found: dict[tuple[int, ...], float],
) -> _Part:
    """The largest bound over τ for the arms with and without some edges."""
    allowed = table.allowed & ~np.isin(table.edge, list(outside) or [-2])
    for k in inside:
        row, column = np.argwhere(table.edge == k)[0]
        kept = allowed[row, column]
        allowed[row, :] = False
        allowed[:, column] = False
        allowed[row, column] = kept
    met: list[tuple[float, float, tuple[int, ...]]] = []
    bound, tau = 0.0, 0.0
    for _ in range(CUTS):
        weights = tau * tau * table.variance - 2.0 * tau * table.cost if tau else -table.cost
        if not np.isfinite(weights[allowed]).all():
            return _Part(0.0, inside, outside, -1)
        columns = _assign(weights, allowed)
        if columns is None:
            return _Part(math.inf, inside, outside, -1)
        rows = np.arange(len(columns))
        gap = math.fsum(table.cost[rows, columns].tolist())
        variance = math.fsum(table.variance[rows, columns].tolist())
        if not variance < math.inf or not gap > 0.0:
            return _Part(0.0, inside, outside, -1)
        arm = tuple(sorted(k for k in table.edge[rows, columns].tolist() if k >= 0))
        if tau > 0.0:
            bound = max(bound, _bound(table, allowed, columns, tau))
        repeated = any(arm == other for _, _, other in met)
        if repeated and tau > 0.0:
            break
        met.append((gap, variance, arm))
        found[arm] = gap * gap / variance
        tau = _highest([(g, v) for g, v, _ in met])
    least = min(g * g / v for g, v, _ in met)
    split = -1
    if bound < least * (1.0 - CLOSE):
        split = _disputed([arm for _, _, arm in met], inside | outside, table)
    return _Part(bound, inside, outside, split)


def _assign(weights: np.ndarray, allowed: np.ndarray) -> np.ndarray | None:
    """The heaviest assignment, up to rounding: of no consequence for what is proved."""
    return heaviest(np.where(allowed, weights, -np.inf))


def _bound(table: _Table, allowed: np.ndarray, columns: np.ndarray, tau: float) -> float:
    """The least 2τΔ − τ²V over an assignment's part, at least, by prices that support it."""
    size = len(columns)
    rows = np.arange(size)
    weights = np.where(allowed, tau * tau * table.variance - 2.0 * tau * table.cost, -np.inf)
    prices = np.zeros(size)
    for _ in range(size + 1):
        value = weights[rows, columns] - prices[columns]
        asked = np.maximum(prices, (weights - value[:, None]).max(axis=0))
        if (asked == prices).all():
            break
        prices = asked
    most = np.where(allowed, weights - prices, -np.inf).max(axis=1)
    terms = tau * tau * table.variance + 2.0 * tau * table.cost
    largest = float(terms[allowed].max()) + float(np.abs(prices).max())
    room = 64.0 * (size + 4) * size * UNIT * largest
    return -(math.fsum(most.tolist()) + math.fsum(prices.tolist())) - room


def _highest(cuts: list[tuple[float, float]]) -> float:
    """The τ at which the least of 2τΔ − τ²V over some arms is largest."""
    candidates = [gap / variance for gap, variance in cuts]
    for k, (gap, variance) in enumerate(cuts):
        for other, wide in cuts[:k]:
            if variance != wide and (gap - other) / (variance - wide) > 0.0:
                candidates.append(2.0 * (gap - other) / (variance - wide))
    return max(candidates, key=lambda tau: min(2 * tau * g - tau * tau * v for g, v in cuts))


def _disputed(met: list[tuple[int, ...]], forced: frozenset[int], table: _Table) -> int:
    """An edge in which the last arms met differ, of largest variance, not yet forced; or −1."""
    size = dict(zip(table.edge.ravel().tolist(), table.variance.ravel().tolist(), strict=True))
    for k in range(len(met) - 1, 0, -1):
        different = (set(met[k]) ^ set(met[k - 1])) - forced
        if different:
            return max(sorted(different), key=lambda edge: size[edge])
    return -1
