"""Independent arms of which each play costs something: alternatives pair an arm with the best one.

Arm j overtakes the best arm b most cheaply where both have the mean
m = (η_b θ_b + η_j θ_j)/(η_b + η_j), so that its constraint reads, with w = η_b and x = η_j / w,

    w g_j(x) ≥ 1,   g_j(x) = d(θ_b, m) + x d(θ_j, m).

All are tight, x_j(w) = g_j⁻¹(1/w), and at the best w the weights y_j = κ_j / d(θ_j, m_j) pay for
the plays of b: Σ_j y_j d(θ_b, m_j) = κ_b.  Garivier and Kaufmann (2016), Theorem 5, for κ = 1.
With F(w) the left side, F^(−1/2) is nearly linear in w, and for Gaussian arms a mean of linear
functions; so Newton's method takes a handful of steps.
"""

import math

import numpy as np

from ossb.families import Family
from ossb.kernels import kernel

STEPS = 60
CLOSE = 1e-12  # share to which the leader's price is met, where not said otherwise
WITHIN = 0.01  # of that, to which each arm's equation is
LEAST = 1e-15  # nearer than this doubles do not come


@kernel
def between(top: float, mean: float, ratio: float) -> float:
    """The mean of both arms where the worse one is played ``ratio`` times as often."""
    if ratio < 1.0:
        return top - (top - mean) * (ratio / (1.0 + ratio))
    return mean + (top - mean) / (1.0 + ratio)


@kernel
def ratio_telling(
    family: Family, top: float, mean: float, told: float, start: float, within: float
) -> float:
    """The x at which d(top, m) + x d(mean, m) = told < d(top, mean).

    1/(d(top, mean) − g(x)) is linear in x for Gaussian arms, and not far from it for others:
    Newton's method takes it, inside a bracket.
    """
    most = family.kl(top, mean)
    low, high = 0.0, math.inf
    x = start
    if not 0.0 < x < math.inf:
        x = told / (most - told) if most < math.inf else 1.0
    for _ in range(STEPS):
        m = between(top, mean, x)
        own = family.kl(mean, m)
        lacks = told - (family.kl(top, m) + x * own)
        if abs(lacks) <= within * told:
            return x
        if lacks > 0.0:
            low = x
        else:
            high = x
        step = lacks / own if own > 0.0 else math.inf
        if most < math.inf:
            step *= (most - told + lacks) / (most - told)
        moved = x + step
        if not low < moved < high:
            moved = 0.5 * (low + high) if high < math.inf else 4.0 * x
        if moved == x or not low < moved < high:
            return x
        x = moved
    return x


@kernel
def overtaking(
    family: Family,
    means: np.ndarray,
    prices: np.ndarray,
    leader: int,
    plays: float,
    ratios: np.ndarray,
    within: float,
) -> tuple[float, float]:
    """F(w), and its derivative, at w plays of the leader; fills the ratios x_j(w)."""
    top, told = means[leader], 1.0 / plays
    paid, slope = 0.0, 0.0
    for j in range(means.shape[0]):
        if j == leader:
            continue
        mean = means[j]
        x = ratio_telling(family, top, mean, told, ratios[j], within)
        ratios[j] = x
        m = between(top, mean, x)
        own = family.kl(mean, m)
        paid += prices[j] * (family.kl(top, m) / own)
        # of d(top, m)/d(mean, m) in x, where m is at its best; and of x in w
        bend = family.slope(mean, m) * ((m - mean) / (1.0 + x)) * (told / (own * own))
        slope -= prices[j] * bend / own * (told * told)
    return paid, slope


@kernel
def first_plays(family: Family, means: np.ndarray, prices: np.ndarray, leader: int) -> float:
    """About as many plays of the leader as are needed, and right for two Gaussian arms."""
    top, most = means[leader], 0.0
    for j in range(means.shape[0]):
        if j != leader:
            middle = family.kl(top, between(top, means[j], 1.0))
            told = min(family.kl(top, means[j]), 4.0 * middle)
            most = max(most, (1.0 + math.sqrt(prices[j] / prices[leader])) / told)
    return most


@kernel
def pair_rates(
    family: Family,
    means: np.ndarray,
    prices: np.ndarray,
    leader: int,
    rates: np.ndarray,
    close: float = CLOSE,
) -> float:
    """Rates η of least cost Σ prices η under which no arm could be better than the leader.

    All prices are positive, and the leader's mean is the largest, strictly.  Returns the share by
    which F misses the leader's price: the two sides of the bound differ by about as much.
    """
    price, top = prices[leader], means[leader]
    ends = 0.0  # plays of the leader are more than this
    for j in range(means.shape[0]):
        rates[j] = 0.0
        if j != leader:
            ends = max(ends, 1.0 / family.kl(top, means[j]))
    plays = first_plays(family, means, prices, leader)
    if not plays > ends:
        plays = 2.0 * ends
    missed, within = math.inf, max(WITHIN * close, LEAST)
    low, high = ends, math.inf
    for _ in range(STEPS):
        paid, slope = overtaking(family, means, prices, leader, plays, rates, within)
        missed = abs(paid - price) / price
        if missed <= close:
            break
        if paid > price:
            low = plays
        else:
            high = plays
        # Newton's step for F^(−1/2) = price^(−1/2)
        moved = plays - 2.0 * (paid / slope) * (math.sqrt(paid / price) - 1.0)
        if not low < moved < high:
            moved = 0.5 * (low + high) if high < math.inf else 4.0 * plays
        if moved == plays or not low < moved < high:
            break
        plays = moved
    for j in range(means.shape[0]):
        rates[j] *= plays
    rates[leader] = plays
    return missed
