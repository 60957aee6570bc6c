"""Small dense linear algebra in scalar loops, the same bits interpreted and compiled."""

import numpy as np

from ossb.kernels import kernel


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
        if not largest > 1e-300:
            return False
        if pivot != k:
            for j in range(k, n):
                held = matrix[k, j]
                matrix[k, j] = matrix[pivot, j]
                matrix[pivot, j] = held
            held = vector[k]
            vector[k] = vector[pivot]
            vector[pivot] = held
        inverse = 1.0 / matrix[k, k]
        for i in range(k + 1, n):
            factor = matrix[i, k] * inverse
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
def add_gram(block: np.ndarray, weights: np.ndarray, p: int, n: int, out: np.ndarray) -> None:
    """Add block · diag(weights) · blockᵀ to the p × p matrix ``out``."""
    for i in range(p):
        for j in range(i + 1):
            total = 0.0
            for z in range(n):
                total += block[i, z] * weights[z] * block[j, z]
            out[i, j] += total
            if j < i:
                out[j, i] += total


@kernel
def multiply(matrix: np.ndarray, vector: np.ndarray, p: int, n: int, out: np.ndarray) -> None:
    """out[:p] = matrix[:p, :n] · vector[:n]."""
    for i in range(p):
        total = 0.0
        for j in range(n):
            total += matrix[i, j] * vector[j]
        out[i] = total


@kernel
def multiply_transposed(
    matrix: np.ndarray, vector: np.ndarray, p: int, n: int, out: np.ndarray
) -> None:
    """out[:n] = matrix[:p, :n]ᵀ · vector[:p]."""
    for j in range(n):
        out[j] = 0.0
    for i in range(p):
        factor = vector[i]
        if factor != 0.0:
            for j in range(n):
                out[j] += matrix[i, j] * factor
