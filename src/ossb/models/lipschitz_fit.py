"""Maximum likelihood among Lipschitz means.

min Σ N_x d(m_x, θ_x) subject to |θ_x − θ_z| ≤ ℓ(x, z), by iteratively reweighted least squares:
the slope of the divergence in θ_x is (θ_x − m_x) / v(θ_x), and a least-squares problem with that
slope at the last θ, and any curvature, has the solution as its fixed point.  On a line each such
problem is solved exactly by dynamic programming over the derivative of the cost so far, a
piecewise linear function; in other metrics by coordinate ascent on the multipliers of the pairs
(Hildreth, 1957).
"""

import math
from typing import NamedTuple

import numpy as np

from ossb.families import Family
from ossb.kernels import kernel

REWEIGHTINGS = 30
SETTLED_STEP = 1e-7  # relative to the spread of the means
SWEEPS = 60
CLOSE = 1e-9  # relative error of a level: that of what a play tells is as large
LEAST_WEIGHT = 1e-6  # of an arm never seen, so that it follows the others
# rows of Fit.by_knot
PLACE, SLOPE, NEW_PLACE, NEW_SLOPE = 0, 1, 2, 3
# rows of Fit.by_arm
MEAN, WEIGHT, OUT, PEAK = 0, 1, 2, 3


class Fit(NamedTuple):
    """Work arrays, and the multipliers that the next fit starts from."""

    by_arm: np.ndarray  # float64 (4, n)
    by_knot: np.ndarray  # float64 (4, 2n + 2)
    multipliers: np.ndarray  # float64 (n, n) of θ_x − θ_z ≤ ℓ(x, z); (1, 1) on a line


def new_fit(n_arms: int, line: bool) -> Fit:
    pairs = 1 if line else n_arms
    return Fit(np.zeros((4, n_arms)), np.zeros((4, 2 * n_arms + 2)), np.zeros((pairs, pairs)))


@kernel
def zero_of(
    knots: int, place: np.ndarray, slope: np.ndarray, steepness: float
) -> tuple[int, float]:
    """How many knots of a derivative lie below its zero, and the zero.

    A kernel of its own, as it is interpreted for each arm: one that is called looks at the clock.
    """
    cut = 0
    while cut < knots and slope[cut] < 0.0:
        cut += 1
    if cut == 0:
        return cut, place[0] - slope[0] / steepness
    if cut == knots:
        return cut, place[knots - 1] - slope[knots - 1] / steepness
    rise = slope[cut] - slope[cut - 1]
    return cut, place[cut - 1] - slope[cut - 1] * (place[cut] - place[cut - 1]) / rise


@kernel
def fit_line(spacing: np.ndarray, fit: Fit) -> None:
    """Least squares with |θ_k − θ_{k+1}| ≤ spacing_k, arms in their order on the line.

    The derivative of the cost of arms 0 … k as a function of θ_k is increasing and piecewise
    linear; minimising over θ_k within reach of θ_{k+1} cuts it at its zero and moves the halves
    apart by the spacing.
    """
    means, weights, out = fit.by_arm[MEAN], fit.by_arm[WEIGHT], fit.by_arm[OUT]
    peak = fit.by_arm[PEAK]
    place, slope = fit.by_knot[PLACE], fit.by_knot[SLOPE]
    new_place, new_slope = fit.by_knot[NEW_PLACE], fit.by_knot[NEW_SLOPE]
    n = means.shape[0]
    knots = 1
    place[0] = means[0]
    slope[0] = 0.0
    steepness = weights[0]  # outside the knots
    for k in range(n):
        cut, zero = zero_of(knots, place, slope, steepness)
        peak[k] = zero
        if k == n - 1:
            break
        reach = spacing[k]
        count = 0
        for i in range(cut):
            if place[i] < zero:
                new_place[count] = place[i] - reach
                new_slope[count] = slope[i]
                count += 1
        for side in range(2):
            new_place[count] = zero - reach if side == 0 else zero + reach
            new_slope[count] = 0.0
            count += 1
        for i in range(cut, knots):
            if place[i] > zero:
                new_place[count] = place[i] + reach
                new_slope[count] = slope[i]
                count += 1
        knots = count
        for i in range(knots):
            place[i] = new_place[i]
            slope[i] = new_slope[i] + weights[k + 1] * (place[i] - means[k + 1])
        steepness += weights[k + 1]
    out[n - 1] = peak[n - 1]
    for k in range(n - 2, -1, -1):
        reach = spacing[k]
        out[k] = min(max(peak[k], out[k + 1] - reach), out[k + 1] + reach)


