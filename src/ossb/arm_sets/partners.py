"""Who else changes columns when a row of a heaviest matching is given a certain one.

Columns that no row has belong, all of them, to one more row, the last, to which they are alike.
"""

from typing import NamedTuple

import numpy as np

from ossb.kernels import kernel

CLOSE = 1e-12  # of the largest weight: what is cheaper by less is not cheaper


class Ways(NamedTuple):
    """What it costs that each row finds another column until a certain row has lost its own.

    ``cost`` and ``to`` are by row, and by which of them is to lose its column in the end.
    """

    columns: np.ndarray  # int64 (n_rows,): a matching of largest weight
    owner: np.ndarray  # int64 (n_columns,): its rows
    free: np.ndarray  # int64 (n_rows,): the best column of each row that no row has
    cost: np.ndarray  # float64: infinite where there is no way
    to: np.ndarray  # int64: which row loses its column first


def new_ways(n_rows: int, n_columns: int) -> Ways:
    """Ways in a matching not yet known."""
    columns, free = np.zeros((2, n_rows), dtype=np.int64)
    cost = np.zeros((n_rows + 1, n_rows + 1))
    to = np.zeros(cost.shape, dtype=np.int64)
    return Ways(columns, np.full(n_columns, n_rows), free, cost, to)


@kernel
def find_ways(weights: np.ndarray, ways: Ways) -> None:
    """Fill in what the matching does not say; weights are −∞ where a row cannot have a column."""
    columns, cost, to, free = ways.columns, ways.cost, ways.to, ways.free
    n, width = weights.shape
    largest = 0.0
    for s in range(n + 1):
        cost[n, s], to[n, s] = 0.0, s
    for r in range(n):
        for s in range(n):
            cost[r, s], to[r, s] = weights[r, columns[r]] - weights[r, columns[s]], s
        best = -np.inf
        for c in range(width):
            if weights[r, c] > -np.inf:
                largest = max(largest, abs(weights[r, c]))
            if weights[r, c] > best:
                taken = False
                for s in range(n):
                    taken = taken or columns[s] == c
                if not taken:
                    free[r], best = c, weights[r, c]
        cost[r, n], to[r, n] = weights[r, columns[r]] - best, n
    margin = CLOSE * largest  # rounding makes no round trip cheaper than none
    for m in range(n + 1):
        for r in range(n + 1):
            if r != m and cost[r, m] < np.inf:
                for s in range(n + 1):
                    if s != r and s != m and cost[r, m] + cost[m, s] < cost[r, s] - margin:
                        cost[r, s] = cost[r, m] + cost[m, s]
                        to[r, s] = to[r, m]


@kernel
def write_changes(
    ends: np.ndarray,
    edge_at: np.ndarray,
    ways: Ways,
    chosen: np.ndarray,
    names: np.ndarray,
    starts: np.ndarray,
    sums: np.ndarray,
    items: np.ndarray,
) -> None:
    """The edges that tell the best matching with each of some edges from the best of all.

    With no room in ``items`` only how many they are, into ``starts``, 0 where there is no such
    matching, and the sum of their names.
    """
    columns, cost, to = ways.columns, ways.cost, ways.to
    n = columns.shape[0]
    for j in range(chosen.shape[0]):
        u, row = ends[chosen[j], 0], ways.owner[ends[chosen[j], 1]]
        count, total = 0, 0
        if cost[row, u] < np.inf:
            loser, gained = u, chosen[j]
            for _ in range(n + 2):
                if loser < n:
                    lost = edge_at[loser, columns[loser]]
                    if items.shape[0] > 0:
                        items[starts[j] + count] = gained
                        items[starts[j] + count + 1] = lost
                    total += names[gained] + names[lost]
                    count += 2
                if row == u:
                    break
                loser, row = row, to[row, u]
                if loser < n:
                    gained = edge_at[loser, columns[row] if row < n else ways.free[loser]]
        if items.shape[0] == 0:
            starts[j], sums[j] = count, total
