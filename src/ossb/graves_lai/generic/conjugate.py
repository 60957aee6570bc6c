"""Divergences and the terms of a Lagrangian in balls that are proved to hold them.

``least(theta, weight, slope)`` is inf over means m of weight · d(theta, m) − slope · (m − theta),
as in ``divergence``, for rationals.  Where only doubles of it are at hand a sign cannot be told
from rounding; here every digit is proved.
"""

from typing import Protocol

from flint import arb, fmpq

from ossb.families import Bernoulli, Bounded, Family, Gaussian, Poisson
from ossb.graves_lai.exact.balls import INFINITE as ENDLESS


class Conjugate(Protocol):
    """d(theta, m) over a mean space, by balls."""

    @property
    def lowest(self) -> fmpq | None: ...

    @property
    def highest(self) -> fmpq | None: ...

    def value(self, theta: fmpq, mean: fmpq) -> arb:
        """d(theta, mean); +∞ where it is."""
        ...

    def least(self, theta: fmpq, weight: fmpq, slope: fmpq) -> arb:
        """The infimum; −∞ where it is."""
        ...

    def may(self, theta: fmpq, weight: fmpq, slope: fmpq) -> bool:
        """Whether slopes near this one, on both sides, have a finite infimum."""
        ...

    def nearest(self, theta: fmpq, weight: fmpq, slope: fmpq) -> fmpq:
        """The slope with a finite infimum that is nearest to this one."""
        ...


class GaussianConjugate:
    """(theta − m)² / 2σ²."""

    lowest = highest = None

    def __init__(self, precision: fmpq) -> None:
        self.precision = precision

    def value(self, theta: fmpq, mean: fmpq) -> arb:
        return arb(self.precision * (mean - theta) * (mean - theta) / 2)

    def least(self, theta: fmpq, weight: fmpq, slope: fmpq) -> arb:
        if slope == 0:
            return arb(0)
        return arb(-slope * slope / (2 * self.precision * weight)) if weight > 0 else -ENDLESS

    def may(self, theta: fmpq, weight: fmpq, slope: fmpq) -> bool:
        return bool(weight > 0)

    def nearest(self, theta: fmpq, weight: fmpq, slope: fmpq) -> fmpq:
        return slope if weight > 0 else fmpq(0)


class BernoulliConjugate:
    """theta ln(theta/m) + (1 − theta) ln((1 − theta)/(1 − m)) over [0, 1]."""

    lowest, highest = fmpq(0), fmpq(1)

    def value(self, theta: fmpq, mean: fmpq) -> arb:
        if theta == mean:
            return arb(0)
        if mean <= 0 or mean >= 1:
            return ENDLESS
        return _part(theta, mean) + _part(1 - theta, 1 - mean)

    def least(self, theta: fmpq, weight: fmpq, slope: fmpq) -> arb:
        if slope == 0:
            return arb(0)
        if theta > fmpq(1, 2):
            return self.least(1 - theta, weight, -slope)  # mirrored: theta ≤ 1/2 from here on
        if weight == 0:
            return arb(-max(slope * (1 - theta), -slope * theta))
        if theta == 0:
            if slope <= weight:
                return arb(0)
            return -weight * arb(weight / slope).log() - slope + weight
        # the peak solves slope · m (1 − m) = weight · (m − theta)
        gap = weight - slope
        root = arb(gap * gap + 4 * slope * weight * theta).sqrt()
        peak = 2 * weight * theta / (gap + root) if gap >= 0 else (root - gap) / (2 * slope)
        off = 1 - peak
        if not (peak > 0 and off > 0):
            return -ENDLESS
        divergence = theta * (theta / peak).log() + (1 - theta) * ((1 - theta) / off).log()
        return weight * divergence - slope * (peak - theta)

    def may(self, theta: fmpq, weight: fmpq, slope: fmpq) -> bool:
        return True

    def nearest(self, theta: fmpq, weight: fmpq, slope: fmpq) -> fmpq:
        return slope


class PoissonConjugate:
    """theta ln(theta/m) − theta + m over [0, ∞)."""

    lowest, highest = fmpq(0), None

    def value(self, theta: fmpq, mean: fmpq) -> arb:
        if theta == mean:
            return arb(0)
        if theta == 0:
            return arb(mean)
        return _part(theta, mean) + mean - theta if mean > 0 else ENDLESS

    def least(self, theta: fmpq, weight: fmpq, slope: fmpq) -> arb:
        if slope == 0:
            return arb(0)
        if theta == 0:
            return arb(0) if slope <= weight else -ENDLESS
        if weight == 0:
            return arb(slope * theta) if slope < 0 else -ENDLESS
        if slope >= weight:
            return -ENDLESS
        return weight * theta * arb(1 - slope / weight).log() + slope * theta

    def may(self, theta: fmpq, weight: fmpq, slope: fmpq) -> bool:
        return bool(slope < weight)

    def nearest(self, theta: fmpq, weight: fmpq, slope: fmpq) -> fmpq:
        return min(slope, weight)


class ExponentialDivergence:
    """theta/m − 1 − ln(theta/m): not convex in m, so its values serve the lower side alone."""

    lowest, highest = fmpq(0), None

    def value(self, theta: fmpq, mean: fmpq) -> arb:
        if theta == mean:
            return arb(0)
        if theta <= 0 or mean <= 0:
            return ENDLESS
        return arb(theta / mean - 1) - arb(theta / mean).log()

    def least(self, theta: fmpq, weight: fmpq, slope: fmpq) -> arb:
        return arb(0) if slope == 0 else -ENDLESS

    def may(self, theta: fmpq, weight: fmpq, slope: fmpq) -> bool:
        return False

    def nearest(self, theta: fmpq, weight: fmpq, slope: fmpq) -> fmpq:
        return fmpq(0)


def _part(p: fmpq, q: fmpq) -> arb:
    """p ln(p/q)."""
    return p * arb(p / q).log() if p > 0 else arb(0)


def conjugate_of(family: Family) -> Conjugate:
    """The balls of a family."""
    if isinstance(family, Gaussian):
        sigma = fmpq(*family.sigma.as_integer_ratio())
        return GaussianConjugate(1 / (sigma * sigma))
    if isinstance(family, Bernoulli | Bounded):
        return BernoulliConjugate()
    if isinstance(family, Poisson):
        return PoissonConjugate()
    return ExponentialDivergence()