@kernel
def pull_at(
    x: int, distances: np.ndarray, weights: np.ndarray, out: np.ndarray, pull: np.ndarray
) -> float:
    """Settle the multipliers of one arm's pairs; the largest move of a difference."""
    largest = 0.0
    for z in range(out.shape[0]):
        excess = out[x] - out[z] - distances[x, z]
        if z != x and (excess > 0.0 or pull[x, z] > 0.0):
            give = 1.0 / weights[x] + 1.0 / weights[z]
            step = max(excess / give, -pull[x, z])
            pull[x, z] += step
            out[x] -= step / weights[x]
            out[z] += step / weights[z]
            largest = max(largest, abs(step) * give)
    return largest


@kernel
def fit_pairs(distances: np.ndarray, fit: Fit, tolerance: float) -> None:
    """Least squares with |θ_x − θ_z| ≤ ℓ(x, z) for all pairs, from the last multipliers."""
    means, weights, out = fit.by_arm[MEAN], fit.by_arm[WEIGHT], fit.by_arm[OUT]
    pull = fit.multipliers
    n = means.shape[0]
    for x in range(n):
        moved = 0.0
        for z in range(n):
            moved += pull[x, z] - pull[z, x]
        out[x] = means[x] - moved / weights[x]
    for _ in range(SWEEPS):
        largest = 0.0
        for x in range(n):
            largest = max(largest, pull_at(x, distances, weights, out, pull))
        if largest <= tolerance:
            break
    # what is left of a violation is taken off the higher arm: the largest minorant that fits
    for x in range(n):
        fit.by_arm[PEAK, x] = out[x]
    for x in range(n):
        for z in range(n):
            out[x] = min(out[x], fit.by_arm[PEAK, z] + distances[x, z])


@kernel
def fits_already(
    distances: np.ndarray, order: np.ndarray, spacing: np.ndarray, theta: np.ndarray
) -> bool:
    """Whether means are Lipschitz as they stand."""
    if spacing.shape[0] == theta.shape[0] - 1:
        for k in range(spacing.shape[0]):
            if abs(theta[order[k]] - theta[order[k + 1]]) > spacing[k]:
                return False
        return True
    for x in range(theta.shape[0]):
        for z in range(x):
            if abs(theta[x] - theta[z]) > distances[x, z]:
                return False
    return True


@kernel
def bent(family: Family, mean: float, away: float, variance: float) -> float:
    """The second derivative of d(mean − away, ·) at a mean, times the variance; from 1 to 3.

    The variance is at most quadratic in the mean, so its central difference is its slope.  At
    least 1, no step goes beyond the mean observed, even where the divergence is not convex.
    """
    beside = math.sqrt(variance)  # whatever the unit
    rise = family.variance(mean + beside) - family.variance(mean - beside)
    return min(max(1.0 - 0.5 * away / beside * rise / variance, 1.0), 3.0)


