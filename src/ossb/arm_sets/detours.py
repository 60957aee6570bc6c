"""Longest paths in a directed acyclic graph, and for each edge the longest one through it.

Nodes are taken in an order in which every edge leads forward; ``starts`` and ``out`` list the edges
that leave each of them.
"""

import numpy as np

from ossb.kernels import kernel

OUTSIDE, INSIDE = 0, 1  # rows of lengths: edges that another path lacks, and that it has


@kernel
def longest_from(
    order: np.ndarray,
    starts: np.ndarray,
    out: np.ndarray,
    ends: np.ndarray,
    weights: np.ndarray,
    value: np.ndarray,
    last: np.ndarray,
) -> None:
    """Largest weight of a path to each node, and its last edge; ``value`` says where they begin."""
    for node in order:
        here = value[node]
        if here > -np.inf:
            for place in range(starts[node], starts[node + 1]):
                k = out[place]
                if here + weights[k] > value[ends[k, 1]]:
                    value[ends[k, 1]] = here + weights[k]
                    last[ends[k, 1]] = k


@kernel
def longest_to(
    order: np.ndarray,
    starts: np.ndarray,
    out: np.ndarray,
    ends: np.ndarray,
    weights: np.ndarray,
    value: np.ndarray,
    first: np.ndarray,
) -> None:
    """Largest weight of a path from each node, and its first edge; ``value`` says where it ends."""
    for place in range(order.shape[0] - 1, -1, -1):
        node = order[place]
        for at in range(starts[node], starts[node + 1]):
            k = out[at]
            if weights[k] + value[ends[k, 1]] > value[node]:
                value[node] = weights[k] + value[ends[k, 1]]
                first[node] = k


@kernel
def sum_up(
    order: np.ndarray,
    ends: np.ndarray,
    step: np.ndarray,
    backwards: bool,
    inside: np.ndarray,
    names: np.ndarray,
    sums: np.ndarray,
    lengths: np.ndarray,
) -> None:
    """Along each node's best way, the sum of its edges' names, and how many lie in a path."""
    n = order.shape[0]
    for place in range(n):
        node = order[n - 1 - place if backwards else place]
        k = step[node]
        sums[node], lengths[OUTSIDE, node], lengths[INSIDE, node] = 0, 0, 0
        if k >= 0:
            other = ends[k, 1 if backwards else 0]
            row = INSIDE if inside[k] else OUTSIDE
            sums[node] = sums[other] + names[k]
            lengths[OUTSIDE, node] = lengths[OUTSIDE, other]
            lengths[INSIDE, node] = lengths[INSIDE, other]
            lengths[row, node] += 1


@kernel
def write_apart(
    chosen: np.ndarray,
    ends: np.ndarray,
    last: np.ndarray,
    first: np.ndarray,
    best: np.ndarray,
    inside: np.ndarray,
    seen: np.ndarray,
    starts: np.ndarray,
    items: np.ndarray,
) -> None:
    """The edges that tell the best path through each of some edges from a path ``best``."""
    for j in range(chosen.shape[0]):
        place = starts[j]
        k, backwards = chosen[j], True
        while k >= 0:
            if inside[k]:
                seen[k] = j
            else:
                items[place] = k
                place += 1
            if backwards:
                k = last[ends[k, 0]]
                if k < 0:
                    k, backwards = first[ends[chosen[j], 1]], False
            else:
                k = first[ends[k, 1]]
        for k in best:
            if seen[k] != j:
                items[place] = k
                place += 1
