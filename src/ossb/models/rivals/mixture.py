"""Mixtures of laws against one law: evidence that holds at all times at once.

For a prior π over the mean of a component, M = ∫ L(μ) π(dμ) / L(λ) is a martingale of mean 1 under
λ, so that it ever exceeds 1/δ with probability at most δ (Ville, 1939; Robbins, 1970).  Most of
them are of the form ln M = ``weight`` · kl(mean, λ) − ``price``:

- Bernoulli: π = Beta(½, ½), weight N, price ln L(mean) − ln ∫ L dπ, about ½ ln(πN/2).  Of values in
  [0, 1] it is a supermartingale: x ↦ q^x (1 − q)^(1 − x) / (p^x (1 − p)^(1 − x)) is convex, and so
  at most its chord, of mean 1 under every law of mean p.
- Gaussian: π = N(λ, σ²/ρ), centred at the law it is held against, so that it has no unit and no
  level: weight N²/(N + ρ), price ½ ln(1 + N/ρ).
- Poisson: π = Σ w_i Gamma(½, 4^−i), w_i = 1/((i + 1)(i + 2)), for counts of every size.
- Exponential: π the inverse gamma law of shape 1 with scale λ, which has no unit; ln M = g(mean/λ)
  is not of the form above, falls on the left of λ = mean and rises on its right.

The product over any set of components is such a martingale too, since what each shows next is
drawn by the law of its own mean.
"""

import math
from typing import NamedTuple

from ossb.families import Bernoulli, Bounded, Exponential, Family, Gaussian, Poisson
from ossb.kernels import kernel
from ossb.records import record

PSEUDO = 4.0  # ρ
SCALES = 16  # of Poisson means: up to 4^16
SHIFTED = 12.0  # from where Stirling's series has full accuracy
HALF_LOG_TAU = 0.9189385332046727  # ½ ln 2π
LOG_PI = 1.1447298858494002


@kernel
def log_gamma(x: float) -> float:
    """ln Γ(x), x > 0, by Stirling's series."""
    product = 1.0
    while x < SHIFTED:
        product *= x
        x += 1.0
    r = 1.0 / (x * x)
    series = 1.0 / 1680.0 - r * (1.0 / 1188.0 - r * (691.0 / 360360.0))
    series = 1.0 / 12.0 - r * (1.0 / 360.0 - r * (1.0 / 1260.0 - r * series))
    return (x - 0.5) * math.log(x) - x + HALF_LOG_TAU + series / x - math.log(product)


@kernel
def times_log(x: float, y: float) -> float:
    """x ln y, 0 where x is."""
    return x * math.log(y) if x > 0.0 else 0.0


@kernel
def bernoulli_price(count: float, mean: float) -> float:
    """ln L(mean) − ln ∫ L dBeta(½, ½)."""
    if count <= 0.0:
        return 0.0
    m = min(max(mean, 0.0), 1.0)
    ones = count * m
    zeros = count - ones
    found = times_log(ones, m) + times_log(zeros, 1.0 - m)
    mixed = log_gamma(ones + 0.5) + log_gamma(zeros + 0.5) - log_gamma(count + 1.0) - LOG_PI
    return max(found - mixed, 0.0)


@kernel
def gaussian_weight(count: float) -> float:
    return count * (count / (count + PSEUDO))


@kernel
def gaussian_price(count: float) -> float:
    return 0.5 * math.log1p(count / PSEUDO)


@kernel
def poisson_price(count: float, mean: float) -> float:
    """ln L(mean) − ln ∫ L dπ."""
    if count <= 0.0:
        return 0.0
    total = count * mean
    common = log_gamma(total + 0.5) - 0.5 * LOG_PI
    found = times_log(total, mean) - total
    largest, scale = -math.inf, 1.0
    for i in range(SCALES):
        part = 0.5 * math.log(scale) - (total + 0.5) * math.log(scale + count)
        largest = max(largest, part - math.log((i + 1.0) * (i + 2.0)))
        scale *= 0.25
    mass, scale = 0.0, 1.0
    for i in range(SCALES):
        part = 0.5 * math.log(scale) - (total + 0.5) * math.log(scale + count)
        mass += math.exp(part - math.log((i + 1.0) * (i + 2.0)) - largest)
        scale *= 0.25
    return max(found - common - largest - math.log(mass), 0.0)


@kernel
def exponential_evidence(count: float, mean: float, level: float) -> float:
    """ln M of waiting times against the mean ``level``: with q = mean/level and N of them,
    ln Γ(N + 1) − (N + 1) ln(1 + N q) + N q.
    """
    if count <= 0.0:
        return 0.0
    if level <= 0.0:
        return math.inf
    q = mean / level
    return log_gamma(count + 1.0) - (count + 1.0) * math.log1p(count * q) + count * q


GAUSSIAN, BERNOULLI, POISSON, EXPONENTIAL = range(4)


@record
class Mixture(NamedTuple):
    """The evidence of a family.

    Parameters
    ----------
    law
        Which of the four.
    sign
        That of the means.
    """

    family: Family
    law: int
    sign: float

    def evidence_weight(self, count: float) -> float:
        """What kl counts."""
        return gaussian_weight(count) if self.law == GAUSSIAN else count

    def evidence_price(self, count: float, mean: float) -> float:
        """What is paid; infinite where evidence is not of this form."""
        if count <= 0.0:
            return 0.0
        if self.law == GAUSSIAN:
            return gaussian_price(count)
        if self.law == BERNOULLI:
            return bernoulli_price(count, self.sign * mean)
        return poisson_price(count, self.sign * mean) if self.law == POISSON else math.inf

    def evidence_at(self, count: float, mean: float, level: float) -> float:
        """ln M against the law of mean ``level``."""
        if self.law == EXPONENTIAL:
            return exponential_evidence(count, self.sign * mean, self.sign * level)
        if count <= 0.0:
            return 0.0
        apart = self.evidence_weight(count) * self.family.kl(mean, level)
        return apart - self.evidence_price(count, mean)


def mixture_of(family: Family) -> Mixture:
    """The mixture of a family."""
    if isinstance(family, Gaussian):
        return Mixture(family, GAUSSIAN, 1.0)
    if isinstance(family, Bernoulli | Bounded):
        return Mixture(family, BERNOULLI, family.sign)
    if isinstance(family, Poisson):
        return Mixture(family, POISSON, family.sign)
    if isinstance(family, Exponential):
        return Mixture(family, EXPONENTIAL, family.sign)
    raise TypeError(f"there is no mixture for {family!r}")
