"""Newton's matrix of one convex program and its factors, in scalar loops."""

import math

import numpy as np

from ossb.graves_lai.generic.iterate import Iterate
from ossb.kernels import kernel

_RIDGE = 1e-15  # of the diagonal: a matrix that is positive up to rounding stays regular
_SINGULAR = 1e-300


@kernel
def factor_system(p: Iterate, dual: np.ndarray) -> bool:
    """Factor the curvature of f and of the barrier with multipliers ``dual``.

    The diagonal is brought to one first: directions may differ by many decades in length.
    Returns False where the matrix is singular or holds something that is no number.
    """
    mean_map, rows, system, scale = p.mean_map, p.rows, p.system, p.scale
    n = mean_map.shape[1]
    for j in range(n):
        for i in range(n):
            system[j, i] = p.anchor[j, i]
    for k in range(mean_map.shape[0]):
        bend = p.curvatures[k]
        for j in range(n):
            tilted = bend * mean_map[k, j]
            for i in range(j + 1):
                system[j, i] += tilted * mean_map[k, i]
    for k in range(rows.shape[0]):
        bend = dual[k] / p.slack[k]
        for j in range(n):
            tilted = bend * rows[k, j]
            for i in range(j + 1):
                system[j, i] += tilted * rows[k, i]
    for j in range(n):
        diagonal = system[j, j] + _RIDGE * system[j, j]
        if diagonal <= 0.0:
            diagonal = 1.0  # directions that nothing depends on
        system[j, j] = diagonal
        scale[j] = 1.0 / math.sqrt(diagonal)
    for j in range(n):
        for i in range(j + 1):
            system[j, i] *= scale[j] * scale[i]
            system[i, j] = system[j, i]
    return factorise(system, p.swaps, n)


@kernel
def solve_system(p: Iterate) -> None:
    """Replace the right side, which ``step`` holds, by the solution."""
    step, scale = p.step, p.scale
    n = step.shape[0]
    for j in range(n):
        step[j] *= scale[j]
    solve_factored(p.system, p.swaps, step, n)
    for j in range(n):
        step[j] *= scale[j]


@kernel
def factorise(matrix: np.ndarray, swaps: np.ndarray, n: int) -> bool:
    """P A = L U in place, the exchanges in ``swaps``; False if it is singular or no number.

    Rows are exchanged although the matrix is symmetric: with multipliers that went to 0 it is
    positive only up to rounding, where Cholesky's factors break down.
    """
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
def solve_factored(matrix: np.ndarray, swaps: np.ndarray, vector: np.ndarray, n: int) -> None:
    """vector ← A⁻¹ vector."""
    for k in range(n):
        pivot = swaps[k]
        if pivot != k:
            kept = vector[k]
            vector[k] = vector[pivot]
            vector[pivot] = kept
    for i in range(n):
        entry = vector[i]
        for j in range(i):
            entry -= matrix[i, j] * vector[j]
        vector[i] = entry
    for i in range(n - 1, -1, -1):
        entry = vector[i]
        for j in range(i + 1, n):
            entry -= matrix[i, j] * vector[j]
        vector[i] = entry / matrix[i, i]
