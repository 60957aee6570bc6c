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
    change,
    conjugate,
    curvature,
    divergence,
)
from ossb.graves_lai.glm.space import (
    BACK,
    CURVATURE,
    INDEX,
    MARGIN,
    SLOPE,
    STEP,
    TOWARDS,
    TRIAL,
    Space,
)
from ossb.kernels import kernel

_STEPS = 80
_HALVINGS = 60
_CLOSE = 1e-12  # a Newton decrement below which one more full step is exact to rounding
_FLAT = 1e-15  # ridge, relative to the diagonal
_LONG = 4.0  # a change of index over which curvatures differ by an order of magnitude
_STRETCHES = 40
_ARRIVED = 1.0 - 1e-9


@kernel
def confusion(
    link: int, columns: np.ndarray, n: int, rates: np.ndarray, direction: np.ndarray, rank: int,
    space: Space,
) -> float:  # fmt: skip
    """Σ_y η_y d(u_y, ⟨δ, z_y⟩) over the columns."""
    total = 0.0
    for j in range(n):
        if rates[j] > 0.0:
            arm = columns[j]
            shift = product(direction, space.coordinates[arm], rank)
            total += rates[j] * divergence(link, space.by_arm[INDEX, arm], shift)
    return total


@kernel
def fill_newton(
    link: int, columns: np.ndarray, n: int, rates: np.ndarray, direction: np.ndarray, rank: int,
    space: Space,
) -> bool:  # fmt: skip
    """Slope of the confusion at δ and the Cholesky factor of its second derivative."""
    slope = space.vectors[SLOPE]
    square = space.squares[CURVATURE]
    for i in range(rank):
        slope[i] = 0.0
        for k in range(i + 1):
            square[i, k] = 0.0
    for j in range(n):
        if rates[j] > 0.0:
            arm = columns[j]
            at = space.coordinates[arm]
            index = space.by_arm[INDEX, arm]
            shift = product(direction, at, rank)
            pull = rates[j] * change(link, index, shift)
            weight = rates[j] * curvature(link, index, shift)
            for i in range(rank):
                slope[i] += pull * at[i]
                scaled = weight * at[i]
                for k in range(i + 1):
                    square[i, k] += scaled * at[k]
    for i in range(rank):
        square[i, i] *= 1.0 + _FLAT
    return cholesky(square, rank)


@kernel
def newton_direction(arm: int, rank: int, space: Space) -> float:
    """The step that keeps ⟨δ, z_x⟩; returns the multiplier τ of that condition."""
    towards = space.vectors[TOWARDS]
    back = space.vectors[BACK]
    for i in range(rank):
        towards[i] = space.coordinates[arm, i]
        back[i] = space.vectors[SLOPE, i]
    square = space.squares[CURVATURE]
    solve_lower(square, towards, rank)
    solve_lower(square, back, rank)
    length = product(towards, towards, rank)
    multiplier = product(towards, back, rank) / length if length > 0.0 else 0.0
    step = space.vectors[STEP]
    for i in range(rank):
        step[i] = multiplier * towards[i] - back[i]
    solve_upper(square, step, rank)
    return multiplier


@kernel
def reach(arm: int, direction: np.ndarray, rank: int, space: Space) -> float:
    """⟨δ, z_x⟩ / m_x: 1 where the alternative just catches up with the best arm."""
    return product(direction, space.coordinates[arm], rank) / space.by_arm[MARGIN, arm]


@kernel
def stretch(direction: np.ndarray, factor: float, rank: int) -> None:
    for i in range(rank):
        direction[i] *= factor


@kernel
def first_guess(
    link: int, columns: np.ndarray, n: int, rates: np.ndarray, arm: int, direction: np.ndarray,
    rank: int, space: Space,
) -> bool:  # fmt: skip
    """The most confusing change if the divergence were quadratic, cut where it is surely not."""
    for i in range(rank):
        direction[i] = 0.0
    if not fill_newton(link, columns, n, rates, direction, rank, space):
        return False
    for i in range(rank):
        direction[i] = space.coordinates[arm, i]
    solve_lower(space.squares[CURVATURE], direction, rank)
    solve_upper(space.squares[CURVATURE], direction, rank)
    along = reach(arm, direction, rank, space)
    if not abs(along) > 1e-280:
        return False
    longest = 0.0
    for j in range(n):
        if rates[j] > 0.0:
            shift = abs(product(direction, space.coordinates[columns[j]], rank) / along)
            longest = max(longest, shift)
    stretch(direction, min(1.0, _LONG / longest) / along if longest > 0.0 else 1.0 / along, rank)
    return True


