"""Paths from a source to a target in a directed acyclic graph; items are its edges."""

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from ossb import fields as read
from ossb.arm_sets.base import Items, Rivals
from ossb.arm_sets.detours import longest_from, longest_to, sum_up, write_apart
from ossb.errors import InputError

_NO_PATH = "no path has a finite weight: the weights are NaN or beyond the range of doubles"
MOST_NODES = 1_000_000  # each has a list, whether an edge leads there or not


class Detours(NamedTuple):
    """The edges outside a best path, its nodes split into a start (0) and an end (the last).

    Nodes are numbered so that every edge leads to a higher one.  The costs of a detour's
    edges, none of them negative, add up to the gap of the path that takes it.
    """

    items: np.ndarray  # int64 (n_edges,)
    tail: np.ndarray  # int64 (n_edges,)
    head: np.ndarray  # int64 (n_edges,)
    cost: np.ndarray  # (n_edges,)
    n_nodes: int


class Paths:
    """Every path from ``source`` to ``target`` in a directed acyclic graph."""

    is_matroid = False
    largest: ClassVar[Mapping[str, int]] = {"edges": 500}
    slow_items: ClassVar[int | None] = 500

    def __init__(
        self, edges: Sequence[Sequence[int]] | np.ndarray, source: int, target: int
    ) -> None:
        self.edges = read.pairs(edges, "edges")
        seen: set[tuple[int, int]] = set()
        for k, (u, v) in enumerate(self.edges.tolist()):
            if u == v:
                raise InputError(f"edges[{k}]", "join two different nodes", [u, v])
            if (u, v) in seen:
                raise InputError(f"edges[{k}]", "differ from every other edge", [u, v])
            seen.add((u, v))
        self.n_nodes = int(self.edges.max(initial=-1)) + 1
        if self.n_nodes > MOST_NODES:
            raise InputError("edges", f"number nodes below {MOST_NODES}", self.n_nodes - 1)
        self.source = read.integer(source, "source")
        self.target = read.integer(target, "target")
        for field in ("source", "target"):
            if getattr(self, field) >= self.n_nodes:
                raise InputError(field, "be a node of an edge", getattr(self, field))
        if self.source == self.target:
            raise InputError("target", "differ from source", self.target)
        self._outgoing: list[list[int]] = [[] for _ in range(self.n_nodes)]
        for k, (u, _) in enumerate(self.edges.tolist()):
            self._outgoing[u].append(k)
        self.order = np.array(self._topological_order(), dtype=np.int64)
        self._starts = np.cumsum([0, *map(len, self._outgoing)])
        self._out = np.array([k for out in self._outgoing for k in out], dtype=np.int64)
        self._names = np.random.default_rng(0).integers(
            2**62 // len(self.edges), size=len(self.edges)
        )
        self._on_some_path = self._useful()
        if not self._on_some_path.any():
            raise InputError("target", f"be reachable from source, {self.source}", self.target)

    @property
    def n_items(self) -> int:
        return len(self.edges)

    def _topological_order(self) -> list[int]:
        """Nodes so that every edge leads forward (Kahn)."""
        waiting = np.bincount(self.edges[:, 1], minlength=self.n_nodes)
        ready = [v for v in range(self.n_nodes) if waiting[v] == 0]
        order = []
        while ready:
            node = ready.pop()
            order.append(node)
            for k in self._outgoing[node]:
                other = int(self.edges[k, 1])
                waiting[other] -= 1
                if waiting[other] == 0:
                    ready.append(other)
        if len(order) < self.n_nodes:
            raise InputError("edges", "form no cycle")
        return order

    def _useful(self) -> np.ndarray:
        """Which edges lie on some path from source to target."""
        ones = np.zeros(self.n_items)
        forward, _ = self._longest_from_source(ones)
        backward, _ = self._longest_to_target(ones)
        return np.isfinite(forward[self.edges[:, 0]] + backward[self.edges[:, 1]])

    def _longest_from_source(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Largest weight of a path from the source to each node, and its last edge."""
        value = np.full(self.n_nodes, -np.inf)
        value[self.source] = 0.0
        last = np.full(self.n_nodes, -1)
        cost = np.asarray(weights, dtype=np.float64)
        longest_from.quick(self.order, self._starts, self._out, self.edges, cost, value, last)
        return value, last

    def _longest_to_target(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Largest weight of a path from each node to the target, and its first edge."""
        value = np.full(self.n_nodes, -np.inf)
        value[self.target] = 0.0
        first = np.full(self.n_nodes, -1)
        cost = np.asarray(weights, dtype=np.float64)
        longest_to.quick(self.order, self._starts, self._out, self.edges, cost, value, first)
        return value, first

    def _walk_back(self, last: np.ndarray, node: int) -> list[int]:
        path = []
        while node != self.source:
            if last[node] < 0:
                raise ArithmeticError(_NO_PATH)
            path.append(int(last[node]))
            node = int(self.edges[last[node], 0])
        return path

    def _walk_on(self, first: np.ndarray, node: int) -> list[int]:
        path = []
        while node != self.target:
            if first[node] < 0:
                raise ArithmeticError(_NO_PATH)
            path.append(int(first[node]))
            node = int(self.edges[first[node], 1])
        return path

    def maximize(self, weights: np.ndarray) -> Items:
        _, last = self._longest_from_source(weights)
        return tuple(sorted(self._walk_back(last, self.target)))

    def maximize_with(self, weights: np.ndarray, item: int) -> Items | None:
        if not self._on_some_path[item]:
            return None
        _, last = self._longest_from_source(weights)
        _, first = self._longest_to_target(weights)
        u, v = self.edges[item].tolist()
        return tuple(sorted([*self._walk_back(last, u), item, *self._walk_on(first, v)]))

    def maximize_without(self, weights: np.ndarray, item: int) -> Items | None:
        without = weights.astype(float)
        without[item] = -np.inf
        value, last = self._longest_from_source(without)
        if value[self.target] == -np.inf:
            return None
        return tuple(sorted(self._walk_back(last, self.target)))

    def runner_up(self, weights: np.ndarray, best: Items) -> Items | None:
        forward, _ = self._longest_from_source(weights)
        backward, _ = self._longest_to_target(weights)
        value = forward[self.edges[:, 0]] + weights + backward[self.edges[:, 1]]
        value[list(best)] = -np.inf
        item = int(np.argmax(value))
        return self.maximize_with(weights, item) if value[item] > -np.inf else None

    def rivals(self, weights: np.ndarray, best: Items) -> Rivals:
        """The best path through each edge outside.

        A path that lacks an edge of the best one passes from the nodes up to the edge's tail, in
        their order, to those after it by another edge, which is outside: so these are all.
        """
        _, last = self._longest_from_source(weights)
        _, first = self._longest_to_target(weights)
        inside = np.zeros(self.n_items, dtype=np.bool_)
        inside[list(best)] = True
        sums = np.empty((2, self.n_nodes), dtype=np.int64)
        lengths = np.empty((2, 2, self.n_nodes), dtype=np.int64)
        for way, step in enumerate((last, first)):
            made = (sums[way], lengths[way])
            sum_up.quick(self.order, self.edges, step, bool(way), inside, self._names, *made)
        outside = np.flatnonzero(self._on_some_path & ~inside)
        tail, head = self.edges[outside].T
        _, each = np.unique(sums[0, tail] + self._names[outside] + sums[1, head], return_index=True)
        chosen, tail, head = outside[each], tail[each], head[each]
        more, kept = lengths[0][:, tail] + lengths[1][:, head]
        starts = np.concatenate([[0], np.cumsum(more + 1 + len(best) - kept)])
        items, seen = np.empty(starts[-1], dtype=np.int64), np.full(self.n_items, -1)
        path = np.array(best)
        write_apart.quick(chosen, self.edges, last, first, path, inside, seen, starts, items)
        return Rivals(starts, items)

    def contains(self, items: Items) -> bool:
        if not items or len(set(items)) != len(items):
            return False
        if not 0 <= min(items) <= max(items) < self.n_items:
            return False
        step = {int(self.edges[k, 0]): int(self.edges[k, 1]) for k in items}
        if len(step) != len(items):
            return False
        node = self.source
        for _ in items:
            if node not in step:
                return False
            node = step[node]
        return node == self.target

    def detours(self, best: Items, weights: np.ndarray) -> Detours:
        """The graph of detours from a best path under ``weights``.

        Two paths differ by detours that leave and rejoin one of them, and the best path is
        free to play: conservation of flow is lost on its nodes and holds on all others.
        """
        inside = set(best)
        on_path = {node for k in best for node in self.edges[k].tolist()}
        items = [k for k in np.flatnonzero(self._on_some_path).tolist() if k not in inside]
        used = set(self.edges[items].ravel().tolist())
        between = [node for node in self.order if node in used and node not in on_path]
        place = {node: k for k, node in enumerate(between, start=1)}
        far, _ = self._longest_from_source(weights)
        ends = self.edges[items].reshape(-1, 2)
        return Detours(
            np.array(items, dtype=np.int64),
            np.array([place.get(u, 0) for u in ends[:, 0].tolist()], dtype=np.int64),
            np.array([place.get(v, len(between) + 1) for v in ends[:, 1].tolist()], np.int64),
            np.maximum(far[ends[:, 1]] - far[ends[:, 0]] - weights[items], 0.0),
            len(between) + 2,
        )

    def leaving(self, node: int) -> list[int]:
        """The edges that lead on from a node."""
        return self._outgoing[node]

    def follow(self, best: Items, detour: Sequence[int]) -> Items:
        """The path that follows ``best`` except on a detour, given by its edges in order."""
        leave, join = int(self.edges[detour[0], 0]), int(self.edges[detour[-1], 1])
        step = {int(self.edges[k, 0]): k for k in best}
        dropped = set()
        while leave != join:
            dropped.add(step[leave])
            leave = int(self.edges[step[leave], 1])
        return tuple(sorted((set(best) - dropped) | set(detour)))

    def exceeds(self, count: int) -> bool:
        ways = [0] * self.n_nodes
        ways[self.source] = 1
        for node in self.order:
            for k in self._outgoing[node]:
                ways[int(self.edges[k, 1])] += min(ways[node], count + 1)
        return ways[self.target] > count

    def arms(self) -> Iterator[Items]:
        stack: list[tuple[int, tuple[int, ...]]] = [(self.source, ())]
        while stack:
            node, path = stack.pop()
            if node == self.target:
                yield tuple(sorted(path))
                continue
            leading = [k for k in self._outgoing[node] if self._on_some_path[k]]
            stack += [(int(self.edges[k, 1]), (*path, k)) for k in leading]
