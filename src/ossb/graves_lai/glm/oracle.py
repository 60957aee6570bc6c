"""The most confusing parameter for one alternative, and the proof of how confusing it is.

F_x(η) = min over δ with ⟨δ, z_x⟩ = m_x of Σ_y η_y d(u_y, ⟨δ, z_y⟩): smooth and convex in δ,
solved by Newton's method on the equality-constrained program.  F_x is concave and homogeneous
of degree 1 in η; its gradient is the vector of divergences at the minimiser.

A minimiser that is not exact over-estimates F_x.  For any p with Σ_y p_y z_y = τ z_x,
F_x(η) ≥ τ m_x − Σ_y η_y d*(u_y, p_y / η_y), with d* the conjugate of d; p_y = η_y (g(u′_y) −
g(u_y)) makes the two sides equal at the minimiser.
"""

import math

import numpy as np

from ossb.graves_lai.glm.dense import cholesky, product, solve_lower, solve_upper
from ossb.graves_lai.glm.links import (
    admissible,
    change_from,
    conjugate,
    curvature,
    divergence_from,
)
from ossb.graves_lai.glm.space import (
    COLUMNS,
    COORDINATE,
    FACTOR,
    INDEX,
    MARGIN,
    MEAN,
    RATE,
    REST,
    SIDE,
    SLOPE,
    STEP,
    TOWARDS,
    Space,
)
from ossb.kernels import kernel

_STEPS = 80
_HALVINGS = 60
_CLOSE = 1e-12  # a Newton decrement below which one more full step is exact to rounding
_FLAT = 1e-15  # ridge, relative to the diagonal
_LONG = 4.0  # a change of index over which curvatures differ by an order of magnitude
_STRETCHES = 60
_ARRIVED = 1.0 - 1e-9


@kernel
def confusion(
    link: int, which: int, arm: int, length: float, n: int, rank: int, space: Space
) -> float:
    """Σ_y η_y d(u_y, ⟨δ, z_y⟩) over the columns, a share ``length`` of the step beyond δ."""
    vectors, by_arm = space.vectors, space.by_arm
    total = 0.0
    for j in range(n):
        rate = space.work[RATE, j]
        if rate > 0.0:
            other = space.lists[COLUMNS, j]
            shift = 0.0
            for i in range(rank):
                moved = vectors[which, arm, i] + length * space.small[SIDE, STEP, i]
                shift += moved * vectors[COORDINATE, other, i]
            index, here, off = by_arm[INDEX, other], by_arm[MEAN, other], by_arm[REST, other]
            total += rate * divergence_from(link, index, here, off, shift)
    return total


@kernel
def newton(link: int, which: int, arm: int, n: int, rank: int, space: Space) -> tuple[bool, float]:
    """The step from δ that keeps ⟨δ, z_x⟩, with slope and factored curvature.

    ``TOWARDS`` is left as L⁻¹ z_x, for the factor L of the curvature.  Returns False if that
    is singular, and the multiplier τ of the condition.
    """
    vectors, by_arm, small = space.vectors, space.by_arm, space.small
    for i in range(rank):
        small[SIDE, SLOPE, i] = 0.0
        small[SIDE, TOWARDS, i] = vectors[COORDINATE, arm, i]
        for k in range(i + 1):
            small[FACTOR, i, k] = 0.0
    for j in range(n):
        rate = space.work[RATE, j]
        if rate > 0.0:
            other = space.lists[COLUMNS, j]
            index, here, off = by_arm[INDEX, other], by_arm[MEAN, other], by_arm[REST, other]
            shift = product(vectors, which, arm, COORDINATE, other, rank)
            pull = rate * change_from(link, index, here, off, shift)
            weight = rate * curvature(link, index, shift)
            for i in range(rank):
                at = vectors[COORDINATE, other, i]
                small[SIDE, SLOPE, i] += pull * at
                for k in range(i + 1):
                    small[FACTOR, i, k] += weight * at * vectors[COORDINATE, other, k]
    for i in range(rank):
        small[FACTOR, i, i] *= 1.0 + _FLAT
        small[SIDE, STEP, i] = small[SIDE, SLOPE, i]
    if not cholesky(small, FACTOR, rank):
        return False, 0.0
    solve_lower(small, FACTOR, small, SIDE, TOWARDS, rank)
    solve_lower(small, FACTOR, small, SIDE, STEP, rank)
    length = product(small, SIDE, TOWARDS, SIDE, TOWARDS, rank)
    multiplier = 0.0
    if length > 0.0:
        multiplier = product(small, SIDE, TOWARDS, SIDE, STEP, rank) / length
    for i in range(rank):
        small[SIDE, STEP, i] = multiplier * small[SIDE, TOWARDS, i] - small[SIDE, STEP, i]
    solve_upper(small, FACTOR, small, SIDE, STEP, rank)
    return True, multiplier


@kernel
def reach(which: int, arm: int, rank: int, space: Space) -> float:
    """⟨δ, z_x⟩ / m_x: 1 where the alternative just catches up with the best arm."""
    return product(space.vectors, which, arm, COORDINATE, arm, rank) / space.by_arm[MARGIN, arm]


@kernel
def stretch(which: int, arm: int, factor: float, rank: int, space: Space) -> None:
    for i in range(rank):
        space.vectors[which, arm, i] *= factor


