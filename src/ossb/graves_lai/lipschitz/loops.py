"""The inner loops, over a stretch of one matrix row.

Written on slices that start at 0: an index that might be negative costs the compiler a test
per access, and the vector instructions with it.
"""

import numpy as np

from ossb.kernels import kernel


@kernel
def dot(matrix: np.ndarray, row: int, vector: np.ndarray, first: int, last: int) -> float:
    """Σ matrix[row, j] vector[j] over first ≤ j < last.

    Four partial sums: strict IEEE arithmetic keeps a single one from being vectorised.
    """
    a = 0.0
    b = 0.0
    c = 0.0
    d = 0.0
    entries = matrix[row, first:last]
    others = vector[first:last]
    n = entries.shape[0]
    quarters = n // 4
    for i in range(quarters):
        j = 4 * i
        a += entries[j] * others[j]
        b += entries[j + 1] * others[j + 1]
        c += entries[j + 2] * others[j + 2]
        d += entries[j + 3] * others[j + 3]
    for i in range(n - 4 * quarters):
        a += entries[4 * quarters + i] * others[4 * quarters + i]
    return (a + b) + (c + d)


@kernel
def add_multiple(
    matrix: np.ndarray, row: int, factor: float, vector: np.ndarray, first: int, last: int
) -> None:
    """vector[j] += factor · matrix[row, j] over first ≤ j < last."""
    entries = matrix[row, first:last]
    goal = vector[first:last]
    for j in range(entries.shape[0]):
        goal[j] += factor * entries[j]
