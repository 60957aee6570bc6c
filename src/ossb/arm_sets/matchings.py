"""Matchings of a bipartite graph; items are its edges.

An arm is a matching that covers every left node (an assignment of tasks to servers, say):
matchings that leave left nodes idle are not arms, so all arms have ``n_left`` items.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

import numpy as np

from ossb import fields as read
from ossb.arm_sets.base import Items, Rivals, best_with_another_item
from ossb.arm_sets.partners import find_ways, new_ways, write_changes
from ossb.errors import InputError
from ossb.numerics.assignment import heaviest

MOST_PAIRS = 50_000_000  # of a left and a right node: there is a table of them


class Matchings:
    """Every matching of a bipartite graph that covers all left nodes."""

    is_matroid = False
    largest: ClassVar[Mapping[str, int]] = {"edges": 225, "n_left": 100, "n_right": 100}
    slow_items: ClassVar[int | None] = 225

    def __init__(
        self, n_left: int, n_right: int, edges: Sequence[Sequence[int]] | np.ndarray
    ) -> None:
        self.n_left = read.integer(n_left, "n_left", least=1)
        self.n_right = read.integer(n_right, "n_right", least=1)
        if self.n_left > self.n_right:
            must = f"be at most n_right, {self.n_right}: an arm covers every left node"
            raise InputError("n_left", must, self.n_left)
        self.edges = read.pairs(edges, "edges")
        if self.n_left > len(self.edges):
            must = (
                f"be at most the number of edges, {len(self.edges)}: an arm covers every left node"
            )
            raise InputError("n_left", must, self.n_left)
        if self.n_left * self.n_right > MOST_PAIRS:
            raise InputError(
                "n_right", f"be at most {MOST_PAIRS // self.n_left} here", self.n_right
            )
        self._edge_at = np.full((self.n_left, self.n_right), -1)
        for k, (u, v) in enumerate(self.edges.tolist()):
            if u >= self.n_left:
                raise InputError(f"edges[{k}][0]", f"be below n_left, {self.n_left}", u)
            if v >= self.n_right:
                raise InputError(f"edges[{k}][1]", f"be below n_right, {self.n_right}", v)
            if self._edge_at[u, v] >= 0:
                raise InputError(f"edges[{k}]", "differ from every other edge", [u, v])
            self._edge_at[u, v] = k
        self._names = np.random.default_rng(0).integers(
            2**62 // len(self.edges), size=len(self.edges)
        )
        if self._assign(np.zeros(self.n_items)) is None:
            raise InputError("edges", "hold a matching that covers every left node")

    @property
    def n_items(self) -> int:
        return len(self.edges)

    def _assign(self, weights: np.ndarray) -> Items | None:
        """Hungarian method; an edge of weight −∞ counts as missing."""
        value = np.full((self.n_left, self.n_right), -np.inf)
        value[self.edges[:, 0], self.edges[:, 1]] = weights
        columns = heaviest(value)
        if columns is None:
            return None
        return tuple(sorted(self._edge_at[np.arange(self.n_left), columns].tolist()))

    def maximize(self, weights: np.ndarray) -> Items:
        best = self._assign(weights)
        if best is None:
            raise AssertionError("checked at construction")
        return best

    def maximize_with(self, weights: np.ndarray, item: int) -> Items | None:
        u, v = self.edges[item]
        rivals = (self.edges[:, 0] == u) | (self.edges[:, 1] == v)
        rivals[item] = False
        return self._assign(np.where(rivals, -np.inf, weights))

    def maximize_without(self, weights: np.ndarray, item: int) -> Items | None:
        without = weights.astype(float)
        without[item] = -np.inf
        return self._assign(without)

    def runner_up(self, weights: np.ndarray, best: Items) -> Items | None:
        return best_with_another_item(self, weights, best)

    def rivals(self, weights: np.ndarray, best: Items) -> Rivals:
        """The best matching with each edge outside.

        One that lacks an edge inside has another one for its left node: so these are all.
        """
        value = np.full((self.n_left, self.n_right), -np.inf)
        value[self.edges[:, 0], self.edges[:, 1]] = weights
        ways = new_ways(self.n_left, self.n_right)
        rows, taken = self.edges[list(best)].T
        ways.columns[rows], ways.owner[taken] = taken, rows
        find_ways.quick(value, ways)
        outside = np.setdiff1d(np.arange(self.n_items), best)
        lengths, sums = np.empty((2, outside.size), dtype=np.int64)
        known = (self.edges, self._edge_at, ways)
        nothing = np.empty(0, dtype=np.int64)
        write_changes.quick(*known, outside, self._names, lengths, sums, nothing)
        possible = np.flatnonzero(lengths)
        each = possible[np.unique(sums[possible], return_index=True)[1]]
        starts = np.concatenate([[0], np.cumsum(lengths[each])])
        items = np.empty(starts[-1], dtype=np.int64)
        write_changes.quick(*known, outside[each], self._names, starts, sums, items)
        return Rivals(starts, items)

    def contains(self, items: Items) -> bool:
        if len(set(items)) != self.n_left or len(items) != self.n_left:
            return False
        if not 0 <= min(items) <= max(items) < self.n_items:
            return False
        left, right = self.edges[list(items)].T
        return len(set(left.tolist())) == len(set(right.tolist())) == self.n_left

    def exceeds(self, count: int) -> bool:
        return False  # to count matchings is as hard as to list them

    def arms(self) -> Iterator[Items]:
        """No branch is a dead end: each has a matching that covers the left nodes to come."""
        rights: list[list[int]] = [[] for _ in range(self.n_left)]
        for left, right in sorted(self.edges.tolist()):
            rights[left].append(right)
        pairs = self.edges[list(self.maximize(np.zeros(self.n_items)))].tolist()
        stack: list[tuple[Items, list[int]]] = [((), [right for _, right in sorted(pairs)])]
        while stack:
            chosen, partners = stack.pop()
            left = len(chosen)
            if left == self.n_left:
                yield tuple(sorted(chosen))
                continue
            branches = []
            for right in rights[left]:
                changed = with_pair(rights, partners, left, right)
                if changed is not None:
                    branches.append(((*chosen, int(self._edge_at[left, right])), changed))
            stack += reversed(branches)


def with_pair(
    rights: list[list[int]], partners: list[int], left: int, right: int
) -> list[int] | None:
    """A matching that agrees with this one before a left node, whose partner is given.

    Whoever had that partner finds another along an alternating path among the nodes after;
    ``rights`` are the neighbours of each left node.
    """
    taken = {*partners[:left], right}
    if right in partners[:left]:
        return None
    owner = {partners[node]: node for node in range(left + 1, len(partners))}
    changed = [*partners]
    changed[left] = right
    if right not in owner:
        return changed
    loser = owner[right]
    reached: dict[int, int] = {}  # from which left node
    queue = [loser]
    for node in queue:
        for other in rights[node]:
            if other in taken or other in reached:
                continue
            reached[other] = node
            if other in owner:
                queue.append(owner[other])
                continue
            while True:  # nobody has it: everyone on the way moves on
                mover = reached[other]
                other, changed[mover] = changed[mover], other
                if mover == loser:
                    return changed
    return None
