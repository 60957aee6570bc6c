"""Factors of a small square matrix with rows exchanged, in scalar loops."""

import numpy as np

from ossb.kernels import kernel

_SINGULAR = 1e-300


@kernel
def factorise(matrix: np.ndarray, swaps: np.ndarray, n: int) -> bool:
    """P A = L U in place, the exchanges in ``swaps``; False if it is singular or no number."""
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(matrix[i, k]) > abs(matrix[pivot, k]):
                pivot = i
        swaps[k] = pivot
        if not abs(matrix[pivot, k]) > _SINGULAR:
            return False
        if pivot != k:
            for j in range(n):
                kept = matrix[k, j]
                matrix[k, j] = matrix[pivot, j]
                matrix[pivot, j] = kept
        for i in range(k + 1, n):
            factor = matrix[i, k] / matrix[k, k]
            matrix[i, k] = factor
            if factor != 0.0:
                for j in range(k + 1, n):
                    matrix[i, j] -= factor * matrix[k, j]
    return True


@kernel
def solve_factored(
    matrix: np.ndarray, swaps: np.ndarray, vectors: np.ndarray, a: int, at: int, n: int
) -> None:
    """vectors[a, at] ← A⁻¹ vectors[a, at]."""
    for k in range(n):
        pivot = swaps[k]
        if pivot != k:
            kept = vectors[a, at, k]
            vectors[a, at, k] = vectors[a, at, pivot]
            vectors[a, at, pivot] = kept
    for i in range(n):
        entry = vectors[a, at, i]
        for j in range(i):
            entry -= matrix[i, j] * vectors[a, at, j]
        vectors[a, at, i] = entry
    for i in range(n - 1, -1, -1):
        entry = vectors[a, at, i]
        for j in range(i + 1, n):
            entry -= matrix[i, j] * vectors[a, at, j]
        vectors[a, at, i] = entry / matrix[i, i]
