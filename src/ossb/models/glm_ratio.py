"""The likelihood ratio of two arms of a generalised linear model, exactly.

Against arm j the ratio is the least Σ n_x d(û_x, h_x) over changes δ of the parameter, h = ⟨δ, x⟩,
under which j is as good as the leader; with all that the leader shows taken as known, ⟨δ, x_b⟩ = 0
as well.  Newton's method under one or two equations, from the minimiser of the quadratic part.
"""

import math
from typing import NamedTuple

import numpy as np

from ossb.graves_lai.information.links import change, curvature, divergence
from ossb.kernels import kernel
from ossb.numerics.dense import cholesky
from ossb.tally import Tally

STEPS = 40
LONGEST_STEP = 1.0  # in the index of any arm seen: b‴ ≤ b″, so that no step overshoots
SETTLED_STEP = 1e-6
SURE = 10.0  # an approximation so many times the level is not checked
UNSEEN = 1e-12  # ridge relative to the mean eigenvalue: what no arm shows costs nothing


class Scratch(NamedTuple):
    """Work arrays; nothing in them outlives a call."""

    shifts: np.ndarray  # float64 (n_arms,): h
    delta: np.ndarray  # float64 (d,): δ
    fall: np.ndarray  # float64 (d,): the gradient at δ, then a step
    across: np.ndarray  # float64 (d,): x_j − x_b, as ``lifted`` solved for in the second derivative
    lifted: np.ndarray
    leading: np.ndarray  # float64 (d,): x_b, and the same solved for
    lifted_leading: np.ndarray
    factor: np.ndarray  # float64 (d, d)
    walds: np.ndarray  # float64 (2, n_arms): the quadratic approximations of the two ratios

    @property
    def scratch(self) -> bool:
        """A memory that is saved leaves these out."""
        return True


def new_scratch(dimension: int, n_arms: int) -> Scratch:
    delta, fall, across, lifted, leading, lifted_leading = np.zeros((6, dimension))
    factor, walds = np.zeros((dimension, dimension)), np.zeros((2, n_arms))
    shifts = np.zeros(n_arms)
    return Scratch(shifts, delta, fall, across, lifted, leading, lifted_leading, factor, walds)


