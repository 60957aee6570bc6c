"""The two inner loops, over stretches of equal length.

Stretches are slices that start at 0: an index that might be negative costs the compiler a test
per access, and the vector instructions with it.
"""

import numpy as np

from ossb.kernels import kernel


@kernel
def dot(a: np.ndarray, b: np.ndarray) -> float:
    """Σ a_j b_j.

    Four partial sums: strict IEEE arithmetic keeps a single one from being vectorised.
    """
    one = 0.0
    two = 0.0
    three = 0.0
    four = 0.0
    n = a.shape[0]
    quarters = n // 4
    for i in range(quarters):
        j = 4 * i
        one += a[j] * b[j]
        two += a[j + 1] * b[j + 1]
        three += a[j + 2] * b[j + 2]
        four += a[j + 3] * b[j + 3]
    for i in range(n - 4 * quarters):
        one += a[4 * quarters + i] * b[4 * quarters + i]
    return (one + two) + (three + four)


@kernel
def add_multiple(goal: np.ndarray, factor: float, entries: np.ndarray) -> None:
    """goal += factor · entries."""
    for j in range(goal.shape[0]):
        goal[j] += factor * entries[j]
