"""Which arms the interior-point method sees: how its working sets start, grow and shrink.

An optimal design uses at most r(r + 1)/2 arms, and few constraints are tight, so a few dozen
columns and rows are enough whatever K is.  The first sets must span the space (otherwise H is
singular on the first working set), hence the pivoted Gram–Schmidt start.
"""

import math

import numpy as np

from ossb.graves_lai.linear.passes import along
from ossb.graves_lai.linear.workspace import (
    ARM_GROUP,
    ARM_PRICE,
    ARM_SCRATCH,
    ARM_VALUE,
    COLUMNS,
    COUNT,
    GROUP_BEST,
    GROUP_CHOSEN,
    INVERSE_COST,
    INVERSE_MARGIN,
    MEMBER,
    ROWS,
    WORKING,
    Workspace,
)
from ossb.kernels import kernel

SIMILAR = 0.98 * 0.98  # squared cosine above which two new arms count as one


@kernel
def enter(kind: int, x: int, ws: Workspace) -> None:
    """Put arm x into the working columns (kind 0) or rows (kind 1), if there is room.

    One that costs endlessly is never played, and one of an endless margin never binds.
    """
    column, arm, index = ws.column, ws.arm, ws.indices
    if arm[INVERSE_COST if kind == COLUMNS else INVERSE_MARGIN, x] == 0.0:
        return
    count = index[COUNT, kind]
    if index[MEMBER + kind, x] == 0 and count < column.shape[1]:
        index[MEMBER + kind, x] = 1
        index[WORKING + kind, count] = x
        index[COUNT, kind] = count + 1


@kernel
def spanning_arms(
    coordinates: np.ndarray, size: np.ndarray, kind: int, n_arms: int, rank: int, ws: Workspace
) -> None:
    """Enter arms that span the space: pivoted Gram–Schmidt on z · √size.

    Only the residual norms are updated for all arms; the basis is orthogonalised exactly.
    """
    cube, arm = ws.cube, ws.arm
    left, image, basis = arm[ARM_VALUE], arm[ARM_PRICE], cube[0]
    for z in range(n_arms):
        total = 0.0
        for i in range(rank):
            total += coordinates[i, z] * coordinates[i, z]
        left[z] = total * size[z]
    found = 0
    for _ in range(2 * rank):
        pivot = 0
        for z in range(1, n_arms):
            if left[z] > left[pivot]:
                pivot = z
        if found == rank or not left[pivot] > 0.0:
            return
        whole = 0.0
        for i in range(rank):
            basis[found, i] = coordinates[i, pivot]
            whole += coordinates[i, pivot] * coordinates[i, pivot]
        rest = whole
        for _repeat in range(2):
            for k in range(found):
                inner = 0.0
                for i in range(rank):
                    inner += basis[k, i] * basis[found, i]
                for i in range(rank):
                    basis[found, i] -= inner * basis[k, i]
            rest = 0.0
            for i in range(rank):
                rest += basis[found, i] * basis[found, i]
        left[pivot] = 0.0
        if not rest > 1e-20 * whole:
            continue
        inner = 1.0 / math.sqrt(rest)
        for i in range(rank):
            basis[found, i] *= inner
        enter(COLUMNS, pivot, ws)
        if kind == ROWS:
            enter(ROWS, pivot, ws)
        along(coordinates, basis[found], n_arms, rank, image)
        for z in range(n_arms):
            left[z] = max(0.0, left[z] - image[z] * image[z] * size[z])
        left[pivot] = 0.0
        found += 1


@kernel
def extreme_arms(
    coordinates: np.ndarray,
    inverse_cost: np.ndarray,
    inverse_margin: np.ndarray,
    n_arms: int,
    rank: int,
    ws: Workspace,
) -> None:
    """Enter the longest column and row along each start direction."""
    arm, directions = ws.arm, ws.directions
    image = arm[ARM_SCRATCH]
    for e in range(directions.shape[0]):
        along(coordinates, directions[e], n_arms, rank, image)
        column, row = 0, 0
        best_column, best_row = 0.0, 0.0
        for z in range(n_arms):
            square = image[z] * image[z]
            cheap = square * inverse_cost[z]
            near = square * inverse_margin[z] * inverse_margin[z]
            if cheap > best_column:
                best_column = cheap
                column = z
            if near > best_row:
                best_row = near
                row = z
        if best_column > 0.0:
            enter(COLUMNS, column, ws)
        if best_row > 0.0:
            enter(ROWS, row, ws)
            enter(COLUMNS, row, ws)  # a near tie is also the natural arm to play for itself


