"""A basis of the flows that are conserved everywhere between start and end.

Start and end count as one node; a spanning tree of the widest edges leaves one cycle for every
other edge (Kirchhoff).  Narrow edges, whose curvature is largest, are then each in one cycle only,
and systems in these coordinates stay well conditioned.
"""

import numpy as np
from scipy import sparse

from ossb.graves_lai.semi_bandit.longest_paths import Graph


def circulations(graph: Graph, weights: np.ndarray) -> sparse.csr_array:
    """One row per cycle, one column per edge: ±1 along the cycle."""
    end = graph.n_nodes - 1
    tail = np.where(graph.tail == end, 0, graph.tail).tolist()
    head = np.where(graph.head == end, 0, graph.head).tolist()
    chosen, left = _widest_tree(tail, head, end, np.argsort(-weights, kind="stable").tolist())
    above, depth = _climb(tail, head, end, chosen)
    index: list[int] = []
    sign: list[float] = []
    starts = [0]
    for edge in left:
        index.append(edge)
        sign.append(1.0)
        a, b = head[edge], tail[edge]  # the tree leads back from the head to the tail
        while a != b:
            deeper_a = depth[a] >= depth[b]
            step, up = above[a] if deeper_a else above[b]
            index.append(step)
            # along the way from a up to the meeting point, and from there down to b
            sign.append(1.0 if (tail[step] == (a if deeper_a else up)) else -1.0)
            if deeper_a:
                a = up
            else:
                b = up
        starts.append(len(index))
    shape = (len(left), len(tail))
    return sparse.csr_array((np.array(sign), np.array(index, dtype=int), starts), shape=shape)


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
