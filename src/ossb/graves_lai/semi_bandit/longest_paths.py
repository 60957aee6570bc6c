"""Longest paths of one graph, from its start and to its end, under many weights at once."""

from collections import defaultdict
from typing import NamedTuple, Protocol

import numpy as np


class Graph(Protocol):
    """Detours, as ``ossb.arm_sets`` describes them: every edge leads to a higher node."""

    @property
    def items(self) -> np.ndarray: ...
    @property
    def tail(self) -> np.ndarray: ...
    @property
    def head(self) -> np.ndarray: ...
    @property
    def cost(self) -> np.ndarray: ...
    @property
    def n_nodes(self) -> int: ...


class Longest(NamedTuple):
    """Longest paths under several weights: from the start, and to the end."""

    forward: np.ndarray  # (n_nodes, n_weights)
    last: np.ndarray  # int64, the last edge of it
    backward: np.ndarray
    first: np.ndarray


class LongestPaths:
    """The order in which a graph's edges are swept: many at a time, no two into one node."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        order = np.argsort(graph.tail, kind="stable").tolist()
        tail, head = graph.tail.tolist(), graph.head.tolist()
        self._onward = _groups(order, tail, head, graph.n_nodes)
        self._homeward = _groups(order[::-1], head, tail, graph.n_nodes)

    def under(self, weights: np.ndarray) -> Longest:
        """Dynamic programming; ``weights`` is (n_edges, n_weights)."""
        tail, head = self.graph.tail, self.graph.head
        shape = (self.graph.n_nodes, weights.shape[1])
        forward, backward = np.full(shape, -np.inf), np.full(shape, -np.inf)
        last, first = np.full(shape, -1), np.full(shape, -1)
        forward[0], backward[-1] = 0.0, 0.0
        _sweep(self._onward, tail, head, weights, forward, last)
        _sweep(self._homeward, head, tail, weights, backward, first)
        return Longest(forward, last, backward, first)

    def through(self, found: Longest, edges: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """The longest path through each edge under its column of the weights.

        One path a row, its edges in order, with −1 where there is none.
        """
        tail, head, end = self.graph.tail, self.graph.head, self.graph.n_nodes - 1
        before = _walk(found.last, tail, tail[edges], columns, 0)
        after = _walk(found.first, head, head[edges], columns, end)
        return np.column_stack([*before[::-1], edges, *after])


def total(paths: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Σ values over the edges of each path, one path a row as ``through`` gives them."""
    summed: np.ndarray = np.append(values, 0.0)[paths].sum(axis=1)
    return summed


def as_edges(paths: np.ndarray) -> list[tuple[int, ...]]:
    """The different paths of a table, each as its edges in order, in the table's order."""
    return list(dict.fromkeys(tuple(k for k in row if k >= 0) for row in paths.tolist()))


def _groups(order: list[int], near: list[int], far: list[int], n_nodes: int) -> list[np.ndarray]:
    """Edges that can be swept together, each after all that lead to its near end."""
    level = [0] * n_nodes
    for k in order:
        level[far[k]] = max(level[far[k]], level[near[k]] + 1)
    rank = [0] * n_nodes
    groups: dict[tuple[int, int], list[int]] = defaultdict(list)
    for k in order:
        groups[level[far[k]], rank[far[k]]].append(k)
        rank[far[k]] += 1
    return [np.array(groups[key]) for key in sorted(groups)]


def _sweep(
    groups: list[np.ndarray],
    near: np.ndarray,
    far: np.ndarray,
    weights: np.ndarray,
    best: np.ndarray,
    taken: np.ndarray,
) -> None:
    for group in groups:
        value = best[near[group]] + weights[group]
        into = far[group]
        before = best[into]
        better = value > before
        best[into] = np.where(better, value, before)
        taken[into] = np.where(better, group[:, None], taken[into])


def _walk(
    taken: np.ndarray, ends: np.ndarray, node: np.ndarray, columns: np.ndarray, stop: int
) -> list[np.ndarray]:
    """The edges met on the way from each node to ``stop``, one array a step."""
    steps = []
    node = node.copy()
    while (going := node != stop).any():
        edge = np.where(going, taken[node, columns], -1)
        node = np.where(going, ends[edge], stop)
        steps.append(edge)
    return steps
