"""Holding a solution, and the O(K) verification of a held one.

With η and the leader kept, G(η) does not depend on the means: ρ_x = z_xᵀG⁻¹z_x and the prices
are cached, and both bounds at new means need the new gaps only.
"""

import math

import numpy as np

from ossb.graves_lai.linear.memory import (
    ARM_COST,
    DESIGN,
    HELD_COLUMNS,
    OMEGA,
    PLAYED,
    RHO,
    SUPPORT,
)
from ossb.graves_lai.linear.passes import apply_whitening, quadratic_forms
from ossb.graves_lai.linear.workspace import (
    ARM_LOWER,
    ARM_PLAYS,
    ARM_WEIGHT,
    COLUMNS,
    COUNT,
    GRAM,
    INVERSE,
    INVERSE_COST,
    INVERSE_MARGIN,
    ONES,
    SPARE,
    WEIGHTS,
    WORKING,
    Workspace,
)
from ossb.kernels import kernel
from ossb.numerics.dense import cholesky, inverse_of_factored


@kernel
def held_bounds(
    arm: np.ndarray, held: np.ndarray, lists: np.ndarray, n: int, m: int
) -> tuple[float, float, float]:
    """Bounds of C/2 by a held solution, and the factor that makes its design feasible.

    One pass over the arms; the first n columns and m rows of the lists carry weight.
    """
    inverse_cost, inverse_margin = arm[INVERSE_COST], arm[INVERSE_MARGIN]
    design, omega, rho, price = held[DESIGN], held[OMEGA], held[RHO], held[ARM_COST]
    n_arms = rho.shape[0]
    h0, h1, c0, c1 = 0.0, 0.0, 0.0, 0.0
    for z in range(0, n_arms - 1, 2):
        h0 = max(h0, rho[z] * inverse_margin[z] * inverse_margin[z])
        c0 = max(c0, price[z] * inverse_cost[z])
        h1 = max(h1, rho[z + 1] * inverse_margin[z + 1] * inverse_margin[z + 1])
        c1 = max(c1, price[z + 1] * inverse_cost[z + 1])
    if n_arms % 2 == 1:
        z = n_arms - 1
        h0 = max(h0, rho[z] * inverse_margin[z] * inverse_margin[z])
        c0 = max(c0, price[z] * inverse_cost[z])
    highest = max(h0, h1)
    dearest = max(c0, c1)
    upper, lower = 0.0, 0.0
    for e in range(n):
        z = lists[0, e]
        upper += design[z] / inverse_cost[z]
    for e in range(m):
        z = lists[1, e]
        lower += omega[z] * inverse_margin[z] * inverse_margin[z]
    if not dearest > 0.0:
        return highest * upper, 0.0, highest
    return highest * upper, lower / dearest, highest


@kernel
def verify(arm: np.ndarray, held: np.ndarray, lists: np.ndarray, n: int, m: int) -> float:
    """Certified relative gap of a held solution at the gaps in ``arm``."""
    upper, lower, _ = held_bounds(arm, held, lists, n, m)
    return max(0.0, 1.0 - lower / upper) if upper > 0.0 else 1.0


@kernel
def outer_weights(
    coordinates: np.ndarray,
    shape: np.ndarray,
    omega: np.ndarray,
    n_arms: int,
    rank: int,
    out: np.ndarray,
) -> None:
    """Write Q = Σ ω_x y_x y_xᵀ/(z_xᵀy_x)², y = shape · z, in the given coordinates."""
    for i in range(rank):
        for j in range(rank):
            out[i, j] = 0.0
    for x in range(n_arms):
        if omega[x] > 0.0:
            length = 0.0
            for i in range(rank):
                for j in range(rank):
                    length += coordinates[i, x] * shape[i, j] * coordinates[j, x]
            for i in range(rank):
                left = 0.0
                for k in range(rank):
                    left += shape[i, k] * coordinates[k, x]
                left *= omega[x] / (length * length)
                for j in range(rank):
                    right = 0.0
                    for k in range(rank):
                        right += shape[j, k] * coordinates[k, x]
                    out[i, j] += left * right


