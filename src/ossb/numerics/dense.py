"""Small dense linear algebra in scalar loops, the same bits interpreted and compiled.

Every inner loop runs element by element along contiguous rows, so that strict IEEE code still
vectorises; matrices are stored with room to spare, and sizes are passed apart.  A symmetric
positive matrix is factored as A = RᵀR with R upper triangular.
"""

import math

import numpy as np

from ossb.kernels import kernel

BLOCK = 512  # vectors


@kernel
def multiply(
    left: np.ndarray, right: np.ndarray, rows: int, inner: int, columns: int, out: np.ndarray
) -> None:
    """Write left · right into ``out``."""
    blocks = inner - inner % 4
    for i in range(rows):
        for j in range(columns):
            out[i, j] = 0.0
        for k in range(0, blocks, 4):
            f0 = left[i, k]
            f1 = left[i, k + 1]
            f2 = left[i, k + 2]
            f3 = left[i, k + 3]
            for j in range(columns):
                out[i, j] += (f0 * right[k, j] + f1 * right[k + 1, j]) + (
                    f2 * right[k + 2, j] + f3 * right[k + 3, j]
                )
        for k in range(blocks, inner):
            f0 = left[i, k]
            for j in range(columns):
                out[i, j] += f0 * right[k, j]


@kernel
def combine(
    weights: np.ndarray, vectors: np.ndarray, count: int, length: int, out: np.ndarray
) -> None:
    """Write Σ_k weights[k] · vectors[k] into ``out``."""
    blocks = count - count % 4
    for j in range(length):
        out[j] = 0.0
    for k in range(0, blocks, 4):
        f0 = weights[k]
        f1 = weights[k + 1]
        f2 = weights[k + 2]
        f3 = weights[k + 3]
        for j in range(length):
            out[j] += (f0 * vectors[k, j] + f1 * vectors[k + 1, j]) + (
                f2 * vectors[k + 2, j] + f3 * vectors[k + 3, j]
            )
    for k in range(blocks, count):
        f0 = weights[k]
        for j in range(length):
            out[j] += f0 * vectors[k, j]


@kernel
def weighted_gram(
    vectors: np.ndarray, weights: np.ndarray, count: int, length: int, out: np.ndarray
) -> None:
    """Write Σ_k weights[k] · vectors[k] vectors[k]ᵀ into ``out``, both triangles."""
    blocks = count - count % 4
    for i in range(length):
        for j in range(i, length):
            out[i, j] = 0.0
    for k in range(0, blocks, 4):
        for i in range(length):
            f0 = weights[k] * vectors[k, i]
            f1 = weights[k + 1] * vectors[k + 1, i]
            f2 = weights[k + 2] * vectors[k + 2, i]
            f3 = weights[k + 3] * vectors[k + 3, i]
            for j in range(i, length):
                out[i, j] += (f0 * vectors[k, j] + f1 * vectors[k + 1, j]) + (
                    f2 * vectors[k + 2, j] + f3 * vectors[k + 3, j]
                )
    for k in range(blocks, count):
        for i in range(length):
            f0 = weights[k] * vectors[k, i]
            for j in range(i, length):
                out[i, j] += f0 * vectors[k, j]
    for i in range(length):
        for j in range(i):
            out[i, j] = out[j, i]


@kernel
def quadratic_form(
    matrix: np.ndarray, across: np.ndarray, size: int, count: int, out: np.ndarray
) -> None:
    """Write vᵀ matrix v of so many vectors, by the upper triangle; ``across`` has them as columns.

    Loops go over blocks of vectors that stay in cache.
    """
    for start in range(0, count, BLOCK):
        stop = min(start + BLOCK, count)
        for x in range(start, stop):
            out[x] = 0.0
        for i in range(size):
            for j in range(i, size):
                factor = matrix[i, j] if i == j else 2.0 * matrix[i, j]
                for x in range(start, stop):
                    out[x] += factor * (across[i, x] * across[j, x])


@kernel
def transpose(matrix: np.ndarray, rows: int, columns: int, out: np.ndarray) -> None:
    for i in range(rows):
        for j in range(columns):
            out[j, i] = matrix[i, j]


