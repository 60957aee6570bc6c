"""The constraints of the linear program and their gradients.

With columns a_z = z/√cost and rows b_x = z/margin, H(v) = Σ v_z a_z a_zᵀ, the program is
C = 2 min Σ v subject to h_x(v) = b_xᵀ H(v)⁻¹ b_x ≤ 1.  1/h_x is concave and homogeneous of
degree 1 in H (a minimum of δᵀHδ over ⟨δ, b_x⟩ = 1), so −log h_x ≥ 0 is a concave constraint;
its gradient in H is y yᵀ/h_x with y = H⁻¹ b_x.  Symmetric matrices are written as vectors
(svec: off-diagonal entries times √2), so that inner products are kept.
"""

import math

import numpy as np

from ossb.graves_lai.linear.workspace import GRAM, INVERSE, SPARE
from ossb.kernels import kernel
from ossb.numerics.dense import cholesky, inverse_of_factored, multiply, weighted_gram

ROOT2 = 1.4142135623730951
BROKEN = -1e300


@kernel
def lift(
    vectors: np.ndarray,
    weights: np.ndarray,
    count: int,
    rank: int,
    out: np.ndarray,
    transposed: np.ndarray,
) -> None:
    """Write svec(weight · u uᵀ) of each column u, in both layouts."""
    k = 0
    for i in range(rank):
        for j in range(i, rank):
            factor = 1.0 if i == j else ROOT2
            for x in range(count):
                out[k, x] = factor * vectors[i, x] * vectors[j, x] * weights[x]
            for x in range(count):
                transposed[x, k] = out[k, x]
            k += 1


@kernel
def unpack(vector: np.ndarray, rank: int, out: np.ndarray) -> None:
    """Write the symmetric matrix whose svec is given."""
    k = 0
    for i in range(rank):
        for j in range(i, rank):
            entry = vector[k] if i == j else vector[k] / ROOT2
            out[i, j] = entry
            out[j, i] = entry
            k += 1


@kernel
def constraint_values(
    columns: np.ndarray,
    weights: np.ndarray,
    n: int,
    rows: np.ndarray,
    m: int,
    rank: int,
    cube: np.ndarray,
    images: np.ndarray,
    values: np.ndarray,
) -> float:
    """Fill H's factor (GRAM), H⁻¹ (INVERSE), y and h; log det H, or BROKEN if singular."""
    gram = cube[GRAM]
    inverse = cube[INVERSE]
    weighted_gram(columns, weights, n, rank, gram)
    if not cholesky(gram, rank):
        return BROKEN
    logdet = 0.0
    for i in range(rank):
        logdet += math.log(gram[i, i])
    inverse_of_factored(gram, rank, cube[SPARE], inverse)
    multiply(inverse, rows, rank, rank, m, images)
    for x in range(m):
        values[x] = 0.0
    for i in range(rank):
        for x in range(m):
            values[x] += images[i, x] * rows[i, x]
    return 2.0 * logdet


@kernel
def add_symmetric_product(
    inverse: np.ndarray, weight: np.ndarray, rank: int, out: np.ndarray
) -> None:
    """Add svec ∘ (D ↦ P D Q + Q D P) ∘ mat to the upper triangle: twice P ⊗ₛ Q."""
    k = 0
    for i in range(rank):
        for j in range(i, rank):
            left = 0.5 if i == j else 1.0 / ROOT2
            l = k  # noqa: E741
            for a in range(i, rank):
                for b in range(j if a == i else a, rank):
                    right = 0.5 if a == b else 1.0 / ROOT2
                    entry = inverse[j, a] * weight[b, i] + inverse[j, b] * weight[a, i]
                    entry += inverse[i, a] * weight[b, j] + inverse[i, b] * weight[a, j]
                    entry += weight[j, a] * inverse[b, i] + weight[j, b] * inverse[a, i]
                    entry += weight[i, a] * inverse[b, j] + weight[i, b] * inverse[a, j]
                    out[k, l] += left * right * entry
                    l += 1  # noqa: E741
            k += 1