@kernel
def fit_lipschitz(
    family: Family,
    unit: float,
    distances: np.ndarray,
    order: np.ndarray,
    spacing: np.ndarray,
    means: np.ndarray,
    weights: np.ndarray,
    theta: np.ndarray,
    fit: Fit,
) -> None:
    """The maximum-likelihood Lipschitz means, to ``theta``, starting from what that holds.

    Parameters
    ----------
    unit
        1 for families of counts, whose variance vanishes at an end of the mean space: there
        it is floored at a tenth of what the observations leave possible, lest θ stay at the end.
    order, spacing
        The arms along a line and the distances between neighbours; ``spacing`` empty for
        other metrics.
    means, weights
        m and N, by arm.
    """
    n = means.shape[0]
    low, high = means[0], means[0]
    for x in range(n):
        low, high = min(low, means[x]), max(high, means[x])
    if fits_already(distances, order, spacing, means):
        for x in range(n):
            theta[x] = means[x]
        return
    for x in range(n):  # what is held may be of other data, or of none
        theta[x] = min(max(theta[x], low), high)
    tolerance = SETTLED_STEP * max(high - low, 1e-300)
    on_line = spacing.shape[0] == n - 1
    for _ in range(REWEIGHTINGS):
        for k in range(n):
            x = order[k]
            floor = 0.1 * unit / (weights[x] + 2.0)
            variance = max(family.positive_variance(theta[x]), floor)
            away = theta[x] - means[x]
            bend = bent(family, theta[x], away, variance)
            fit.by_arm[MEAN, k] = theta[x] - away / bend
            fit.by_arm[WEIGHT, k] = max(weights[x], LEAST_WEIGHT) / variance * bend
        if on_line:
            fit_line(spacing, fit)
        else:
            fit_pairs(distances, fit, 0.1 * tolerance)
        moved = 0.0
        for k in range(n):
            x = order[k]
            moved = max(moved, abs(theta[x] - fit.by_arm[OUT, k]))
            theta[x] = fit.by_arm[OUT, k]
        if moved <= tolerance:
            break


@kernel
def profile(
    family: Family,
    distances: np.ndarray,
    theta: np.ndarray,
    weights: np.ndarray,
    j: int,
    leader: int,
    guess: float,
) -> float:
    """The level at which arm j is cheapest to make best, around Lipschitz means θ.

    argmin over v of Σ N_z d(θ_z, clip(θ_z, v − ℓ(j, z), v)), convex in v on [θ_j, θ_leader]; by
    Fisher scoring kept in a bracket, from a guess.
    """
    low, high = theta[j], theta[leader]
    tolerance = CLOSE * (high - low)
    v = guess if low < guess < high else 0.5 * (low + high)
    for _ in range(60):
        rise, curvature = 0.0, 0.0
        for z in range(theta.shape[0]):
            target = min(max(theta[z], v - distances[j, z]), v)
            if target != theta[z] and weights[z] > 0.0:
                variance = family.positive_variance(target)
                rise += weights[z] * (target - theta[z]) / variance
                curvature += weights[z] / variance
        if rise > 0.0:
            high = v
        else:
            low = v
        if high - low <= tolerance or curvature <= 0.0:
            break
        step = rise / curvature
        if abs(step) <= tolerance:  # before the bracket is looked at, of which v is now one end
            return min(max(v - step, low), high)
        if not low < v - step < high:
            step = v - 0.5 * (low + high)
        v -= step
    return v


@kernel
def between(
    family: Family,
    distances: np.ndarray,
    theta: np.ndarray,
    weights: np.ndarray,
    j: int,
    leader: int,
    v: float,
) -> tuple[float, float]:
    """What raising arm j costs: no less than the first number at any level, the second at v.

    The first by a tangent, for divergences that are convex in their second argument.
    """
    cost, rise = 0.0, 0.0
    for z in range(theta.shape[0]):
        target = min(max(theta[z], v - distances[j, z]), v)
        if target != theta[z] and weights[z] > 0.0:
            cost += weights[z] * family.kl(theta[z], target)
            variance = family.positive_variance(target)
            rise += weights[z] * (target - theta[z]) / variance
    return cost + min(rise * (theta[j] - v), rise * (theta[leader] - v)), cost


@kernel
def stretch(
    family: Family,
    distances: np.ndarray,
    theta: np.ndarray,
    weights: np.ndarray,
    j: int,
    v: float,
    out: np.ndarray,
) -> float:
    """Divergences d_j(z) of the means that raise arm j to v; returns Σ N_z d_j(z)."""
    total = 0.0
    for z in range(theta.shape[0]):
        target = min(max(theta[z], v - distances[j, z]), v)
        out[z] = 0.0
        if target != theta[z]:
            out[z] = family.kl(theta[z], target)
            if weights[z] > 0.0:
                total += weights[z] * out[z]
    return total