@kernel
def sparse_gram(
    coordinates: np.ndarray, weights: np.ndarray, n_arms: int, rank: int, out: np.ndarray
) -> None:
    """Write Σ weights[x] z_x z_xᵀ, skipping zero weights."""
    for i in range(rank):
        for j in range(rank):
            out[i, j] = 0.0
    for x in range(n_arms):
        if weights[x] != 0.0:
            for i in range(rank):
                factor = weights[x] * coordinates[i, x]
                for j in range(rank):
                    out[i, j] += factor * coordinates[j, x]


@kernel
def list_held(held: np.ndarray, lists: np.ndarray, size: np.ndarray, ws: Workspace) -> None:
    """List the held columns and rows, those the optimum seems to rest on first."""
    arm, index = ws.arm, ws.indices
    inverse_cost, inverse_margin = arm[INVERSE_COST], arm[INVERSE_MARGIN]
    plays, weight, rho, price = arm[ARM_PLAYS], arm[ARM_WEIGHT], held[RHO], held[ARM_COST]
    total_v, total_w, highest, dearest = 0.0, 0.0, 1e-300, 1e-300
    for z in range(rho.shape[0]):
        total_v += plays[z]
        total_w += weight[z]
        highest = max(highest, rho[z] * inverse_margin[z] * inverse_margin[z])
        dearest = max(dearest, price[z] * inverse_cost[z])
    for kind in range(2):
        count = 0
        for first in range(2):
            for e in range(index[COUNT, kind]):
                x = index[WORKING + kind, e]
                if kind == COLUMNS:
                    tight = plays[x] > total_v * (1.0 - price[x] * inverse_cost[x] / dearest)
                else:
                    ratio = rho[x] * inverse_margin[x] * inverse_margin[x] / highest
                    tight = weight[x] > -total_w * math.log(max(ratio, 1e-300))
                if tight == (first == 0):
                    lists[kind, count] = x
                    count += 1
            if first == 0:
                size[SUPPORT + kind] = count
        size[HELD_COLUMNS + kind] = count
        size[PLAYED + kind] = count


@kernel
def hold(rank: int, coordinates: np.ndarray, held: np.ndarray, ws: Workspace) -> bool:
    """Cache what ``verify`` needs of the solution in ``ws.arm``; coordinates become G(η) = I.

    False if the design does not span.
    """
    arm, cube, column = ws.arm, ws.cube, ws.column
    n_arms = arm.shape[1]
    inverse_cost, inverse_margin = arm[INVERSE_COST], arm[INVERSE_MARGIN]
    plays, weight, below = arm[ARM_PLAYS], arm[ARM_WEIGHT], arm[ARM_LOWER]
    design, omega = held[DESIGN], held[OMEGA]
    total = 0.0
    for z in range(n_arms):
        total += weight[z]
        design[z] = plays[z] * inverse_cost[z]
        omega[z] = 0.0
        if weight[z] > 0.0:
            omega[z] = weight[z] / (inverse_margin[z] * inverse_margin[z])
        below[z] *= inverse_cost[z]
    gram, shape = cube[GRAM], cube[INVERSE]
    sparse_gram(coordinates, design, n_arms, rank, gram)
    if not cholesky(gram, rank):
        return False
    for i in range(rank):
        column[ONES, i] = 1.0
    apply_whitening(gram, column[ONES], n_arms + coordinates.shape[0], rank, coordinates)
    sparse_gram(coordinates, below, n_arms, rank, gram)
    spans = total > 0.0 and cholesky(gram, rank)
    if spans:
        inverse_of_factored(gram, rank, cube[SPARE], shape)
    for i in range(rank):
        for j in range(rank):
            if not spans:
                shape[i, j] = 1.0 if i == j else 0.0
            coordinates[i, n_arms + coordinates.shape[0] + j] = shape[i, j]
    outer_weights(coordinates, shape, omega, n_arms, rank, cube[WEIGHTS])
    for i in range(rank):
        for j in range(rank):
            shape[i, j] = 1.0 if i == j else 0.0
    quadratic_forms(coordinates, shape, cube[WEIGHTS], n_arms, rank, held[RHO], held[ARM_COST])
    return True
