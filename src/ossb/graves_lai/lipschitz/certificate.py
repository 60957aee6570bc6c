"""Both sides of the Lipschitz program, from any v ≥ 0 and y ≥ 0.

By homogeneity v / min(A v) is feasible and y / max(Aᵀ y) dual feasible, so
Σ y / max(Aᵀ y) ≤ C ≤ Σ v / min(A v), whatever produced v and y.
"""

import math

from ossb.graves_lai.lipschitz.loops import add_multiple
from ossb.graves_lai.lipschitz.workspace import (
    COLUMN_FIRST,
    COLUMN_LAST,
    COVERED,
    GREATEST,
    LEAST,
    LOAD,
    LOWER,
    PRICES,
    ROW_FIRST,
    ROW_LAST,
    SPEND,
    UPPER,
    Workspace,
)
from ossb.kernels import kernel


@kernel
def certify(space: Workspace) -> float:
    """Relative gap of ``spend`` and ``prices``; the bounds themselves go to ``bounds``."""
    spend = space.vectors[SPEND]
    prices = space.vectors[PRICES]
    covered = space.vectors[COVERED]
    load = space.vectors[LOAD]
    row_first = space.indices[ROW_FIRST]
    row_last = space.indices[ROW_LAST]
    column_first = space.indices[COLUMN_FIRST]
    column_last = space.indices[COLUMN_LAST]
    n = space.matrix.shape[0]
    for i in range(n):
        covered[i] = 0.0
        load[i] = 0.0
    total = 0.0
    weights = 0.0
    for i in range(n):
        v = spend[i]
        if v > 0.0:
            total += v
            first, last = column_first[i], column_last[i]
            add_multiple(space.transpose, i, v, covered, first, last)
        y = prices[i]
        if y > 0.0:
            weights += y
            first, last = row_first[i], row_last[i]
            add_multiple(space.matrix, i, y, load, first, last)
    least = math.inf
    greatest = 0.0
    for i in range(n):
        if space.active[i]:
            least = min(least, covered[i])
            greatest = max(greatest, load[i])
    space.bounds[LEAST] = least
    space.bounds[GREATEST] = greatest
    if not (least > 0.0 and greatest > 0.0 and total < math.inf and weights < math.inf):
        space.bounds[UPPER] = math.inf
        space.bounds[LOWER] = 0.0
        return 1.0
    upper = total / least
    lower = weights / greatest
    space.bounds[UPPER] = upper
    space.bounds[LOWER] = lower
    return max(0.0, (upper - lower) / upper)