@kernel
def first_sets(
    coordinates: np.ndarray,
    inverse_cost: np.ndarray,
    inverse_margin: np.ndarray,
    n_arms: int,
    rank: int,
    ws: Workspace,
) -> bool:
    """Choose the first working sets; True if they hold every arm that matters."""
    arm, index = ws.arm, ws.indices
    index[COUNT, COLUMNS] = 0
    index[COUNT, ROWS] = 0
    for z in range(n_arms):
        index[MEMBER + COLUMNS, z] = 0
        index[MEMBER + ROWS, z] = 0
    if n_arms <= max(24, rank * (rank + 1)):
        for z in range(n_arms):
            total = 0.0
            for i in range(rank):
                total += abs(coordinates[i, z])
            if total > 0.0:
                enter(COLUMNS, z, ws)
                enter(ROWS, z, ws)
        return True
    spanning_arms(coordinates, inverse_cost, COLUMNS, n_arms, rank, ws)
    square = arm[ARM_SCRATCH]
    for z in range(n_arms):
        square[z] = inverse_margin[z] * inverse_margin[z]
    spanning_arms(coordinates, square, ROWS, n_arms, rank, ws)
    extreme_arms(coordinates, inverse_cost, inverse_margin, n_arms, rank, ws)
    return False


@kernel
def violators(
    kind: int,
    values: np.ndarray,
    threshold: float,
    n_groups: int,
    most: int,
    coordinates: np.ndarray,
    n_arms: int,
    rank: int,
    ws: Workspace,
) -> int:
    """Enter the arms above the threshold that are largest and differ in direction.

    The candidates are the best of each of ``n_groups`` interleaved groups of arms.
    """
    column, arm, index = ws.column, ws.arm, ws.indices
    best, chosen, value = index[GROUP_BEST], index[GROUP_CHOSEN], arm[ARM_GROUP]
    member = index[MEMBER + kind]
    for g in range(n_groups):
        best[g] = -1
        value[g] = threshold
    for z in range(n_arms):
        if values[z] > threshold and member[z] == 0:
            g = z % n_groups
            if values[z] > value[g]:
                value[g] = values[z]
                best[g] = z
    count = 0
    for _ in range(n_groups):
        top = -1
        for g in range(n_groups):
            if best[g] >= 0 and (top < 0 or value[g] > value[top]):
                top = g
        if top < 0 or count == most or index[COUNT, kind] == column.shape[1]:
            return count
        z = best[top]
        best[top] = -1
        own = 0.0
        for i in range(rank):
            own += coordinates[i, z] * coordinates[i, z]
        fresh = True
        for e in range(count):
            other, inner = 0.0, 0.0
            for i in range(rank):
                inner += coordinates[i, z] * coordinates[i, chosen[e]]
                other += coordinates[i, chosen[e]] * coordinates[i, chosen[e]]
            if inner * inner > SIMILAR * own * other:
                fresh = False
        if fresh:
            chosen[count] = z
            count += 1
            enter(kind, z, ws)
    return count


@kernel
def shrink(
    kind: int,
    held: np.ndarray,
    values: np.ndarray,
    share: float,
    room: int,
    ws: Workspace,
) -> None:
    """Drop members with next to no weight and a value below ``share`` of the largest.

    If more than ``room`` would stay, the ones with next to no weight go whatever their value.
    """
    index = ws.indices
    count = index[COUNT, kind]
    total, top = 0.0, 0.0
    for e in range(count):
        total += held[e]
        top = max(top, values[index[WORKING + kind, e]])
    stays = 0
    for e in range(count):
        if held[e] > 1e-9 * total or values[index[WORKING + kind, e]] > share * top:
            stays += 1
    if stays > room:
        share = 2.0
    kept = 0
    for e in range(count):
        x = index[WORKING + kind, e]
        if held[e] > 1e-9 * total or values[x] > share * top:
            index[WORKING + kind, kept] = x
            held[kept] = held[e]
            kept += 1
        else:
            index[MEMBER + kind, x] = 0
    index[COUNT, kind] = kept
