"""The heaviest assignment of rows to columns, by shortest augmenting paths.

Kuhn's Hungarian method as Jonker and Volgenant run it: rows are assigned one after another, each
along the cheapest way to a free column, with prices that keep every reduced cost at 0 or more.
"""

import numpy as np

from ossb.kernels import kernel


def heaviest(weights: np.ndarray) -> np.ndarray | None:
    """The column of each row, all different, of largest total weight.

    Parameters
    ----------
    weights
        A row for each, and no fewer columns; −∞ where a pair is not allowed.

    Returns
    -------
    The columns, or None where no assignment is allowed.
    """
    weights = np.ascontiguousarray(weights, dtype=np.float64)
    rows, columns = weights.shape
    if rows > columns:
        return None
    owner = np.full(columns + 1, -1)
    reached, before = np.empty(columns + 1), np.empty(columns + 1, dtype=np.int64)
    done = np.empty(columns + 1, dtype=np.bool_)
    prices, heights = np.zeros(columns + 1), np.zeros(rows)
    if not assign.quick(weights, heights, prices, owner, reached, before, done):
        return None
    chosen = np.empty(rows, dtype=np.int64)
    taken = np.flatnonzero(owner[:columns] >= 0)
    chosen[owner[taken]] = taken
    return chosen


@kernel
def assign(
    weights: np.ndarray,
    heights: np.ndarray,
    prices: np.ndarray,
    owner: np.ndarray,
    reached: np.ndarray,
    before: np.ndarray,
    done: np.ndarray,
) -> bool:
    """Write the row of each column into ``owner``; False where there is no assignment.

    Arrays by columns have one entry more than there are columns: where each row starts from.
    """
    rows, start = weights.shape
    for row in range(rows):
        owner[start] = row
        for k in range(start + 1):
            reached[k] = np.inf
            done[k] = False
        here = start
        while owner[here] >= 0:
            done[here] = True
            mine = owner[here]
            nearest, least = -1, np.inf
            for k in range(start):
                if not done[k]:
                    if weights[mine, k] > -np.inf:
                        reduced = -weights[mine, k] - heights[mine] - prices[k]
                        if reduced < reached[k]:
                            reached[k] = reduced
                            before[k] = here
                    if reached[k] < least:
                        nearest, least = k, reached[k]
            if nearest < 0:
                return False
            for k in range(start + 1):
                if done[k]:
                    heights[owner[k]] += least
                    prices[k] -= least
                else:
                    reached[k] -= least
            here = nearest
        while here != start:
            owner[here] = owner[before[here]]
            here = before[here]
    return True
