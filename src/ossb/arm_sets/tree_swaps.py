"""Spanning trees of largest weight, and the exchanges of one edge for another."""

import numpy as np

from ossb.kernels import kernel


@kernel
def grow_tree(order: np.ndarray, ends: np.ndarray, parent: np.ndarray, tree: np.ndarray) -> int:
    """Kruskal: the first edges of an order that close no cycle; returns how many there are."""
    for node in range(parent.shape[0]):
        parent[node] = node
    found = 0
    for edge in order:
        u, v = ends[edge, 0], ends[edge, 1]
        while parent[u] != u:
            parent[u] = parent[parent[u]]
            u = parent[u]
        while parent[v] != v:
            parent[v] = parent[parent[v]]
            v = parent[v]
        if u != v:
            parent[u] = v
            tree[found] = edge
            found += 1
    return found


@kernel
def root_tree(tree: np.ndarray, ends: np.ndarray, above: np.ndarray, depth: np.ndarray) -> None:
    """Write the edge that leads from each node towards node 0, −1 there, and how far that is."""
    for node in range(depth.shape[0]):
        above[node], depth[node] = -1, -1
    depth[0] = 0
    for _ in range(depth.shape[0]):
        grown = False
        for edge in tree:
            u, v = ends[edge, 0], ends[edge, 1]
            if depth[u] >= 0 and depth[v] < 0:
                above[v], depth[v], grown = edge, depth[u] + 1, True
            elif depth[v] >= 0 and depth[u] < 0:
                above[u], depth[u], grown = edge, depth[v] + 1, True
        if not grown:
            return


@kernel
def tree_swaps(
    order: np.ndarray,
    rank: np.ndarray,
    ends: np.ndarray,
    above: np.ndarray,
    depth: np.ndarray,
    weakest: np.ndarray,
    heir: np.ndarray,
) -> None:
    """Of each edge outside, the last of its cycle in the tree; of each inside, who replaces it.

    Edges are compared by their rank in ``order``, −1 is written where there is none.
    """
    for edge in range(order.shape[0]):
        weakest[edge], heir[edge] = -1, -1
    for edge in order:  # the first that closes a cycle over an edge replaces it
        u, v = ends[edge, 0], ends[edge, 1]
        if above[u] == edge or above[v] == edge:
            continue
        while u != v:
            if depth[u] < depth[v]:
                u, v = v, u
            step = above[u]
            if heir[step] < 0:
                heir[step] = edge
            if weakest[edge] < 0 or rank[step] > rank[weakest[edge]]:
                weakest[edge] = step
            u = ends[step, 0] + ends[step, 1] - u
