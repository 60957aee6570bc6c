"""Small dense linear algebra in scalar loops, the same bits interpreted and compiled.

Operands are slices of larger arrays, named by their position: a view of a row costs compiled
code more than the arithmetic on it.
"""

import math

import numpy as np

from ossb.kernels import kernel

_SINGULAR = 1e-300


@kernel
def product(slabs: np.ndarray, a: int, i: int, b: int, j: int, n: int) -> float:
    """⟨slabs[a, i], slabs[b, j]⟩ over the first n entries."""
    total = 0.0
    for k in range(n):
        total += slabs[a, i, k] * slabs[b, j, k]
    return total


@kernel
def cholesky(slabs: np.ndarray, at: int, n: int) -> bool:
    """Factor slabs[at] in place (lower triangle); False if it is not positive."""
    for j in range(n):
        pivot = slabs[at, j, j]
        for k in range(j):
            pivot -= slabs[at, j, k] * slabs[at, j, k]
        if not pivot > _SINGULAR:
            return False
        root = math.sqrt(pivot)
        slabs[at, j, j] = root
        for i in range(j + 1, n):
            entry = slabs[at, i, j]
            for k in range(j):
                entry -= slabs[at, i, k] * slabs[at, j, k]
            slabs[at, i, j] = entry / root
    return True


@kernel
def solve_lower(slabs: np.ndarray, at: int, vectors: np.ndarray, a: int, i: int, n: int) -> None:
    """vectors[a, i] ← L⁻¹ vectors[a, i] with L = slabs[at]."""
    for j in range(n):
        entry = vectors[a, i, j]
        for k in range(j):
            entry -= slabs[at, j, k] * vectors[a, i, k]
        vectors[a, i, j] = entry / slabs[at, j, j]


@kernel
def solve_upper(slabs: np.ndarray, at: int, vectors: np.ndarray, a: int, i: int, n: int) -> None:
    """vectors[a, i] ← L⁻ᵀ vectors[a, i] with L = slabs[at]."""
    for j in range(n - 1, -1, -1):
        entry = vectors[a, i, j]
        for k in range(j + 1, n):
            entry -= slabs[at, k, j] * vectors[a, i, k]
        vectors[a, i, j] = entry / slabs[at, j, j]


@kernel
def solve_pivoted(matrix: np.ndarray, n: int, right: int) -> bool:
    """Solve for the right-hand side in row ``right`` of the matrix, in place; False if singular."""
    for k in range(n):
        pivot = k
        largest = abs(matrix[k, k])
        for i in range(k + 1, n):
            if abs(matrix[i, k]) > largest:
                largest = abs(matrix[i, k])
                pivot = i
        if not largest > _SINGULAR:
            return False
        if pivot != k:
            for j in range(k, n):
                kept = matrix[k, j]
                matrix[k, j] = matrix[pivot, j]
                matrix[pivot, j] = kept
            kept = matrix[right, k]
            matrix[right, k] = matrix[right, pivot]
            matrix[right, pivot] = kept
        for i in range(k + 1, n):
            factor = matrix[i, k] / matrix[k, k]
            if factor != 0.0:
                for j in range(k + 1, n):
                    matrix[i, j] -= factor * matrix[k, j]
                matrix[right, i] -= factor * matrix[right, k]
    for i in range(n - 1, -1, -1):
        entry = matrix[right, i]
        for j in range(i + 1, n):
            entry -= matrix[i, j] * matrix[right, j]
        matrix[right, i] = entry / matrix[i, i]
    return True