@kernel
def first_guess(link: int, which: int, arm: int, n: int, rank: int, space: Space) -> bool:
    """The most confusing change if the divergence were quadratic, cut where it is surely not."""
    vectors, small = space.vectors, space.small
    for i in range(rank):
        vectors[which, arm, i] = 0.0
    regular, _ = newton(link, which, arm, n, rank, space)
    if not regular:
        return False
    for i in range(rank):
        vectors[which, arm, i] = small[SIDE, TOWARDS, i]
    solve_upper(small, FACTOR, vectors, which, arm, rank)
    along = reach(which, arm, rank, space)
    if not abs(along) > 1e-280:
        return False
    longest = 0.0
    for j in range(n):
        if space.work[RATE, j] > 0.0:
            other = space.lists[COLUMNS, j]
            shift = product(vectors, which, arm, COORDINATE, other, rank)
            longest = max(longest, abs(shift / along))
    factor = min(1.0, _LONG / longest) if longest > 0.0 else 1.0
    stretch(which, arm, factor / along, rank, space)
    return True


@kernel
def most_confusing(
    link: int, which: int, arm: int, enough: float, n: int, rank: int, space: Space
) -> float:
    """Improve δ to the minimiser for alternative ``arm``; returns F_x(η), or −1 if it fails.

    The confusion grows with the margin, so a δ that stops short of it bounds F_x from below;
    one of confusion ``enough`` is left there.  Far alternatives are reached step by step.
    """
    small = space.small
    for i in range(rank):
        small[SIDE, STEP, i] = 0.0
    along = reach(which, arm, rank, space)
    fresh = not 0.0 < along < math.inf
    if not fresh and (along > 1.0 or enough == math.inf):
        stretch(which, arm, 1.0 / along, rank, space)
        along = 1.0
        fresh = not confusion(link, which, arm, 0.0, n, rank, space) < math.inf
    if fresh:
        if not first_guess(link, which, arm, n, rank, space):
            return -1.0
        along = reach(which, arm, rank, space)
    value = confusion(link, which, arm, 0.0, n, rank, space)
    while value > 4.0 * enough:  # far beyond what is asked, where curvatures may have vanished
        stretch(which, arm, 0.5, rank, space)
        along *= 0.5
        value = confusion(link, which, arm, 0.0, n, rank, space)
    for _ in range(_STRETCHES):
        if not 0.0 < value < math.inf:
            return -1.0
        for _ in range(_STEPS if rank > 1 else 0):
            regular, _ = newton(link, which, arm, n, rank, space)
            if not regular:
                return -1.0
            decrement = -product(small, SIDE, SLOPE, SIDE, STEP, rank)
            last = decrement <= _CLOSE * value
            length = 1.0
            found = confusion(link, which, arm, length, n, rank, space)
            halvings = 0
            while not last and not found <= value - 0.1 * length * decrement:
                if halvings == _HALVINGS:
                    break
                length *= 0.5
                halvings += 1
                found = confusion(link, which, arm, length, n, rank, space)
            if not last and not found < value:
                break
            for i in range(rank):
                space.vectors[which, arm, i] += length * small[SIDE, STEP, i]
            value = found
            if last:
                break
        along = reach(which, arm, rank, space)
        if value >= enough or along > _ARRIVED:
            break
        stretch(which, arm, min(2.0, 1.0 / along), rank, space)
        for i in range(rank):
            small[SIDE, STEP, i] = 0.0
        value = confusion(link, which, arm, 0.0, n, rank, space)
    if along > _ARRIVED:
        stretch(which, arm, 1.0 / along, rank, space)
    return value


@kernel
def prove(
    link: int, arm: int, which: int, n: int, rank: int, space: Space, pulls: np.ndarray, row: int
) -> float:
    """A lower bound of F_x(η) from δ, by duality; −1 if there is none.

    Fills pulls[row] with p, and its last entry with τ.
    """
    vectors, by_arm, lists, work = space.vectors, space.by_arm, space.lists, space.work
    regular, multiplier = newton(link, which, arm, n, rank, space)
    if not regular:
        return -1.0
    within = 1.0
    for j in range(n):
        pulls[row, j] = 0.0
        rate = work[RATE, j]
        if rate > 0.0:
            other = lists[COLUMNS, j]
            index, here, off = by_arm[INDEX, other], by_arm[MEAN, other], by_arm[REST, other]
            shift = product(vectors, which, arm, COORDINATE, other, rank)
            move = 0.0
            for i in range(rank):
                move += space.small[SIDE, STEP, i] * vectors[COORDINATE, other, i]
            # the step is −H⁻¹ of the residual: moving p along it meets the condition exactly
            pull = change_from(link, index, here, off, shift)
            pull += curvature(link, index, shift) * move
            pulls[row, j] = rate * pull
            within = min(within, admissible(link, here, off, pull))
    pulls[row, pulls.shape[1] - 1] = within * multiplier
    total = within * multiplier * by_arm[MARGIN, arm]
    for j in range(n):
        rate = work[RATE, j]
        if rate > 0.0:
            pulls[row, j] *= within
            other = lists[COLUMNS, j]
            slope = pulls[row, j] / rate
            total -= rate * conjugate(link, by_arm[MEAN, other], by_arm[REST, other], slope)
    return total if total > 0.0 else -1.0
