"""Small dense linear algebra in scalar loops, the same bits interpreted and compiled."""

import math

import numpy as np

from ossb.kernels import kernel

_SINGULAR = 1e-300


@kernel
def cholesky(matrix: np.ndarray, n: int) -> bool:
    """Factor the leading n × n block in place (lower triangle); False if not positive."""
    for j in range(n):
        pivot = matrix[j, j]
        for k in range(j):
            pivot -= matrix[j, k] * matrix[j, k]
        if not pivot > _SINGULAR:
            return False
        root = math.sqrt(pivot)
        matrix[j, j] = root
        for i in range(j + 1, n):
            entry = matrix[i, j]
            for k in range(j):
                entry -= matrix[i, k] * matrix[j, k]
            matrix[i, j] = entry / root
    return True


@kernel
def solve_lower(factor: np.ndarray, vector: np.ndarray, n: int) -> None:
    """vector ← L⁻¹ vector."""
    for i in range(n):
        entry = vector[i]
        for k in range(i):
            entry -= factor[i, k] * vector[k]
        vector[i] = entry / factor[i, i]


@kernel
def solve_upper(factor: np.ndarray, vector: np.ndarray, n: int) -> None:
    """vector ← L⁻ᵀ vector."""
    for i in range(n - 1, -1, -1):
        entry = vector[i]
        for k in range(i + 1, n):
            entry -= factor[k, i] * vector[k]
        vector[i] = entry / factor[i, i]


@kernel
def solve_pivoted(matrix: np.ndarray, vector: np.ndarray, n: int) -> bool:
    """Solve in place by elimination with partial pivoting; False if singular."""
    for k in range(n):
        pivot = k
        largest = abs(matrix[k, k])
        for i in range(k + 1, n):
            size = abs(matrix[i, k])
            if size > largest:
                largest = size
                pivot = i
        if not largest > _SINGULAR:
            return False
        if pivot != k:
            for j in range(k, n):
                kept = matrix[k, j]
                matrix[k, j] = matrix[pivot, j]
                matrix[pivot, j] = kept
            kept = vector[k]
            vector[k] = vector[pivot]
            vector[pivot] = kept
        for i in range(k + 1, n):
            factor = matrix[i, k] / matrix[k, k]
            if factor != 0.0:
                for j in range(k + 1, n):
                    matrix[i, j] -= factor * matrix[k, j]
                vector[i] -= factor * vector[k]
    for i in range(n - 1, -1, -1):
        entry = vector[i]
        for j in range(i + 1, n):
            entry -= matrix[i, j] * vector[j]
        vector[i] = entry / matrix[i, i]
    return True


@kernel
def product(first: np.ndarray, second: np.ndarray, n: int) -> float:
    """Σ first[i] second[i]."""
    total = 0.0
    for i in range(n):
        total += first[i] * second[i]
    return total
