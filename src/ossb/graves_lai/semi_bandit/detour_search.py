"""Searching all detours of a path at once: by tangents, and exactly by labels.

A detour P collects Δ_P = Σ cost and U_P = Σ spread; it is told apart where U_P ≤ Δ_P².  For any
a > 0, Δ² ≥ 2aΔ − a², so that U − 2aΔ + a² ≥ U − Δ², and the left side is a longest path.  Its
maxima over a grid of a give candidates, and bounds that prune an exact search over labels
(Δ, U), where a label with no less Δ and no more U than another at its node is dropped.
"""

from typing import NamedTuple

import numpy as np

from ossb.graves_lai.semi_bandit.longest_paths import LongestPaths, as_edges, total

TANGENTS = 160
COARSE = 10  # one tangent in so many is tried on every label, the others on what is left
MAX_LABELS = 200_000
MAX_TRACED = 3000


def tangents(paths: LongestPaths) -> np.ndarray:
    """A grid of gaps, from the smallest detour's to the largest one's."""
    graph = paths.graph
    cost = np.stack([-graph.cost, graph.cost], axis=1)
    found = paths.under(cost)
    least = -(found.forward[graph.tail, 0] + cost[:, 0] + found.backward[graph.head, 0])
    most = float(found.forward[-1, 1])
    return np.geomspace(float(least.min()), max(most, float(least.min())), TANGENTS)


def cheapest(paths: LongestPaths) -> list[tuple[int, ...]]:
    """For every edge, the detour of smallest gap through it."""
    edges = np.arange(paths.graph.cost.size)
    found = paths.under(-paths.graph.cost[:, None])
    return as_edges(paths.through(found, edges, np.zeros_like(edges)))


def violated(
    paths: LongestPaths, spread: np.ndarray, grid: np.ndarray, slack: float
) -> list[tuple[int, ...]]:
    """For every edge, the most violated detour through it that the tangents show."""
    graph = paths.graph
    weights = spread[:, None] - 2.0 * graph.cost[:, None] * grid
    found = paths.under(weights)
    excess = found.forward[graph.tail] + weights + found.backward[graph.head] + grid * grid
    excess /= grid * grid  # relative to the gap squared that the tangent stands for
    edges = np.flatnonzero(excess.max(axis=1) > slack)
    detours = paths.through(found, edges, excess[edges].argmax(axis=1))
    short = total(detours, spread) > (1.0 + slack) * total(detours, graph.cost) ** 2
    return as_edges(detours[short])


class Search(NamedTuple):
    """The largest U/Δ² over all detours, detours above the floor, and whether it is proved."""

    ratio: float
    detours: list[tuple[int, ...]]  # most violated first, each with an edge none before has
    complete: bool


def largest_ratio(
    paths: LongestPaths, spread: np.ndarray, grid: np.ndarray, floor: float
) -> Search:
    """max over detours of U/Δ², exact if above ``floor`` (else ``floor`` is returned).

    The search is complete unless more than ``MAX_LABELS`` labels had to be kept.
    """
    graph, slope = paths.graph, 2.0 * floor * grid
    # what a label can still gain on its way to the end, by each tangent, coarse ones first
    order = np.argsort(np.arange(grid.size) % COARSE, kind="stable")
    gain = paths.under(spread[:, None] - graph.cost[:, None] * slope).backward + floor * grid**2
    slope, gain, coarse = slope[order], gain[:, order], -(-grid.size // COARSE)
    outgoing: list[list[int]] = [[] for _ in range(graph.n_nodes)]
    for k, node in enumerate(graph.tail.tolist()):
        outgoing[node].append(k)
    head = graph.head.tolist()
    arriving: list[list[np.ndarray]] = [[] for _ in range(graph.n_nodes)]
    arriving[0] = [np.array([[0.0], [0.0], [-1.0], [-1.0]])]
    kept: list[np.ndarray] = []  # rows: gap, spread, label it extends, edge it took
    count = 0
    above: list[np.ndarray] = []  # rows: ratio, last label, last edge
    for node in range(graph.n_nodes - 1):
        if not arriving[node]:
            continue
        labels = _undominated(np.concatenate(arriving[node], axis=1))
        for columns in (slice(coarse), slice(coarse, None)):
            bound = labels[1][:, None] - labels[0][:, None] * slope[columns] + gain[node, columns]
            labels = labels[:, bound.min(axis=1) > 0]
        size = labels.shape[1]
        if count + size > MAX_LABELS:
            return _collect(kept, above, floor, False)
        kept.append(labels)
        numbers = np.arange(count, count + size, dtype=np.float64)
        count += size
        for k in outgoing[node]:
            gap, total = labels[0] + graph.cost[k], labels[1] + spread[k]
            if head[k] < graph.n_nodes - 1:
                arriving[head[k]].append(np.stack([gap, total, numbers, np.full(size, float(k))]))
            elif size:
                ratio = total / (gap * gap)
                high = ratio > floor
                edge = np.full(int(high.sum()), float(k))
                above.append(np.stack([ratio[high], numbers[high], edge]))
    return _collect(kept, above, floor, True)


def _collect(
    kept: list[np.ndarray], above: list[np.ndarray], floor: float, complete: bool
) -> Search:
    """The most violated detours, traced back from their last labels."""
    ends = np.concatenate([np.zeros((3, 0)), *above], axis=1)
    ends = ends[:, np.argsort(-ends[0], kind="stable")][:, :MAX_TRACED]
    table = np.concatenate([np.zeros((4, 0)), *kept], axis=1)
    detours: list[tuple[int, ...]] = []
    seen: set[int] = set()
    for label, edge in ends[1:].T.astype(np.int64).tolist():
        path = _trace(table, label, edge)
        if not seen.issuperset(path):
            seen.update(path)
            detours.append(path)
    return Search(float(ends[0, 0]) if ends.shape[1] else floor, detours, complete)


def _undominated(labels: np.ndarray) -> np.ndarray:
    """Labels that no other one beats in both gap and spread."""
    labels = labels[:, np.lexsort((-labels[1], labels[0]))]
    highest = np.maximum.accumulate(labels[1])
    keep = np.ones(labels.shape[1], dtype=bool)
    keep[1:] = labels[1][1:] > highest[:-1]
    return labels[:, keep]


def _trace(table: np.ndarray, label: int, edge: int) -> tuple[int, ...]:
    """The edges of a label and of all that it extends, and a last one."""
    path = [edge]
    while table[3, label] >= 0:
        path.append(int(table[3, label]))
        label = int(table[2, label])
    return tuple(reversed(path))
