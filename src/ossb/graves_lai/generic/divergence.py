"""Divergences of whole arrays of means, with what convex programs need of them.

``least(theta, weight, slope)`` is inf over means m of weight · d(theta, m) − slope · (m − theta),
the term of one component in a Lagrangian: the negative of a convex conjugate, written in the
distance from ``theta`` so that small gaps do not cancel.
"""

from typing import Protocol

import numpy as np

from ossb.errors import InputError
from ossb.families import Bernoulli, Bounded, Family, Gaussian, Poisson
from ossb.graves_lai.generic.divergence_kernels import BERNOULLI, GAUSSIAN, POISSON

_TERMS = 24


class Divergence(Protocol):
    """d(theta, m) as a convex function of m, entry by entry."""

    lowest: float
    highest: float
    steepest: float  # least upper bound of its slope
    kind: int  # what kernels call it
    precision: float  # of normal observations, 1 for others

    def value(self, theta: np.ndarray, mean: np.ndarray) -> np.ndarray: ...

    def curvature(self, theta: np.ndarray, mean: np.ndarray) -> np.ndarray: ...

    def least(self, theta: np.ndarray, weight: np.ndarray, slope: np.ndarray) -> np.ndarray: ...


def inside(divergence: Divergence, means: np.ndarray) -> np.ndarray:
    """Means brought into their space."""
    return np.minimum(np.maximum(means, divergence.lowest), divergence.highest)


def divergence_of(family: Family) -> Divergence:
    """The divergence of a family whose divergence is convex in its second mean."""
    if isinstance(family, Gaussian):
        return GaussianDivergence(family.sigma)
    if isinstance(family, Bernoulli | Bounded):
        return BernoulliDivergence()
    if isinstance(family, Poisson):
        return PoissonDivergence()
    raise InputError("observation", "have a divergence convex in the mean", type(family).__name__)


