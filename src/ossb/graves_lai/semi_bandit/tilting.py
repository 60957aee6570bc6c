"""Items of a one-parameter family that is not Gaussian: one dual bisection per alternative.

Alternative x: minimise Σ w_i d(φ_i, λ_i) over Σ (λ_i − φ_i) ≥ need.  For a multiplier τ each λ_i
maximises τ λ_i − w_i d(φ_i, λ_i), in closed form, and the dual value
Σ w_i d(φ_i, λ_i) + τ (need − Σ (λ_i − φ_i)) is a lower bound of F_x for every τ, exact at the τ
where the items gain what is needed.  An alternative whose items cannot gain that much even at
the largest mean is none.  An item at that mean already cannot move: it is left out, and its
observations tell nothing.

In the weights, −∇² log F = (diag(a) − b bᵀ/S)/F + G Gᵀ with d′ = τ/w, a = d′²/(w d″),
b = d′/(w d″), S = Σ 1/(w d″) and G = d/F.
"""

import math
from typing import Protocol

import numpy as np

from ossb.graves_lai.semi_bandit.dense import add_gram
from ossb.graves_lai.semi_bandit.gaussian_items import NO_CONSTRAINT
from ossb.kernels import kernel

MAX_STEPS = 200
ENOUGH = 1e-6  # of what is needed, where a step of Newton's method changes nothing any more
EDGE = 1e-12  # distance kept from the ends of the mean space, where log F has a kink


class Tilted(Protocol):
    """What a family of items must offer here."""

    def tilted(self, mean: float, weight: float, tau: float) -> float: ...

    def divergence(self, mean: float, other: float) -> float: ...

    def bend(self, mean: float, other: float) -> float:
        """Second derivative of the divergence in its second mean."""
        ...

    def room(self, mean: float) -> float:
        """How far the mean can rise; 0 at the end of the mean space."""
        ...

    def spread(self, mean: float) -> float:
        """Variance of the item."""
        ...

    def steepest(self, weight: float) -> float:
        """The multiplier that an item of this weight cannot bear, or infinity."""
        ...


@kernel
def bisect(
    family: Tilted,
    w: np.ndarray,
    member: np.ndarray,
    means: np.ndarray,
    x: int,
    p: int,
    need: float,
) -> float:
    """The multiplier at which the items of alternative x gain what is needed; -1 if none."""
    room = -need * (1.0 + 1e-12)
    spread = 0.0
    highest = math.inf
    for i in range(p):
        if member[i, x] > 0.0 and family.room(means[i]) > EDGE:
            room += family.room(means[i]) - EDGE
            spread += family.spread(means[i]) / w[i]
            highest = min(highest, family.steepest(w[i]))
    if not room > 0.0:
        return -1.0
    low = 0.0
    high = highest
    tau = need / spread
    for _ in range(MAX_STEPS):
        if not (tau > low and tau < high):
            tau = 0.5 * (low + high) if high < math.inf else 2.0 * max(low, tau)
        gain = 0.0
        slope = 0.0
        for i in range(p):
            if member[i, x] > 0.0 and family.room(means[i]) > EDGE:
                other = family.tilted(means[i], w[i], tau)
                gain += other - means[i]
                slope += 1.0 / w[i] / family.bend(means[i], other)  # the product may overflow
        if gain < need:
            low = tau
        else:
            high = tau
        if not slope > 0.0:  # underflow: halve the bracket, or double what is too little
            tau = low
            continue
        step = (need - gain) / slope
        if high < math.inf and high - low <= 1e-15 * high:
            break
        if abs(step) <= 1e-14 * tau:
            if high == math.inf or abs(need - gain) <= ENOUGH * need:
                break
            step = 0.5 * (low + high) - tau  # so near a pole that steps are lost in rounding
        tau += step
    return tau


@kernel
def fill_information(
    family: Tilted,
    w: np.ndarray,
    member: np.ndarray,
    need: np.ndarray,
    means: np.ndarray,
    p: int,
    m: int,
    t: np.ndarray,
    tau: np.ndarray,
) -> None:
    """Log of the dual value of every alternative."""
    for x in range(m):
        tau[x] = bisect(family, w, member, means, x, p, need[x])
        t[x] = NO_CONSTRAINT
        if tau[x] > 0.0:
            value = 0.0
            gain = 0.0
            for i in range(p):
                if member[i, x] > 0.0 and family.room(means[i]) > EDGE:
                    other = family.tilted(means[i], w[i], tau[x])
                    gain += other - means[i]
                    value += w[i] * family.divergence(means[i], other)
            t[x] = math.log(max(value + tau[x] * (need[x] - gain), 1e-300))


@kernel
def fill_gradients(
    family: Tilted,
    w: np.ndarray,
    member: np.ndarray,
    need: np.ndarray,
    means: np.ndarray,
    tau: np.ndarray,
    p: int,
    m: int,
    gradient: np.ndarray,
    rank_one: np.ndarray,
    diagonal: np.ndarray,
) -> None:
    """G, b/√(S F) and a/F of every alternative."""
    for x in range(m):
        spread = 0.0
        short = need[x]
        for i in range(p):
            gradient[i, x] = 0.0
            rank_one[i, x] = 0.0
            diagonal[i, x] = 0.0
            if member[i, x] > 0.0 and tau[x] > 0.0 and family.room(means[i]) > EDGE:
                other = family.tilted(means[i], w[i], tau[x])
                rank_one[i, x] = 1.0 / (w[i] * family.bend(means[i], other))
                gradient[i, x] = other
                spread += rank_one[i, x]
                short -= other - means[i]
        value = 0.0
        for i in range(p):
            if rank_one[i, x] > 0.0:
                # near the ends of the mean space the last digits of τ decide: one step more
                other = gradient[i, x] + short * rank_one[i, x] / spread
                gradient[i, x] = family.divergence(means[i], other)
                value += w[i] * gradient[i, x]
                rank_one[i, x] *= tau[x] / w[i]
                diagonal[i, x] = tau[x] / w[i] * rank_one[i, x]
        if value > 0.0:
            scale = 1.0 / value
            root = 1.0 / math.sqrt(spread * value)
            for i in range(p):
                gradient[i, x] *= scale
                rank_one[i, x] *= root
                diagonal[i, x] *= scale


@kernel
def fill_curvature(
    gradient: np.ndarray,
    rank_one: np.ndarray,
    diagonal: np.ndarray,
    multiplier: np.ndarray,
    slackness: np.ndarray,
    p: int,
    m: int,
    out: np.ndarray,
    work: np.ndarray,
) -> None:
    """Add Σ q (diag a/F − b bᵀ/SF + G Gᵀ) + Σ slackness G Gᵀ."""
    for x in range(m):
        work[x] = slackness[x] + multiplier[x]
    add_gram(gradient, work, p, m, out)
    for x in range(m):
        work[x] = -multiplier[x]
    add_gram(rank_one, work, p, m, out)
    for i in range(p):
        total = 0.0
        for x in range(m):
            total += multiplier[x] * diagonal[i, x]
        out[i, i] += total