@kernel
def search(
    link: int, columns: np.ndarray, n: int, rates: np.ndarray, value: float, decrement: float,
    direction: np.ndarray, rank: int, space: Space,
) -> float:  # fmt: skip
    """Move δ along the step as far as the confusion falls; returns its new value."""
    step = space.vectors[STEP]
    trial = space.vectors[TRIAL]
    length = 1.0
    for _ in range(_HALVINGS):
        for i in range(rank):
            trial[i] = direction[i] + length * step[i]
        found = confusion(link, columns, n, rates, trial, rank, space)
        if found <= value - 0.1 * length * decrement:
            for i in range(rank):
                direction[i] = trial[i]
            return found
        length *= 0.5
    return value


@kernel
def descend(
    link: int, columns: np.ndarray, n: int, rates: np.ndarray, arm: int, direction: np.ndarray,
    rank: int, space: Space,
) -> float:  # fmt: skip
    """Newton's method from δ with ⟨δ, z_x⟩ fixed; returns the least confusion, −1 if it fails."""
    value = confusion(link, columns, n, rates, direction, rank, space)
    if rank == 1 or not value < math.inf:
        return value
    for _ in range(_STEPS):
        if not fill_newton(link, columns, n, rates, direction, rank, space):
            return -1.0
        newton_direction(arm, rank, space)
        decrement = -product(space.vectors[SLOPE], space.vectors[STEP], rank)
        if decrement <= _CLOSE * value:
            for i in range(rank):
                direction[i] += space.vectors[STEP, i]
            return confusion(link, columns, n, rates, direction, rank, space)
        found = search(link, columns, n, rates, value, decrement, direction, rank, space)
        if not found < value:
            return value
        value = found
    return value


@kernel
def most_confusing(
    link: int, columns: np.ndarray, n: int, rates: np.ndarray, arm: int, enough: float,
    direction: np.ndarray, rank: int, space: Space,
) -> float:  # fmt: skip
    """Improve δ to the minimiser for alternative ``arm``; returns F_x(η), or −1 if it fails.

    The confusion grows with the margin, so a δ that stops short of it bounds F_x from below;
    one of confusion ``enough`` is left there.  Far alternatives are reached step by step.
    """
    along = reach(arm, direction, rank, space)
    if not 0.0 < along < math.inf:
        if not first_guess(link, columns, n, rates, arm, direction, rank, space):
            return -1.0
        along = reach(arm, direction, rank, space)
    elif along > 1.0 or enough == math.inf:
        stretch(direction, 1.0 / along, rank)
        if not confusion(link, columns, n, rates, direction, rank, space) < math.inf:
            if not first_guess(link, columns, n, rates, arm, direction, rank, space):
                return -1.0
        along = reach(arm, direction, rank, space)
    value = confusion(link, columns, n, rates, direction, rank, space)
    while value > 4.0 * enough:  # far beyond what is asked, where curvatures may have vanished
        stretch(direction, 0.5, rank)
        value = confusion(link, columns, n, rates, direction, rank, space)
        along *= 0.5
    for _ in range(_STRETCHES):
        value = descend(link, columns, n, rates, arm, direction, rank, space)
        if not 0.0 < value < math.inf:
            return -1.0
        if value >= enough or along > _ARRIVED:
            break
        along = reach(arm, direction, rank, space)
        stretch(direction, min(2.0, 1.0 / along), rank)
        along = reach(arm, direction, rank, space)
    if along > _ARRIVED:
        stretch(direction, 1.0 / reach(arm, direction, rank, space), rank)
    return value


@kernel
def proved_information(
    link: int, columns: np.ndarray, n: int, rates: np.ndarray, arm: int, direction: np.ndarray,
    rank: int, space: Space, pulls: np.ndarray,
) -> float:  # fmt: skip
    """A lower bound of F_x(η) from δ, by duality; fills ``pulls`` with p; −1 if there is none."""
    if not fill_newton(link, columns, n, rates, direction, rank, space):
        return -1.0
    multiplier = newton_direction(arm, rank, space)
    within = 1.0
    for j in range(n):
        pulls[j] = 0.0
        if rates[j] > 0.0:
            other = columns[j]
            at = space.coordinates[other]
            index = space.by_arm[INDEX, other]
            shift = product(direction, at, rank)
            # the step is −H⁻¹ of the residual: moving p along it meets the condition exactly
            pull = change(link, index, shift) + curvature(link, index, shift) * product(
                space.vectors[STEP], at, rank
            )
            pulls[j] = rates[j] * pull
            within = min(within, admissible(link, index, pull))
    total = within * multiplier * space.by_arm[MARGIN, arm]
    for j in range(n):
        if rates[j] > 0.0:
            pulls[j] *= within
            index = space.by_arm[INDEX, columns[j]]
            total -= rates[j] * conjugate(link, index, pulls[j] / rates[j])
    return total if total > 0.0 else -1.0
