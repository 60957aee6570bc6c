"""Spanning trees of a connected graph; items are its edges."""

import math
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

import numpy as np

from ossb import fields as read
from ossb.arm_sets.base import Items, Rivals, best_with_another_item, in_pairs
from ossb.arm_sets.tree_swaps import grow_tree, root_tree, tree_swaps
from ossb.errors import InputError


class SpanningTrees:
    """Every spanning tree of a connected graph without loops: a graphic matroid."""

    is_matroid = True
    largest: ClassVar[Mapping[str, int]] = {"edges": 500, "n_nodes": 500}
    slow_items: ClassVar[int | None] = None

    def __init__(self, n_nodes: int, edges: Sequence[Sequence[int]] | np.ndarray) -> None:
        self.n_nodes = read.integer(n_nodes, "n_nodes", least=2)
        self.edges = read.pairs(edges, "edges", self.n_nodes)
        if self.n_nodes > len(self.edges) + 1:
            raise InputError("edges", f"be {self.n_nodes - 1} at least, to connect all nodes")
        seen: set[tuple[int, int]] = set()
        for k, (u, v) in enumerate(self.edges.tolist()):
            if u == v:
                raise InputError(f"edges[{k}]", "join two different nodes", [u, v])
            if (min(u, v), max(u, v)) in seen:
                raise InputError(f"edges[{k}]", "differ from every other edge", [u, v])
            seen.add((min(u, v), max(u, v)))
        if len(self._tree(range(len(self.edges)))) < self.n_nodes - 1:
            raise InputError("edges", "connect all nodes")

    @property
    def n_items(self) -> int:
        return len(self.edges)

    def _tree(self, order: Sequence[int] | range) -> list[int]:
        """Kruskal: the first edges of an order that close no cycle."""
        parent, tree = np.empty((2, self.n_nodes), dtype=np.int64)
        count = grow_tree.quick(np.array(order, dtype=np.int64), self.edges, parent, tree)
        found: list[int] = tree[:count].tolist()
        return found

    def maximize(self, weights: np.ndarray) -> Items:
        return tuple(sorted(self._tree(np.argsort(-weights, kind="stable").tolist())))

    def maximize_with(self, weights: np.ndarray, item: int) -> Items | None:
        order = np.argsort(-weights, kind="stable").tolist()
        return tuple(sorted(self._tree([item, *(e for e in order if e != item)])))

    def maximize_without(self, weights: np.ndarray, item: int) -> Items | None:
        order = [e for e in np.argsort(-weights, kind="stable").tolist() if e != item]
        tree = self._tree(order)
        return tuple(sorted(tree)) if len(tree) == self.n_nodes - 1 else None

    def runner_up(self, weights: np.ndarray, best: Items) -> Items | None:
        return best_with_another_item(self, weights, best)

    def rivals(self, weights: np.ndarray, best: Items) -> Rivals:
        """Each edge outside goes in for the worst of its cycle, each inside out for the best."""
        order = np.argsort(-weights, kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(order.size)
        above, depth = np.empty((2, self.n_nodes), dtype=np.int64)
        root_tree.quick(np.array(best), self.edges, above, depth)
        weakest, heir = np.empty((2, order.size), dtype=np.int64)
        tree_swaps.quick(order, rank, self.edges, above, depth, weakest, heir)
        new, old = np.flatnonzero(weakest >= 0), np.flatnonzero(heir >= 0)
        pairs = [np.stack([weakest[new], new]), np.stack([old, heir[old]])]
        return in_pairs(np.unique(np.concatenate(pairs, axis=1), axis=1).T)

    def contains(self, items: Items) -> bool:
        distinct = sorted(set(items))
        if len(distinct) != len(items) or len(items) != self.n_nodes - 1:
            return False
        if not 0 <= min(distinct) <= max(distinct) < self.n_items:
            return False
        return len(self._tree(distinct)) == self.n_nodes - 1

    def replaceable(self, best: Items) -> dict[int, list[int]]:
        """For each edge outside a tree, the tree edges on the cycle that it closes."""
        neighbours: list[list[tuple[int, int]]] = [[] for _ in range(self.n_nodes)]
        for e in best:
            u, v = self.edges[e].tolist()
            neighbours[u].append((v, e))
            neighbours[v].append((u, e))
        inside = set(best)
        return {
            e: self._route(neighbours, *self.edges[e].tolist())
            for e in range(self.n_items)
            if e not in inside
        }

    def _route(self, neighbours: list[list[tuple[int, int]]], start: int, end: int) -> list[int]:
        """Edges of the tree between two nodes."""
        came: dict[int, tuple[int, int]] = {start: (start, -1)}
        queue = deque([start])
        while end not in came:
            node = queue.popleft()
            for other, edge in neighbours[node]:
                if other not in came:
                    came[other] = (node, edge)
                    queue.append(other)
        route = []
        while end != start:
            end, edge = came[end]
            route.append(edge)
        return route

    def exceeds(self, count: int) -> bool:
        """Kirchhoff's theorem: there are as many trees as a minor of the Laplacian says."""
        laplacian = np.zeros((self.n_nodes, self.n_nodes))
        for u, v in self.edges.tolist():
            laplacian[[u, v], [u, v]] += 1.0
            laplacian[[u, v], [v, u]] -= 1.0
        _, logarithm = np.linalg.slogdet(laplacian[1:, 1:])
        return bool(logarithm > math.log(count) + 1e-3)

    def arms(self) -> Iterator[Items]:
        """In lexicographic order; no branch is a dead end: each still connects all nodes.

        What is left of the edges after each of them is known by a forest that connects as much,
        and edges that every tree needs are put in at the end.
        """
        whole = list(range(self.n_items))
        size = self.n_nodes - 1
        tree = set(self._tree(whole))
        needed = [e for e in tree if len(self._tree([k for k in whole if k != e])) < size]
        free = [e for e in whole if e not in set(needed)]
        rest = [self._tree(free[place:]) for place in range(len(free) + 1)]
        ends = self.edges.tolist()

        def joined(groups: list[int], edges: Sequence[int]) -> list[int]:
            """Which group each node is in, once these edges are there."""
            for edge in edges:
                one, other = groups[ends[edge][0]], groups[ends[edge][1]]
                if one != other:
                    groups = [one if group == other else group for group in groups]
            return groups

        stack: list[tuple[Items, list[int], int]] = [
            ((), joined([*range(self.n_nodes)], needed), 0)
        ]
        while stack:
            chosen, groups, place = stack.pop()
            if len(chosen) + len(needed) == size:
                yield tuple(sorted((*chosen, *needed)))
                continue
            edge = free[place]
            closes = groups[ends[edge][0]] == groups[ends[edge][1]]
            if closes or len(set(joined(groups, rest[place + 1]))) == 1:
                stack.append((chosen, groups, place + 1))
            if not closes:
                stack.append(((*chosen, edge), joined(groups, [edge]), place + 1))
