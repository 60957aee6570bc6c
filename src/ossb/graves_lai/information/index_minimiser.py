"""The most confusing direction for one alternative of ``Indices``, by Newton's method."""

import math
from typing import TYPE_CHECKING

import numpy as np

from ossb.graves_lai.information.links import change_from, curvature, divergence_from
from ossb.kernels import kernel
from ossb.numerics.dense import cholesky, inner, solve_lower, solve_upper

if TYPE_CHECKING:
    from ossb.graves_lai.information.indices import Indices

RANK, ACTIVE, PROVED = range(3)  # of ``Indices.sizes``
STEPS = 80
HALVINGS = 60
CLOSE = 1e-12  # a Newton decrement below which one more full step is exact to rounding
FLAT = 1e-15  # ridge, relative to the diagonal
LONG = 4.0  # a change of index over which curvatures differ by an order of magnitude
STRETCHES = 60
ARRIVED = 1.0 - 1e-9  # share of the margin that counts as all of it
NOWHERE = 1e-280  # a share of the margin that cannot be stretched to all of it
FAR = 4.0  # times what is enough: beyond it curvatures may have vanished


@kernel
def confusion(info: "Indices", row: int, length: float) -> float:
    """Σ η d(u, ⟨δ, x⟩) over what is played, a share ``length`` of the step beyond δ."""
    rank, total = info.sizes[RANK], 0.0
    for e in range(info.sizes[ACTIVE]):
        x = info.active[e]
        shift = 0.0
        for i in range(rank):
            shift += (info.deltas[row, i] + length * info.step[i]) * info.points[x, i]
        total += info.played[e] * divergence_from(
            info.law, info.index_of[x], info.here[x], info.off[x], shift
        )
    return total


@kernel
def fill_newton(info: "Indices", row: int) -> tuple[bool, float]:
    """The step from δ that keeps ⟨δ, y⟩, with slope and factored curvature.

    Returns False if that is singular, and the multiplier τ of the condition.
    """
    rank = info.sizes[RANK]
    for i in range(rank):
        info.pull[i] = 0.0
        info.towards[i] = info.apart[row, i]
        for k in range(i, rank):
            info.factor[i, k] = 0.0
    for e in range(info.sizes[ACTIVE]):
        x = info.active[e]
        shift = inner(info.deltas[row], info.points[x], rank)
        pull = info.played[e] * change_from(
            info.law, info.index_of[x], info.here[x], info.off[x], shift
        )
        weight = info.played[e] * curvature(info.law, info.index_of[x], shift)
        for i in range(rank):
            at = info.points[x, i]
            info.pull[i] += pull * at
            for k in range(i, rank):
                info.factor[i, k] += weight * at * info.points[x, k]
    for i in range(rank):
        info.factor[i, i] *= 1.0 + FLAT
        info.step[i] = info.pull[i]
    if not cholesky(info.factor, rank):
        return False, 0.0
    solve_lower(info.factor, rank, info.towards)
    solve_lower(info.factor, rank, info.step)
    length = inner(info.towards, info.towards, rank)
    multiplier = 0.0
    if length > 0.0:
        multiplier = inner(info.towards, info.step, rank) / length
    for i in range(rank):
        info.step[i] = multiplier * info.towards[i] - info.step[i]
    solve_upper(info.factor, rank, info.step)
    return True, multiplier


@kernel
def reach(info: "Indices", row: int) -> float:
    """⟨δ, y⟩ / margin: 1 where the alternative just catches up with the best arm."""
    return inner(info.deltas[row], info.apart[row], info.sizes[RANK]) / info.margins[row]


@kernel
def stretch(info: "Indices", row: int, factor: float) -> None:
    """Multiply δ, and take no step."""
    for i in range(info.sizes[RANK]):
        info.deltas[row, i] *= factor
        info.step[i] = 0.0


