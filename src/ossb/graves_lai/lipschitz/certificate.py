"""Both sides of the Lipschitz program, from any v ≥ 0 and y ≥ 0.

By homogeneity v / min(A v) is feasible and y / max(Aᵀ y) dual feasible, so
Σ y / max(Aᵀ y) ≤ C ≤ Σ v / min(A v), whatever produced v and y.
"""

import math

from ossb.graves_lai.lipschitz.loops import add_multiple
from ossb.graves_lai.lipschitz.memory import (
    COLUMN_FIRST,
    COLUMN_LAST,
    COVERED,
    GREATEST,
    LEAST,
    LOAD,
    LOWER,
    MATRIX,
    PRICES,
    ROW_FIRST,
    ROW_LAST,
    SPEND,
    TRANSPOSE,
    UPPER,
    LipschitzMemory,
)
from ossb.kernels import kernel

OPTIMAL = 1e-9  # certified gap of a solution that counts as optimal


@kernel
def certify(memory: LipschitzMemory) -> float:
    """Relative gap of ``spend`` and ``prices``; the bounds themselves go to ``bounds``."""
    spend = memory.vectors[SPEND]
    prices = memory.vectors[PRICES]
    covered = memory.vectors[COVERED]
    load = memory.vectors[LOAD]
    row_first = memory.indices[ROW_FIRST]
    row_last = memory.indices[ROW_LAST]
    column_first = memory.indices[COLUMN_FIRST]
    column_last = memory.indices[COLUMN_LAST]
    n = memory.active.shape[0]
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
            add_multiple(covered[first:last], v, memory.squares[TRANSPOSE, i, first:last])
        y = prices[i]
        if y > 0.0:
            weights += y
            first, last = row_first[i], row_last[i]
            add_multiple(load[first:last], y, memory.squares[MATRIX, i, first:last])
    least = math.inf
    greatest = 0.0
    for i in range(n):
        if memory.active[i]:
            least = min(least, covered[i])
            greatest = max(greatest, load[i])
    memory.bounds[LEAST] = least
    memory.bounds[GREATEST] = greatest
    if not (least > 0.0 and greatest > 0.0 and total < math.inf and weights < math.inf):
        memory.bounds[UPPER] = math.inf
        memory.bounds[LOWER] = 0.0
        return 1.0
    upper = total / least
    lower = weights / greatest
    memory.bounds[UPPER] = upper
    memory.bounds[LOWER] = lower
    return max(0.0, (upper - lower) / upper)