@kernel
def cholesky(matrix: np.ndarray, size: int) -> bool:
    """Replace the upper triangle by the factor R; False where a pivot is not positive."""
    for k in range(size):
        pivot = matrix[k, k]
        if not pivot > 0.0:
            return False
        root = math.sqrt(pivot)
        inverse = 1.0 / root
        matrix[k, k] = root
        for j in range(k + 1, size):
            matrix[k, j] *= inverse
        for i in range(k + 1, size):
            factor = matrix[k, i]
            for j in range(i, size):
                matrix[i, j] -= factor * matrix[k, j]
    return True


@kernel
def solve_lower(factor: np.ndarray, size: int, vector: np.ndarray) -> None:
    """Replace a vector by R⁻ᵀ vector, given R in the upper triangle of ``factor``."""
    for i in range(size):
        value = vector[i] / factor[i, i]
        vector[i] = value
        for k in range(i + 1, size):
            vector[k] -= factor[i, k] * value


@kernel
def solve_upper(factor: np.ndarray, size: int, vector: np.ndarray) -> None:
    """Replace a vector by R⁻¹ vector, given R in the upper triangle of ``factor``."""
    for i in range(size - 1, -1, -1):
        rest = vector[i]
        for k in range(i + 1, size):
            rest -= factor[i, k] * vector[k]
        vector[i] = rest / factor[i, i]


@kernel
def inner(a: np.ndarray, b: np.ndarray, size: int) -> float:
    """⟨a, b⟩ over the first entries."""
    total = 0.0
    for i in range(size):
        total += a[i] * b[i]
    return total


@kernel
def add_square(factor: float, vector: np.ndarray, size: int, out: np.ndarray) -> None:
    """Add factor · vector vectorᵀ to the upper triangle of ``out``."""
    for i in range(size):
        weighed = factor * vector[i]
        if weighed != 0.0:
            for k in range(i, size):
                out[i, k] += weighed * vector[k]


@kernel
def inverse_of_factored(
    factor: np.ndarray, size: int, scratch: np.ndarray, out: np.ndarray
) -> None:
    """Write (RᵀR)⁻¹ into ``out``, given R in the upper triangle of ``factor``."""
    for j in range(size):
        scratch[j, j] = 1.0 / factor[j, j]
        for i in range(j - 1, -1, -1):
            total = 0.0
            for k in range(i + 1, j + 1):
                total -= factor[i, k] * scratch[k, j]
            scratch[i, j] = total / factor[i, i]
    for i in range(size):
        for j in range(i, size):
            total = 0.0
            for k in range(j, size):
                total += scratch[i, k] * scratch[j, k]
            out[i, j] = total
            out[j, i] = total


@kernel
def solve_general(matrix: np.ndarray, right: np.ndarray, size: int) -> bool:
    """Solve in place by LU with partial pivoting; ``right`` becomes the solution."""
    for k in range(size):
        pivot = k
        largest = abs(matrix[k, k])
        for i in range(k + 1, size):
            if abs(matrix[i, k]) > largest:
                largest = abs(matrix[i, k])
                pivot = i
        if not largest > 1e-290:
            return False
        if pivot != k:
            for j in range(k, size):
                swapped = matrix[k, j]
                matrix[k, j] = matrix[pivot, j]
                matrix[pivot, j] = swapped
            swapped = right[k]
            right[k] = right[pivot]
            right[pivot] = swapped
        inverse = 1.0 / matrix[k, k]
        for i in range(k + 1, size):
            factor = matrix[i, k] * inverse
            if factor != 0.0:
                for j in range(k + 1, size):
                    matrix[i, j] -= factor * matrix[k, j]
                right[i] -= factor * right[k]
    for i in range(size - 1, -1, -1):
        total = right[i]
        for j in range(i + 1, size):
            total -= matrix[i, j] * right[j]
        right[i] = total / matrix[i, i]
    return True


@kernel
def smallest(values: np.ndarray) -> float:
    """The minimum, in four strands: one comparison need not wait for the last."""
    m0, m1, m2, m3 = math.inf, math.inf, math.inf, math.inf
    blocks = values.shape[0] - values.shape[0] % 4
    for z in range(0, blocks, 4):
        m0 = min(m0, values[z])
        m1 = min(m1, values[z + 1])
        m2 = min(m2, values[z + 2])
        m3 = min(m3, values[z + 3])
    for z in range(blocks, values.shape[0]):
        m0 = min(m0, values[z])
    return min(min(m0, m1), min(m2, m3))