def excess(x: np.ndarray) -> np.ndarray:
    """x − ln(1 + x) without cancellation, as the families compute it."""
    x = np.asarray(x, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        far = x - np.log1p(x)
    r = np.where(np.abs(x) <= 0.5, x, 0.0)
    r = r / (2.0 + r)
    square = r * r
    series = np.zeros_like(square)
    for k in range(_TERMS, 0, -1):
        series = series * square + 1.0 / (2.0 * k + 1.0)
    return np.asarray(np.where(np.abs(x) <= 0.5, r * x - 2.0 * r * square * series, far))


def term(p: np.ndarray, q: np.ndarray, difference: np.ndarray) -> np.ndarray:
    """q − p − p ln(q/p), given q − p, for q > 0: from the quotient where they are far apart."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        ratio = q / p
        inside = (ratio > 1e-300) & (ratio < 1e300)
        logarithm = np.where(inside, np.log(ratio), np.log(q) - np.log(p))
        far = np.abs(difference) > 0.5 * p
        close = p * excess(np.where(far, 0.0, difference / p))
        answer = np.where(far, difference - p * logarithm, close)
    return np.where(p <= 0.0, difference, answer)


class GaussianDivergence:
    """(theta − m)² / 2σ²."""

    def __init__(self, sigma: float) -> None:
        self.kind, self.precision = GAUSSIAN, 1.0 / (sigma * sigma)
        self.lowest, self.highest, self.steepest = -np.inf, np.inf, np.inf

    def value(self, theta: np.ndarray, mean: np.ndarray) -> np.ndarray:
        return np.asarray(0.5 * self.precision * (mean - theta) ** 2)

    def curvature(self, theta: np.ndarray, mean: np.ndarray) -> np.ndarray:
        return np.full(np.broadcast(theta, mean).shape, self.precision)

    def least(self, theta: np.ndarray, weight: np.ndarray, slope: np.ndarray) -> np.ndarray:
        positive = weight > 0.0
        if positive.all():
            return np.asarray(-0.5 * slope * slope / (self.precision * weight))
        known = -0.5 * slope * slope / (self.precision * np.where(positive, weight, 1.0))
        return np.where(positive, known, np.where(slope == 0.0, 0.0, -np.inf))


class BernoulliDivergence:
    """theta ln(theta/m) + (1 − theta) ln((1 − theta)/(1 − m))."""

    lowest, highest, steepest = 0.0, 1.0, np.inf
    kind, precision = BERNOULLI, 1.0

    def value(self, theta: np.ndarray, mean: np.ndarray) -> np.ndarray:
        theta, mean = np.broadcast_arrays(theta, mean)
        off = 1.0 - theta
        inside = term(theta, mean, mean - theta) + term(off, 1.0 - mean, theta - mean)
        with np.errstate(divide="ignore", invalid="ignore"):
            at_zero = -np.log1p(-mean)
            at_one = -np.log(mean)
        answer = np.where(theta <= 0.0, at_zero, np.where(off <= 0.0, at_one, inside))
        answer = np.where((mean <= 0.0) | (mean >= 1.0), np.inf, answer)
        return np.where(theta == mean, 0.0, answer)

    def curvature(self, theta: np.ndarray, mean: np.ndarray) -> np.ndarray:
        low = np.where(theta <= 0.0, 0.0, theta / np.maximum(mean, 1e-150) ** 2)
        off = 1.0 - theta
        return low + np.where(off <= 0.0, 0.0, off / np.maximum(1.0 - mean, 1e-150) ** 2)

    def least(self, theta: np.ndarray, weight: np.ndarray, slope: np.ndarray) -> np.ndarray:
        theta, weight, slope = np.broadcast_arrays(theta, weight, slope)
        ends = -np.maximum(slope * (1.0 - theta), -slope * theta)
        positive = weight > 0.0
        safe = np.where(positive, weight, 1.0)
        difference, total = safe - slope, safe + slope
        root = np.sqrt(np.maximum(0.0, difference * difference + 4.0 * slope * safe * theta))
        with np.errstate(divide="ignore", invalid="ignore"):
            peak = np.where(
                difference >= 0.0,
                2.0 * safe * theta / (difference + root),
                (root - difference) / (2.0 * slope),
            )
            # its distance from 1, which a steep slope makes too small for 1 − peak to hold
            off = np.where(
                total >= 0.0,
                2.0 * safe * (1.0 - theta) / (total + root),
                (root - total) / (-2.0 * slope),
            )
        known_peak = np.isfinite(peak) & np.isfinite(off) & (peak > 0.0) & (off > 0.0)
        peak, off = np.where(known_peak, peak, 0.5), np.where(known_peak, off, 0.5)
        move = slope * peak * off / safe
        known = safe * (term(theta, peak, move) + term(1.0 - theta, off, -move)) - slope * move
        known = np.where(known_peak, known, ends)
        known = np.where((theta <= 0.0) & (slope <= safe), 0.0, known)
        known = np.where((theta >= 1.0) & (-slope <= safe), 0.0, known)
        return np.where(slope == 0.0, 0.0, np.where(positive, known, ends))


ROUNDING = 1e-12


class PoissonDivergence:
    """theta ln(theta/m) − theta + m."""

    lowest, highest, steepest = 0.0, np.inf, 1.0
    kind, precision = POISSON, 1.0

    def value(self, theta: np.ndarray, mean: np.ndarray) -> np.ndarray:
        theta, mean = np.broadcast_arrays(theta, mean)
        inside = term(theta, mean, mean - theta)
        answer = np.where(theta <= 0.0, mean, np.where(mean <= 0.0, np.inf, inside))
        return np.where(theta == mean, 0.0, answer)

    def curvature(self, theta: np.ndarray, mean: np.ndarray) -> np.ndarray:
        return np.where(theta <= 0.0, 0.0, theta / np.maximum(mean, 1e-150) ** 2)

    def least(self, theta: np.ndarray, weight: np.ndarray, slope: np.ndarray) -> np.ndarray:
        theta, weight, slope = np.broadcast_arrays(theta, weight, slope)
        positive = weight > 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(positive, slope / np.where(positive, weight, 1.0), 0.0)
            known = np.where(
                share < 1.0,
                -weight * theta * excess(-np.minimum(share, 1.0)),
                -np.inf,
            )
        # at theta = 0 the divergence is m itself: a slope that equals the weight up to rounding
        # is that weight, and nothing below 0 can be reached
        known = np.where(theta <= 0.0, np.where(share <= 1.0 + ROUNDING, 0.0, -np.inf), known)
        free = np.where(slope <= 0.0, slope * theta, -np.inf)
        return np.where(slope == 0.0, 0.0, np.where(positive, known, free))