@kernel
def solve_factored(factor: np.ndarray, vector: np.ndarray) -> None:
    """vector ← (RᵀR)⁻¹ vector, R upper triangular."""
    n = vector.shape[0]
    for i in range(n):
        for k in range(i):
            vector[i] -= factor[k, i] * vector[k]
        vector[i] /= factor[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            vector[i] -= factor[i, k] * vector[k]
        vector[i] /= factor[i, i]


@kernel
def dot(first: np.ndarray, second: np.ndarray) -> float:
    total = 0.0
    for i in range(first.shape[0]):
        total += first[i] * second[i]
    return total


@kernel
def look_around(
    link: int, features: np.ndarray, indices: np.ndarray, tally: Tally, space: Scratch
) -> bool:
    """The factor of the second derivative at δ, and the gradient added to ``fall``.

    False where it is singular.
    """
    d, factor = features.shape[0], space.factor
    delta, fall = space.delta, space.fall
    for i in range(d):
        for k in range(d):
            factor[i, k] = 0.0
    for x in range(features.shape[1]):
        space.shifts[x] = 0.0
        if tally.counts[x] == 0:
            continue
        shift = 0.0
        for i in range(d):
            shift += delta[i] * features[i, x]
        space.shifts[x] = shift
        pull = tally.counts[x] * change(link, indices[x], shift)
        bend = tally.counts[x] * curvature(link, indices[x], shift)
        for i in range(d):
            fall[i] += pull * features[i, x]
            for k in range(i, d):
                factor[i, k] += bend * features[i, x] * features[k, x]
    trace = 0.0
    for i in range(d):
        trace += factor[i, i]
    for i in range(d):
        factor[i, i] += UNSEEN * trace / d
    return trace > 0.0 and cholesky(factor, d)


@kernel
def exact_ratio(
    link: int,
    features: np.ndarray,
    indices: np.ndarray,
    leader: int,
    arm: int,
    known: bool,
    tally: Tally,
    space: Scratch,
) -> float:
    """The ratio against an arm; ``known``: with the leader's index as estimated."""
    d, factor = features.shape[0], space.factor
    delta, fall, across, lifted = space.delta, space.fall, space.across, space.lifted
    leading, lifted_leading = space.leading, space.lifted_leading
    for i in range(d):
        delta[i] = 0.0
        across[i] = features[i, arm] - features[i, leader]
        leading[i] = features[i, leader]
    needed = indices[leader] - indices[arm]
    for _ in range(STEPS):
        for i in range(d):
            fall[i] = 0.0
        if not look_around(link, features, indices, tally, space):
            return 0.0
        for i in range(d):
            lifted[i] = across[i]
            lifted_leading[i] = leading[i]
        solve_factored(factor, fall)
        solve_factored(factor, lifted)
        missing = needed - dot(across, delta) + dot(across, fall)
        first, second, length = 0.0, 0.0, dot(across, lifted)
        if not length > 0.0:
            return math.inf
        own = 0.0
        if known:
            solve_factored(factor, lifted_leading)
            own = dot(leading, lifted_leading)
        if own > 0.0:
            mixed = dot(leading, lifted)
            astray = dot(leading, fall) - dot(leading, delta)
            free = length * own - mixed * mixed
            if not free > 0.0:
                return math.inf
            first = (missing * own - astray * mixed) / free
            second = (astray * length - missing * mixed) / free
        else:
            first = missing / length
        for i in range(d):
            fall[i] = first * lifted[i] + second * lifted_leading[i] - fall[i]
        if take_step(features, tally, space) <= SETTLED_STEP:
            break
    return loss_at(link, features, indices, tally, delta)


@kernel
def take_step(features: np.ndarray, tally: Tally, space: Scratch) -> float:
    """Add ``fall``, or a part if it is too long, to δ; returns its longest change of an index."""
    longest = 0.0
    for x in range(features.shape[1]):
        if tally.counts[x] > 0:
            shift = 0.0
            for i in range(space.fall.shape[0]):
                shift += space.fall[i] * features[i, x]
            longest = max(longest, abs(shift))
    share = LONGEST_STEP / longest if longest > LONGEST_STEP else 1.0
    for i in range(space.fall.shape[0]):
        space.delta[i] += share * space.fall[i]
    return longest


@kernel
def loss_at(
    link: int, features: np.ndarray, indices: np.ndarray, tally: Tally, delta: np.ndarray
) -> float:
    """Σ n_x d(û_x, h_x) at a change δ of the parameter."""
    total = 0.0
    for x in range(features.shape[1]):
        if tally.counts[x] > 0:
            shift = 0.0
            for i in range(delta.shape[0]):
                shift += delta[i] * features[i, x]
            total += tally.counts[x] * divergence(link, indices[x], shift)
    return total


@kernel
def least_ratio(
    link: int,
    features: np.ndarray,
    indices: np.ndarray,
    leader: int,
    known: bool,
    level: float,
    tally: Tally,
    space: Scratch,
) -> float:
    """The least ratio against any arm, or one below the level where there is one.

    The arm of the least approximation comes first, and those whose approximation is beyond
    SURE times the level, or the least ratio so far, are taken to pass it: the approximation is
    then no longer quadratic, but not that many times the ratio.
    """
    walds = space.walds[1 if known else 0]
    first = -1
    for x in range(walds.shape[0]):
        if walds[x] < math.inf and (first < 0 or walds[x] < walds[first]):
            first = x
    if first < 0:
        return math.inf
    least = exact_ratio(link, features, indices, leader, first, known, tally, space)
    for x in range(walds.shape[0]):
        if least < level < math.inf:
            return least
        if x != first and walds[x] < SURE * min(level, least):
            found = exact_ratio(link, features, indices, leader, x, known, tally, space)
            least = min(least, found)
    return least
