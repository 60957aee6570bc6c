"""Passes over all the arms: whitening, quadratic forms, the arms to add.

Coordinates are (rank, K), one row per coordinate; loops go over blocks of arms that stay in
cache.  The passes over K arms are all that grows with K.
"""

import math

import numpy as np

from ossb.kernels import kernel
from ossb.numerics.dense import cholesky

BLOCK = 512


@kernel
def gram_of_arms(
    coordinates: np.ndarray, weights: np.ndarray, n_arms: int, rank: int, out: np.ndarray
) -> None:
    """Write Σ_x weights[x] z_x z_xᵀ into ``out``, both triangles."""
    for i in range(rank):
        for j in range(rank):
            out[i, j] = 0.0
    for start in range(0, n_arms, BLOCK):
        stop = min(start + BLOCK, n_arms)
        blocks = stop - (stop - start) % 4
        for i in range(rank):
            for j in range(i + 1):
                t0, t1, t2, t3 = 0.0, 0.0, 0.0, 0.0
                for z in range(start, blocks, 4):
                    t0 += weights[z] * coordinates[i, z] * coordinates[j, z]
                    t1 += weights[z + 1] * coordinates[i, z + 1] * coordinates[j, z + 1]
                    t2 += weights[z + 2] * coordinates[i, z + 2] * coordinates[j, z + 2]
                    t3 += weights[z + 3] * coordinates[i, z + 3] * coordinates[j, z + 3]
                for z in range(blocks, stop):
                    t0 += weights[z] * coordinates[i, z] * coordinates[j, z]
                out[i, j] += (t0 + t1) + (t2 + t3)
    for i in range(rank):
        for j in range(i):
            out[j, i] = out[i, j]


@kernel
def apply_whitening(
    factor: np.ndarray, scale: np.ndarray, n_vectors: int, rank: int, coordinates: np.ndarray
) -> None:
    """Replace every z by R⁻ᵀ diag(scale) z, R the upper factor."""
    for start in range(0, n_vectors, BLOCK):
        stop = min(start + BLOCK, n_vectors)
        for i in range(rank):
            own = scale[i]
            for z in range(start, stop):
                coordinates[i, z] *= own
            for k in range(i):
                entry = factor[k, i]
                for z in range(start, stop):
                    coordinates[i, z] -= entry * coordinates[k, z]
            inverse = 1.0 / factor[i, i]
            for z in range(start, stop):
                coordinates[i, z] *= inverse


@kernel
def whiten(
    coordinates: np.ndarray,
    weights: np.ndarray,
    n_arms: int,
    n_vectors: int,
    rank: int,
    gram: np.ndarray,
    scale: np.ndarray,
) -> bool:
    """Change coordinates so that Σ weights[x] z_x z_xᵀ is the identity, or close to it.

    Nearly collinear arms need several turns, each with a small ridge: one turn squares the
    condition number, and the next repairs what rounding spoiled (shifted CholeskyQR).
    """
    for _ in range(6):
        gram_of_arms(coordinates, weights, n_arms, rank, gram)
        for i in range(rank):
            if not gram[i, i] > 1e-290:
                return False
            scale[i] = 1.0 / math.sqrt(gram[i, i])
        for i in range(rank):
            for j in range(rank):
                gram[i, j] *= scale[i] * scale[j]
            gram[i, i] += 1e-15 * rank
        if not cholesky(gram, rank):
            for i in range(rank):
                for j in range(rank):
                    gram[i, j] = 0.0
                gram[i, i] = 1.0
        smallest = 1.0
        for i in range(rank):
            smallest = min(smallest, gram[i, i])
        apply_whitening(gram, scale, n_vectors, rank, coordinates)
        if smallest >= 1e-4:
            return True
    return False


@kernel
def quadratic_forms(
    coordinates: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    n_arms: int,
    rank: int,
    out_first: np.ndarray,
    out_second: np.ndarray,
) -> None:
    """Write zᵀPz and zᵀQz of every arm."""
    for start in range(0, n_arms, BLOCK):
        stop = min(start + BLOCK, n_arms)
        for z in range(start, stop):
            out_first[z] = 0.0
            out_second[z] = 0.0
        for i in range(rank):
            for j in range(i + 1):
                twice = 1.0 if i == j else 2.0
                p = twice * first[i, j]
                q = twice * second[i, j]
                for z in range(start, stop):
                    product = coordinates[i, z] * coordinates[j, z]
                    out_first[z] += p * product
                    out_second[z] += q * product


@kernel
def along(
    coordinates: np.ndarray, direction: np.ndarray, n_arms: int, rank: int, out: np.ndarray
) -> None:
    """Write ⟨direction, z⟩ of every arm."""
    for start in range(0, n_arms, BLOCK):
        stop = min(start + BLOCK, n_arms)
        for z in range(start, stop):
            out[z] = 0.0
        for i in range(rank):
            factor = direction[i]
            for z in range(start, stop):
                out[z] += factor * coordinates[i, z]


@kernel
def largest(values: np.ndarray, count: int) -> float:
    """The maximum of non-negative values."""
    m0, m1, m2, m3 = 0.0, 0.0, 0.0, 0.0
    blocks = count - count % 4
    for z in range(0, blocks, 4):
        m0 = max(m0, values[z])
        m1 = max(m1, values[z + 1])
        m2 = max(m2, values[z + 2])
        m3 = max(m3, values[z + 3])
    for z in range(blocks, count):
        m0 = max(m0, values[z])
    return max(max(m0, m1), max(m2, m3))
