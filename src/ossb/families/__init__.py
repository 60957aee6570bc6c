"""Observation families: one-parameter laws indexed by their mean.

``sign`` −1 is the mirror image of a law, used where the goal is to minimise: means and
observations change sign, so that everything above this layer only ever maximises.
"""

from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.random import Generator

from ossb.errors import InputError
from ossb.families.bernoulli import Bernoulli, Bounded
from ossb.families.exponential import Exponential
from ossb.families.gaussian import Gaussian
from ossb.families.poisson import Poisson

__all__ = [
    "FAMILIES",
    "Bernoulli",
    "Bounded",
    "Exponential",
    "Family",
    "Gaussian",
    "Poisson",
    "check_means",
    "family_named",
]

FAMILIES = ("gaussian", "bernoulli", "poisson", "exponential", "bounded")


class Family(Protocol):
    """What every family offers, in Python and in compiled code."""

    def kl(self, p: float, q: float) -> float:
        """KL divergence between the laws of means ``p`` (the truth) and ``q``."""
        ...

    def slope(self, p: float, q: float) -> float:
        """Derivative of ``kl(p, q)`` in ``q``."""
        ...

    def variance(self, mean: float) -> float: ...

    def positive_variance(self, mean: float) -> float:
        """What a policy divides by: the variance, and more than 0 at the ends of the means."""
        ...

    def yardstick(self, mean: float) -> float:
        """What observations are counted in, for differences that are taken for none."""
        ...

    def lowest(self) -> float:
        """The least mean there is."""
        ...

    def highest(self) -> float:
        """The greatest mean there is."""
        ...

    def sample(self, mean: float, rng: Generator) -> float: ...

    def covers(self, observation: float) -> bool:
        """Whether such an observation can occur."""
        ...


@lru_cache(1024)  # families are immutable, and every instance asks for one
def family_named(name: str, sigma: float = 1.0, sign: float = 1.0) -> Family:
    """The family of a name in ``FAMILIES``."""
    if name == "gaussian":
        return Gaussian(sigma, sign)
    plain: dict[str, type] = {
        "bernoulli": Bernoulli,
        "poisson": Poisson,
        "exponential": Exponential,
        "bounded": Bounded,
    }
    if name not in plain:
        raise InputError("observation", f"be one of {', '.join(FAMILIES)}", name)
    family: Family = plain[name](sign)
    return family


def check_means(family: Family, means: np.ndarray, field: str) -> None:
    """Refuse means outside the family's mean space."""
    low, high = family.lowest(), family.highest()
    positive = isinstance(family, Exponential)  # the law of mean 0 shares no value with the others
    given = np.asarray(means)
    wrong = ~((low <= given) & (given <= high))
    if positive:
        wrong |= given == 0.0
    for place in np.argwhere(wrong)[:1]:
        if positive:
            must = "be positive" if low == 0.0 else "be negative"
        elif np.isfinite(low) and np.isfinite(high):
            must = f"lie in [{low:g}, {high:g}]"
        elif np.isfinite(low):
            must = f"be at least {low:g}"
        else:
            must = f"be at most {high:g}"
        where = "".join(f"[{i}]" for i in place)
        raise InputError(f"{field}{where}", must, float(given[tuple(place)]))
