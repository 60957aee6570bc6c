"""The multiplier of one alternative by the family's conjugates, at the ends of means too."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

WIDE = 60.0  # of log τ around what the gap suggests
BESIDE = 1e-4  # of log τ
GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)


def best_multipliers(
    family: Any, means: np.ndarray, weights: np.ndarray, need: float, start: float
) -> list[float]:
    """τ > 0 at which τ · need − Σ sup over λ of [τ (λ_i − φ_i) − w_i d(φ_i, λ_i)] is largest.

    ``start`` alone if nothing beside it is better; the function is concave in τ.  Else what is
    found as well: near the ends of the means rounding may hide which of the two is better.
    """

    def dual(log: float) -> float:
        tau = math.exp(log)
        paid = 0.0
        for mean, weight in zip(means.tolist(), weights.tolist(), strict=True):
            paid += family.conjugate(mean, weight, tau) - tau * mean
        value = tau * need - paid
        return value if not math.isnan(value) else -math.inf

    if start > 0.0:  # concave: no better beside it, no better anywhere
        log = math.log(start)
        if dual(log) >= max(dual(log - BESIDE), dual(log + BESIDE)):
            return [start]
    middle = math.log(2.0 / need) if need > 0.0 else 0.0
    logs = [middle + step for step in np.linspace(-WIDE, WIDE, 241)]
    near = max(range(len(logs)), key=lambda k: dual(logs[k]))
    found = _peak(dual, logs[max(near - 1, 0)], logs[min(near + 1, len(logs) - 1)])
    return [math.exp(found), start] if start > 0.0 else [math.exp(found)]


def _peak(function: Callable[[float], float], low: float, high: float) -> float:
    """Golden section search for the largest value."""
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(60):
        if at_left >= at_right:
            high, right, at_right = right, left, at_left
            left = high - GOLDEN * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + GOLDEN * (high - low)
            at_right = function(right)
    return left if at_left >= at_right else right