@kernel
def first_guess(info: "Indices", row: int) -> bool:
    """The most confusing change if the divergence were quadratic, cut where it is surely not."""
    rank, delta = info.sizes[RANK], info.deltas[row]
    for i in range(rank):
        delta[i] = 0.0
    regular, _ = fill_newton(info, row)
    if not regular:
        return False
    for i in range(rank):
        delta[i] = info.towards[i]
    solve_upper(info.factor, rank, delta)
    along = reach(info, row)
    if not abs(along) > NOWHERE:
        return False
    longest = 0.0
    for e in range(info.sizes[ACTIVE]):
        shift = inner(delta, info.points[info.active[e]], rank)
        longest = max(longest, abs(shift / along))
    stretch(info, row, (min(1.0, LONG / longest) if longest > 0.0 else 1.0) / along)
    return True


@kernel
def descend(info: "Indices", row: int, value: float) -> float:
    """Newton's method from δ, of confusion ``value``; that of the minimiser, −1 if it fails."""
    rank = info.sizes[RANK]
    for _ in range(STEPS if rank > 1 else 0):
        regular, _multiplier = fill_newton(info, row)
        if not regular:
            return -1.0
        decrement = -inner(info.pull, info.step, rank)
        last = decrement <= CLOSE * value
        length = 1.0
        found = confusion(info, row, length)
        halvings = 0
        while not last and not found <= value - 0.1 * length * decrement:
            if halvings == HALVINGS:
                break
            length *= 0.5
            halvings += 1
            found = confusion(info, row, length)
        if not last and not found < value:
            break
        for i in range(rank):
            info.deltas[row, i] += length * info.step[i]
        value = found
        if last:
            break
    return value


@kernel
def minimise(info: "Indices", row: int, enough: float) -> float:
    """Improve δ to the minimiser for an alternative; F, or −1 if it fails.

    The confusion grows with the margin, so a δ that stops short of it bounds F from below; one of
    confusion ``enough`` is left there.  Far alternatives are reached step by step.
    """
    stretch(info, row, 1.0)
    along = reach(info, row)
    fresh = not 0.0 < along < math.inf
    if not fresh and (along > 1.0 or enough == math.inf):
        stretch(info, row, 1.0 / along)
        along = 1.0
        fresh = not confusion(info, row, 0.0) < math.inf
    if fresh:
        if not first_guess(info, row):
            return -1.0
        along = reach(info, row)
    value = confusion(info, row, 0.0)
    while value > FAR * enough:
        stretch(info, row, 0.5)
        along *= 0.5
        value = confusion(info, row, 0.0)
    for _ in range(STRETCHES):
        if not 0.0 < value < math.inf:
            return -1.0
        value = descend(info, row, value)
        if value < 0.0:
            return -1.0
        along = reach(info, row)
        if value >= enough or along > ARRIVED:
            break
        stretch(info, row, min(2.0, 1.0 / along))
        value = confusion(info, row, 0.0)
    if along > ARRIVED:
        stretch(info, row, 1.0 / along)
    return value


@kernel
def fill_bends(
    info: "Indices", row: int, columns: np.ndarray, count: int, scale: np.ndarray
) -> bool:
    """Rows f of ``pushes`` with Σ f fᵀ = −∇²F at the minimiser; False if there are none.

    By implicit differentiation of the minimiser: what the constraint leaves of each column's slope.
    """
    rank = info.sizes[RANK]
    regular, _ = fill_newton(info, row)
    if not regular:
        return False
    length = inner(info.towards, info.towards, rank)
    for e in range(count):
        x = columns[e]
        shift = inner(info.deltas[row], info.points[x], rank)
        pull = scale[e] * change_from(info.law, info.index_of[x], info.here[x], info.off[x], shift)
        for i in range(rank):
            info.step[i] = pull * info.points[x, i]
        solve_lower(info.factor, rank, info.step)
        along = inner(info.step, info.towards, rank) / length if length > 0.0 else 0.0
        for i in range(rank):
            info.pushes[i, e] = info.step[i] - along * info.towards[i]
    return True
