"""Holding a solution, and the O(K) verification of a held one.

With η and the leader kept, G(η) does not depend on the means: ρ_x = z_xᵀG⁻¹z_x and the prices
are cached, and both bounds at new means need the new gaps only.
"""

import math

import numpy as np

from ossb.graves_lai.linear.algebra import cholesky, inverse_of_factored
from ossb.graves_lai.linear.memory import (
    ACTIVE,
    HELD_COLUMNS,
    HELD_ROWS,
    INVERSE_COST,
    INVERSE_MARGIN,
    PLAYED,
    SUPPORT,
    WEIGHTED,
)
from ossb.graves_lai.linear.passes import apply_whitening, quadratic_forms
from ossb.graves_lai.linear.workspace import (
    ARM_LOWER,
    ARM_PLAYS,
    ARM_WEIGHT,
    COLUMNS,
    GRAM,
    INVERSE,
    ONES,
    ROWS,
    SPARE,
    WEIGHTS,
    Workspace,
)
from ossb.kernels import kernel


@kernel
def verify(
    inverse_cost: np.ndarray,
    inverse_margin: np.ndarray,
    rho: np.ndarray,
    price: np.ndarray,
    design: np.ndarray,
    omega: np.ndarray,
    columns: np.ndarray,
    n_columns: int,
    rows: np.ndarray,
    n_rows: int,
) -> tuple[float, float, float]:
    """Bounds of C/2 by a held solution, and the factor that makes its design feasible."""
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
    for e in range(n_columns):
        upper += design[columns[e]] / inverse_cost[columns[e]]
    for e in range(n_rows):
        x = rows[e]
        lower += omega[x] * inverse_margin[x] * inverse_margin[x]
    return highest * upper, lower / dearest if dearest > 0.0 else 0.0, highest


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
def list_held(
    gap: np.ndarray,
    rho: np.ndarray,
    price: np.ndarray,
    n_arms: int,
    columns: np.ndarray,
    rows: np.ndarray,
    size: np.ndarray,
    ws: Workspace,
) -> None:
    """List the held columns and rows, those the optimum seems to rest on first."""
    inverse_cost, inverse_margin = gap[INVERSE_COST], gap[INVERSE_MARGIN]
    plays, weight = ws.arm[ARM_PLAYS], ws.arm[ARM_WEIGHT]
    total_v, total_w, highest, dearest = 0.0, 0.0, 1e-300, 1e-300
    for z in range(n_arms):
        total_v += plays[z]
        total_w += weight[z]
        highest = max(highest, rho[z] * inverse_margin[z] * inverse_margin[z])
        dearest = max(dearest, price[z] * inverse_cost[z])
    n, m = ws.count[COLUMNS], ws.count[ROWS]
    count = 0
    for first in range(2):
        for e in range(n):
            z = ws.working[COLUMNS, e]
            slack = 1.0 - price[z] * inverse_cost[z] / dearest
            if (plays[z] > total_v * slack) == (first == 0):
                columns[count] = z
                count += 1
        if first == 0:
            size[SUPPORT] = count
    size[HELD_COLUMNS] = count
    size[PLAYED] = count
    count = 0
    for first in range(2):
        for e in range(m):
            x = ws.working[ROWS, e]
            ratio = rho[x] * inverse_margin[x] * inverse_margin[x] / highest
            tight = ratio > 1e-300
            if tight:
                tight = weight[x] > -total_w * math.log(ratio)
            if tight == (first == 0):
                rows[count] = x
                count += 1
        if first == 0:
            size[ACTIVE] = count
    size[HELD_ROWS] = count
    size[WEIGHTED] = count


@kernel
def hold(
    gap: np.ndarray,
    rank: int,
    coordinates: np.ndarray,
    rho: np.ndarray,
    price: np.ndarray,
    design: np.ndarray,
    omega: np.ndarray,
    shape: np.ndarray,
    ws: Workspace,
) -> bool:
    """Cache what ``verify`` needs of the solution in ``ws.arm``; coordinates become G(η) = I.

    False, with nothing held, if the design does not span.
    """
    n_arms = rho.shape[0]
    inverse_cost, inverse_margin = gap[INVERSE_COST], gap[INVERSE_MARGIN]
    plays, weight, below = ws.arm[ARM_PLAYS], ws.arm[ARM_WEIGHT], ws.arm[ARM_LOWER]
    total = 0.0
    for z in range(n_arms):
        total += weight[z]
        design[z] = plays[z] * inverse_cost[z]
        omega[z] = 0.0
        if weight[z] > 0.0:
            omega[z] = weight[z] / (inverse_margin[z] * inverse_margin[z])
        below[z] *= inverse_cost[z]
    gram = ws.small[GRAM]
    sparse_gram(coordinates, design, n_arms, rank, gram)
    if not cholesky(gram, rank):
        return False
    for i in range(rank):
        ws.column[ONES, i] = 1.0
    apply_whitening(gram, ws.column[ONES], coordinates.shape[1], rank, coordinates)
    sparse_gram(coordinates, below, n_arms, rank, gram)
    if total > 0.0 and cholesky(gram, rank):
        inverse_of_factored(gram, rank, ws.small[SPARE], shape)
    else:
        for i in range(rank):
            for j in range(rank):
                shape[i, j] = 1.0 if i == j else 0.0
    outer_weights(coordinates, shape, omega, n_arms, rank, ws.small[WEIGHTS])
    for i in range(rank):
        for j in range(rank):
            ws.small[INVERSE, i, j] = 1.0 if i == j else 0.0
    quadratic_forms(coordinates, ws.small[INVERSE], ws.small[WEIGHTS], n_arms, rank, rho, price)
    return True
