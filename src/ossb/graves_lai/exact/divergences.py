"""Divergences of the observation families as balls, in the user's own sign."""

from typing import Any

from flint import arb

from ossb.graves_lai.exact.balls import INFINITE

Number = Any  # a double, which is exact, or a ball


class Divergence:
    """d(p, q) of one family, for means that are doubles or balls around the true ones.

    Parameters
    ----------
    observation
        A name in ``ossb.families.FAMILIES``.
    sigma
        Standard deviation of Gaussian observations.
    """

    def __init__(self, observation: str, sigma: float = 1.0) -> None:
        self.observation, self.sigma = observation, sigma
        kinds = {"gaussian": self.gaussian, "poisson": poisson, "exponential": exponential}
        self.of = kinds.get(observation, bernoulli)

    def gaussian(self, p: arb, q: arb) -> arb:
        """(p − q)²/2σ²."""
        return ((p - q) / arb(self.sigma)) ** 2 / 2

    def variance(self, mean: arb) -> arb:
        """Of the law of a mean: d(p, q) has the derivative (q − p)/variance(q) in q."""
        if self.observation == "gaussian":
            return arb(self.sigma) ** 2
        if self.observation == "poisson":
            return mean
        return mean * mean if self.observation == "exponential" else mean * (1 - mean)

    def __call__(self, p: Number, q: Number) -> arb:
        p, q = arb(p), arb(q)
        return arb(0) if p == q else self.of(p, q)


def bernoulli(p: arb, q: arb) -> arb:
    """p ln(p/q) + (1 − p) ln((1 − p)/(1 − q)) of different means."""
    if q == 0 or q == 1:
        return INFINITE
    first = arb(0) if p == 0 else p * (p / q).log()
    return first if p == 1 else first + (1 - p) * ((1 - p) / (1 - q)).log()


def poisson(p: arb, q: arb) -> arb:
    """p ln(p/q) − p + q of different means."""
    if q == 0:
        return INFINITE
    return q if p == 0 else p * (p / q).log() - p + q


def exponential(p: arb, q: arb) -> arb:
    """p/q − 1 − ln(p/q) of different means."""
    if q == 0:
        return INFINITE
    ratio = p / q
    return ratio - 1 - ratio.log()
