"""A basis of the flows that are conserved everywhere between start and end.

Start and end count as one node; a spanning tree of the widest edges leaves one cycle for every
other edge (Kirchhoff).  Narrow edges, whose curvature is largest, are then each in one cycle only,
and systems in these coordinates stay well conditioned.
"""

from dataclasses import dataclass

import numpy as np

from ossb.graves_lai.semi_bandit.longest_paths import Graph


@dataclass(frozen=True, eq=False)
class Circulations:
    """One cycle for each edge that is not of the tree: that edge, and the way back in the tree."""

    left: np.ndarray  # int64 (n_cycles,), the edges that are not of the tree
    tree: np.ndarray  # int64 (n_tree,)
    back: np.ndarray  # (n_cycles, n_tree), ±1 along the way back

    def times(self, by_edge: np.ndarray) -> np.ndarray:
        """Σ along each cycle."""
        return np.asarray(by_edge[self.left] + self.back @ by_edge[self.tree])

    def along(self, rows: np.ndarray) -> np.ndarray:
        """Σ along each cycle of every row of a table, (n_rows, n_edges)."""
        return np.asarray(rows[:, self.left] + rows[:, self.tree] @ self.back.T)

    def bent(self, curvature: np.ndarray) -> np.ndarray:
        """cycles diag(curvature) cyclesᵀ, for a positive curvature."""
        rooted = self.back * np.sqrt(curvature[self.tree])
        whole = np.asarray(rooted @ rooted.T)
        whole[np.diag_indices(self.left.size)] += curvature[self.left]
        return whole

    def flow(self, rates: np.ndarray) -> np.ndarray:
        """The flow, by edges, in which each cycle is taken at its rate."""
        found = np.empty(self.left.size + self.tree.size)
        found[self.left] = rates
        found[self.tree] = self.back.T @ rates
        return found


def circulations(graph: Graph, weights: np.ndarray) -> Circulations:
    """The cycles that a spanning tree of the edges of largest weight leaves."""
    end = graph.n_nodes - 1
    tail = np.where(graph.tail == end, 0, graph.tail).tolist()
    head = np.where(graph.head == end, 0, graph.head).tolist()
    chosen, left = _widest_tree(tail, head, end, np.argsort(-weights, kind="stable").tolist())
    above, depth = _climb(tail, head, end, chosen)
    place = {edge: k for k, edge in enumerate(chosen)}
    back = np.zeros((len(left), len(chosen)))
    for row, edge in zip(back, left, strict=True):
        a, b = head[edge], tail[edge]  # the tree leads back from the head to the tail
        while a != b:
            deeper_a = depth[a] >= depth[b]
            step, up = above[a] if deeper_a else above[b]
            # along the way from a up to the meeting point, and from there down to b
            row[place[step]] = 1.0 if (tail[step] == (a if deeper_a else up)) else -1.0
            if deeper_a:
                a = up
            else:
                b = up
    return Circulations(np.array(left, dtype=np.int64), np.array(chosen, dtype=np.int64), back)


def _widest_tree(
    tail: list[int], head: list[int], n_nodes: int, order: list[int]
) -> tuple[list[int], list[int]]:
    """Edges of a spanning tree, taken greedily in this order, and the others (Kruskal)."""
    root = list(range(n_nodes))

    def find(node: int) -> int:
        while root[node] != node:
            root[node] = root[root[node]]
            node = root[node]
        return node

    chosen, left = [], []
    for edge in order:
        a, b = find(tail[edge]), find(head[edge])
        if a == b:
            left.append(edge)
        else:
            root[a] = b
            chosen.append(edge)
    return chosen, left


def _climb(
    tail: list[int], head: list[int], n_nodes: int, chosen: list[int]
) -> tuple[dict[int, tuple[int, int]], list[int]]:
    """The edge and node above each node of the tree, and its depth."""
    near: list[list[tuple[int, int]]] = [[] for _ in range(n_nodes)]
    for edge in chosen:
        near[tail[edge]].append((edge, head[edge]))
        near[head[edge]].append((edge, tail[edge]))
    above: dict[int, tuple[int, int]] = {}
    depth = [0] * n_nodes
    open_nodes = [0]
    while open_nodes:
        node = open_nodes.pop()
        for edge, other in near[node]:
            if other != 0 and other not in above:
                above[other] = (edge, node)
                depth[other] = depth[node] + 1
                open_nodes.append(other)
    return above, depth
